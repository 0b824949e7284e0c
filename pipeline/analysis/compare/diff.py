"""What has changed from one finished run to another: pages, classes, and why pages moved.

Two pages are the same if their keys are. The classes of both runs are cut by the options of the
second one, so that a class means the same in both. Order: Spearman's rho (1904; Pearson's
correlation of ranks, equal scores share their mean rank) and Kendall's tau-b (1945, with his
correction for ties) over the scores of the common pages, rounded to the digits that both runs
resolve.

Why pages moved is in diff_moves.py. Memory: about 20 arrays of N beside DuckDB's budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.analysis.compare.diff_moves import Move, explained_moves
from crawlrank.pipeline.analysis.compare.diff_side import NO_PAGE, RankedPage, Side, Sides
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.ranking.bounds import rounded
from crawlrank.pipeline.ranking.correlations import kendall, spearman
from crawlrank.pipeline.workfolder.results.finished import Finished

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
    new_best: list[RankedPage] = field(default_factory=list)
    gone_best: list[RankedPage] = field(default_factory=list)


def diff(before: Finished, after: Finished, *, top: int, links: int) -> Diff:
    """From one run to another. top: pages of each kind that are listed; links: those of each page.

    Raises BadInput if they have no page in common.
    """
    sides = Sides(before, after)
    if not len(sides.common):
        raise BadInput(
            f"{before.work} and {after.work}",
            "no page in common",
            "two crawls of the same sites",
            "Keys differ also between runs with and without --keep-www or --surt-exact.",
        )
    old, new = sides.old, sides.new
    bins = int(after.parameters["--bins"])
    result = Diff(old.summary(), new.summary(), _options(before, after), bins)
    result.common = len(sides.common)
    _add_classes(result, sides)
    _add_order(result, sides)
    risen, fallen = _most_moved(sides, top)
    moves = explained_moves(sides, risen + fallen, links)
    result.risen_most, result.fallen_most = moves[: len(risen)], moves[len(risen) :]
    result.new_best = new.pages(_best_alone(new, sides.old_ids, top))
    result.gone_best = old.pages(_best_alone(old, sides.new_ids, top))
    return result


def _options(before: Finished, after: Finished) -> dict[str, list[Any]]:
    """Options by which the runs differ: some of what has changed may come from them."""
    was, now = before.parameters, after.parameters
    names = [name for name in {**was, **now} if name not in WITHOUT_EFFECT]
    pairs = {name: [was.get(name), now.get(name)] for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _add_classes(result: Diff, sides: Sides) -> None:
    old, new, bins = sides.old, sides.new, result.bins
    was, now = old.classes[sides.common] - 1, new.classes[sides.common_new] - 1
    pairs = was.astype(np.int64) * bins + now
    result.classes = np.bincount(pairs, minlength=bins * bins).reshape(bins, bins).tolist()
    result.risen, result.fallen = int((now < was).sum()), int((now > was).sum())
    result.new = _by_class(new.classes[sides.old_ids == NO_PAGE], bins)
    result.gone = _by_class(old.classes[sides.new_ids == NO_PAGE], bins)


def _by_class(classes: npt.NDArray[np.int16], bins: int) -> list[int]:
    counts: list[int] = np.bincount(classes, minlength=bins + 1)[1:].tolist()
    return counts


def _add_order(result: Diff, sides: Sides) -> None:
    old, new = sides.old, sides.new
    result.digits = min(old.finished.digits, new.finished.digits)
    was = rounded(old.scores[sides.common], result.digits)
    now = rounded(new.scores[sides.common_new], result.digits)
    if was.min() < was.max() and now.min() < now.max():  # else neither is defined
        result.spearman = spearman(was, now)
        result.kendall = kendall(was, now)


def _best_alone(side: Side, ids_in_other: Positions, top: int) -> list[int]:
    """The best nodes that the other run lacks."""
    alone = np.flatnonzero(ids_in_other == NO_PAGE)
    best: list[int] = alone[np.argsort(side.places[alone], kind="stable")[:top]].tolist()
    return best


def _most_moved(sides: Sides, top: int) -> tuple[list[int], list[int]]:
    """Old ids of the pages that rose most, and that fell most: by classes, then by the factor
    between their scores."""
    common = sides.common
    classes = sides.old.classes[common] - sides.new.classes[sides.common_new]
    with np.errstate(divide="ignore", invalid="ignore"):  # some rankings have scores of 0
        factor = sides.new.scores[sides.common_new] / sides.old.scores[common]

    def most(sign: int) -> list[int]:
        moved = np.flatnonzero(sign * classes > 0)
        order = np.lexsort((common[moved], -sign * factor[moved], -sign * classes[moved]))[:top]
        pages: list[int] = common[moved[order]].tolist()
        return pages

    return most(1), most(-1)
