"""What tests take, from the file that `pytest --costs=FILE` writes (`make test-times` calls both):

    python scripts/times_of_tests.py work/costs.jsonl

CPU seconds count all processes that a test started and waited for.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

SLOWEST = 10
Costs = list[dict[str, Any]]


def folder_of(cost: dict[str, Any]) -> str:
    """Two levels below tests/: `tests/pipeline/ranking`."""
    return "/".join(cost["file"].split("/")[:-1][:3])


def table(costs: Costs, group: Callable[[dict[str, Any]], str], most: int) -> Iterator[str]:
    """The groups of tests that take most CPU, and the sum of all."""
    groups: dict[str, Costs] = defaultdict(list)
    for cost in costs:
        groups[group(cost)].append(cost)
    yield f"{'tests':>7} {'CPU s':>8} {'wall s':>8} {'processes':>10}"
    by_cpu = sorted(groups.items(), key=lambda item: -total(item[1], "cpu"))
    for name, some in [*by_cpu[:most], ("all", costs)]:
        yield (
            f"{len(some):7,} {total(some, 'cpu'):8.1f} {total(some, 'wall'):8.1f}"
            f" {total(some, 'started'):10,.0f}  {name}"
        )


def total(costs: Iterable[dict[str, Any]], column: str) -> float:
    return float(sum(cost[column] for cost in costs))


def show(path: Path, files: int) -> None:
    costs: Costs = [json.loads(line) for line in path.read_text().splitlines()]
    print(*table(costs, folder_of, len(costs)), "", sep="\n")
    print(*table(costs, lambda cost: str(cost["file"]), files), "", sep="\n")
    for cost in sorted(costs, key=lambda cost: -cost["cpu"])[:SLOWEST]:
        print(f"{cost['cpu']:8.1f} CPU s {cost['wall']:8.1f} s  {cost['file']}::{cost['test']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("costs", type=Path, help="the file that pytest has written")
    parser.add_argument("--files", type=int, default=40, help="how many files of tests to list")
    given = parser.parse_args()
    show(given.costs, given.files)


if __name__ == "__main__":
    main()
