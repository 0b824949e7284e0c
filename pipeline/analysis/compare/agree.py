"""How far rankings of one work folder agree, and why pages stand elsewhere in one than in another.

The classes of both are cut as in the first one, over the same pages. Scores count as equal where
they agree to the digits of the ranking that resolves fewer. Memory: 40 bytes a node and ranking.

Rankings are also compared with what people say: the librarian score (pipeline/ranking/ratings.py).
docs/agree.md describes the tables and the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.classes import Classes
from crawlrank.pipeline.ranking.correlations import Kappa
from crawlrank.pipeline.ranking.ratings import (
    ClassAgreement,
    Displacement,
    LibrarianScore,
    RankAgreement,
    RatingTable,
    agreement,
    librarian_score,
)
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.weights import nodes_of


@dataclass(frozen=True)
class RatedRanking:
    """unknown: the first rated pages that have no score; unknown_count: all of them."""

    label: str
    score: LibrarianScore
    unknown_count: int
    unknown: tuple[str, ...]


def rated(
    rankings: Sequence[tuple[str, Finished]], table: RatingTable
) -> tuple[list[RatedRanking], list[str]]:
    """Each ranking compared with the raters, and the names of these. Raises BadInput where no rated
    page has a score, and where two are the same page."""
    first = rankings[0][1]
    ids, _ = nodes_of(table.pages, first)
    known = np.flatnonzero(ids >= 0)
    if not len(known):
        what = f"none of {count_of(len(table.pages), 'rated page')}, such as {table.pages[0]}"
        cure = "Write them as URIs with http:// or https://, or as keys."
        raise BadInput(str(first.work), what, "pages that have a score", cure)
    _refuse_repeated(table, ids[known].tolist(), known.tolist())
    given = table.given[known]
    voting = np.count_nonzero(given, axis=0) > 0
    unknown = tuple(table.pages[at] for at in np.flatnonzero(ids < 0).tolist())
    result = []
    for label, finished in rankings:
        scores = rounded(finished.scores()[ids[known]], finished.digits)
        score = librarian_score(scores, given[:, voting])
        result.append(RatedRanking(label, score, len(unknown), unknown[:MAX_EXAMPLES]))
    return result, [table.raters[at] for at in np.flatnonzero(voting).tolist()]


def _refuse_repeated(table: RatingTable, ids: Sequence[int], places: Sequence[int]) -> None:
    """Two spellings of a page would count it twice."""
    first: dict[int, int] = {}
    for node, at in zip(ids, places, strict=True):
        if (other := first.setdefault(node, at)) != at:
            pages = f"{table.pages[other]} and {table.pages[at]}"
            raise BadInput(
                "--ratings", f"{pages}, which are one page", "each page once", "Join them."
            )


@dataclass(frozen=True)
class BestLink:
    """The link that gives most to a page in a ranking. share: of the page's score."""

    uri: str
    share: float


@dataclass(frozen=True)
class MovedPage:
    """A page that stands elsewhere. ours, theirs: its positions; classes: its classes. links: that
    lead to it. best: in each ranking, the link that gives most; None where nothing does."""

    uri: str
    ours: float
    theirs: float
    classes: tuple[int, int]
    links: int
    best: tuple[BestLink | None, BestLink | None]


@dataclass(frozen=True)
class PairAgreement:
    """Two rankings, by label. digits: that scores are compared by. moved: those most displaced."""

    labels: tuple[str, str]
    methods: tuple[str, str]
    digits: int
    bins: int
    agreement: RankAgreement
    moved: tuple[MovedPage, ...]


class RankedSide(NamedTuple):
    """A ranking that is compared."""

    label: str
    finished: Finished
    scores: Floats
    classes: Classes


def sides_of(rankings: Sequence[tuple[str, Finished]]) -> list[RankedSide]:
    """Each with its scores, and its classes cut by the options of the first."""
    first = rankings[0][1]
    captured, options = first.captured(), first.parameters
    sides = []
    for label, finished in rankings:
        scores = finished.scores()
        classes = finished.classes(scores, captured, options)
        sides.append(RankedSide(label, finished, scores, classes))
    return sides


def agree(ours: RankedSide, theirs: RankedSide, top: int) -> PairAgreement:
    """top: pages of those that differ most."""
    digits = min(side.finished.digits for side in (ours, theirs))
    compared = agreement(
        (rounded(ours.scores, digits), rounded(theirs.scores, digits)),
        (ours.classes.classes, theirs.classes.classes),
        ours.classes.bins,
        most=top,
    )
    return PairAgreement(
        labels=(ours.label, theirs.label),
        methods=(ours.finished.method.title, theirs.finished.method.title),
        digits=digits,
        bins=ours.classes.bins,
        agreement=compared,
        moved=tuple(_moved((ours, theirs), compared.displaced)),
    )


def _moved(
    sides: tuple[RankedSide, RankedSide], displaced: Sequence[Displacement]
) -> list[MovedPage]:
    ids = [page.id for page in displaced]
    nodes = sides[0].finished.nodes(ids)
    links = [len(each.sources) for each in sides[0].finished.incoming(ids)]
    best = [_best_links(side, ids) for side in sides]
    return [
        MovedPage(
            uri=nodes[page.id].uri,
            ours=page.ours,
            theirs=page.theirs,
            classes=(_class_of(sides[0], page.id), _class_of(sides[1], page.id)),
            links=links[at],
            best=(best[0][at], best[1][at]),
        )
        for at, page in enumerate(displaced)
    ]


def _class_of(side: RankedSide, node: int) -> int:
    return int(side.classes.classes[node])


def _best_links(side: RankedSide, ids: Sequence[int]) -> list[BestLink | None]:
    """The best links in this ranking, for each of these nodes."""
    best: list[tuple[int, float] | None] = []
    for node, incoming in zip(ids, side.finished.incoming(ids), strict=True):
        # a page of score 0 may get a share in the round that comes next
        if not len(incoming.gives) or not min(incoming.gives.max(), side.scores[node]) > 0:
            best.append(None)
            continue
        at = int(np.argmax(incoming.gives))
        best.append((int(incoming.sources[at]), float(incoming.gives[at] / side.scores[node])))
    nodes = side.finished.nodes([source for source, _ in filter(None, best)])
    return [pair and BestLink(nodes[pair[0]].uri, pair[1]) for pair in best]


SCHEMA = "crawlrank-agree-1"


def tables(pairs: Sequence[PairAgreement]) -> Iterator[TextTable]:
    """One row for each pair; of a single pair also its classes, and the pages that differ most."""
    yield _summary(pairs)
    if len(pairs) == 1:
        yield _classes(pairs[0])
        yield _moved_table(pairs[0])
        yield _links_table(pairs[0])


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


def _moved_table(pair: PairAgreement) -> TextTable:
    table = TextTable("pages that differ most", ">", ">position", ">class", ">links", "page")
    for number, page in enumerate(pair.moved, 1):
        positions = f"{page.ours:,.0f} / {page.theirs:,.0f}"
        classes = f"{page.classes[0]} / {page.classes[1]}"
        table.add(number, positions, classes, page.links, page.uri)
    return table


def _links_table(pair: PairAgreement) -> TextTable:
    """Of each of these pages the link that gives it most in each ranking."""
    table = TextTable("links that give them most", ">page", "in", ">share", "source")
    for number, page in enumerate(pair.moved, 1):
        for label, link in zip(pair.labels, page.best, strict=True):
            share, source = (f"{link.share:.0%}", link.uri) if link else ("", "no single link")
            table.add(number, label, share, source)
    return table


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
