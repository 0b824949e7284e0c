"""Which nodes of a graph were captured: those that the classes of a precedence file are cut over.

Ids and keys meet in the map, keys and captures in uris, as in pipeline/precedence.py. DuckDB joins
them, so keys need no memory; the result is one byte a node.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from jobs.kernel.errors import BadInput
from jobs.kernel.lines import parse_map_row, parse_uri_row
from jobs.kernel.reading import read_all, read_rows
from pipeline.graph import Graph, Mask
from pipeline.precedence import database, decoded, insert

CURE = "Give the uris, the map and the graph of one and the same run."


def captured_nodes(graph: Graph, uris: str | Path, maps: Sequence[str | Path], tmp: Path) -> Mask:
    """bool[N], by position. tmp: a folder for the database.

    Raises BadInput where the ids of the map are not those of the graph, or uris lacks a key of it.
    """
    named = ", ".join(map(str, maps))
    with tempfile.TemporaryDirectory(prefix="captured-", dir=tmp) as own, database(Path(own)) as db:
        db.execute("CREATE TABLE mapped (id BIGINT, key VARCHAR)")
        schema = pa.schema([("id", pa.int64()), ("key", pa.string())])
        rows = ((int(row.id), decoded(row.key)) for row in read_all(maps, parse_map_row))
        insert(db, "mapped", schema, rows)
        db.execute("CREATE TABLE spelled (key VARCHAR, captured BOOLEAN)")
        schema = pa.schema([("key", pa.string()), ("captured", pa.bool_())])
        seen = ((decoded(row.key), row.captures > 0) for row in read_rows(uris, parse_uri_row))
        insert(db, "spelled", schema, seen)
        db.execute(
            "CREATE TABLE nodes AS SELECT m.id AS id, m.key AS key, s.captured AS captured FROM"
            " mapped m LEFT JOIN (SELECT key, bool_or(captured) AS captured FROM spelled"
            " GROUP BY key) s USING (key)"
        )
        columns = db.sql("SELECT id, captured FROM nodes ORDER BY id").to_arrow_table()
        lacking = db.execute(
            "SELECT key FROM nodes WHERE captured IS NULL ORDER BY id LIMIT 1"
        ).fetchone()
    ids = columns["id"].to_numpy()
    if not np.array_equal(ids, graph.ids):
        what = f"other ids than {graph.name} ({len(ids)} for {graph.nodes} nodes)"
        raise BadInput(named, what, "one line for each node of the graph", CURE)
    if lacking:
        raise BadInput(
            str(uris), f"no line for the key {lacking[0]}", f"every key of {named}", CURE
        )
    mask: Mask = columns["captured"].to_numpy(zero_copy_only=False).astype(bool)
    return mask
