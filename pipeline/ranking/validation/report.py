"""What the validation of PageRank by OPIC was asked and has report: data, JSON and tables.

The equations and the verdict's rules are in validate.py, which fills this in.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from crawlrank.jobs.kernel.errors import NotConverged, count_of
from crawlrank.pipeline.ranking.certificate import Certificate
from crawlrank.pipeline.ranking.opic import OpicResult
from crawlrank.pipeline.ranking.options import ValidationOptions
from crawlrank.pipeline.ranking.ratings import Overlap
from crawlrank.pipeline.terminal import TextTable

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
    """agreement: part of the nodes whose class OPIC allows. same_class: part whose classes, of
    scores rounded to the digits that both resolve, are equal; confusion[i][j] nodes are then in
    class i+1 by PageRank and j+1 by OPIC. classes_cut_over: the `captured` nodes or `all`,
    nodes_cut_over of them. nodes_apart: those that scores tell apart; nodes_open: those of them
    whose class OPIC does not prove; agreement_apart: the part of the others that agree, None where
    there are none."""

    agreement: float
    same_class: float
    confusion: tuple[tuple[int, ...], ...]
    classes_cut_over: Literal["captured", "all"]
    nodes_cut_over: int
    nodes_apart: int
    nodes_open: int
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
        """The report for JSON, which has null for what is infinite (terminal/text.py)."""
        last = self.opic.history[-1]
        run = {
            "reached": self.opic.reached,
            "visits": last.visits,
            "seconds": last.seconds,
            "best": self.opic.best._asdict(),
            "history": [checkpoint._asdict() for checkpoint in self.opic.history],
        }
        plain = ("nodes", "edges", "dangling", "distance", "allowed", "notes", "reasons")
        return {
            "verdict": self.verdict,
            **{name: getattr(self, name) for name in plain},
            **asdict(self.order),
            **asdict(self.classes),
            "options": asdict(self.options),
            "pagerank": self.pagerank.as_dict(),
            "opic": run,
        }


def tables(report: ValidationReport, *, verbose: bool = False) -> list[TextTable]:
    """The report for people: figures, and the classes where they fit on a screen. verbose: with
    the figures that only say how the numbers came about."""
    figures = TextTable(f"PageRank by OPIC: {report.verdict}", "~what", "~value")
    for name, shown in _figures(report, verbose):
        figures.add(name, shown)
    if report.options.bins > WIDEST:
        return [figures]
    bins = range(1, report.options.bins + 1)
    title = "pages by class: PageRank's down, OPIC's across"
    confusion = TextTable(title, ">class", *(f">{number}" for number in bins))
    for number, row in zip(bins, report.classes.confusion, strict=True):
        confusion.add(number, *row)
    return [figures, confusion]


def _figures(report: ValidationReport, verbose: bool) -> list[tuple[str, str]]:
    last = report.opic.history[-1]
    pages, links = count_of(report.nodes, "page"), count_of(report.edges, "link")
    visits = count_of(last.visits, "visit")
    rows = [
        ("graph", f"{pages}, {links} ({count_of(report.dangling, 'page')} without links)"),
        ("OPIC", f"{report.options.policy}, {visits}, {last.seconds:.2f} s"),
        *_errors(report),
        *(_inner_figures(report) if verbose else ()),
        *_orders(report.order),
        *_agreements(report.classes),
    ]
    rows += [
        (f"top {t.percent} %, {count_of(t.nodes, 'page')}", f"{t.overlap:.2%} in both")
        for t in report.order.top
    ]
    rows += [("note", note) for note in report.notes]
    return rows + [("fails", reason) for reason in report.reasons]


def _errors(report: ValidationReport) -> list[tuple[str, str]]:
    asked = f"(asked: {report.options.opic_error:g})"
    return [
        ("PageRank's shares are wrong by at most", f"{report.pagerank.probability:.2g}"),
        ("OPIC's shares are wrong by at most", f"{report.opic.best.certificate:.2g} {asked}"),
        ("distance of the two, and allowed", f"{report.distance:.3g}, {report.allowed:.3g}"),
    ]


def _inner_figures(report: ValidationReport) -> list[tuple[str, str]]:
    return [
        ("one score of PageRank is wrong by at most", f"{report.pagerank.eta:.2g} of it (eta)"),
        ("one score of OPIC is wrong by at most", f"{report.opic.best.eta:.2g} of it (eta)"),
        ("sum of PageRank's scores is wrong by", f"{report.pagerank.mass_error:.2g} of it"),
        ("the OPIC paper's own estimate, 1/sum(H)", f"{report.opic.history[-1].paper:.2g}"),
    ]


def _orders(order: OrderComparison) -> list[tuple[str, str]]:
    def coefficient(value: float | None) -> str:
        return "undefined (all scores are equal)" if value is None else f"{value:.6f}"

    return [
        ("rank correlation, Spearman's rho", coefficient(order.spearman)),
        ("rank correlation, Kendall's tau-b", coefficient(order.kendall)),
        (
            "digits that are certain in both",
            str(order.digits or f"none: compared at {order.compared_digits}"),
        ),
    ]


def _agreements(classes: ClassComparison) -> list[tuple[str, str]]:
    agreed = "nothing to compare: no score differs from another"
    if classes.agreement_apart is not None:
        proved = count_of(classes.nodes_apart - classes.nodes_open, "page")
        agreed = f"{classes.agreement_apart:.4%} of {proved} whose class OPIC proves"
    elif classes.nodes_apart:
        agreed = "nothing to compare: OPIC proves the class of no page"
    captured = "captured page" if classes.classes_cut_over == "captured" else "page"
    return [
        ("pages of the same class, near boundaries too", f"{classes.same_class:.4%}"),
        ("pages whose classes agree", agreed),
        ("pages whose class OPIC leaves open", f"{classes.nodes_open:,}"),
        ("classes are cut over", count_of(classes.nodes_cut_over, captured)),
    ]
