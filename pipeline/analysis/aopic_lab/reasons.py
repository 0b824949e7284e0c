"""Reasons why claims of the paper do not hold here, held against the experiments on them."""

from __future__ import annotations

from collections.abc import Sequence

from crawlrank.pipeline.analysis.aopic_lab.claims import ALIKE, MEAN_CASH, NEAR, Claim, alike
from crawlrank.pipeline.analysis.aopic_lab.experiments import INTERPOLATIONS, TIMES, VISITS
from crawlrank.pipeline.analysis.aopic_lab.reason_rows import LONG, MEANS, SHORT, ReasonRow

FORGOTTEN = 0.1  # part of an error
LONGEST = f"interpolation, T = {TIMES[-1]:g}"


def reasons(rows: Sequence[ReasonRow]) -> list[Claim]:
    """Those that rows were measured for, held against them as claims of the paper are."""
    measured = {row.experiment for row in rows}
    return [
        *(_on_incomes(rows) if "income" in measured else []),
        *(_on_orders(rows) + _on_interpolation(rows) if "greedy" in measured else []),
    ]


def _on_incomes(rows: Sequence[ReasonRow]) -> list[Claim]:
    cash = [_mean(rows, "income", mean, "mean cash, greedy") for mean in MEANS]
    pairs = [[_mean(rows, "income", mean, name) for name in ("greedy", "cycle")] for mean in MEANS]
    ratios = [greedy / cycle for greedy, cycle in pairs]
    return [
        Claim(
            "The mean cash of greedy is above 2/N because income comes in lumps, which lift a page"
            " far above the threshold at which it is read",
            "on webs by Poisson's law it falls with the mean indegree, and ends within"
            f" {MEAN_CASH:.0%} of 2/N",
            _by_mean([f"{value:.2f}/N" for value in cash]),
            sorted(cash, reverse=True) == cash and abs(cash[-1] / 2 - 1) <= MEAN_CASH,
        ),
        Claim(
            "Greedy is better than cycle on all pages because of these lumps: it reads a page soon"
            " after one came",
            "the error of greedy over that of cycle grows with the mean indegree, and ends within"
            f" {ALIKE:.0%} of 1",
            _by_mean([f"{ratio:.2f}" for ratio in ratios]),
            sorted(ratios) == ratios and alike(ratios[-1], 1.0),
        ),
    ]


def _on_orders(rows: Sequence[ReasonRow]) -> list[Claim]:
    least, middle, most = (f"M = {visits}" for visits in VISITS)
    random = [_mean(rows, "random", LONG, name) for name in (least, middle)]
    short, long = (
        [_mean(rows, "greedy", visits, name) for name in (least, middle, most)]
        for visits in (SHORT, LONG)
    )
    return [
        Claim(
            f"{least} is near the fixed point because greedy reads a page at nearly equal distances"
            " of the clock; with random reads it is not",
            f"with random reads, an error above {NEAR:g} % and above that of {middle}",
            f"random, {least}: {random[0]:.2f} %, {middle}: {random[1]:.2f} %;"
            f" greedy, {least}: {long[0]:.2f} %",
            random[0] > max(NEAR, random[1]),
        ),
        Claim(
            f"{most} is worse than {least} because windows of pages that are read seldom reach back"
            " to the start; without it, more visits are better",
            f"after {LONG} N greedy visits, each longer window is better",
            f"{SHORT} N: {_percents(short)}; {LONG} N: {_percents(long)}",
            sorted(long, reverse=True) == long,
        ),
    ]


def _on_interpolation(rows: Sequence[ReasonRow]) -> list[Claim]:
    most = f"M = {VISITS[-1]}"
    begun, ended = (_mean(rows, "greedy", visits, LONGEST) for visits in (SHORT, LONG))
    return [
        Claim(
            f"{LONGEST} is bad because it still knows the start, by about exp(-clock/T)",
            f"after {LONG} N visits at most {FORGOTTEN:.0%} of the error after {SHORT} N",
            f"{SHORT} N: {begun:.2f} %, {LONG} N: {ended:.2f} %",
            ended <= FORGOTTEN * begun,
        ),
        Claim(
            f"{LONGEST} is what corresponds to {most}, since a page of mean importance is read"
            " T/2 times in T; once the start is forgotten they are alike",
            f"errors after {LONG} N visits differ by at most {ALIKE:.0%}",
            ", ".join(
                f"{name}: {_mean(rows, 'greedy', LONG, name):.2f} %"
                for name in (*INTERPOLATIONS, most)
            ),
            alike(ended, _mean(rows, "greedy", LONG, most)),
        ),
    ]


def _mean(rows: Sequence[ReasonRow], experiment: str, case: float, quantity: str) -> float:
    """Over seeds."""
    wanted = experiment, case, quantity
    values = [row.value for row in rows if (row.experiment, row.case, row.quantity) == wanted]
    return sum(values) / len(values)


def _by_mean(values: Sequence[str]) -> str:
    return ", ".join(f"{mean:g} links: {value}" for mean, value in zip(MEANS, values, strict=True))


def _percents(errors: Sequence[float]) -> str:
    pairs = zip(VISITS, errors, strict=True)
    return ", ".join(f"M = {visits} {error:.2f} %" for visits, error in pairs)
