"""A finished work folder, of either engine, to look things up in: views of DuckDB, and links by id.

The views, each with the name of the folder before it (`a_mapped`):

    mapped   id, key
    nodes    id, key, uri, score: the URI is the one that the scores show
    spelled  key, uri, captures, links, last: every spelling
    folded   key, target_key, kind, hops: the keys that others stand for
    ranked   ord, score, captured: a row for each node; nodes of equal score are ordered by ord
    visited  uri, timestamp, status, media_type, digest, kind, modified, etag, via, hops, title:
             every capture; modified and etag are null in a folder that was made without
             `--validators`, title in one without `--titles`
    degrees  key, links_in, links_out: of nodes, in the graph
    redirected  source, target: the redirects among the links that count
    kept     source, target, hop: the links of captures that count
    worded   target, source, words, timestamp, around: of links that count and have words, of the
             latest capture that has the link where the latest count; only in a folder that was
             made with `--anchor-text`; around is null in one without `--words-around`
    weighed  ord, links, captures: what ties by links order them by before

A view is made when it is first asked for, so that only those datasets are read, and brought from a
URL, that a question needs. Rows become Python objects only where they are asked for: DuckDB reads
Parquet by the ranges of keys that its row groups name, and text by all cores, within its memory
limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from crawlrank.jobs.kernel.formats.datasets import ANCHORS, CAPTURES
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Floats, Mask, Positions, Targets
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of, digits_for, relative_bound
from crawlrank.pipeline.ranking.classes import (
    Classes,
    Preferences,
    cut,
    preferred_by,
)
from crawlrank.pipeline.ranking.methods import Method, method_of
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.manifest import WITHOUT_URIS, Manifest
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders

CURE = "Make them again with `crawlrank run`."

#: of ord, as a column of a table of scores, the table, and the one of uris
WEIGHED = """
    SELECT s.{ord} AS ord, u.links AS links, u.captures AS captures FROM {scores} s JOIN
    (SELECT key, sum(links)::BIGINT AS links, sum(captures)::BIGINT AS captures FROM {uris}
     GROUP BY key) u USING (key)
"""
LATEST_WORDS = """
    SELECT w.* FROM ({worded}) w SEMI JOIN {kept} k ON w.source = k.source AND w.target = k.target
    QUALIFY w.timestamp = max(w.timestamp) OVER (PARTITION BY w.source, w.target)
