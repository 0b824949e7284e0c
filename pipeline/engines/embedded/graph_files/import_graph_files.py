"""A graph in files of other programs, to the datasets of a work folder from which a run continues.

The label of a node is the key of its page. If all labels are http or https URIs, the key is the one
that a run makes of the URI: labels of one key are spellings of one page, and there is a precedence
file. All nodes are pages, also those without an edge. Ids are in the order of the keys.

Memory: the budget. DuckDB joins the edges with their nodes, on disk where they take more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import DROPPED, why_unusable
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.keys.keys import Www, key_function
from crawlrank.jobs.kernel.keys.uris import escape
from crawlrank.pipeline.data.csr import id_type
from crawlrank.pipeline.data.database import batches, database
from crawlrank.pipeline.data.pairs import Pairs
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter
from crawlrank.pipeline.engines.embedded.gen_graph import write_graph
from crawlrank.pipeline.engines.embedded.graph_files.recognition import source_of
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    PIECE,
    Batches,
    GraphSource,
    node_twice,
    unlisted_node,
)
from crawlrank.pipeline.engines.embedded.ids import SCHEMA as MAP_SCHEMA
from crawlrank.pipeline.engines.embedded.text_files.import_graph import (
    spelled,
    write_names,
    writing_names,
)
from crawlrank.pipeline.engines.embedded.text_files.import_text import Imported, import_files
from crawlrank.pipeline.precedence.scored import insert
from crawlrank.pipeline.workfolder.manifest import (
    GRAPH,
    URI_GRAPH,
    Manifest,
    file_fingerprint,
    fingerprint,
)

ENDS = "(SELECT source AS id FROM edges UNION ALL SELECT target FROM edges)"
LISTED = f"SELECT DISTINCT id, id AS label FROM {ENDS}"
LOST = "SELECT count(*) FROM edges WHERE NOT (source IN ({nodes}) AND target IN ({nodes}))"
UNLISTED = f"SELECT id FROM {ENDS} WHERE id NOT IN (SELECT id FROM named) LIMIT 1"
TWICE = "SELECT {name} FROM named GROUP BY {name} HAVING count(*) > 1 LIMIT 1"
ARE_URIS = "SELECT bool_and(regexp_matches(label, '^[hH][tT][tT][pP][sS]?://')) FROM named"
NODES = """
    CREATE TABLE nodes AS
    SELECT dense_rank() OVER (ORDER BY key) - 1 AS node, id, label, key FROM keyed
"""
EDGES = """
    SELECT {columns} FROM edges e
    JOIN nodes s ON s.id = e.source JOIN nodes t ON t.id = e.target {order}
"""
SPELLINGS = """
    SELECT node, key, label, coalesce(links, 0) AS links FROM nodes LEFT JOIN
    (SELECT target, count(DISTINCT source) AS links FROM edges WHERE source <> target
     GROUP BY target) ON id = target
    ORDER BY node, label
