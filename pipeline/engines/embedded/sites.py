"""The links between pages collapsed to edges between their sites, and what each site has of them.

The weight of an edge from site s to site t: the links of pages of s to pages of t (count), the
pages of s that have such a link (distinct), or 1 (one). Links within a site are left out: a site
would otherwise keep a part of its own score, and more of it the more menus its pages repeat, which
nobody but itself decides.

Blocks of links go to DuckDB as numbers, which groups them within its memory limit. Memory besides:
16 bytes a site, and a block. The edges lie in files.

    of_pages.npy   int32[N] or int64[N], the site of each page
    offsets.npy    int64[S + 1]; sources.npy int64[P]; weights.npy float64[P]: see SiteGraph
    sites.parquet  site, pages, links_in, links_out, sites_in, sites_out, by number

The site of every page, from the keys in map/map.parquet.

Keys of a host follow each other, so a batch of keys is a few runs of pages of one host. Only runs
reach Python and DuckDB, which numbers the sites in the order of their names. In an imported graph
whose ids do not follow its keys a site has many runs, and still one number. Memory: 4 bytes a page
for the result, 8 from 2^31 sites on; a batch; and what DuckDB may take, which spills.

The table of sites of a ranking: ranks/sites.parquet, a row for each site, by name.

Columns: site; pages; links_in and links_out, the links between its pages and those of other sites;
sites_in and sites_out, how many sites these lead from and to; score; share, the score by the sum of
all sites' scores. Memory: 8 bytes a site, and a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.arrays import Growing, open_array, release, save
from crawlrank.pipeline.data.csr import OFFSETS, SOURCES, Csr, open_csr
from crawlrank.pipeline.data.database import batches, database, feed
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.parquet import parquet_batches, parquet_writer, reading
from crawlrank.pipeline.data.scores_file import SCORES, open_scores
from crawlrank.pipeline.data.site_names import NAMES, host_name
from crawlrank.pipeline.ranking.inputs import SiteBy, SiteWeight
from crawlrank.pipeline.ranking.sites import SiteGraph

SITES, OF_PAGES, EDGE_WEIGHTS = "sites.parquet", "of_pages.npy", "weights.npy"
BLOCK = 1 << 20  # links
LINKS = pa.schema([("target", pa.int64()), ("source", pa.int64()), ("page", pa.int64())])
COUNTS = ("pages", "links_in", "links_out", "sites_in", "sites_out")
COUNTED = pa.schema([("site", pa.string()), *((name, pa.int64()) for name in COUNTS)])
CURE = "Rank again."

#: links: between the pages of two sites; weight: of the edge
EDGES = {
    "count": "SELECT target, source, count(*) AS links, count(*) AS weight FROM links"
    " GROUP BY target, source",
    "distinct": "SELECT target, source, sum(links)::BIGINT AS links, count(*) AS weight FROM"
    " (SELECT target, source, page, count(*) AS links FROM links GROUP BY target, source, page)"
    " GROUP BY target, source",
    "one": "SELECT target, source, count(*) AS links, 1 AS weight FROM links"
    " GROUP BY target, source",
}
OF_SITES = """
    WITH came AS (SELECT target AS number, sum(links)::BIGINT AS links, count(*) AS sites
                  FROM edges GROUP BY target),
         went AS (SELECT source AS number, sum(links)::BIGINT AS links, count(*) AS sites
                  FROM edges GROUP BY source)
    SELECT site, pages,
           coalesce(came.links, 0) AS links_in, coalesce(went.links, 0) AS links_out,
           coalesce(came.sites, 0) AS sites_in, coalesce(went.sites, 0) AS sites_out
    FROM sites LEFT JOIN came USING (number) LEFT JOIN went USING (number) ORDER BY number
