"""CPU seconds and memory of explain, diff and audit on a made crawl.

    python scripts/bench/bench_compare.py [--links 10] [--memory 4GB] [--folder DIR] [--json FILE]

The crawl is that of made_crawl.py, ranked by `crawlrank run`. diff compares it with the same pages
after a tenth of the archives is gone. The audited log fetches every line of the precedence file,
in another order. Memory is that of all processes of a command together, mapped files included.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measuring import watched

ROOT = Path(__file__).resolve().parents[2]
CRAWLRANK = [sys.executable, "-m", "crawlrank"]
GONE = 10  # one of GONE archives is left out of the second crawl, at least one
LOG = (
    "2026-01-%02dT%02d:%02d:%02d.%03dZ   200       1948 %s L http://127.0.0.1/ text/html #001"
    " 20260101000000000+15 sha1:FMORMBYWDHRJZREKZYXP3SWBMLRUXJTY - -\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=float, default=10, help="millions of links")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--folder", type=Path, help="where the crawl is made, and removed again")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-compare-", dir=options.folder))
    try:
        told = measured(folder, options)
    finally:
        shutil.rmtree(folder)
    for row in told["rows"]:
        print(f"{row['command']:<46}{row['cpu']:>10.1f} CPU s{row['rss_mb']:>10,.0f} MB")
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


def measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    making = [sys.executable, str(ROOT / "scripts" / "bench" / "made_crawl.py"), str(folder)]
    subprocess.run([*making, "--links", str(int(options.links * 1e6))], check=True)
    before, after = folder / "work", folder / "after"
    archives = sorted((folder / "archives").iterdir())
    shutil.copytree(before, after)
    rank(before, archives, options.memory)
    rank(after, archives[max(1, len(archives) // GONE) :] or archives, options.memory)
    scores = pages(before)
    most, least = max(scores, key=lambda row: row[1]), min(scores, key=lambda row: row[1])
    log = folder / "crawl.log"
    lines = write_log(before / "precedence.txt", log)
    work = ["--work", str(before)]
    commands = {
        f"explain, of the page with most links ({most[1]:,})": ["explain", most[0], *work],
        f"explain, of a page with {least[1]}": ["explain", least[0], *work],
        "diff": ["diff", str(before), str(after), "--memory", options.memory],
    }
    audit = ["audit", str(before / "precedence.txt"), str(log)]
    for memory in dict.fromkeys(("500MB", options.memory)):
        commands[f"audit, {lines:,} lines, {memory}"] = [*audit, "--memory", memory]
    rows = [row(name, command, folder) for name, command in commands.items()]
    counters = json.loads((before / "manifest.json").read_text())["steps"]["gen-graph"]["counters"]
    return {
        "nodes": len(scores), "edges": counters["edges"], "links": int(options.links * 1e6),
        "memory": options.memory, "rows": rows,
    }  # fmt: skip


def rank(work: Path, archives: list[Path], memory: str) -> None:
    command = [*CRAWLRANK, "run", *map(str, archives), "--work", str(work), "--memory", memory]
    subprocess.run(
        [*command, "--force", "--quiet"], check=True, cwd=ROOT, stdout=subprocess.DEVNULL
    )


def pages(work: Path) -> list[tuple[str, int]]:
    """URIs and how many links each page has."""
    import pyarrow.parquet as pq

    table = pq.read_table(work / "scores" / "scores.parquet", columns=["uri", "inlinks"])
    return list(zip(table["uri"].to_pylist(), table["inlinks"].to_pylist(), strict=True))


def write_log(precedence: Path, log: Path) -> int:
    """A crawl.log of a fetch of each URI, a millisecond after the one before; how many."""
    uris = [line.partition(" ")[0] for line in precedence.read_text().splitlines()]
    random.Random(1).shuffle(uris)

    def lines() -> Iterator[str]:
        for number, uri in enumerate(uris):
            second, thousandth = divmod(number, 1000)
            minute, second = divmod(second, 60)
            hour, minute = divmod(minute, 60)
            day, hour = divmod(hour, 24)
            yield LOG % (day + 1, hour, minute, second, thousandth, uri)

    with log.open("w") as file:
        file.writelines(lines())
    return len(uris)


def row(name: str, command: list[str], folder: Path) -> dict[str, Any]:
    found = watched([*CRAWLRANK, *command, "--json", str(folder / "told.json")], silent=True)
    return {"command": name, "cpu": found.cpu, "wall": found.wall, **vars(found.peaks)}


if __name__ == "__main__":
    main()
