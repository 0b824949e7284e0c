"""A finished work folder of the embedded engine: Parquet by DuckDB, links where they are mapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jobs.kernel.errors import BadInput
from jobs.kernel.rank import DAMPING
from pipeline.embedded.csr import open_csr
from pipeline.embedded.ranks import SCORES, open_scores
from pipeline.finished import CAPTURE_COLUMNS, CURE, Finished, Incoming, Node
from pipeline.graph import Floats, Mask


class FinishedColumns(Finished):
    def views(self) -> dict[str, str]:
        scores = f"'{self.near}/scores/scores.parquet'"
        return {
            "mapped": f"SELECT id, key FROM '{self.near}/map/map.parquet'",
            "nodes": f"SELECT id, key, uri, score FROM {scores}",
            "spelled": "SELECT key, uri, captures, links, last"
            f" FROM '{self.near}/uris/uris.parquet'",
            "ranked": f"SELECT id AS ord, score, captures > 0 AS captured FROM {scores}",
        }

    def folds(self) -> str:
        return f"SELECT key, target_key, kind, hops FROM '{self.near}/folds/folds.parquet'"

    def order_of(self, node: Node) -> int:
        return node.id

    def scores(self) -> Floats:
        nodes = open_csr(self.work / "graph", edges=False).nodes
        return np.array(open_scores(self.work / "ranks" / SCORES, nodes))

    def captured(self) -> Mask:
        with self.reading():
            rows = self.db.sql(f"SELECT ord FROM {self.name}_ranked WHERE captured").fetchnumpy()
        mask = np.zeros(open_csr(self.work / "graph", edges=False).nodes, np.bool_)
        self._require_nodes(rows["ord"], len(mask), "scores")
        mask[rows["ord"]] = True
        return mask

    def incoming(self, ids: Sequence[int]) -> list[Incoming]:
        csr = open_csr(self.work / "graph", edges=False)
        scores = open_scores(self.work / "ranks" / SCORES, csr.nodes)
        self._require_nodes(np.array(ids, np.int64), csr.nodes, "map")
        found = []
        for node in ids:
            sources = csr.sources[csr.offsets[node] : csr.offsets[node + 1]].astype(np.int64)
            self._require_nodes(sources, csr.nodes, "graph")
            outdegrees = csr.outdegrees[sources].astype(np.int64)
            found.append(Incoming(sources, outdegrees, DAMPING * (scores[sources] / outdegrees)))
        return found

    def _require_nodes(self, ids: Any, nodes: int, dataset: str) -> None:
        """Raises BadInput where a dataset has an id of no node."""
        if np.ma.is_masked(ids) or (len(ids) and not 0 <= ids.min() <= ids.max() < nodes):
            what = "an id of no node"
            raise BadInput(str(self.work / dataset), what, f"ids below {nodes}", CURE)

    def captures(self, uris: Sequence[str]) -> list[dict[str, Any]]:
        if not uris or not any((self.work / "captures").glob("*.parquet")):
            return []
        columns = ", ".join(f'"{name}"' for name in CAPTURE_COLUMNS)
        rows = self.rows(
            f"SELECT {columns} FROM '{self.near}/captures/*.parquet'"
            " WHERE uri IN (SELECT unnest($uris))",
            uris=list(uris),
        )
        return [dict(zip(CAPTURE_COLUMNS, row, strict=True)) for row in rows]
