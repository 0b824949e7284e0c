"""Durations, and estimates of the time that is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from rich.filesize import decimal

from crawlrank.pipeline.ranking.bounds import bounds_of
from crawlrank.pipeline.ranking.stop import Round, Stop

A_MINUTE = 60


def duration(seconds: float) -> str:
    """`12.3 s`, or `1:02:05` from a minute on."""
    if round(seconds, 1) < A_MINUTE:
        return f"{seconds:.1f} s"
    return str(timedelta(seconds=round(seconds)))


def seconds_left(done: int, total: int, seconds: float) -> float | None:
    """Of a work of which `done` took so many seconds; None where nothing is done."""
    return seconds * (total - done) / done if done > 0 else None


def rounds_left(rounds: Sequence[Round], stop: Stop) -> int | None:
    """An estimate: the certificate falls by a steady factor. None where it does not fall."""
    if stop.iterations is not None:
        return stop.iterations - len(rounds)
    before = rounds[-2]["certificate"] if len(rounds) > 1 else 0.0
    now, tolerance = rounds[-1]["certificate"], stop.tolerance
    if now <= tolerance:
        return 0
    if not 0 < now < before:
        return None
    return math.ceil(math.log(tolerance / now) / math.log(now / before))


def round_line(rounds: Sequence[Round], stop: Stop, *, verbose: bool = False) -> str:
    """The last round for people, with an estimate of the time left."""
    last = rounds[-1]
    line = f"residual {last['residual_l1']:.2e}, certificate {last['certificate']:.2e}"
    if stop.iterations is not None:
        line = f"round {len(rounds)} of {stop.iterations}: {line}"
    else:
        line = f"round {len(rounds)}: {line} of {stop.tolerance:g}"
    if verbose:
        eta, absolute = bounds_of(last)
        of_one = f"eta {eta:.2e}" if math.isfinite(eta) else f"error of a score {absolute:.2e}"
        line += f", {of_one}, mass {last['mass']:.9g}, {last['seconds']:.1f} s"
    left = rounds_left(rounds, stop)
    return line + (f", about {left * last['seconds']:.0f} s left" if left else "")


def volume(done: int, total: int, speed: float) -> str:
    """`1.2 GB of 3.4 GB, 45.0 MB/s`: of compressed bytes. speed: bytes a second."""
    return f"{decimal(done)} of {decimal(total)}" + (
        f", {decimal(round(speed))}/s" if speed else ""
    )
