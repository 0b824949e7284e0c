"""Runs the tests on each mutant: a line for each, and how many were found and missed."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from mutants.copies import copied
from mutants.edit import Edit
from mutants.edits import AREAS, EDITS
from mutants.running import Outcome, TestsNotRun, fail_anyway, function_of, outcome_of

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to test")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants, or these areas")
    parser.add_argument("--whole", action="store_true", help="all tests, where the named miss one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # with its clean-up
    edits = _chosen(parser, options.only)
    with copied(options.tree.resolve()) as first:
        try:
            outcomes = _outcomes(edits, first, options)
        except TestsNotRun as error:
            sys.exit(str(error))
    _write(options.json, outcomes)
    counts = {state: _count(outcomes, state) for state in ("found", "missed", "error")}
    errors = f", {counts['error']} could not be tested" if counts["error"] else ""
    minutes = sum(os.times()[:4]) / 60
    print(f"{counts['found']} found, {counts['missed']} missed{errors}; {minutes:.1f} CPU minutes")
    return int(counts["found"] < len(outcomes))


def _outcomes(edits: list[Edit], first: Path, options: argparse.Namespace) -> list[Outcome]:
    """The outcomes of edits, in their order. A test that fails without an edit has seen nothing:
    what it alone finds is an error. The named functions run on the first copy before all edits, and
    leave there what they compile."""
    named = {test for edit in edits for test in edit.test_functions}
    wrong = fail_anyway(sorted(named), first, options.jobs)
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        try:
            one = partial(outcome_of, first=first, whole=options.whole)
            for outcome in pool.map(one, edits):
                outcomes.append(outcome)
                print(outcome.line(), flush=True)
                _write(options.json, outcomes)
        finally:
            pool.shutdown(cancel_futures=True)
    others = {function_of(outcome.seen_by) for outcome in outcomes if outcome.state == "found"}
    wrong |= fail_anyway(
        sorted(test for test in others - named if "::" in test), first, options.jobs
    )
    return [_sure(outcome, wrong) for outcome in outcomes]


def _chosen(parser: argparse.ArgumentParser, names: list[str] | None) -> list[Edit]:
    if not names:
        return list(EDITS)
    named = {edit.name: (edit,) for edit in EDITS} | AREAS
    if unknown := [name for name in names if name not in named]:
        parser.error(f"no mutant or area has the name {unknown[0]}")
    return list(dict.fromkeys(edit for name in names for edit in named[name]))


def _sure(outcome: Outcome, wrong: set[str]) -> Outcome:
    if function_of(outcome.seen_by) in wrong:
        outcome = outcome._replace(state="error")
        print(f"{outcome.line()} fails without the edit, too", flush=True)
    return outcome


def _count(outcomes: list[Outcome], state: str) -> int:
    return sum(outcome.state == state for outcome in outcomes)


def _write(path: Path | None, outcomes: list[Outcome]) -> None:
    if path:
        seconds = round(sum(outcome.seconds for outcome in outcomes), 1)
        counts = {state: _count(outcomes, state) for state in ("found", "missed", "error")}
        results = {**counts, "seconds": seconds, "mutants": [it._asdict() for it in outcomes]}
        path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