"""
KEYED = pa.schema([(name, pa.string()) for name in ("id", "label", "key")])
LOOPS = "edges of a node to itself"
OF_DROPPED = "edges of dropped nodes"
HALF = 2  # of the budget is the database's


def import_graph(
    work: Path, paths: Sequence[Path], *, www: Www, budget: int, threads: int
) -> Imported | None:
    """Make a work folder of a graph, unless the folder is of these files already. www: the rule of
    keys. budget: bytes of memory. Raises BadInput for a folder of something else."""
    mark = fingerprint("graph files", www, [file_fingerprint(path) for path in paths])
    manifest = Manifest(work)
    if known := manifest.imported.get("fingerprint"):
        if known == mark:
            return None
        what = f"was made of other files ({', '.join(manifest.imported['files'][:3])})"
        expected = "the files that it was made of, unchanged, and the same options of keys"
        raise BadInput(str(work), what, expected, "Name another folder for this graph.")

    def convert(tmp: Path) -> tuple[str, Imported]:
        return convert_graph(paths, tmp, www=www, budget=budget, threads=threads)

    return import_files(work, paths, mark, convert)


def convert_graph(
    paths: Sequence[Path], output: Path, *, www: Www, budget: int, threads: int
) -> tuple[str, Imported]:
    """Write the datasets as folders in `output`; their kind, and what was read.

    Raises BadInput for what is no graph, and for an edge whose node is not listed.
    """
    source, where, room = source_of(paths), ", ".join(map(str, paths)), budget // HALF
    if source.numbered == 0:
        raise BadInput(where, "no node", "at least one edge")
    if source.numbered:
        return GRAPH, _convert_numbers(source, source.numbered, output, budget, threads)
    with database(output, budget=room, threads=threads) as (db, _):
        _read(db, source, where)
        (are_uris,) = db.execute(ARE_URIS).fetchall()[0]
        dropped = Counter[str]()
        if are_uris:
            rows = _keyed(db, www, dropped)
            db.execute("CREATE TABLE keyed (id VARCHAR, label VARCHAR, key VARCHAR)")
            insert(db, "keyed", rows)
        else:
            key = "replace(label, '.', ',')" if source.reversed_names else "label"
            db.execute(f"CREATE TABLE keyed AS SELECT id, label, {key} AS key FROM named")
        db.execute(NODES)
        counters = _write_graph(db, output, where, room, threads)
        if dropped:
            query = LOST.format(nodes="SELECT id FROM nodes")
            (counters[OF_DROPPED],) = db.execute(query).fetchall()[0]
        if are_uris:
            _write_links(db, output)
    nodes = counters.pop("nodes")
    counters = {**counters, **dropped, **source.counters}
    kept = {name: count for name, count in counters.items() if count}
    return URI_GRAPH if are_uris else GRAPH, Imported({"graph": nodes}, kept, [])


def _convert_numbers(
    source: GraphSource, nodes: int, output: Path, budget: int, threads: int
) -> Imported:
    counts = write_graph(
        [source.pairs()], nodes, output / "graph", budget=budget, tmp=output, threads=threads
    )
    pieces = (range(begin, min(begin + PIECE, nodes)) for begin in range(0, nodes, PIECE))
    write_names((pa.array(piece).cast(pa.string()) for piece in pieces), nodes, output)
    counters = {"edges": counts.edges, "dangling": counts.dangling, LOOPS: counts.self_links}
    return Imported({"graph": nodes}, {name: n for name, n in counters.items() if n}, [])


def _read(db: duckdb.DuckDBPyConnection, source: GraphSource, where: str) -> None:
    """Make the tables `named` and `edges`."""
    db.execute("CREATE TABLE named (id VARCHAR, label VARCHAR)")
    db.execute("CREATE TABLE edges (source VARCHAR, target VARCHAR)")
    if source.named:
        insert(db, "named", source.nodes())
    insert(db, "edges", source.edges())
    if not source.named:
        db.execute(f"INSERT INTO named {LISTED}")
    if not db.execute("SELECT count(*) FROM named").fetchall()[0][0]:
        raise BadInput(where, "no node", "at least one edge")
    if not source.named:
        return
    for name in ("id", "label"):
        if twice := db.execute(TWICE.format(name=name)).fetchone():
            raise node_twice(where, name, twice[0])
    if unlisted := db.execute(UNLISTED).fetchone():
        raise unlisted_node(where, unlisted[0])


def _keyed(db: duckdb.DuckDBPyConnection, www: Www, dropped: Counter[str]) -> Batches:
    """The nodes with the keys of their URIs, as KEYED."""
    key_of = key_function(www)
    for batch in batches(db.cursor(), "SELECT id, label FROM named"):  # while rows are inserted
        rows = []
        for node, label in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            uri = escape(label).encode()
            why = why_unusable(uri, uri)
            key = None if why else key_of(uri)
            if key is None:
                dropped[DROPPED + (why or "invalid")] += 1
            else:
                rows.append((node, uri.decode(), key.decode()))
        if rows:
            columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
            yield pa.record_batch(columns, KEYED)


def _write_graph(
    db: duckdb.DuckDBPyConnection, output: Path, where: str, budget: int, threads: int
) -> dict[str, int]:
    """Write graph, map and uris. The counters, with `nodes`."""
    nodes = int(db.execute("SELECT coalesce(max(node), -1) + 1 FROM nodes").fetchall()[0][0])
    if not nodes:
        raise BadInput(where, "no URI of a page", "http and https URIs, or labels")
    kind: Any = id_type(nodes)

    def pairs() -> Iterator[Pairs]:
        query = EDGES.format(columns="t.node AS target, s.node AS source", order="")
        for batch in batches(db, query):
            targets, sources = (column.to_numpy().astype(kind) for column in batch.columns)
            yield targets, sources

    counts = write_graph(
        [pairs()], nodes, output / "graph", budget=budget, tmp=output, threads=threads
    )
    with writing_names(output, nodes) as (mapped, uris):
        for batch in batches(db, "SELECT DISTINCT node AS id, key FROM nodes ORDER BY id"):
            mapped.write_table(pa.Table.from_batches([batch.cast(MAP_SCHEMA)]))
        for batch in batches(db, SPELLINGS):
            node, links = batch["node"].to_numpy(), batch["links"].to_numpy()
            uris.write_table(spelled(node, batch["key"], batch["label"], links))
    return {
        "nodes": nodes,
        "edges": counts.edges,
        "dangling": counts.dangling,
        LOOPS: counts.self_links,
    }


def _write_links(db: duckdb.DuckDBPyConnection, output: Path) -> None:
    """Write the edges as links of URIs, and captures, of which there are none."""
    for name in ("links", "captures"):
        (output / name).mkdir()
    query = EDGES.format(columns="s.label, t.label AS target", order="ORDER BY 1, 2")
    with LinksWriter(output / "links" / "links-00000.parquet") as writer:
        for batch in batches(db, query):
            columns = (column.cast(pa.binary()).to_pylist() for column in batch.columns)
            for source, page in groupby(zip(*columns, strict=True), lambda pair: pair[0]):
                writer.add(source, [target for _, target in page], UNKNOWN)
    with CapturesWriter(output / "captures" / "captures-00000.parquet"):
        pass
