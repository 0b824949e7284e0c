"""The graph of the pages of a ranking, or of those that filters take, as a file for other programs.

Nodes are the pages with a score, in the order of their keys, with the columns of a list of pages
(score_formats.py). Edges are the links of the graph between two of them: each once, and none from a
page to itself. Captured pages without a score have no links, and are left out.

Memory: that of page_table.py, 8 bytes a node of the whole graph, and that of the format.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.precedence.export import NO_FILTERS, Written
from crawlrank.pipeline.precedence.filters import Filter, PageFilters
from crawlrank.pipeline.precedence.graph_formats import ExportedGraph, LinkArrays, write_graph
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.page_table import PageTable, RankedPages, open_pages
from crawlrank.pipeline.precedence.score_formats import LISTED, MORE, with_bounds, with_hosts
from crawlrank.pipeline.workfolder.results.finished import Finished

PIECE = 1 << 18  # nodes whose links are looked at together


def export_graph(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    form: str,
    filters: PageFilters = NO_FILTERS,
    chosen: list[Filter] | None = None,
    replay: str = "",
) -> Written:
    """Write the graph to a file, or to standard output, in a format of GRAPHS. ranked: with the
    folder of a finished run. chosen, replay, tmp: as for a list of pages. Raises BadInput."""
    written = Written()
    with open_pages(
        ranked, tmp, options, filters, chosen or [], columns=True, replay=replay
    ) as table:
        assert table.finished
        written.taken = table.count(ranked.where)
        written.left_out["without a URI"] = written.taken.without_uri
        with table.finished.reading():
            graph = _graph_of(table, table.finished, options)
            scored = table.db.execute(f"SELECT count(*) FROM ({table.taken('key')})").fetchall()
            written.left_out["without a score"] = scored[0][0] - graph.nodes
            written.pages = graph.nodes
            write_graph(graph, form, output, tmp)
    return written


def _graph_of(table: PageTable, finished: Finished, options: PrecedenceOptions) -> ExportedGraph:
    mapped = finished.view("mapped")

    def query(columns: str) -> str:
        """Of the pages with a score, by id."""
        return (
            f"SELECT {columns} FROM ({table.taken()}) p JOIN {mapped} m ON m.key = p.key "
            "WHERE p.position IS NOT NULL ORDER BY m.id"
        )

    ids = table.db.execute(query("m.id AS id")).fetchnumpy()["id"].astype(np.int64)
    csr = finished.links()
    number: Positions = np.full(csr.nodes, -1, np.int64)
    number[ids] = np.arange(len(ids))

    def rows() -> Iterator[pa.RecordBatch]:
        columns = ", ".join(f"p.{name} AS {name}" for name in table.columns.names)
        for batch in table.of_query(query(columns)):
            yield with_hosts(with_bounds(batch, options))

    more = [field for field in table.columns if field.name in MORE]
    columns = pa.schema([*LISTED, *more])

    def links() -> Iterator[LinkArrays]:
        return ((*pairs, None) for pairs in links_among(csr, number))

    return ExportedGraph(len(ids), "url", columns, rows, links)


def links_among(csr: Csr, number: Positions) -> Iterator[tuple[Positions, Positions]]:
    """The links between nodes that have a number, not -1: the numbers of sources and of targets.
    Reads the graph once."""
    for begin in range(0, csr.nodes, PIECE):
        bounds = csr.offsets[begin : begin + PIECE + 1].astype(np.int64)
        sources = number[csr.sources[bounds[0] : bounds[-1]]]
        targets = np.repeat(number[begin : begin + PIECE], np.diff(bounds))
        kept = (sources >= 0) & (targets >= 0)
        release(csr.sources, int(bounds[0]), int(bounds[-1]))
        yield sources[kept], targets[kept]
