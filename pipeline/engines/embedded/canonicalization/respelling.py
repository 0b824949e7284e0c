"""Keys that were linked to in another charset than they were captured in, and the captured ones.

An uncaptured key whose query is no UTF-8 folds into the only captured one that it is in UTF-8, for
some charset. jobs/respell.py does the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.keys.keys import KeyFunction, forgetful_key_function
from crawlrank.jobs.kernel.keys.query_charsets import BEYOND_ASCII, in_utf_8, is_foreign
from crawlrank.pipeline.data.database import feed
from crawlrank.pipeline.engines.embedded.canonicalization.partition_spellings import (
    POSITIONED,
    PartitionWork,
    spellings,
)

CANDIDATES = pa.schema([("key", pa.string()), ("foreign_key", pa.string())])
TABLE = "respelled"
MAKE = f"""
CREATE TABLE captured AS SELECT DISTINCT key FROM beyond WHERE captures > 0 AND
    (key IN (SELECT key FROM candidate) OR key IN (SELECT foreign_key FROM candidate));
CREATE TABLE single AS SELECT foreign_key AS key, min(key) AS target_key, count(DISTINCT key) AS n
    FROM candidate SEMI JOIN captured USING (key)
    WHERE foreign_key NOT IN (SELECT key FROM captured) AND foreign_key <> key GROUP BY foreign_key;
CREATE TABLE {TABLE} AS SELECT key, target_key FROM single WHERE n = 1;
"""


def respell(db: duckdb.DuckDBPyConnection, merges: list[PartitionWork]) -> Counter[str]:
    """Make the table `respelled` (key, target_key) where there are such keys; counters. Where the
    URIs are keys themselves, nothing is known of captures."""
    setup = merges[0].setup
    if setup.keyed:
        return Counter()
    key_of = forgetful_key_function(setup.www)
    feed(db, "candidates", CANDIDATES, _candidates(_beyond(merges), key_of))
    db.execute("CREATE TABLE candidate AS SELECT DISTINCT * FROM candidates")
    db.unregister("candidates")
    ((count,),) = db.execute("SELECT count(*) FROM candidate").fetchall()
    if not count:
        return Counter()
    feed(db, "beyond", POSITIONED, _beyond(merges))
    db.execute(MAKE)
    db.unregister("beyond")
    ((folds,),) = db.execute("SELECT count(*) FROM respelled").fetchall()
    ((several,),) = db.execute("SELECT count(*) FROM single WHERE n > 1").fetchall()
    return Counter({"folds.charset": folds, "unfolded.ambiguous": several})


def has_respelled(db: duckdb.DuckDBPyConnection) -> bool:
    rows = db.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = $name", {"name": TABLE})
    return bool(rows.fetchall())


def _beyond(merges: list[PartitionWork]) -> Iterator[pa.RecordBatch]:
    """The spellings whose query has escapes beyond ASCII."""
    for batch in spellings(merges):
        yield batch.filter(pc.match_substring_regex(batch["uri"], BEYOND_ASCII))


def _candidates(rows: Iterator[pa.RecordBatch], key_of: KeyFunction) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        missed = batch.filter(pc.equal(batch["captures"], 0))
        pairs = [
            (candidate.decode(), key)
            for uri, key in zip(missed["uri"].to_pylist(), missed["key"].to_pylist(), strict=True)
            if is_foreign(uri.encode())
            for candidate in filter(None, map(key_of, in_utf_8(uri.encode())))
        ]
        columns = [pa.array([pair[at] for pair in pairs], pa.string()) for at in (0, 1)]
        yield pa.record_batch(columns, CANDIDATES)
