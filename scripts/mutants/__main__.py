"""Runs the tests on each mutant: a line for each, and how many were found and missed."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from mutants.edit import Edit
from mutants.edits import AREAS, EDITS
from mutants.running import Outcome, fail_anyway, function_of, outcome_of

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to test")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these mutants, or these areas")
    parser.add_argument("--whole", action="store_true", help="all tests, where the named miss one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # with its clean-up
    tree, outcomes = options.tree.resolve(), list[Outcome]()
    for edit in _chosen(parser, options.only):
        outcomes.append(outcome_of(edit, tree, whole=options.whole))
        print(outcomes[-1].line(), flush=True)
        _write(options.json, outcomes)
    outcomes = _sure(outcomes, tree)
    _write(options.json, outcomes)
    counts = {state: _count(outcomes, state) for state in ("found", "missed", "error")}
    errors = f", {counts['error']} could not be tested" if counts["error"] else ""
    print(f"{counts['found']} found, {counts['missed']} missed{errors}")
    return int(counts["found"] < len(outcomes))


def _chosen(parser: argparse.ArgumentParser, names: list[str] | None) -> list[Edit]:
    if not names:
        return list(EDITS)
    named = {edit.name: (edit,) for edit in EDITS} | AREAS
    if unknown := [name for name in names if name not in named]:
        parser.error(f"no mutant or area has the name {unknown[0]}")
    return list(dict.fromkeys(edit for name in names for edit in named[name]))


def _sure(outcomes: list[Outcome], tree: Path) -> list[Outcome]:
    """A test that fails on the tree as it is has found nothing: its mutants become errors."""
    seen = {function_of(outcome.seen_by) for outcome in outcomes if outcome.state == "found"}
    wrong = fail_anyway(sorted(test for test in seen if "::" in test), tree)
    sure = []
    for outcome in outcomes:
        if function_of(outcome.seen_by) in wrong:
            outcome = outcome._replace(state="error")
            print(f"{outcome.line()} fails without the edit, too", flush=True)
        sure.append(outcome)
    return sure


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
