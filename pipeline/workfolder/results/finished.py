"""A finished work folder, of either engine, to look things up in: views of DuckDB, and links by id.

The views, each with the name of the folder before it (`a_mapped`):

    mapped   id, key
    nodes    id, key, uri, score: the URI is the one that the scores show
    spelled  key, uri, captures, links, last: every spelling
    folded   key, target_key, kind, hops: the keys that others stand for
    ranked   ord, score, captured: a row for each node; nodes of equal score are ordered by ord
    weighed  ord, links, captures: what ties by links order them by before

A view is made when it is first asked for, so that only the datasets are read, and brought where
they lie at a URL, that a question needs. No row becomes a Python object that was not asked for:
DuckDB reads Parquet by the ranges of keys that its row groups tell, and text by all its cores,
within its memory limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from jobs.kernel.errors import BadInput
from pipeline.data.graph import Floats, Mask, Positions
from pipeline.ranking.classes import Preferences, preferences, preferred_first
from pipeline.workfolder.dataset_folders import DatasetFolders
from pipeline.workfolder.imported import WITHOUT_URIS
from pipeline.workfolder.manifest import Manifest

CURE = "Make them again with `crawlrank run`."
CAPTURE_COLUMNS = (
    "uri", "timestamp", "status", "media_type", "digest", "kind", "archive", "offset",
)  # fmt: skip

#: of ord, as a column of a table of scores, the table, and the one of uris
WEIGHED = """
    SELECT s.{ord} AS ord, u.links AS links, u.captures AS captures FROM {scores} s JOIN
    (SELECT key, sum(links)::BIGINT AS links, sum(captures)::BIGINT AS captures FROM {uris}
     GROUP BY key) u USING (key)
"""
NO_FOLDS = "SELECT '' AS key, '' AS target_key, '' AS kind, 0 AS hops WHERE false"


class Node(NamedTuple):
    """A page that has a score."""

    id: int
    key: str
    uri: str
    score: float


class Incoming(NamedTuple):
    """The links to a node. sources: ids, ascending; outdegrees: theirs; gives: what each adds to
    its score, 0.85 times the source's score by its outdegree."""

    sources: Positions
    outdegrees: Positions
    gives: Floats


class Finished(ABC):
    """One work folder. name: a word for its views."""

    def __init__(
        self, work: Path, manifest: Manifest, db: duckdb.DuckDBPyConnection, near: Path, name: str
    ) -> None:
        self.work, self.manifest, self.db, self.name = work, manifest, db, name
        self.folders = DatasetFolders(work, manifest, near)
        self.folder, self.reading = self.folders.folder, self.folders.reading
        self._viewed: set[str] = set()

    @abstractmethod
    def queries(self) -> dict[str, Callable[[], str]]:
        """What makes the query of each view; of `folded` where there is such a dataset."""

    def view(self, view: str) -> str:
        """The name of a view in the database."""
        name = f"{self.name}_{view}"
        if view not in self._viewed:
            none = view == "folded" and not self.folders.has_folds
            with self.reading():
                query = NO_FOLDS if none else self.queries()[view]()
                self.db.execute(f"CREATE VIEW {name} AS {query}")
            self._viewed.add(view)
        return name

    @abstractmethod
    def order_of(self, node: Node) -> int | str:
        """What stands in the column ord of `ranked` for a node."""

    @abstractmethod
    def scores(self) -> Floats:
        """By id."""

    @abstractmethod
    def captured(self) -> Mask:
        """By id, whether a spelling of the node was captured."""

    def preferred(self) -> Preferences:
        """By id, what ties by links prefer."""
        query = "SELECT links, captures FROM {weighed} ORDER BY ord"
        named = query.format_map(_Views(self))
        with self.reading():
            counted = self.db.sql(named).fetchnumpy()
            return preferred_first(preferences(counted["links"], counted["captures"]))

    @abstractmethod
    def incoming(self, ids: Sequence[int]) -> list[Incoming]:
        """The links to each of the nodes."""

    @abstractmethod
    def captures(self, uris: Sequence[str]) -> list[dict[str, Any]]:
        """The captures of these URIs, as CAPTURE_COLUMNS, None where unknown."""

    @property
    def parameters(self) -> dict[str, Any]:
        return self.manifest.parameters

    @property
    def digits(self) -> int:
        """Significant digits that scores must share to count as equal."""
        return int(self.manifest.steps["join-scores"]["parameters"]["digits"])

    @property
    def has_uris(self) -> bool:
        """Otherwise keys stand for them, and there is no precedence file."""
        return self.manifest.imported.get("kind") not in WITHOUT_URIS

    def rows(self, query: str, **given: Any) -> list[tuple[Any, ...]]:
        """The rows of a query in which `{spelled}` is the view of this folder."""
        named = query.format_map(_Views(self))
        with self.reading():
            found: list[tuple[Any, ...]] = self.db.execute(named, given).fetchall()
            return found

    def node_of(self, key: str) -> int | None:
        """The id of a key, if it has one."""
        found = self.rows("SELECT id FROM {mapped} WHERE key = $key LIMIT 1", key=key)
        return int(found[0][0]) if found else None

    def nodes(self, ids: Sequence[int]) -> dict[int, Node]:
        """The nodes of these ids. Raises BadInput where one has none."""
        if not ids:
            return {}
        named = ", ".join(map(str, sorted({*map(int, ids)})))
        query = f"SELECT id, key, uri, score FROM {{nodes}} WHERE id IN ({named})"
        nodes = {row[0]: Node(*row) for row in self.rows(query)}
        if lacking := {*map(int, ids)} - nodes.keys():
            what = f"no line of the node {min(lacking)}"
            raise BadInput(str(self.work / "scores"), what, "one for each node", CURE)
        return nodes

    def require_ids(self, ids: Any, dataset: str) -> None:
        """Raises BadInput unless the ids of a dataset, in any order, are 0 to N - 1."""
        if np.ma.is_masked(ids) or not np.array_equal(np.sort(ids), np.arange(len(ids))):
            what = "an id that is missing, there twice, or of no node"
            expected = f"each of 0 to {len(ids) - 1} once"
            raise BadInput(str(self.work / dataset), what, expected, CURE)


class _Views(dict[str, str]):
    """The names of the views of a folder; one that a query names is made."""

    def __init__(self, finished: Finished) -> None:
        super().__init__()
        self._finished = finished

    def __missing__(self, view: str) -> str:
        return self._finished.view(view)
