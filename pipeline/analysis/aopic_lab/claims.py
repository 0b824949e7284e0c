"""The paper's claims held against what was measured. Nothing here knows a result: each verdict is a
comparison of numbers of the run, by the rule that its row states."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.analysis.aopic_lab.experiments import INTERPOLATIONS, RATES, VISITS
from pipeline.analysis.aopic_lab.results import LabResults

ALIKE = 0.25  # two errors are about the same if they differ by no more than this part
MEAN_CASH = 0.05  # about 2/N
NEAR = 10.0  # percent of error without changes that is near the fixed point
MOST = f"M = {VISITS[-1]}"
FEW = 0.01  # share of pages: up to here changes are few


class Claim(NamedTuple):
    """claim: the paper's. rule: when it holds here. measured: the numbers compared."""

    claim: str
    rule: str
    measured: str
    holds: bool


def claims(results: LabResults) -> list[Claim]:
    """Those that the run has numbers for."""
    of_policies = _on_policies(results) if results.policies else []
    many = {row.rate for row in results.windows} == set(RATES)
    return of_policies + (_on_windows(results) if many else [])


def _on_policies(results: LabResults) -> list[Claim]:
    cash = {name: results.policy(name, "mean_cash")[-1] for name in ("greedy", "cycle")}
    errors = {name: results.policy(name, "error")[-1] for name in ("random", "cycle", "greedy")}
    tops = {name: results.policy(name, "error_of_top")[-1] for name in errors}
    return [
        *(
            Claim(
                f"The mean cash at a read tends to 2/N ({name})",
                f"within {MEAN_CASH:.0%} of 2/N in the last N reads",
                f"{value:.2f}/N",
                abs(value / 2 - 1) <= MEAN_CASH,
            )
            for name, value in cash.items()
        ),
        Claim(
            "Greedy is about as cycle on all pages",
            f"errors after the last visit differ by at most {ALIKE:.0%}",
            _percents(errors, "greedy", "cycle"),
            alike(errors["greedy"], errors["cycle"]),
        ),
        Claim(
            "Greedy is best on the top tenth",
            "the smallest error of random, cycle and greedy",
            _percents(tops, "random", "cycle", "greedy"),
            tops["greedy"] < min(tops["random"], tops["cycle"]),
        ),
        Claim(
            "Random is worse",
            "a larger error than cycle and greedy, on all pages",
            _percents(errors, "random", "cycle", "greedy"),
            errors["random"] > max(errors["cycle"], errors["greedy"]),
        ),
    ]


def _on_windows(results: LabResults) -> list[Claim]:
    still = {name: results.window(name, 0.0) for name in ("M = 4", "M = 8")}
    return [
        Claim(
            "M = 8 is near the fixed point",
            f"an error of at most {NEAR:g} % without changes",
            _percents(still, "M = 8"),
            still["M = 8"] <= NEAR,
        ),
        Claim(
            "M = 4 is not near it",
            f"an error above {NEAR:g} % without changes, and above that of M = 8",
            _percents(still, "M = 4", "M = 8"),
            still["M = 4"] > max(NEAR, still["M = 8"]),
        ),
        *(row for name in INTERPOLATIONS for row in _on_interpolation(results, name)),
    ]


def _on_interpolation(results: LabResults, name: str) -> list[Claim]:
    pairs = {rate: (results.window(name, rate), results.window(MOST, rate)) for rate in RATES}
    few = {rate: pair for rate, pair in pairs.items() if rate <= FEW}
    more = {rate: pair for rate, pair in pairs.items() if rate > FEW}
    stored = {each: results.window(each, RATES[-1], "measures") for each in (name, MOST)}
    return [
        Claim(
            f"With few changes {name} is about as {MOST}",
            f"errors differ by at most {ALIKE:.0%} at each rate up to {FEW:.0%}",
            _by_rate(few),
            all(alike(*pair) for pair in few.values()),
        ),
        Claim(
            f"Above {FEW:.0%} {name} is better than {MOST}",
            "a smaller error at each rate above",
            _by_rate(more),
            all(one < other for one, other in more.values()),
        ),
        Claim(
            f"{name} stores one measure a page",
            "the mean of all pages is 1",
            f"{stored[name]:g}; {MOST}: {stored[MOST]:.1f}",
            stored[name] == 1,
        ),
    ]


def alike(one: float, other: float) -> bool:
    """Whether they differ by at most the part ALIKE of the larger one."""
    return abs(one - other) <= ALIKE * max(one, other)


def _percents(errors: dict[str, float], *names: str) -> str:
    return ", ".join(f"{name}: {errors[name]:.2f} %" for name in names)


def _by_rate(pairs: dict[float, tuple[float, float]]) -> str:
    """Interpolation against M = 16."""
    return ", ".join(
        f"{100 * rate:g} %: {one:.2f} to {other:.2f} %" for rate, (one, other) in pairs.items()
    )
