"""Estimates of importance from the reads of a simulation, by Adaptive OPIC's windows.

Source: Abiteboul, Preda, Cobena, WWW 2003, on windows. G is the clock: all cash read so far. A
measure of a page is the cash that it had at a read, and the clock after it.

whole: all history. X = (H + C) / (G + total), with the cash C that it has now.
fixed: the measures of the last T of the clock. X = their cash / T.
improved: the same, but never fewer than 3 measures: where the last T has fewer, the last 3 as in
    `variable`.
variable: the last k measures. X = their cash / (clock of the last - clock of the one before them).
interpolation: one number H and one clock G_i a page. At a read with cash C, where G - G_i < T,
    H <- H (T - (G - G_i)) / T + C, else H <- C T / (G - G_i). X = H / T.

At the start, history reaches back to when the page was introduced (ReadLog.born), and a page that
was never read has the importance that it was given then (ReadLog.prior); with a fixed window it has
0, as has every page without a read in the last T. For interpolation H begins as prior T.

The estimates need not sum to 1. Memory: 8 to 40 bytes a page, made anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.lab.simulation import ReadLog, interpolate, last_reads

LEAST = 3  # measures of the improved fixed window


@dataclass(frozen=True, eq=False)
class Estimate:
    """importance: float64[N]. measures: int64[N], how many each page stores."""

    importance: Floats
    measures: Positions


def whole(log: ReadLog, cash: Floats) -> Estimate:
    """cash: float64[N], what each page has now."""
    history = np.bincount(log.reads.pages, log.reads.cash, len(cash))
    return Estimate((history + cash) / (log.now + cash.sum()), np.ones(len(cash), np.int64))


def fixed(log: ReadLog, time: float) -> Estimate:
    """time: T, in units of the clock. Raises BadInput unless it is above 0."""
    _require(time > 0, f"a window of {time}", "a time above 0")
    begin = int(np.searchsorted(log.reads.clock, log.now - time, side="right"))
    pages, n = log.reads.pages[begin:], len(log.born)
    sums = np.bincount(pages, log.reads.cash[begin:], n)
    passed = np.minimum(time, log.now - log.born)
    known = np.divide(sums, passed, out=np.zeros(n), where=passed > 0)
    return Estimate(known, np.bincount(pages, minlength=n))


def improved(log: ReadLog, time: float, least: int = LEAST) -> Estimate:
    """time: as in `fixed`. least: measures that a page keeps, however old."""
    recent, last = fixed(log, time), variable(log, least)
    few = recent.measures < least
    return Estimate(
        np.where(few, last.importance, recent.importance),
        np.maximum(recent.measures, last.measures),
    )


def variable(log: ReadLog, visits: int) -> Estimate:
    """visits: k. Raises BadInput unless it is at least 1."""
    _require(visits >= 1, f"a window of {visits} visits", "at least 1")
    n = len(log.born)
    sums, starts, ends, counts = np.zeros(n), log.born.copy(), np.zeros(n), np.zeros(n, np.int64)
    compiled(last_reads)(visits, *log.reads, sums, starts, ends, counts)
    known = (counts > 0) & (ends > starts)
    importance = log.prior.copy()
    np.divide(sums, ends - starts, out=importance, where=known)
    return Estimate(importance, counts)


def interpolated(log: ReadLog, time: float) -> Estimate:
    """time: T, in units of the clock. Raises BadInput unless it is above 0."""
    _require(time > 0, f"a window of {time}", "a time above 0")
    history, last = log.prior * time, log.born.copy()
    compiled(interpolate)(float(time), *log.reads, history, last)
    return Estimate(history / time, np.ones(len(history), np.int64))


def _require(true: bool, has: str, expected: str) -> None:
    if not true:
        raise BadInput("window", has, expected)
