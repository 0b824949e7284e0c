"""The report of page-rank: how it stopped and its rounds; eta and digits for the steps behind it.

{"stop": {"iterations", "tolerance", "max_rounds"}, "rounds": [{"round", "eta", …}]}
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.pipeline.data.datasets import write_file
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of, order_digits, relative_bound
from crawlrank.pipeline.ranking.stop import Round, Stop


def shared_digits(stop: Stop, last: Round) -> int:
    """Digits that scores share: all nine after a fixed number of rounds, which are the same on
    every runner; after a tolerance, enough for scores that are certainly different, of the mean
    score where not of each."""
    return DIGITS if stop.iterations is not None else order_digits(relative_bound(last))


def write_rank_report(stop: Stop, rounds: list[Round], path: Path) -> None:
    report = {"stop": asdict(stop), "rounds": rounds}
    write_file([json.dumps(report, indent=1).encode() + b"\n"], path)


def read_rank_report(path: Path) -> tuple[int, Bounds]:
    """The digits, and the bounds, of the scores that page-rank has left. Raises BadInput."""
    require_file(path, "a report of page-rank")
    try:
        report = json.loads(path.read_bytes())
        last = report["rounds"][-1]
        bounds = bounds_of(last)
        digits = shared_digits(Stop(**report["stop"]), last) if bounds.eta >= 0 else 0
    except (OSError, ValueError, LookupError, TypeError):
        digits = 0
    if not digits:
        cure = "Write it with page-rank --report."
        raise BadInput(str(path), "no report of page-rank", "JSON with `stop` and `rounds`", cure)
    return digits, bounds
