#!/usr/bin/env python
"""What one page with most links, and one host with most pages, do to the tasks of the jobs.

    scripts/costs/skew.py [--links 100000] [--growth 4] [--page]

Crawls are made, with as many links each: `even`, where links lead anywhere, and `skewed`, all pages
on one host, where every second link leads to one page, and one page has a link to each other. The
skewed one is made again `growth` times as large. Of each stage: the part of its shuffle that the
largest group has, which goes to one reduce task whatever their number, and the most memory of a
task. Jobs run on the local runner, two tasks at a time.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from bench_jobs import chain, title_of
from bench_rounds import LOOKS

from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.local import LocalRunner
from crawlrank.pipeline.estimate.sample import tree

HUB = "http://h.example/"
TITLES: dict[str, str] = {}  # of stages, by the names of their classes
PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
STAGE = re.compile(r"--stage\0(\w+)")
PEAK = re.compile(r"VmHWM:\s+(\d+)")


def links_of(count: int, *, skewed: bool) -> Iterator[str]:
    """Lines of links; as many pages as half of them."""
    draw, pages = random.Random(1), count // 2
    for number in range(count // 2):
        host = HUB if skewed else f"http://h{number % 5000}.example/"
        page = f"{host}p{number}"
        if not skewed:
            for _ in range(2):
                other = draw.randrange(pages)
                yield f"http://h{other % 5000}.example/p{other} {page} L\n"
        else:
            yield f"{HUB} {page} L\n"
            yield f"{page} {HUB} L\n"


class Grouping(LocalRunner):
    """Adds the shares of its job's largest group."""

    shares: dict[str, float]
    stage: str

    def _num_reducers(self, step_num: int) -> int:
        sizes = [0]
        with Path(self._sorted_reducer_input_path(step_num)).open("rb") as lines:
            for _, group in groupby(lines, lambda line: line.partition(b"\t")[0]):
                sizes.append(sum(map(len, group)))
        self.shares[self.stage] = max(sizes) / max(1, sum(sizes))
        return super()._num_reducers(step_num)


def grouping(shares: dict[str, float], job: type[Job]) -> type[Job]:
    made = {"shares": shares, "stage": job.__name__}
    TITLES[job.__name__] = title_of(job)
    runner = type("Grouping", (Grouping,), made)
    changed = {"_runner_class": lambda self: runner, "__module__": job.__module__}
    return type(job.__name__, (job,), changed)


def look(peaks: dict[str, float], ended: threading.Event, own: int) -> None:
    """Note the most memory, in MB, of the tasks of each stage."""
    while not ended.wait(LOOKS):
        for pid in tree(own):
            with contextlib.suppress(OSError):
                stage = STAGE.search(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
                peak = PEAK.search(Path(f"/proc/{pid}/status").read_text())
                if stage and peak:
                    megabytes = int(peak[1]) * 1024 / 1e6
                    peaks[stage[1]] = max(peaks.get(stage[1], 0.0), megabytes)


def measured(count: int, *, skewed: bool) -> dict[str, Any]:
    shares, peaks, ended = dict[str, float](), dict[str, float](), threading.Event()
    looker = threading.Thread(target=look, args=(peaks, ended, os.getpid()))
    looker.start()
    with tempfile.TemporaryDirectory() as name:
        tmp = Path(name)
        with (tmp / "links.txt").open("w") as file:
            file.writelines(links_of(count, skewed=skewed))
        (tmp / "captures.txt").write_text("")
        launcher = Launcher("local", tmp, processes=2, job_class=partial(grouping, shares))
        chain(tmp / "chain", tmp / "links.txt", tmp / "captures.txt", launcher)
    ended.set()
    looker.join()
    return {"links": count, "skewed": skewed, "largest_group": shares, "megabytes": peaks}


def table(rows: list[dict[str, Any]]) -> str:
    counts = [f"{row['links']:,} links{', skewed' * row['skewed']}" for row in rows]
    lines = [
        f"| largest group, memory of a task: | {' | '.join(counts)} |\n",
        "|---|---|---|---|\n",
    ]
    for stage, title in TITLES.items():
        cells = [
            f"{row['largest_group'].get(stage, 0.0):.0%}, {row['megabytes'].get(stage, 0.0):.0f} MB"
            for row in rows
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |\n")
    return "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--growth", type=int, default=4)
    parser.add_argument("--page", action="store_true", help="write the table into docs/scaling.md")
    options = parser.parse_args()
    told = table(
        [
            measured(options.links, skewed=False),
            measured(options.links, skewed=True),
            measured(options.links * options.growth, skewed=True),
        ]
    )
    print(told, end="")
    if options.page:
        before, mark, rest = PAGE.read_text().partition("<!-- skew -->\n")
        PAGE.write_text(f"{before}{mark}{told}<!-- end -->{rest.partition('<!-- end -->')[2]}")


if __name__ == "__main__":
    main()
