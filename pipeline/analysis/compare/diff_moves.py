"""Why pages moved: the links that they won and lost between two runs, with what those give.

A score is 0.15 + what each incoming link gives (explain.py), so a page's change is

    what links won give - what links lost gave + the change of what the kept ones give

up to the certificates of both runs. A link is won or lost as a pair of keys: its source may be a
page that is in one run only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.analysis.compare.diff_side import NO_PAGE, PageChange, Side
from pipeline.data.graph import Mask, Positions
from pipeline.workfolder.results.finished import Incoming


@dataclass(frozen=True)
class LinkChange:
    """A link won or lost. page: whether its source is `new`, `gone`, or in both runs (`kept`)."""

    uri: str
    gives: float
    page: str


@dataclass(frozen=True)
class Links:
    """Links of one kind: how many, what they give together, and those that give most."""

    count: int
    gives: float
    most: list[LinkChange] = field(default_factory=list)


@dataclass(frozen=True)
class Move:
    """A page in both runs, and what its change of score is made of. kept.gives: a change."""

    key: str
    before: PageChange
    after: PageChange
    won: Links
    lost: Links
    kept: Links


@dataclass(frozen=True, eq=False)
class _Some:
    """Some of the links to a page. most: the sources of those that give most, with that."""

    count: int
    gives: float
    most: list[tuple[int, float]]

    def told(self, side: Side, in_other: Positions, alone: str) -> Links:
        most = [
            LinkChange(side.uri(source), gives, alone if in_other[source] == NO_PAGE else "kept")
            for source, gives in self.most
        ]
        return Links(self.count, self.gives, most)


def explained_moves(
    one: Side,
    other: Side,
    before: Sequence[int],
    after_of: Positions,
    before_of: Positions,
    links: int,
) -> list[Move]:
    """Of nodes of the run before that are in both. after_of, before_of: the ids of nodes in the
    other run, or NO_PAGE. links: how many won and lost ones are told one by one."""
    after: list[int] = after_of[list(before)].tolist()
    split = [
        _split(was, now, after_of, links)
        for was, now in zip(
            one.finished.incoming(before), other.finished.incoming(after), strict=True
        )
    ]
    one.learn([*before, *(source for _, lost, _ in split for source, _ in lost.most)])
    other.learn([*after, *(source for won, _, _ in split for source, _ in won.most)])
    moves = []
    for node, now, (won, lost, kept) in zip(before, after, split, strict=True):
        pages = one.pages([node])[0], other.pages([now])[0]
        gained, missed = won.told(other, before_of, "new"), lost.told(one, after_of, "gone")
        moves.append(Move(one.key(node), *pages, gained, missed, kept))
    return moves


def _split(
    was: Incoming, now: Incoming, after_of: Positions, links: int
) -> tuple[_Some, _Some, Links]:
    """The links won, lost and kept."""
    were = after_of[was.sources]  # their ids now
    won, lost = ~np.isin(now.sources, were), ~np.isin(were, now.sources)
    change = math.fsum(now.gives[~won].tolist()) - math.fsum(was.gives[~lost].tolist())
    return _some(now, won, links), _some(was, lost, links), Links(int((~won).sum()), change)


def _some(found: Incoming, mask: Mask, links: int) -> _Some:
    sources, gives = found.sources[mask], found.gives[mask]
    best = np.lexsort((sources, -gives))[:links]
    most = zip(sources[best].tolist(), gives[best].tolist(), strict=True)
    return _Some(len(sources), math.fsum(gives.tolist()), list(most))
