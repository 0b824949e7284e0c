"""What has changed from one finished run to another: pages, classes, and why pages moved.

Two pages are the same if their keys are. The classes of both runs are cut by the options of the
second one, so that a class means the same in both. Order: Spearman's rho (1904; Pearson's
correlation of ranks, equal scores share their mean rank) and Kendall's tau-b (1945, with his
correction for ties) over the scores of the common pages, rounded to the digits that both runs
resolve.

Memory: about 20 arrays of N beside DuckDB's budget.

The two runs that are compared, as columns by id, and the pages that are in both.

Why pages moved: the links that they won and lost between two runs, and what those give.

A score is a constant + what each incoming link gives (explain.py), so the change of a score is

    what won links give - what lost links gave + the change of what the kept ones give

up to the certificates of both runs. A link is a pair of keys; its source may be in one run only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.pipeline.data.graph import Floats, Mask, Positions
from crawlrank.pipeline.ranking.correlations import kendall, spearman
from crawlrank.pipeline.workfolder.results.finished import Finished, Incoming, Node

NO_PAGE = -1  # in place of an id of the other run


@dataclass(frozen=True)
class RankedPage:
    """A page in one run. place: its position, from 1."""

    uri: str
    precedence: int
    place: int
    score: float
    captured: bool


class Side:
    """One of the runs, as columns by id. classes, places: from 1."""

    def __init__(self, finished: Finished, parameters: dict[str, Any]) -> None:
        """parameters: of the run by whose options the classes are cut."""
        self.finished = finished
        self._nodes: dict[int, Node] = {}
        self.scores: Floats = finished.scores()
        self.captured: Mask = finished.captured()
        classes = finished.classes(self.scores, self.captured, parameters)
        self.classes = classes.classes.astype(np.int16)
        self.places = classes.positions

    def learn(self, ids: Sequence[int]) -> None:
        """Look up nodes that will be named, all at once, as each look-up reads the scores."""
        self._nodes.update(self.finished.nodes([node for node in ids if node not in self._nodes]))

    def uri(self, node: int) -> str:
        return self._nodes[node].uri

    def key(self, node: int) -> str:
        return self._nodes[node].key

    def pages(self, ids: Sequence[int]) -> list[RankedPage]:
        self.learn(ids)
        return [
            RankedPage(
                self.uri(node), int(self.classes[node]), int(self.places[node]),
                float(self.scores[node]), bool(self.captured[node]),
            )
            for node in ids
        ]  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """The run as a whole, for the report."""
        return {
            "work": str(self.finished.work),
            "pages": len(self.scores),
            "captured": int(self.captured.sum()),
            **self.finished.bounds._asdict(),
        }


class Sides:
    """Both runs. new_ids: for each node of the old run its id in the new one, or NO_PAGE; old_ids:
    the reverse. common: ids in the old run of the pages that are in both; common_new: in the new
    one."""

    def __init__(self, before: Finished, after: Finished) -> None:
        self.old, self.new = Side(before, after.parameters), Side(after, after.parameters)
        query = (
            f"SELECT o.id AS old, n.id AS new FROM {before.view('mapped')} o"
            f" JOIN {after.view('mapped')} n USING (key)"
        )
        with before.reading(), after.reading():
            ids = after.db.sql(query).fetchnumpy()
        self.new_ids: Positions = np.full(len(self.old.scores), NO_PAGE)
        self.old_ids: Positions = np.full(len(self.new.scores), NO_PAGE)
        self.new_ids[ids["old"]] = ids["new"]
        self.old_ids[ids["new"]] = ids["old"]
        self.common = np.flatnonzero(self.new_ids != NO_PAGE)
        self.common_new = self.new_ids[self.common]


@dataclass(frozen=True)
class LinkChange:
    """A link won or lost. page: whether its source is `new`, `gone`, or in both runs (`kept`).
    status: of the latest capture of a source that lost its link and is in both runs, in the new
    run; None where that is not known, or there is none."""

    uri: str
    gives: float
    page: str
    status: int | None = None


@dataclass(frozen=True)
class LinkChanges:
    """Links of one kind: how many, what they give together, and those that give most."""

    count: int
    gives: float
    most: list[LinkChange] = field(default_factory=list)


@dataclass(frozen=True)
class Move:
    """A page in both runs, and what its change of score is made of. kept.gives: a change."""

    key: str
    before: RankedPage
    after: RankedPage
    won: LinkChanges
    lost: LinkChanges
    kept: LinkChanges


@dataclass(frozen=True, eq=False)
class _LinkIds:
    """Links before their sources are looked up. most: (source, gives) of those that give most."""

    count: int
    gives: float
    most: list[tuple[int, float]]

    def named(
        self,
        side: Side,
        ids_in_other: Positions,
        alone: str,
        statuses: Mapping[int, int] = MappingProxyType({}),
    ) -> LinkChanges:
        """alone: the word for a source that the other run lacks. statuses: of sources."""
        most = [
            LinkChange(
                side.uri(source), gives, alone if ids_in_other[source] == NO_PAGE else "kept",
                statuses.get(source),
            )
            for source, gives in self.most
        ]  # fmt: skip
        return LinkChanges(self.count, self.gives, most)


def explained_moves(sides: Sides, nodes: Sequence[int], links: int) -> list[Move]:
    """Moves of pages that are in both runs. nodes: their ids in the old run. links: how many of the
    won and of the lost ones are listed."""
    old, new = sides.old, sides.new
    new_nodes: list[int] = sides.new_ids[list(nodes)].tolist()
    incoming = zip(old.finished.incoming(nodes), new.finished.incoming(new_nodes), strict=True)
    split = [_split(was, now, sides.new_ids, links) for was, now in incoming]
    old.learn([*nodes, *(source for _, lost, _ in split for source, _ in lost.most)])
    new.learn([*new_nodes, *(source for won, _, _ in split for source, _ in won.most)])
    statuses = _statuses(sides, [source for _, lost, _ in split for source, _ in lost.most])
    return [
        Move(
            old.key(node),
            old.pages([node])[0],
            new.pages([new_node])[0],
            won.named(new, sides.old_ids, "new"),
            lost.named(old, sides.new_ids, "gone", statuses),
            kept,
        )
        for node, new_node, (won, lost, kept) in zip(nodes, new_nodes, split, strict=True)
    ]


def _statuses(sides: Sides, sources: Sequence[int]) -> dict[int, int]:
    """The statuses by id in the old run, of pages that are in both: the status of the latest
    capture of the page in the new run, where there is one."""
    there = {source: int(sides.new_ids[source]) for source in sources}
    there = {source: node for source, node in there.items() if node != NO_PAGE}
    sides.new.learn(list(there.values()))
    latest: dict[str, tuple[str, int]] = {}
    uris = {source: {sides.old.uri(source), sides.new.uri(node)} for source, node in there.items()}
    for row in sides.new.finished.captures(sorted(set().union(*uris.values()))):
        if row["status"] is not None and row["timestamp"] is not None:
            seen = str(row["timestamp"]), int(row["status"])
            latest[row["uri"]] = max(latest.get(row["uri"], seen), seen)
    of_source = {
        source: [latest[uri] for uri in spelled if uri in latest]
        for source, spelled in uris.items()
    }
    return {source: max(captures)[1] for source, captures in of_source.items() if captures}


def _split(
    was: Incoming, now: Incoming, new_ids: Positions, links: int
) -> tuple[_LinkIds, _LinkIds, LinkChanges]:
    """The links won, lost and kept."""
    were = new_ids[was.sources]
    won, lost = ~np.isin(now.sources, were), ~np.isin(were, now.sources)
    change = math.fsum(now.gives[~won].tolist()) - math.fsum(was.gives[~lost].tolist())
    kept = LinkChanges(int((~won).sum()), change)
    return _chosen(now, won, links), _chosen(was, lost, links), kept


def _chosen(incoming: Incoming, mask: Mask, links: int) -> _LinkIds:
    sources, gives = incoming.sources[mask], incoming.gives[mask]
    best = np.lexsort((sources, -gives))[:links]
    most = zip(sources[best].tolist(), gives[best].tolist(), strict=True)
    return _LinkIds(len(sources), math.fsum(gives.tolist()), list(most))


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
    """The differences from one run to another. top: pages of each kind that are listed; links:
    those of each page.

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
