"""Why pages moved: the links that they won and lost between two runs, and what those give.

A score is a constant + what each incoming link gives (explain.py), so the change of a score is

    what won links give - what lost links gave + the change of what the kept ones give

up to the certificates of both runs. A link is a pair of keys; its source may be in one run only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from crawlrank.pipeline.analysis.compare.diff_side import NO_PAGE, RankedPage, Side, Sides
from crawlrank.pipeline.data.graph import Mask, Positions
from crawlrank.pipeline.workfolder.results.finished import Incoming


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
    """Of pages in both runs. nodes: their ids in the old run. links: how many of the won and of the
    lost ones are listed."""
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
    """By id in the old run, of those that are in both: the status of the latest capture of the page
    in the new run, where there is one."""
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
