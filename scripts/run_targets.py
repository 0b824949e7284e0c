"""Runs targets of make, one after the other, whatever becomes of each. Ends with a table of what
passed, in which time:

    python scripts/run_targets.py test smoke
    python scripts/run_targets.py quick test --write

The output of a target goes to work/targets/, and its outcome, with the commit. A set of targets
that was interrupted continues: what has passed on this commit with these settings is not run again,
if the checkout had no changes then and has none now. --again runs all. PYTHONPATH, which may name
another checkout, is left out. CPU minutes count all
processes that a target started and waited for. --write puts the minutes into the table of
CONTRIBUTING.md. Exit 1 if a target failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = "CONTRIBUTING.md"
PASSED = re.compile(r"(\d+) passed")
VARIABLE = re.compile(r"^(\w+) *\?=", re.MULTILINE)  # of a Makefile, which users may set
OURS = "CRAWLRANK_"  # the beginning of the variables that our tests read


class State(NamedTuple):
    """What a target is run on. commit: of the checkout, "" where it has changes or is none.
    settings: variables of the environment that change what targets do; make passes its own there.
    """

    commit: str
    settings: dict[str, str]


class Outcome(NamedTuple):
    """The outcome of a target. wall, cpu: seconds. tests: how many passed, 0 where none are
    counted. before: an earlier call has run it."""

    target: str
    passed: bool
    wall: float
    cpu: float
    tests: int
    before: bool = False

    def __str__(self) -> str:
        tests = f"{self.tests:,} tests" if self.tests else ""
        times = f"{minutes(self.wall):>6} min {minutes(self.cpu):>6} CPU min"
        result = "passed" if self.passed else f"failed: work/targets/{self.target}.log"
        return f"{self.target:15}{times}  {tests:12}  {result}{' before' if self.before else ''}"


class Checkout:
    """The folder with the Makefile, and the outcomes of its targets."""

    def __init__(self, root: Path) -> None:
        self.root, self.kept = root, root / "work" / "targets"
        self.kept.mkdir(parents=True, exist_ok=True)

    def state(self) -> State:
        named = VARIABLE.findall((self.root / "Makefile").read_text())
        settings = {
            name: value
            for name, value in os.environ.items()
            if name in named or name.startswith(OURS)
        }
        changes = self._git("status", "--porcelain")
        return State("" if changes else self._git("rev-parse", "HEAD"), settings)

    def _git(self, *words: str) -> str:
        """What git says; an error of it is a change."""
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else done.stderr

    def before(self, target: str, state: State) -> Outcome | None:
        """The outcome of a target that has passed on this state in an earlier call."""
        path = self.kept / f"{target}.json"
        if not state.commit or not path.exists():
            return None
        kept = json.loads(path.read_text())
        outcome = Outcome(**kept["outcome"], before=True)
        return outcome if outcome.passed and kept["state"] == state._asdict() else None

    def run(self, target: str) -> Outcome:
        state, before, begun = self.state(), os.times(), time.monotonic()
        log, kept = self.kept / f"{target}.log", self.kept / f"{target}.json"
        kept.unlink(missing_ok=True)
        around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with log.open("wb") as output:
            done = subprocess.run(
                ["make", "--no-print-directory", target], cwd=self.root, check=False, env=around,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        wall, after = time.monotonic() - begun, os.times()
        cpu = sum(after[2:4]) - sum(before[2:4])
        tests = sum(map(int, PASSED.findall(log.read_text(errors="replace"))))
        outcome = Outcome(target, done.returncode == 0, wall, cpu, tests)
        if self.state() != state:  # changed while the target ran
            state = state._replace(commit="")
        values = {name: value for name, value in outcome._asdict().items() if name != "before"}
        kept.write_text(json.dumps({"state": state._asdict(), "outcome": values}) + "\n")
        return outcome

    def write(self, outcomes: Iterable[Outcome]) -> None:
        """Put minutes into the lines of the table of CONTRIBUTING.md that name the targets."""
        text = (self.root / PAGE).read_text()
        for outcome in outcomes:
            line = re.compile(
                rf"^(\| `make {re.escape(outcome.target)}` \|.*?\|) [^|]* \| [^|]* \|$",
                re.MULTILINE,
            )
            times = f"{minutes(outcome.wall)} | {minutes(outcome.cpu)}"
            text, count = line.subn(rf"\g<1> {times} |", text)
            if count != 1:
                sys.exit(f"{PAGE} has {count} lines of `make {outcome.target}`; expected one")
        (self.root / PAGE).write_text(text)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="+")
    parser.add_argument("--again", action="store_true", help="run what has passed before, too")
    parser.add_argument("--write", action="store_true", help=f"put minutes into {PAGE}")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the folder with the Makefile")
    given = parser.parse_args(words)
    checkout = Checkout(given.tree)
    outcomes = []
    for target in given.targets:
        known = None if given.again else checkout.before(target, checkout.state())
        outcomes.append(known or checkout.run(target))
        print(outcomes[-1], flush=True)
    if len(outcomes) > 1:
        wall = minutes(sum(outcome.wall for outcome in outcomes))
        cpu = minutes(sum(outcome.cpu for outcome in outcomes))
        print("", "all targets:", *outcomes, sep="\n")
        print(f"{'together':15}{wall:>6} min {cpu:>6} CPU min")
    if given.write:
        checkout.write(outcome for outcome in outcomes if outcome.passed)
    return int(not all(outcome.passed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
