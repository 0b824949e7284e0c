"""What tests take, from the file that `pytest --costs=FILE` writes (`make test-times` calls both):

    python scripts/times_of_tests.py work/costs.jsonl

and what the targets of make take, for the table of CONTRIBUTING.md, each measured by running it:

    python scripts/times_of_tests.py --targets quick test test-all --write

those of real systems as `.ci/run` shows them, with another stage beside each:

    .ci/run | tee ci.log; python scripts/times_of_tests.py --ci ci.log --write

CPU seconds count all processes that a test or a target started and waited for.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
SLOWEST = 10
STAGE = re.compile(r"(\d\d:\d\d:\d\d) ([a-z]+)(: \d+ passed.*|: )?$")
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


def measured(target: str) -> tuple[float, float]:
    """Wall and CPU seconds of a target of make, which must succeed."""
    before, begun = os.times(), time.monotonic()
    subprocess.run(["make", "--no-print-directory", target], cwd=ROOT, check=True)
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return time.monotonic() - begun, cpu


def stages(log: Path) -> dict[str, tuple[float, None]]:
    """Wall seconds of the stages of `.ci/run` by targets of make; their CPU is not known."""
    begun, rows = dict[str, float](), {}
    for line in log.read_text(errors="replace").splitlines():
        if found := STAGE.match(line):
            clock, name, done = found.groups()
            hours, minutes_, seconds = map(int, clock.split(":"))
            moment = 3600 * hours + 60 * minutes_ + seconds
            if not done:
                begun[name] = moment
            elif name in begun:
                rows[f"test-{name}"] = ((moment - begun[name]) % 86_400, None)
    return {target: row for target, row in rows.items() if f"`make {target}` |" in PAGE.read_text()}


def write(rows: Mapping[str, tuple[float, float | None]]) -> None:
    """Put minutes into the lines of the table of CONTRIBUTING.md that name the targets alone."""
    text = PAGE.read_text()
    for target, (wall, cpu) in rows.items():
        line = re.compile(
            rf"^(\| `make {re.escape(target)}` \|.*?\|) [^|]* \| [^|]* \|$", re.MULTILINE
        )
        own = "" if cpu is None else minutes(cpu)
        text, count = line.subn(rf"\g<1> {minutes(wall)} | {own} |", text)
        if count != 1:
            sys.exit(f"{PAGE.name} has {count} lines of `make {target}`; expected one")
    PAGE.write_text(text)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("costs", nargs="?", type=Path, help="the file that pytest has written")
    parser.add_argument("--files", type=int, default=40, help="how many files of tests to list")
    parser.add_argument("--targets", nargs="+", default=[], help="targets of make to run")
    parser.add_argument("--ci", type=Path, metavar="LOG", help="what .ci/run has printed")
    parser.add_argument("--write", action="store_true", help=f"put their minutes into {PAGE.name}")
    given = parser.parse_args()
    if given.costs:
        show(given.costs, given.files)
    rows: dict[str, tuple[float, float | None]] = {}
    rows |= {target: measured(target) for target in given.targets}
    rows |= stages(given.ci) if given.ci else {}
    for target, (wall, cpu) in rows.items():
        own = "" if cpu is None else f", {minutes(cpu)} CPU minutes"
        print(f"make {target}: {minutes(wall)} minutes{own}")
    if given.write:
        write(rows)


if __name__ == "__main__":
    main()
