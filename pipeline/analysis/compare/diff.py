"""What has changed from one finished run to another: pages, classes, and why pages moved.

Pages are the same where their keys are. Both runs' classes are cut by the second one's options, so
that a class means the same in both. Order: Spearman's rho (1904; Pearson's correlation of ranks,
equal scores share their mean rank) and Kendall's tau-b (1945, with his correction for ties) over
the scores of the common pages, rounded to the digits that both runs resolve.

Why pages moved is in diff_moves.py. Memory: about 20 arrays of N beside DuckDB's budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.kernel.errors import BadInput
from pipeline.analysis.compare.diff_moves import Move, explained_moves
from pipeline.analysis.compare.diff_side import NO_PAGE, PageChange, Side
from pipeline.data.graph import Positions
from pipeline.ranking.correlations import kendall, spearman
from pipeline.ranking.digits import rounded
from pipeline.workfolder.results.finished import Finished

WITHOUT_EFFECT = ("--runner",)  # on results


@dataclass
class Diff:
    """classes[i][j]: pages of class i + 1 that are in j + 1 now. new, gone: likewise, by class."""

    before: dict[str, Any]
    after: dict[str, Any]
    options: dict[str, list[Any]]
    bins: int
    common: int = 0
    risen: int = 0
    fallen: int = 0
    classes: list[list[int]] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    spearman: float | None = None
    kendall: float | None = None
    digits: int = 0
    risen_most: list[Move] = field(default_factory=list)
    fallen_most: list[Move] = field(default_factory=list)
    new_best: list[PageChange] = field(default_factory=list)
    gone_best: list[PageChange] = field(default_factory=list)


def diff(before: Finished, after: Finished, *, top: int, links: int) -> Diff:
    """From one run to another. top: pages told one by one, of each kind; links: of each page.

    Raises BadInput where they have no page in common.
    """
    asked = after.parameters
    one, other = Side(before, asked), Side(after, asked)
    after_of = _after_of(before, after, len(one.scores))
    told = Diff(one.told(), other.told(), _options(before, after), int(asked["--bins"]))
    common = np.flatnonzero(after_of != NO_PAGE)
    told.common = len(common)
    if not told.common:
        raise BadInput(
            f"{before.work} and {after.work}",
            "no page in common",
            "two crawls of the same sites",
            "Keys differ also between runs with and without --keep-www.",
        )
    before_of = np.full(len(other.scores), NO_PAGE)
    before_of[after_of[common]] = common
    _tell_classes(told, one, other, after_of, before_of)
    _tell_order(told, one, other, common, after_of[common])
    risen, fallen = _most_moved(one, other, after_of, top)
    moves = explained_moves(one, other, risen + fallen, after_of, before_of, links)
    told.risen_most, told.fallen_most = moves[: len(risen)], moves[len(risen) :]
    told.new_best = other.pages(_best(other, before_of, top))
    told.gone_best = one.pages(_best(one, after_of, top))
    return told


def _after_of(before: Finished, after: Finished, nodes: int) -> Positions:
    """For each node of the run before its id in the one after, or NO_PAGE."""
    query = (
        f"SELECT o.id AS one, t.id AS other FROM {before.view('mapped')} o"
        f" JOIN {after.view('mapped')} t USING (key)"
    )
    with before.reading(), after.reading():
        found = after.db.sql(query).fetchnumpy()
    after_of = np.full(nodes, NO_PAGE)
    after_of[found["one"]] = found["other"]
    return after_of


def _options(before: Finished, after: Finished) -> dict[str, list[Any]]:
    """Options by which the runs differ: some of what has changed may come from them."""
    one, other = before.parameters, after.parameters
    names = [name for name in {**one, **other} if name not in WITHOUT_EFFECT]
    pairs = {name: [one.get(name), other.get(name)] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _tell_classes(
    told: Diff, one: Side, other: Side, after_of: Positions, before_of: Positions
) -> None:
    bins = told.bins
    common = np.flatnonzero(after_of != NO_PAGE)
    was, now = one.classes[common] - 1, other.classes[after_of[common]] - 1
    pairs = was.astype(np.int64) * bins + now
    told.classes = np.bincount(pairs, minlength=bins * bins).reshape(bins, bins).tolist()
    told.risen, told.fallen = int((now < was).sum()), int((now > was).sum())
    told.new = _by_class(other.classes[before_of == NO_PAGE], bins)
    told.gone = _by_class(one.classes[after_of == NO_PAGE], bins)


def _by_class(classes: npt.NDArray[np.int16], bins: int) -> list[int]:
    counts: list[int] = np.bincount(classes, minlength=bins + 1)[1:].tolist()
    return counts


def _tell_order(told: Diff, one: Side, other: Side, before: Positions, after: Positions) -> None:
    told.digits = min(one.finished.digits, other.finished.digits)
    a = rounded(one.scores[before], told.digits)
    b = rounded(other.scores[after], told.digits)
    if a.min() < a.max() and b.min() < b.max():  # else neither is defined
        told.spearman = spearman(a, b)
        told.kendall = kendall(a, b)


def _best(side: Side, in_other: Positions, top: int) -> list[int]:
    """The best nodes that the other run lacks."""
    alone = np.flatnonzero(in_other == NO_PAGE)
    found: list[int] = alone[np.argsort(side.places[alone], kind="stable")[:top]].tolist()
    return found


def _most_moved(one: Side, other: Side, after_of: Positions, top: int) -> tuple[list[int], ...]:
    """Nodes of the run before that rose and that fell: by classes, then by the factor of their
    scores, so that of those that rose by as many the one comes first whose score rose most."""
    common = np.flatnonzero(after_of != NO_PAGE)
    after = after_of[common]
    moved = one.classes[common] - other.classes[after]
    factor = other.scores[after] / one.scores[common]
    found = []
    for sign in (1, -1):
        some = np.flatnonzero(sign * moved > 0)
        order = np.lexsort((common[some], -sign * factor[some], -sign * moved[some]))[:top]
        found.append(common[some[order]].tolist())
    return tuple(found)
