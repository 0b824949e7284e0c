"""Rankings beside what people say: the librarian score (pipeline/ranking/ratings.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.pipeline.ranking.bounds import rounded
from crawlrank.pipeline.ranking.ratings import LibrarianScore, RatingTable, librarian_score
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
    ids, _, _ = nodes_of(table.pages, first)
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
