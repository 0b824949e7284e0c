"""What `crawlrank run` takes on Spark, against the embedded engine and another checkout's runner.

    python scripts/costs/bench_spark.py ARCHIVE… [--iterations 10] [--before CHECKOUT] [--repeat 1]

CPU seconds are those of all processes of a run, Java included: this process takes those whose
parent has ended, and waits for them. Linux only. The first run of each kind, by a round, is not
counted: it compiles what is not there.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PR_SET_CHILD_SUBREAPER = 36


class Took(NamedTuple):
    wall: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path, help="WARC or ARC files")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--before", type=Path, help="a checkout to compare with, by this Python")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    kinds = [("embedded", ROOT, "embedded"), ("spark", ROOT, "spark")]
    if options.before:
        kinds.append((f"spark of {options.before}", options.before.resolve(), "spark"))
    archives = [path.resolve() for path in options.archives]
    for _, checkout, runner in kinds:
        run(checkout, runner, archives[:1], 1)
    print("| engine | seconds | CPU seconds | to embedded |\n|---|---|---|---|")
    for _ in range(options.repeat):
        rows = {name: run(code, way, archives, options.iterations) for name, code, way in kinds}
        for name, took in rows.items():
            ratio = took.cpu / rows["embedded"].cpu
            print(f"| {name} | {took.wall:.1f} | {took.cpu:.1f} | {ratio:.1f} |", flush=True)


def run(checkout: Path, runner: str, archives: list[Path], iterations: int) -> Took:
    folder = Path(tempfile.mkdtemp(prefix="bench-spark-"))
    words = [*archives, "--work", folder / "work", "--iterations", iterations, "--no-validate"]
    words += ["--runner", runner, "--quiet"]
    if runner == "spark":
        words += ["--data", f"file://{folder}/data", "--reducers", 2]
    command = [sys.executable, "-m", "crawlrank", "run", *map(str, words)]
    before, began = used(), time.monotonic()
    try:
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(checkout)}, stdout=subprocess.DEVNULL,
            cwd=folder,  # not in a checkout, which Python would prefer
        )  # fmt: skip
        wall = time.monotonic() - began
        if done.returncode:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}")
        while has_ended_one():
            pass
        return Took(wall, used() - before)
    finally:
        shutil.rmtree(folder)


def has_ended_one() -> bool:
    """Wait for a process whose parent has ended; False where there is none."""
    try:
        os.wait()
    except ChildProcessError:
        return False
    return True


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
