"""One of two runs that are compared, as columns by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.data.graph import Floats, Mask
from pipeline.ranking.classes import cut
from pipeline.workfolder.results.finished import Finished, Node

NO_PAGE = -1  # in place of an id of the other run


@dataclass(frozen=True)
class PageChange:
    """A page in one run. place: its position, from 1."""

    uri: str
    precedence: int
    place: int
    score: float
    captured: bool


class Side:
    """One of the runs, as columns by id. classes: from 1. places: from 1."""

    def __init__(self, finished: Finished, asked: dict[str, Any]) -> None:
        self.finished = finished
        self._nodes: dict[int, Node] = {}
        self.scores: Floats = finished.scores()
        self.captured: Mask = finished.captured()
        found = cut(
            self.scores,
            int(asked["--bins"]),
            digits=finished.digits,
            mask=self.captured if asked["--classes-over"] == "captured" else None,
            ties=asked["--ties"],
            preferred=finished.preferred() if asked["--ties"] == "links" else None,
        )
        self.classes = found.classes.astype(np.int16)
        self.places = np.empty(len(self.scores), np.int64)
        self.places[found.order] = np.arange(1, len(self.scores) + 1)

    def learn(self, ids: Sequence[int]) -> None:
        """Look up the nodes that will be named: all at once, as each look-up reads the scores."""
        self._nodes.update(self.finished.nodes([node for node in ids if node not in self._nodes]))

    def uri(self, node: int) -> str:
        return self._nodes[node].uri

    def key(self, node: int) -> str:
        return self._nodes[node].key

    def pages(self, ids: Sequence[int]) -> list[PageChange]:
        self.learn(ids)
        return [
            PageChange(
                self.uri(node), int(self.classes[node]), int(self.places[node]),
                float(self.scores[node]), bool(self.captured[node]),
            )
            for node in ids
        ]  # fmt: skip

    def told(self) -> dict[str, Any]:
        """What the report says of the run as a whole."""
        return {
            "work": str(self.finished.work),
            "pages": len(self.scores),
            "captured": int(self.captured.sum()),
        }
