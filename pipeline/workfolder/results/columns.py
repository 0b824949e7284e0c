"""A finished work folder of the embedded engine: Parquet by DuckDB, links in mapped arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.csr import Csr, open_csr
from crawlrank.pipeline.data.graph import PIECE, Floats, Mask, Positions, Targets
from crawlrank.pipeline.data.parquet import parquet_batches
from crawlrank.pipeline.data.scores_file import (
    HOSTS,
    OUTWEIGHTS,
    SCORES,
    WEIGHTS,
    open_scores,
)
from crawlrank.pipeline.ranking.inputs import LINK_WEIGHT, parsed_link_weights
from crawlrank.pipeline.workfolder.results.finished import (
    WEIGHED,
    WORDED,
    Finished,
    Incoming,
    LinksOfNodes,
    Node,
)


class FinishedColumns(Finished):
    def queries(self) -> dict[str, Callable[[], str]]:
        table = self._table
        return {
            "mapped": lambda: f"SELECT id, key FROM {table('map')}",
            "nodes": lambda: f"SELECT id, key, uri, score FROM {table('scores')}",
            "spelled": lambda: f"SELECT key, uri, captures, links, last FROM {table('uris')}",
            "folded": lambda: f"SELECT key, target_key, kind, hops FROM {table('folds')}",
            "visited": lambda: (
                f"SELECT uri, timestamp, status, media_type, digest, kind, {self._validators()},"
                f" via, hops, {self._title()} FROM '{self.folder('captures')}/*.parquet'"
            ),
            "redirected": lambda: (
                f"SELECT source, target FROM '{self.folder('links')}/*.parquet' WHERE hop = 'R'"
            ),
            "kept": lambda: f"SELECT source, target, hop FROM '{self.folder('links')}/*.parquet'",
            "worded": lambda: (
                f"SELECT {WORDED}, {self._around()} FROM '{self.folder('anchors')}/*.parquet'"
            ),
            "ranked": lambda: (
                f"SELECT id AS ord, score, captures > 0 AS captured FROM {table('scores')}"
            ),
            "degrees": lambda: (
                f"SELECT key, inlinks AS links_in, outlinks AS links_out FROM {table('scores')}"
            ),
            "weighed": lambda: WEIGHED.format(ord="id", scores=table("scores"), uris=table("uris")),
        }

    def _validators(self) -> str:
        """Columns of captures that not all work folders have."""
        asked = self.parameters.get("--validators")
        return "modified, etag" if asked else "NULL::VARCHAR AS modified, NULL::VARCHAR AS etag"

    def _title(self) -> str:
        return "title" if self.has_titles else "NULL::VARCHAR AS title"

    def _around(self) -> str:
        return "around" if self.has_words_around else "NULL::VARCHAR AS around"

    def _table(self, dataset: str) -> str:
        return f"'{self.folder(dataset)}/{dataset}.parquet'"

    def order_of(self, node: Node) -> int:
        return node.id

    def scores(self) -> Floats:
        with self.reading():
            return np.array(open_scores(self.folder("ranks") / SCORES, self._csr().nodes))

    def captured(self) -> Mask:
        ranked = self.view("ranked")
        with self.reading():
            rows = self.db.sql(f"SELECT ord FROM {ranked} WHERE captured").fetchnumpy()
            mask = np.zeros(self._csr().nodes, np.bool_)
            mask[rows["ord"]] = True
            return mask

    def indegrees(self) -> Targets:
        with self.reading():
            return np.diff(self._csr().offsets)

    def links(self) -> Csr:
        with self.reading():
            return open_csr(self.folder("graph"))

    def keys(self) -> Iterator[pa.RecordBatch]:
        with self.reading():
            yield from parquet_batches(self.folder("map") / "map.parquet", ["key"])

    def _csr(self) -> Csr:
        return open_csr(self.folder("graph"), edges=False)

    def incoming(self, ids: Sequence[int]) -> list[Incoming]:
        with self.reading():
            csr = self._csr()
            columns = {SCORES: self._ranks(SCORES, csr.nodes)}
            columns |= {name: self._ranks(f"{name}.npy", csr.nodes) for name in self.method.more}
            return [self._incoming(csr, columns, node) for node in ids]

    def links_of(self, ids: Sequence[int]) -> LinksOfNodes:
        wanted = np.array(ids, np.int64)
        with self.reading():
            csr = self._csr()
            of_target = [np.arange(csr.offsets[node], csr.offsets[node + 1]) for node in ids]
            edges = np.unique(np.concatenate((_edges_from(csr, wanted), *of_target)))
            sources = csr.sources[edges].astype(np.int64)
            return LinksOfNodes(sources, np.searchsorted(csr.offsets, edges, side="right") - 1)

    def _ranks(self, file: str, nodes: int) -> Floats:
        return open_scores(self.folder("ranks") / file, nodes)

    def column(self, name: str) -> Floats | None:
        with self.reading():
            named = name in self.method.more
            return self._ranks(f"{name}.npy", self._csr().nodes) if named else None

    def weights(self) -> Floats | None:
        with self.reading():
            path = self.folder("ranks") / WEIGHTS
            return np.array(open_scores(path, self._csr().nodes)) if path.exists() else None

    def _incoming(self, csr: Csr, columns: Mapping[str, Floats], node: int) -> Incoming:
        sources = csr.sources[csr.offsets[node] : csr.offsets[node + 1]].astype(np.int64)
        outdegrees = csr.outdegrees[sources].astype(np.int64)
        if self.parameters.get(LINK_WEIGHT.option):
            gives = self._weighted_shares(node, sources, columns[SCORES][sources])
        else:
            more = {name: columns[name][sources] for name in self.method.more}
            gives = self.method.scoring.shares(columns[SCORES][sources], outdegrees, more)
        return Incoming(sources, outdegrees, gives)

    def _weighted_shares(self, node: int, sources: Positions, scores: Floats) -> Floats:
        """What each link to a node adds to its score, where links have weights."""
        ranks, nodes = self.folder("ranks"), self._csr().nodes
        hosts, outweights = (open_scores(ranks / name, nodes) for name in (HOSTS, OUTWEIGHTS))
        weights = parsed_link_weights(self.parameters[LINK_WEIGHT.option])
        of_links = np.where(hosts[sources] == hosts[node], weights.internal, weights.external)
        totals = outweights[sources]
        return of_links * self.method.scoring.shares(scores, np.where(totals > 0, totals, 1.0), {})

    def captures(self, uris: Sequence[str]) -> list[dict[str, Any]]:
        if not uris or not any(self.folder("captures").glob("*.parquet")):
            return []
        names = self.capture_columns
        columns = ", ".join(f'"{name}"' for name in names)
        rows = self.rows(
            f"SELECT {columns} FROM '{self.folder('captures')}/*.parquet'"
            " WHERE uri IN (SELECT unnest($uris))",
            uris=list(uris),
        )
        return [dict(zip(names, row, strict=True)) for row in rows]


def _edges_from(csr: Csr, ids: Positions) -> Positions:
    """Where the nodes are sources, a piece of the edges at a time."""
    positions: list[Positions] = [np.empty(0, np.int64)]
    for begin in range(0, csr.edges, PIECE):
        piece = np.asarray(csr.sources[begin : begin + PIECE])
        positions.append(begin + np.flatnonzero(np.isin(piece, ids)))
        release(csr.sources, begin, begin + len(piece))
    return np.concatenate(positions)
