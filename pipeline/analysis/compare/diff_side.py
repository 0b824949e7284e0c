"""The two runs that are compared, as columns by id, and the pages that are in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawlrank.pipeline.data.graph import Floats, Mask, Positions
from crawlrank.pipeline.workfolder.results.finished import Finished, Node

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