"""


def collapse(
    keys: Path,
    graph: Path,
    output: Path,
    by: SiteBy,
    weight: SiteWeight,
    tmp: Path,
    *,
    budget: int,
    threads: int = 1,
) -> None:
    """Write the graph of sites to the new folder `output`.

    keys: a file of map. graph: the folder of a Csr. budget: bytes of memory. Raises BadInput where
    map and graph do not match.
    """
    csr = open_csr(graph)
    output.mkdir(parents=True)
    left = budget - 8 * csr.nodes
    with database(tmp, budget=left, threads=threads) as (db, _):
        of_pages = site_of_pages(db, keys, NAMES[by], csr.nodes)
        save(output / OF_PAGES, of_pages)
        feed(db, "links", LINKS, _links(csr, of_pages))
        db.execute(f"CREATE TABLE edges AS {EDGES[weight]}")
        _write_edges(db, output)
        _write_counts(db, output / SITES)


def _links(csr: Csr, of_pages: Positions) -> Iterator[pa.RecordBatch]:
    """The links between pages of two sites, with the numbers of these and the page they are on."""
    for begin in range(0, csr.edges, BLOCK):
        end = min(begin + BLOCK, csr.edges)
        first = int(np.searchsorted(csr.offsets, begin, side="right")) - 1
        last = int(np.searchsorted(csr.offsets, end, side="left"))
        ends = np.clip(csr.offsets[first : last + 1], begin, end)
        targets = np.repeat(of_pages[first:last], ends[1:] - ends[:-1])
        pages = csr.sources[begin:end].astype(np.int64)
        release(csr.sources, begin, end)
        sources = of_pages[pages]
        apart = targets != sources
        columns = (targets[apart], sources[apart], pages[apart])
        yield pa.record_batch([pa.array(column.astype(np.int64)) for column in columns], LINKS)


def _write_edges(db: duckdb.DuckDBPyConnection, output: Path) -> None:
    sites = int(db.execute("SELECT count(*) FROM sites").fetchall()[0][0])
    offsets = np.zeros(sites + 1, np.int64)
    with (
        Growing(output / SOURCES, np.int64) as sources,
        Growing(output / EDGE_WEIGHTS, np.float64) as weights,
    ):
        ordered = "SELECT target, source, weight FROM edges ORDER BY target, source"
        for batch in batches(db, ordered):
            targets, of_targets, weight = (column.to_numpy() for column in batch.columns)
            offsets[1:] += np.bincount(targets, minlength=sites)
            sources.write(of_targets)
            weights.write(weight.astype(np.float64))
    save(output / OFFSETS, np.cumsum(offsets))


def _write_counts(db: duckdb.DuckDBPyConnection, path: Path) -> None:
    with parquet_writer(path, COUNTED, compression="snappy") as file:
        for batch in batches(db, OF_SITES):
            file.write_batch(batch.cast(COUNTED))


def open_sites(folder: Path) -> SiteGraph:
    """The graph of sites in a folder of `collapse`, mapped. Raises BadInput."""
    return SiteGraph(
        open_array(folder / OFFSETS, (np.int64,), CURE),
        open_array(folder / SOURCES, (np.int64,), CURE),
        open_array(folder / EDGE_WEIGHTS, (np.float64,), CURE),
        open_array(folder / OF_PAGES, (np.int32, np.int64), CURE),
    )


RUNS = pa.schema([("first", pa.int64()), ("pages", pa.int64()), ("site", pa.string())])
ONE_RUN = "Give map and graph of one and the same run."

#: number: from 0, in byte order of the names
NUMBERED_SITES = """
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
    its first `)`. Raises BadInput where there are fewer keys.
    """
    feed(db, "read_runs", RUNS, reading(keys, _runs(keys, name_of)))
    db.execute("CREATE TABLE runs AS SELECT * FROM read_runs")
    db.execute(NUMBERED_SITES)
    sites, pages = db.execute("SELECT count(*), coalesce(sum(pages), 0) FROM sites").fetchall()[0]
    if pages != nodes:
        expected = f"one for each of {nodes:,} nodes"
        raise BadInput(str(keys), count_of(pages, "key"), expected, ONE_RUN)
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


SCHEMA = pa.schema([*COUNTED, ("score", pa.float64()), ("share", pa.float64())])


def write_sites(collapsed: Path, ranks: Path) -> None:
    """Add the table to the folder `ranks`, which has the scores. collapsed: of `collapse`."""
    sites, done = open_sites(collapsed), 0
    scores = np.empty(sites.nodes)
    scores[sites.of_pages] = open_scores(ranks / SCORES, len(sites.of_pages))
    total = float(scores.sum()) or 1.0  # a ranking may give 0 to all sites
    with parquet_writer(ranks / SITES, SCHEMA, compression="snappy") as file:
        for batch in parquet_batches(collapsed / SITES, COUNTED.names):
            some = scores[done : done + len(batch)]
            done += len(batch)
            columns = [*batch.columns, pa.array(some), pa.array(some / total)]
            file.write_batch(pa.record_batch(columns, SCHEMA))
