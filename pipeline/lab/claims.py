"""The paper's claims held against what was measured. Nothing here knows a result: each verdict is a
comparison of numbers of the run, by the rule that its row states.

`LabResults` has what a run measured, its means over seeds and crawls, and its tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawlrank.pipeline.data.datasets import csv_pieces, replacing
from crawlrank.pipeline.lab.experiments import (
    FIXED,
    IMPROVED,
    INTERPOLATIONS,
    OFFLINE,
    RATES,
    TIME,
    VISITS,
    DefinitionRow,
    LabGraphs,
    MeasureRow,
    PartitionRow,
    PolicyRow,
    ReasonRow,
    WindowRow,
)

POLICY_FIGURES, WINDOW_FIGURES, STORED = (2, 3), (4, 6), 5
FIGURES = (2, 3, 4, 5, 6)
#: the windows that a figure shows
SHOWN: dict[int, tuple[str, ...]] = {
    4: (*(f"M = {m}" for m in VISITS), *INTERPOLATIONS),
    6: (FIXED, IMPROVED, f"M = {VISITS[1]}", f"interpolation, T = {TIME:g}"),
}
SHOWN[STORED] = (*SHOWN[6], f"M = {VISITS[0]}", f"M = {VISITS[-1]}")


TABLES = ("policies", "windows", "measures", "reasons", "definitions", "partitions")


def mean(rows: Iterable[NamedTuple], column: str, **values: object) -> float:
    """The mean of a column over the rows with these values, which differ in seeds or crawls."""
    wanted = values.items()
    chosen = (row for row in rows if all(getattr(row, name) == value for name, value in wanted))
    return float(np.mean([getattr(row, column) for row in chosen]))


@dataclass
class LabResults:
    """Rows of experiments.py, by the names of TABLES. speeds: visits a second of each policy, the
    first seed's."""

    graphs: LabGraphs
    seeds: tuple[int, ...]
    figures: tuple[int, ...]
    policies: list[PolicyRow] = field(default_factory=list)
    windows: list[WindowRow] = field(default_factory=list)
    measures: list[MeasureRow] = field(default_factory=list)
    reasons: list[ReasonRow] = field(default_factory=list)
    definitions: list[DefinitionRow] = field(default_factory=list)
    partitions: list[PartitionRow] = field(default_factory=list)
    speeds: dict[str, float] = field(default_factory=dict)

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates of change: all of them only for the figures that show them."""
        if set(WINDOW_FIGURES) & set(self.figures):
            return RATES
        return (0.0,) if STORED in self.figures else ()

    @property
    def policy_names(self) -> tuple[str, ...]:
        """The policies that have rows, in the order of the rows."""
        return tuple(dict.fromkeys(row.policy for row in self.policies))

    def policy(self, name: str, column: str) -> list[float]:
        """A column of PolicyRow after N, 2 N … visits, the mean over seeds."""
        turns = sorted({row.visits for row in self.policies if row.policy == name})
        return [mean(self.policies, column, policy=name, visits=turn) for turn in turns]

    def window(self, name: str, rate: float, column: str = "error") -> float:
        """A column of WindowRow, the mean over seeds and crawls."""
        return mean(self.windows, column, window=name, rate=rate)

    def tables(self) -> dict[str, list[NamedTuple]]:
        """What the CSV files hold, by name; those without rows left out."""
        return {name: rows for name in TABLES if (rows := getattr(self, name))}


def write_tables(results: LabResults, output: Path) -> list[Path]:
    """A CSV file for each table; numbers as Python prints them, so that they are read back as they
    were."""
    paths = list[Path]()
    for name, rows in results.tables().items():
        path = output / f"{name}.csv"
        with replacing(path) as temporary, temporary.open("w", newline="") as stream:
            stream.writelines(csv_pieces(rows[0]._fields, rows, end="\n"))
        paths.append(path)
    return paths


ALIKE = 0.25  # two errors are about the same if they differ by no more than this part
MEAN_CASH = 0.05  # about 2/N
NEAR = 10.0  # percent of error without changes that is near the fixed point
MOST = f"M = {VISITS[-1]}"
POISSON = ("income", 10.0)  # the experiment, and the mean indegree
FEW = 0.01  # share of pages: up to here changes are few


class Claim(NamedTuple):
    """claim: the paper's. rule: when it holds here. measured: the numbers compared."""

    claim: str
    rule: str
    measured: str
    holds: bool


