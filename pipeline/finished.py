"""A finished work folder, of either engine, to look things up in: views of DuckDB, and links by id.

The views, each with the name of the folder before it (`a_mapped`):

    mapped   id, key
    nodes    id, key, uri, score: the URI is the one that the scores show
    spelled  key, uri, captures, links, last: every spelling
    folded   key, target_key, kind, hops: the keys that others stand for
    ranked   ord, score, captured: a row for each node; nodes of equal score are ordered by ord

Nothing is copied and no row becomes a Python object that was not asked for: DuckDB reads Parquet by
the ranges of keys that its row groups tell, and text by all its cores, within its memory limit.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np

from jobs.kernel.errors import BadInput
from pipeline.embedded import EMBEDDED
from pipeline.graph import Floats, Mask, Positions
from pipeline.imported import WITHOUT_URIS, require_finished
from pipeline.manifest import Manifest, require_manifest

CURE = "Make them again with `crawlrank run`."
#: for a damaged dataset DuckDB raises any of its errors, and Python its own for what is no text
UNREADABLE = (duckdb.Error, UnicodeDecodeError, OverflowError)
NOT_THEIRS = (duckdb.InterruptException, duckdb.OutOfMemoryException)
CAPTURE_COLUMNS = (
    "uri", "timestamp", "status", "media_type", "digest", "kind", "archive", "offset",
)  # fmt: skip


VIEWS = ("mapped", "nodes", "spelled", "folded", "ranked")
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
        self.near = near / name
        self.near.symlink_to(work.absolute())
        with self.reading():
            views = self.views() | {"folded": self.folds() if self.has_folds else NO_FOLDS}
            for view, query in views.items():
                db.execute(f"CREATE VIEW {name}_{view} AS {query}")

    @abstractmethod
    def views(self) -> dict[str, str]:
        """The query of each view."""

    @abstractmethod
    def folds(self) -> str:
        """The query of the view `folded`, where there is such a dataset."""

    @property
    def has_folds(self) -> bool:
        return (self.work / "folds").exists()

    @abstractmethod
    def order_of(self, node: Node) -> int | str:
        """What stands in the column ord of `ranked` for a node."""

    @abstractmethod
    def scores(self) -> Floats:
        """By id."""

    @abstractmethod
    def captured(self) -> Mask:
        """By id, whether a spelling of the node was captured."""

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
        views = {view: f"{self.name}_{view}" for view in VIEWS}
        with self.reading():
            found: list[tuple[Any, ...]] = self.db.execute(query.format(**views), given).fetchall()
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

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """A dataset that cannot be read is told of as such, not as a sort without room."""
        try:
            yield
        except NOT_THEIRS:
            raise
        except UNREADABLE as error:
            said = str(error).partition("\n")[0].replace(str(self.near), str(self.work))
            raise BadInput(str(self.work), said, "the datasets of a finished run", CURE) from error


def require_work(work: Path) -> Manifest:
    """The manifest of a finished run. Raises BadInput, also for one of another version."""
    manifest = require_manifest(work)
    require_finished(manifest)
    for dataset in ("map", "uris", "graph", "ranks", "scores"):
        if not (work / dataset).is_dir():
            raise BadInput(str(work / dataset), "not there", "a dataset of a finished run", CURE)
    return manifest


def open_finished(work: Path, db: duckdb.DuckDBPyConnection, near: Path, name: str) -> Finished:
    """The work folder in a database. near: a folder under a name that SQL takes as it is.

    Raises BadInput where it is none, or not finished.
    """
    manifest = require_work(work)
    if manifest.parameters["--runner"] == EMBEDDED:
        from pipeline.finished_columns import FinishedColumns

        return FinishedColumns(work, manifest, db, near, name)
    from pipeline.finished_lines import FinishedLines

    return FinishedLines(work, manifest, db, near, name)
