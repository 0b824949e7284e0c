"""Which nodes of a graph were captured, and which are preferred among equal ones, from uris.

The classes of a precedence file are cut over the captured nodes. The map has ids and keys; uris has
keys, captures and links. DuckDB joins them, so keys need no memory. The result is one byte a node,
and eight for preferences.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import MAP
from crawlrank.jobs.kernel.formats.lines import parse_map_row
from crawlrank.jobs.kernel.formats.reading import read_all
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Graph, Mask
from crawlrank.pipeline.data.parquet import schema_of
from crawlrank.pipeline.precedence.scored import (
    SPELLED_TABLE,
    WHOLE,
    decoded,
    insert,
    row_batches,
    spelled_batches,
)
from crawlrank.pipeline.ranking.classes import Preferences, preferred_first

BUDGET = 2 << 30  # bytes
MAPPED = schema_of(MAP.columns)
CURE = "Give the uris, the map and the graph of one and the same run."


class Captured(NamedTuple):
    """By position: which nodes were captured, and the preferences of classes.py if requested."""

    mask: Mask
    preferred: Preferences | None


def captured_nodes(graph: Graph, uris: str | Path, maps: Sequence[str | Path], tmp: Path) -> Mask:
    """bool[N], by position, as in `captured_columns`."""
    return captured_columns(graph, uris, maps, tmp).mask


def captured_columns(
    graph: Graph, uris: str | Path, maps: Sequence[str | Path], tmp: Path, *, weighed: bool = False
) -> Captured:
    """The columns of all nodes. tmp: a folder for the database. weighed: preferences too.

    Raises BadInput where the ids of the map are not those of the graph, or uris lacks a key of it.
    """
    named = ", ".join(map(str, maps))
    with database(tmp, budget=BUDGET, threads=os.cpu_count() or 1) as (db, _):
        db.execute("CREATE TABLE mapped (id BIGINT, key VARCHAR)")
        rows = ((int(row.id), decoded(row.key)) for row in read_all(maps, parse_map_row))
        insert(db, "mapped", row_batches(MAPPED, rows))
        db.execute(SPELLED_TABLE)
        insert(db, "spelled", spelled_batches(uris, weighed=weighed))
        db.execute(
            "CREATE TABLE nodes AS SELECT m.id AS id, m.key AS key, s.captured AS captured, weight"
            " FROM mapped m LEFT JOIN (SELECT key, bool_or(captured) AS captured,"
            f" (sum(weight) % {WHOLE + 1})::UBIGINT AS weight FROM spelled GROUP BY key) s"
            " USING (key)"
        )
        columns = db.sql("SELECT id, captured, weight FROM nodes ORDER BY id").to_arrow_table()
        lacking = db.execute(
            "SELECT key FROM nodes WHERE captured IS NULL ORDER BY id LIMIT 1"
        ).fetchone()
    ids = columns["id"].to_numpy()
    if not np.array_equal(ids, graph.ids):
        ids_found = f"other ids than {graph.name} ({len(ids)} for {graph.nodes} nodes)"
        raise BadInput(named, ids_found, "one line for each node of the graph", CURE)
    if lacking:
        raise BadInput(
            str(uris), f"no line for the key {lacking[0]}", f"every key of {named}", CURE
        )
    mask: Mask = columns["captured"].to_numpy(zero_copy_only=False).astype(bool)
    if not weighed:
        return Captured(mask, None)
    return Captured(mask, preferred_first(columns["weight"].to_numpy().copy()))