def claims(results: LabResults) -> list[Claim]:
    """The claims that the run has numbers for."""
    rows = list[Claim]()
    if results.policies:
        rows += _on_policies(results) + _on_measures(results)
    if OFFLINE in results.policy_names:
        rows += _on_offline(results)
    if results.policies and any(row.experiment == "income" for row in results.reasons):
        rows.append(_on_poisson(results))
    if {row.rate for row in results.windows} == set(RATES):
        rows += _on_windows(results)
    return rows


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


def _on_offline(results: LabResults) -> list[Claim]:
    tops = {name: results.policy(name, "error_of_top") for name in ("greedy", OFFLINE)}
    errors = {name: results.policy(name, "error")[-1] for name in ("cycle", OFFLINE)}
    first, last = ({name: row[turn] for name, row in tops.items()} for turn in (0, -1))
    return [
        Claim(
            "Greedy is faster than offline on the top tenth",
            "a smaller error after the first N visits, and after the last",
            f"first: {_percents(first, *first)}; last: {_percents(last, *last)}",
            first["greedy"] < first[OFFLINE] and last["greedy"] < last[OFFLINE],
        ),
        Claim(
            "Offline is about as cycle",
            f"errors after the last visit differ by at most {ALIKE:.0%}",
            _percents(errors, OFFLINE, "cycle"),
            alike(errors[OFFLINE], errors["cycle"]),
        ),
    ]


def _on_measures(results: LabResults) -> list[Claim]:
    """Whether another way to measure the error changes what is said of policies."""
    names = ("random", "cycle", "greedy")
    columns = {
        "all pages": "error",
        "by importance": "weighted",
        "pairs in wrong order": "disorder",
    }
    errors = {
        way: {name: results.policy(name, column)[-1] for name in names}
        for way, column in columns.items()
    }
    orders = {way: sorted(names, key=each.__getitem__) for way, each in errors.items()}
    variances = {name: results.policy(name, "variance")[-1] for name in names}
    return [
        Claim(
            "Other measures of the error say the same of policies",
            "each orders random, cycle and greedy as the error of all pages does",
            "; ".join(f"{way}: {', '.join(order)}" for way, order in orders.items()),
            len({*map(tuple, orders.values())}) == 1,
        ),
        Claim(
            "The variance of the error is about the same for all policies",
            f"variances differ by at most {ALIKE:.0%}",
            ", ".join(f"{name}: {variances[name]:.3g}" for name in names),
            alike(min(variances.values()), max(variances.values())),
        ),
    ]


def _on_poisson(results: LabResults) -> Claim:
    """reasons: rows of webs by Poisson's law."""
    here = results.policy("greedy", "error")[-1] / results.policy("cycle", "error")[-1]
    experiment, links = POISSON
    greedy, cycle = (
        mean(results.reasons, "value", experiment=experiment, case=links, quantity=name)
        for name in ("greedy", "cycle")
    )
    there = greedy / cycle
    return Claim(
        "On webs whose indegrees follow Poisson's law, policies are as on those by a power law",
        f"the error of greedy over that of cycle, {POISSON[1]:g} links a page, differs by at most"
        f" {ALIKE:.0%}",
        f"Poisson: {there:.2f}, power law: {here:.2f}",
        alike(there, here),
    )


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
            "M = 4 is not near the fixed point",
            f"an error above {NEAR:g} % without changes, and above that of M = 8",
            _percents(still, "M = 4", "M = 8"),
            still["M = 4"] > max(NEAR, still["M = 8"]),
        ),
        *_on_types_of_windows(results),
        *(row for name in INTERPOLATIONS for row in _on_interpolation(results, name)),
    ]


def _on_types_of_windows(results: LabResults) -> list[Claim]:
    """The claims of figures 5 and 6."""
    best_first = (f"interpolation, T = {TIME:g}", "M = 8", IMPROVED, FIXED)
    errors = {rate: [results.window(name, rate) for name in best_first] for rate in RATES}
    ordered = [f"{100 * rate:g} %" for rate in RATES if sorted(errors[rate]) == errors[rate]]
    stored = {name: results.window(name, 0.0, "measures") for name in (FIXED, IMPROVED, "M = 8")}
    return [
        Claim(
            f"Windows are in the order {', '.join(best_first)}, the best first",
            "errors rise in this order at each rate",
            f"they do at {', '.join(ordered) or 'no rate'}",
            len(ordered) == len(RATES),
        ),
        Claim(
            "Windows of a fixed time store about as many measures a page as M = 8",
            f"the means of all pages differ by at most {ALIKE:.0%}",
            ", ".join(f"{name}: {mean:.1f}" for name, mean in stored.items()),
            all(alike(mean, stored["M = 8"]) for mean in stored.values()),
        ),
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
