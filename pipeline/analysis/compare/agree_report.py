"""How far rankings agree, as tables. docs/agree.md describes them, and the JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.analysis.compare.agree import BestLink, PairAgreement, RatedRanking
from crawlrank.pipeline.ranking.correlations import Kappa
from crawlrank.pipeline.ranking.ratings import ClassAgreement
from crawlrank.pipeline.terminal import TextTable

SCHEMA = "crawlrank-agree-1"


def tables(pairs: Sequence[PairAgreement]) -> Iterator[TextTable]:
    """One row for each pair; of a single pair also its classes, and the pages that differ most."""
    yield _summary(pairs)
    if len(pairs) == 1:
        yield _classes(pairs[0])
        yield _moved(pairs[0])


def _summary(pairs: Sequence[PairAgreement]) -> TextTable:
    table = TextTable(
        "how far rankings agree", "ranking", "and", ">pages", ">Spearman's rho", ">Kendall's tau-b",
        ">rank-biased overlap", ">top 1 %", ">top 10 %", ">same class",
    )  # fmt: skip
    for pair in pairs:
        agreed = pair.agreement
        coefficients = (_coefficient(agreed.spearman), _coefficient(agreed.kendall))
        shares = [f"{part.overlap:.1%}" for part in agreed.top]
        overlap, same = f"{agreed.rank_biased:.3f}", f"{agreed.same_class:.1%}"
        table.add(*pair.labels, agreed.nodes, *coefficients, overlap, *shares, same)
    return table


def _coefficient(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _classes(pair: PairAgreement) -> TextTable:
    """Rows: the class in the first ranking; columns: the class in the second."""
    numbers = range(1, pair.bins + 1)
    title = f"pages by class in {pair.labels[0]} (rows) and {pair.labels[1]} (columns)"
    table = TextTable(title, ">class", *(f">{number}" for number in numbers))
    for number, row in zip(numbers, pair.agreement.confusion, strict=True):
        table.add(number, *row)
    return table


def _moved(pair: PairAgreement) -> TextTable:
    ours, theirs = pair.labels
    table = TextTable(
        "pages that differ most", ">position", ">class", ">links", f"gets most in {ours} from",
        f"gets most in {theirs} from", "page",
    )  # fmt: skip
    for page in pair.moved:
        positions = f"{page.ours:,.0f} / {page.theirs:,.0f}"
        classes = f"{page.classes[0]} / {page.classes[1]}"
        table.add(positions, classes, page.links, *map(_best, page.best), page.uri)
    return table


def _best(link: BestLink | None) -> str:
    return f"{link.share:.0%} {link.uri}" if link else "nothing"


def rated_tables(rated: Sequence[RatedRanking], raters: Sequence[str]) -> Iterator[TextTable]:
    """What people rated, beside each ranking and each rater."""
    pages = rated[0].score.ranking.pages
    table = TextTable(
        f"classes that are those of the mean of {count_of(len(raters), 'rater')}"
        f" ({count_of(pages, 'page')})",
        "who", ">pages", ">same class", ">kappa", ">95 %", ">weighted kappa", ">95 %",
    )  # fmt: skip
    for ranking in rated:
        table.add(ranking.label, *_rated(ranking.score.ranking))
    for name, rater in zip(raters, rated[0].score.raters, strict=True):
        table.add(f"rater {name}", *_rated(rater))
    yield table
    if unknown := rated[0].unknown:
        missing = TextTable(f"rated pages without a score ({rated[0].unknown_count:,})", "page")
        for page in unknown:
            missing.add(page)
        yield missing


def _rated(agreed: ClassAgreement) -> list[str | int]:
    return [agreed.pages, f"{agreed.share:.1%}", *_kappa(agreed.kappa), *_kappa(agreed.quadratic)]


def _kappa(value: Kappa | None) -> tuple[str, str]:
    if value is None:
        return "undefined", ""
    return f"{value.value:.3f}", f"{value.low:.3f} to {value.high:.3f}"
