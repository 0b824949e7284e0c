"""The site of every page, from the keys in map/map.parquet.

Keys of a host follow each other, so a batch of keys is a few runs of pages of one host. Only runs
reach Python and DuckDB, which numbers the sites in the order of their names. In an imported graph
whose ids do not follow its keys a site has many runs, and still one number. Memory: 4 bytes a page
for the result, 8 from 2^31 sites on; a batch; and what DuckDB may take, which spills.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.database import batches, database, feed
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.parquet import parquet_batches, reading
from crawlrank.pipeline.ranking.sites.names import host_name

RUNS = pa.schema([("first", pa.int64()), ("pages", pa.int64()), ("site", pa.string())])
CURE = "Give map and graph of one and the same run."

#: number: from 0, in byte order of the names
SITES = """
    CREATE TABLE sites AS
    SELECT row_number() OVER (ORDER BY site) - 1 AS number, site, sum(pages)::BIGINT AS pages
    FROM runs GROUP BY site
"""
NUMBERED = """
    SELECT r.first AS first, r.pages AS pages, s.number AS number
    FROM runs r JOIN sites s USING (site)
"""


def hosts_of_pages(keys: Path, nodes: int, tmp: Path, *, budget: int, threads: int) -> Positions:
    """The number of the host of each page. budget: bytes of memory. Raises BadInput."""
    with database(tmp, budget=budget - 8 * nodes, threads=threads) as (db, _):
        return site_of_pages(db, keys, host_name, nodes)


def site_of_pages(
    db: duckdb.DuckDBPyConnection, keys: Path, name_of: Callable[[str], str], nodes: int
) -> Positions:
    """int32[nodes] or int64[nodes], by id; leaves the table `sites` in the database.

    keys: a file of map with a key for each node. name_of: of a site, by the part of a key before
    its first `)`. Raises BadInput where there are not so many keys.
    """
    feed(db, "read_runs", RUNS, reading(keys, _runs(keys, name_of)))
    db.execute("CREATE TABLE runs AS SELECT * FROM read_runs")
    db.execute(SITES)
    sites, pages = db.execute("SELECT count(*), coalesce(sum(pages), 0) FROM sites").fetchall()[0]
    if pages != nodes:
        raise BadInput(str(keys), count_of(pages, "key"), f"one for each of {nodes:,} nodes", CURE)
    of_pages: Positions = np.empty(nodes, np.int32 if sites < 2**31 else np.int64)
    for batch in batches(db, NUMBERED):
        first, length, number = (column.to_numpy() for column in batch.columns)
        ends = np.cumsum(length)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - length, length)
        of_pages[np.repeat(first, length) + within] = np.repeat(number, length)
    db.execute("DROP TABLE runs")
    return of_pages


def _runs(keys: Path, name_of: Callable[[str], str]) -> Iterator[pa.RecordBatch]:
    """Runs of pages of one host: the first id, how many, and the name of the site."""
    done = 0
    for batch in parquet_batches(keys, ["key"]):
        if not len(batch):
            continue
        parts = pc.list_element(pc.split_pattern(batch["key"], ")", max_splits=1), 0)
        runs = pc.run_end_encode(parts)
        ends = runs.run_ends.to_numpy().astype(np.int64)
        begins = np.append(np.zeros(1, np.int64), ends[:-1])
        names = [name_of(part) for part in runs.values.to_pylist()]
        columns = [pa.array(done + begins), pa.array(ends - begins), pa.array(names, pa.string())]
        yield pa.record_batch(columns, RUNS)
        done += len(batch)
