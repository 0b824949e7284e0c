"""Runs targets of make, one after the other, whatever becomes of each. Ends with a table of what
passed, in which time:

    python scripts/run_targets.py test smoke
    python scripts/run_targets.py quick test --write

The output of a target goes to work/targets/. CPU minutes count all processes that a target started
and waited for. --write puts the minutes into the table of CONTRIBUTING.md. Exit 1 if a target
failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
LOGS = ROOT / "work" / "targets"
PASSED = re.compile(r"(\d+) passed")


class Outcome(NamedTuple):
    """The outcome of a target. wall, cpu: seconds. tests: how many passed, 0 where none are
    counted."""

    target: str
    passed: bool
    wall: float
    cpu: float
    tests: int

    def __str__(self) -> str:
        tests = f"{self.tests:,} tests" if self.tests else ""
        times = f"{minutes(self.wall):>6} min {minutes(self.cpu):>6} CPU min"
        result = "passed" if self.passed else f"failed: {log_of(self.target)}"
        return f"{self.target:15}{times}  {tests:12}  {result}"


def log_of(target: str) -> Path:
    return LOGS / f"{target}.log"


def run(target: str) -> Outcome:
    before, begun = os.times(), time.monotonic()
    log = log_of(target)
    with log.open("wb") as output:
        done = subprocess.run(
            ["make", "--no-print-directory", target], cwd=ROOT, check=False,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    wall, after = time.monotonic() - begun, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    tests = sum(map(int, PASSED.findall(log.read_text(errors="replace"))))
    return Outcome(target, done.returncode == 0, wall, cpu, tests)


def write(outcomes: Iterable[Outcome]) -> None:
    """Put minutes into the lines of the table of CONTRIBUTING.md that name the targets alone."""
    text = PAGE.read_text()
    for outcome in outcomes:
        line = re.compile(
            rf"^(\| `make {re.escape(outcome.target)}` \|.*?\|) [^|]* \| [^|]* \|$", re.MULTILINE
        )
        times = f"{minutes(outcome.wall)} | {minutes(outcome.cpu)}"
        text, count = line.subn(rf"\g<1> {times} |", text)
        if count != 1:
            sys.exit(f"{PAGE.name} has {count} lines of `make {outcome.target}`; expected one")
    PAGE.write_text(text)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--write", action="store_true", help=f"put minutes into {PAGE.name}")
    given = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes = []
    for target in given.targets:
        outcomes.append(run(target))
        print(outcomes[-1], flush=True)
    if len(outcomes) > 1:
        print("", "all targets:", *outcomes, sep="\n")
    if given.write:
        write(outcome for outcome in outcomes if outcome.passed)
    sys.exit(not all(outcome.passed for outcome in outcomes))


if __name__ == "__main__":
    main()
