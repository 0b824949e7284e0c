"""What the validation of PageRank by OPIC was asked and has report: data, JSON and tables.

The equations and the verdict's rules are in pipeline/ranking/validation.py, which fills this in.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from jobs.kernel.errors import NotConverged
from pipeline.options import ValidationOptions
from pipeline.ranking.agreement import Overlap
from pipeline.ranking.certificate import Certificate
from pipeline.ranking.opic import OpicResult

if TYPE_CHECKING:
    from rich.table import Table

WIDEST = 10  # classes that a table of them still fits on a screen


class ValidationFailed(NotConverged):
    """PageRank and OPIC do not agree; all other results are there."""


@dataclass(frozen=True)
class OrderComparison:
    """Both orders, of scores rounded to the digits that both resolve. Where a side resolves none,
    digits is 0 and compared_digits what the other resolves, or 1. Spearman's and Kendall's (tau-b)
    coefficients are None where scores are constant."""

    digits: int
    compared_digits: int
    spearman: float | None
    kendall: float | None
    top: tuple[Overlap, ...]


@dataclass(frozen=True)
class ClassComparison:
    """agreement: part of the nodes that agree within tolerance, t above. same_class: part whose
    classes, of scores rounded to the digits that both resolve, are equal; confusion[i][j] nodes
    are then in class i+1 by PageRank and j+1 by OPIC. classes_cut_over: the `captured` nodes or
    `all`, nodes_cut_over of them. nodes_apart: those that scores tell apart; agreement_apart: the
    part of these that agree, None where there are none."""

    agreement: float
    tolerance: float
    same_class: float
    confusion: tuple[tuple[int, ...], ...]
    classes_cut_over: Literal["captured", "all"]
    nodes_cut_over: int
    nodes_apart: int
    agreement_apart: float | None


@dataclass(frozen=True, eq=False)
class ValidationReport:
    """What was report. distance: L1, of probabilities; allowed: the certificates' sum. notes: what
    was not reached. reasons: why it fails."""

    options: ValidationOptions
    nodes: int
    edges: int
    dangling: int
    pagerank: Certificate
    opic: OpicResult
    distance: float
    allowed: float
    order: OrderComparison
    classes: ClassComparison
    notes: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def verdict(self) -> Literal["pass", "fail", "none"]:
        if self.options.virtual_page == "edge":
            return "none"
        return "fail" if self.reasons else "pass"

    def require(self) -> None:
        """Raise ValidationFailed, with every reason and note, when the validation fails."""
        if self.verdict == "fail":
            raise ValidationFailed("; ".join(["validation failed", *self.reasons, *self.notes]))

    def as_dict(self) -> dict[str, Any]:
        """For JSON: numbers, strings, lists; None for what is undefined or infinite."""
        last = self.opic.history[-1]
        run = {
            "reached": self.opic.reached,
            "visits": last.visits,
            "seconds": last.seconds,
            "best": self.opic.best._asdict(),
            "history": [checkpoint._asdict() for checkpoint in self.opic.history],
        }
        plain = ("nodes", "edges", "dangling", "distance", "allowed", "notes", "reasons")
        report = {
            "verdict": self.verdict,
            **{name: getattr(self, name) for name in plain},
            **asdict(self.order),
            **asdict(self.classes),
            "options": asdict(self.options),
            "pagerank": self.pagerank.as_dict(),
            "opic": run,
        }
        return dict(_jsonable(report))


def _jsonable(value: Any) -> Any:
    """JSON has no infinity: a bound that is infinite is none."""
    if isinstance(value, dict):
        return {name: _jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def tables(report: ValidationReport) -> list[Table]:
    """The report for people: figures, and the classes where they fit on a screen."""
    from rich.table import Table

    figures = Table("", "", title=f"PageRank by OPIC: {report.verdict}", show_header=False)
    for name, shown in _figures(report):
        figures.add_row(name, shown)
    if report.options.bins > WIDEST:
        return [figures]
    bins = range(1, report.options.bins + 1)
    title = "Nodes by class: PageRank's down, OPIC's across"
    confusion = Table("", *map(str, bins), title=title)
    for number, row in zip(bins, report.classes.confusion, strict=True):
        confusion.add_row(str(number), *(f"{count:,}" for count in row))
    return [figures, confusion]


def _figures(report: ValidationReport) -> list[tuple[str, str]]:
    best, last = report.opic.best, report.opic.history[-1]
    ways, classes = report.options, report.classes

    def coefficient(value: float | None) -> str:
        return "undefined (constant scores)" if value is None else f"{value:.6f}"

    rows = [
        ("Nodes, edges", f"{report.nodes:,}, {report.edges:,} ({report.dangling:,} dangling)"),
        ("PageRank's certificate", f"{report.pagerank.probability:.2g}"),
        ("PageRank's eta", f"{report.pagerank.eta:.2g}"),
        ("PageRank's mass error", f"{report.pagerank.mass_error:.2g}"),
        ("OPIC", f"{ways.policy}, {last.visits:,} visits, {last.seconds:.2f} s"),
        ("OPIC's certificate", f"{best.certificate:.2g} (asked: {ways.opic_error:g})"),
        ("OPIC's eta", f"{best.eta:.2g}"),
        ("The paper's 1/sum(H)", f"{last.paper:.2g}"),
        ("Distance, allowed", f"{report.distance:.3g}, {report.allowed:.3g}"),
        ("Spearman", coefficient(report.order.spearman)),
        ("Kendall tau-b", coefficient(report.order.kendall)),
        (
            "Digits resolved by both",
            str(report.order.digits or f"none: compared at {report.order.compared_digits}"),
        ),
        (
            "Nodes that agree",
            "nothing to compare: scores tell none apart"
            if classes.agreement_apart is None
            else f"{classes.agreement_apart:.4%} of {classes.nodes_apart:,} that scores tell apart"
            f" (within {classes.tolerance:.2g} of a score)",
        ),
        ("Nodes in the same class", f"{classes.same_class:.4%}"),
        ("Classes cut over", f"{classes.classes_cut_over} nodes ({classes.nodes_cut_over:,})"),
    ]
    rows += [
        (f"Top {t.percent} %, {t.nodes:,} nodes", f"{t.overlap:.2%} in both")
        for t in report.order.top
    ]
    rows += [("Note", note) for note in report.notes]
    return rows + [("Fails", reason) for reason in report.reasons]