"""
WORDED = ", ".join(ANCHORS.first(ANCHORS.usual))
TITLE = """
    SELECT v.title FROM {visited} v JOIN {spelled} s ON v.uri = s.uri
    WHERE s.key = $key AND v.title IS NOT NULL ORDER BY v.timestamp DESC NULLS LAST LIMIT 1
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
    its score."""

    sources: Positions
    outdegrees: Positions
    gives: Floats


class LinksOfNodes(NamedTuple):
    """Links from or to some nodes, by ids, ordered by target, then source."""

    sources: Positions
    targets: Positions


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
                if view == "worded" and self.folders.has_selected:
                    query = LATEST_WORDS.format(worded=query, kept=self.view("kept"))
                self.db.execute(f"CREATE VIEW {name} AS {query}")
            self._viewed.add(view)
        return name

    @abstractmethod
    def order_of(self, node: Node) -> int | str:
        """What stands in the column ord of `ranked` for a node."""

    @abstractmethod
    def scores(self) -> Floats:
        """The scores by id."""

    @abstractmethod
    def captured(self) -> Mask:
        """Whether, by id, a spelling of the node was captured."""

    @abstractmethod
    def indegrees(self) -> Targets:
        """The indegrees by id."""

    @abstractmethod
    def links(self) -> Csr:
        """The whole graph, by target: mapped where it is in arrays."""

    @abstractmethod
    def keys(self) -> Iterator[pa.RecordBatch]:
        """The column key of all nodes, by id, some rows at a time."""

    def preferred(self) -> Preferences:
        """What ties by links prefer, by id."""
        query = "SELECT links, captures FROM {weighed} ORDER BY ord"
        with self.reading():
            counts = self.db.sql(self._named(query)).fetchnumpy()
            return preferred_by(counts["links"], counts["captures"])

    def classes(self, scores: Floats, captured: Mask, options: Mapping[str, Any]) -> Classes:
        """The classes that a run with these options has. scores, captured: of this folder."""
        return cut(
            scores,
            int(options["--bins"]),
            digits=self.digits,
            mask=captured if options["--classes-over"] == "captured" else None,
            ties=options["--ties"],
            preferred=self.preferred() if options["--ties"] == "links" else None,
        )

    def base_of(self, node: int) -> float:
        """The part of a node's score that no link gives."""
        base = self.method.scoring.base(self.weights())
        return float(base[node if len(base) > 1 else 0])

    def weights(self) -> Floats | None:
        """The weights that the ranking was given, by id."""
        return None

    def column(self, name: str) -> Floats | None:
        """A further column of the ranking, by id, of those that its method has: `hubs`, how good a
        hub each page is; `reach` and `closeness` of harmonic centrality."""
        return None

    @abstractmethod
    def incoming(self, ids: Sequence[int]) -> list[Incoming]:
        """The links to each of the nodes."""

    @abstractmethod
    def links_of(self, ids: Sequence[int]) -> LinksOfNodes:
        """All links from or to any of the nodes. Reads the whole graph once."""

    def latest_captures(self, key: str, most: int) -> list[dict[str, Any]]:
        """Captures of a page by any spelling, as rows of captures, the latest first."""
        query = (
            "SELECT uri FROM {spelled} WHERE key = $key AND captures > 0"
            f" ORDER BY last DESC, uri LIMIT {most}"  # the latest are among theirs
        )
        captures = self.captures([uri for (uri,) in self.rows(query, key=key)])
        captures.sort(key=lambda row: (row["timestamp"] or "", row["archive"] or ""), reverse=True)
        return captures[:most]

    def title_of(self, key: str) -> str | None:
        """The title of the latest capture of a page that has one."""
        rows = self.rows(TITLE, key=key) if self.has_titles else []
        return rows[0][0] if rows else None

    @abstractmethod
    def captures(self, uris: Sequence[str]) -> list[dict[str, Any]]:
        """The captures of these URIs, as `capture_columns`, None where unknown."""

    @property
    def has_titles(self) -> bool:
        """Whether the run was asked for titles of pages."""
        return bool(self.parameters.get("--titles"))

    @property
    def has_anchors(self) -> bool:
        """Whether the run was asked for the words of links."""
        return bool(self.parameters.get("--anchor-text"))

    @property
    def has_words_around(self) -> bool:
        """Whether the run was asked for the words around links."""
        return bool(self.parameters.get("--words-around"))

    @property
    def capture_columns(self) -> dict[str, str]:
        """Columns that captures are shown with, by name, with their types."""
        more = {"title": CAPTURES.columns["title"]} if self.has_titles else {}
        return CAPTURES.first(CAPTURES.required) | more

    @property
    def parameters(self) -> dict[str, Any]:
        return self.manifest.parameters

    @property
    def method(self) -> Method:
        return method_of(self.parameters)

    @property
    def digits(self) -> int:
        """Significant digits that scores must share to count as equal."""
        return int(self.manifest.steps["join-scores"]["parameters"]["digits"])

    @property
    def bounds(self) -> Bounds:
        """The bounds of the error of each score."""
        return bounds_of(self.manifest.steps[RANK]["rounds"][-1])

    @property
    def proved_digits(self) -> int:
        """Significant digits of scores that differ for certain where they differ: those that the
        bound of each score proves, and nine after a fixed number of rounds, whose sums give pages
        with the same links the same bits."""
        if self.parameters.get("--iterations") is not None:
            return self.digits
        last = self.manifest.steps[RANK]["rounds"][-1]
        return min(self.digits, digits_for(relative_bound(last)))

    @property
    def has_uris(self) -> bool:
        """Otherwise keys stand for them, and there is no precedence file."""
        return self.manifest.imported.get("kind") not in WITHOUT_URIS

    def rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query in which `{spelled}` is the view of this folder."""
        named = self._named(query)
        with self.reading():
            rows: list[tuple[Any, ...]] = self.db.execute(named, values).fetchall()
            return rows

    def _named(self, query: str) -> str:
        return query.format_map(_Views(self))

    def node_of(self, key: str) -> int | None:
        """The id of a key, if it has one."""
        rows = self.rows("SELECT id FROM {mapped} WHERE key = $key LIMIT 1", key=key)
        return int(rows[0][0]) if rows else None

    def nodes(self, ids: Sequence[int]) -> dict[int, Node]:
        """The nodes of these ids."""
        if not ids:
            return {}
        listed = ", ".join(map(str, sorted({*map(int, ids)})))
        query = f"SELECT id, key, uri, score FROM {{nodes}} WHERE id IN ({listed})"
        return {row[0]: Node(*row) for row in self.rows(query)}


class _Views(dict[str, str]):
    """The names of the views of a folder; one that a query names is made."""

    def __init__(self, finished: Finished) -> None:
        super().__init__()
        self._finished = finished

    def __missing__(self, view: str) -> str:
        return self._finished.view(view)
