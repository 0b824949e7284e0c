"""The links of lines of text as arrays by target, sorted by DuckDB into a mapped file.

Order: by target, then by source. Memory: 20 bytes a node and DuckDB's budget; the links are on disk
only. Ids are 0 to N-1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import DUMMY
from crawlrank.pipeline.data.csr import SOURCES, Csr, id_type
from crawlrank.pipeline.data.database import batches


def links_by_target(db: duckdb.DuckDBPyConnection, linked: str, nodes: int, folder: Path) -> Csr:
    """The graph of a view with the columns source and target, of text. folder: for the file.

    Raises BadInput for an id of no node.
    """
    real = f"FROM {linked} WHERE target <> '{DUMMY.decode()}'"
    rows: Any = db.execute(f"SELECT count(*) {real}").fetchall()
    edges = int(rows[0][0])
    kind: Any = id_type(nodes)
    sources: Any = (
        np.lib.format.open_memmap(folder / SOURCES, "w+", kind, (edges,))
        if edges
        else np.empty(0, kind)
    )
    indegrees, at = np.zeros(nodes, np.int64), 0
    outdegrees: Any = np.zeros(nodes, kind)
    query = f"SELECT target::BIGINT AS target, source::BIGINT AS source {real} ORDER BY 1, 2"
    for batch in batches(db, query):
        targets, origins = (batch[name].to_numpy() for name in ("target", "source"))
        for ids in (targets, origins):
            if len(ids) and not 0 <= ids.min() <= ids.max() < nodes:
                raise BadInput(str(folder), "an id of no node", f"ids below {nodes}")
        sources[at : at + len(batch)] = origins
        at += len(batch)
        np.add.at(indegrees, targets, 1)
        np.add.at(outdegrees, origins, kind(1))
    offsets = np.zeros(nodes + 1, np.int64)
    np.cumsum(indegrees, out=offsets[1:])
    return Csr(offsets, sources, outdegrees)
