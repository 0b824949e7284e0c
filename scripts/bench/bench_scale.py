"""Seconds and memory of every step after extraction, on made crawls of 1, 10 and 50 million links.

    scripts/bench/bench_scale.py [--links 1,10,50] [--memory 4GB] [--jobs 1,2] [--folder DIR]
                                 [--json FILE]

With several numbers of --jobs it compares these instead: seconds of the clock and of the processor
for each step, and the part of the latter in which one thread ran alone. No more cores than that
allows make a step faster, whatever else the machine does.

Each crawl is that of made_crawl.py. `crawlrank run` finds its archives extracted and does the
rest; it ran on a small crawl before, so that nothing is compiled. Memory is that of all its
processes together, looked at every 50 ms: resident, resident without what is a file's and the
system can drop, and the sum of shares (a page of two processes counts once).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import Peaks, StepCost, steps_of, watched

from crawlrank.pipeline.data.memory import Memory, parse_size
from crawlrank.pipeline.estimate.sample import size_of_tree
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.run import run as run_pipeline

ROOT = Path(__file__).resolve().parents[2]
STEPS = (
    "canonicalize", "assign-ids", "gen-graph", "page-rank", "join-scores", "export-precedence",
    "validate-opic",
)  # fmt: skip
WARMING = 0.05  # million links


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", default="1,10,50", help="millions of links, one crawl each")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--jobs", default="2", help="processes and threads, one number or several")
    parser.add_argument("--folder", type=Path, help="where crawls are made, and removed again")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument(
        "--steps-of", type=Path, nargs=2, metavar=("CRAWL", "WORK"),
        help="only run the steps of a made crawl in WORK, and print the name of each",
    )  # fmt: skip
    options = parser.parse_args()
    if options.steps_of:
        crawl, work = options.steps_of
        run_steps(crawl, work, options)
        return
    crawls = [WARMING, *map(float, options.links.split(","))]
    if "," in options.jobs:
        tables = [scaling(millions, options) for millions in crawls]
        print("\n".join(tables[1:]))
        return
    rows = [measured(millions, options) for millions in crawls][1:]
    print_table(rows)
    if options.json:
        machine = {"python": platform.python_version(), "cores": os.cpu_count()}
        told = {
            "memory": options.memory,
            "jobs": int(options.jobs),
            "machine": machine,
            "crawls": rows,
        }
        options.json.write_text(json.dumps(told, indent=1) + "\n")


def measured(millions: float, options: argparse.Namespace) -> dict[str, Any]:
    """Makes a crawl, runs what follows extraction and removes all."""
    folder = Path(tempfile.mkdtemp(prefix="bench-scale-", dir=options.folder))
    try:
        work, archives = folder / "work", folder / "archives"
        making = [sys.executable, str(ROOT / "scripts" / "bench" / "made_crawl.py"), str(folder)]
        subprocess.run([*making, "--links", str(int(millions * 1e6))], check=True)
        command = [sys.executable, "-m", "crawlrank", "run", str(archives), "--work", str(work)]
        command += ["--memory", options.memory, "--jobs", options.jobs, "--quiet"]
        before = size_of_tree(work)
        run = watched(command, work)
        manifest = json.loads((work / "manifest.json").read_text())
        steps = {name: manifest["steps"][name]["seconds"] for name in STEPS}
        rounds = manifest["steps"]["page-rank"]["rounds"]
        return {
            "links": manifest["steps"]["extract-links"]["rows"]["links"],
            "nodes": rounds[-1]["nodes"],
            "edges": manifest["steps"]["gen-graph"]["counters"]["edges"],
            "steps": steps,
            "wall": run.wall,
            "cpu": run.cpu,
            **vars(run.peaks),
            "links_mb": before / 1e6,
            "made_mb": (size_of_tree(work) - before) / 1e6,
            "most_mb": run.most_bytes / 1e6,
            "precedences": (work / "precedence.txt").read_bytes().count(b"\n"),
        }
    finally:
        shutil.rmtree(folder)


class Steps(Reporter):
    """Prints the names of the steps that are done."""

    def step(self, name: str, skipped: bool = False) -> None:
        if not skipped:
            print(name, flush=True)


def run_steps(crawl: Path, work: Path, options: argparse.Namespace) -> None:
    """Run what follows extraction in a copy of the work folder of a made crawl."""
    shutil.copytree(crawl / "work", work)
    archives = sorted((crawl / "archives").iterdir())
    memory = Memory(parse_size(options.memory))
    run_pipeline(work, archives, RunOptions(processes=int(options.jobs), memory=memory), Steps())


def scaling(millions: float, options: argparse.Namespace) -> str:
    """Makes a crawl, runs what follows extraction with each number of jobs and removes all. A line
    for each number and step."""
    folder = Path(tempfile.mkdtemp(prefix="bench-scale-", dir=options.folder))
    try:
        made = folder / "made"
        making = [sys.executable, str(ROOT / "scripts" / "bench" / "made_crawl.py"), str(made)]
        subprocess.run([*making, "--links", str(int(millions * 1e6))], check=True)
        lines = [f"{f'{millions:g} million links':<33}{'wall s':>8}{'CPU s':>10}{'alone':>10}"]
        for jobs in options.jobs.split(","):
            work = folder / jobs
            command = [sys.executable, __file__, "--steps-of", str(made), str(work)]
            costs = steps_of([*command, "--memory", options.memory, "--jobs", jobs])
            shutil.rmtree(work)
            sums = [sum(vars(cost)[name] for cost in costs.values()) for name in vars(StepCost())]
            for name, cost in [*costs.items(), ("all", StepCost(*sums))]:
                alone = cost.serial / cost.cpu if cost.cpu else 1.0
                seconds = f"{cost.wall:>8.2f}{cost.cpu:>10.2f}"
                lines.append(f"--jobs {jobs:<4}{name:<22}{seconds}{alone:>10.0%}")
        return "\n".join(lines)
    finally:
        shutil.rmtree(folder)


def print_table(rows: list[dict[str, Any]]) -> None:
    """A column for each crawl."""

    def line(name: str, values: list[str]) -> None:
        print(f"{name:<32}" + "".join(f"{value:>14}" for value in values))

    line("", [f"{row['links'] / 1e6:.2f} M links" for row in rows])
    for name in ("nodes", "edges", "precedences"):
        line(name, [f"{row[name]:,}" for row in rows])
    for name in STEPS:
        line(f"{name}, s", [f"{row['steps'][name]:.2f}" for row in rows])
    line("all, s", [f"{row['wall']:.2f}" for row in rows])
    line("all, CPU s", [f"{row['cpu']:.2f}" for row in rows])
    for name in ("wall", "cpu"):
        line(
            f"{name} s per million links", [f"{row[name] / row['links'] * 1e6:.2f}" for row in rows]
        )
    for name in vars(Peaks()):
        line(name.replace("_mb", ", peak MB"), [f"{row[name]:,.0f}" for row in rows])
    line("links and captures, MB", [f"{row['links_mb']:,.0f}" for row in rows])
    line("what the steps made, MB", [f"{row['made_mb']:,.0f}" for row in rows])
    line("most in the work folder, MB", [f"{row['most_mb']:,.0f}" for row in rows])


if __name__ == "__main__":
    main()
