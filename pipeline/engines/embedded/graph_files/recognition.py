"""Which files are graphs, by what is in them and, of text, by their names.

A file is one of: an edge list, a table of edges in Parquet, GraphML, GEXF, Matrix Market. Common
Crawl's graphs are files with `vertices` and with `edges` in their names. Archives and all else are
none of these. A pickle runs what it has in it, so it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.pipeline.data.parquet import reading_parquet
from crawlrank.pipeline.engines.embedded.graph_files.bvgraph import BvGraph
from crawlrank.pipeline.engines.embedded.graph_files.edge_lists import (
    ENDINGS,
    CommonCrawl,
    EdgeLists,
    ParquetAdjacency,
    ParquetEdges,
    columns_of,
    plain_ending,
)
from crawlrank.pipeline.engines.embedded.graph_files.matrices import BANNER, Matrix
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    GraphSource,
    WholeGraph,
    head_of,
    whole,
)
from crawlrank.pipeline.engines.embedded.graph_files.xml_graphs import XmlGraph

PARQUET, TEXT, MATRIX, BVGRAPH, PICKLE = "parquet", "text", "mtx", "bvgraph", "pickle"
XML = re.compile(rb"<(?:\w+:)?(graphml|gexf)[\s>]")
PICKLED = re.compile(rb"\x80[\x02-\x05]")
PICKLES = ("pickle", "pkl", "gpickle", "picklez")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
EXPECTED = (
    "an edge list, a table of edges in Parquet, GraphML, GEXF, Matrix Market, BVGraph with its"
    " .properties, or vertices and edges of Common Crawl"
)
LINES_OF_OTHERS = (b" CDX", b"{", b"filedesc:", b"WARC/")


def form_of(path: Path) -> str | None:
    """The format of a graph; None for what is none, is no file, or cannot be opened."""
    if not path.is_file():  # a pipe would wait for who writes
        return None
    try:
        head = head_of(path)
    except OSError:
        return None
    if path.suffix == ".graph" and path.with_suffix(".properties").exists():
        return BVGRAPH
    if head.startswith(b"PAR1"):
        return PARQUET if _has_edges(path) else None
    if head.startswith(BANNER):
        return MATRIX
    # a parser of XML takes UTF-16, too
    text = head.decode("utf-16", "ignore").encode() if head.startswith(UTF_16) else head
    if match := XML.search(text):
        return match[1].decode()
    if PICKLED.match(head) or plain_ending(path) in PICKLES:
        return PICKLE
    if plain_ending(path) not in ENDINGS or (b"\0" in head and not head.startswith(UTF_16)):
        return None
    return None if head.startswith(LINES_OF_OTHERS) else TEXT


def _has_edges(path: Path) -> bool:
    try:
        with reading_parquet(path), open_parquet(path) as file:
            names = file.schema_arrow.names
    except BadInput:
        return False
    return len(names) == 2 or columns_of(names) is not None or {"id", "links"} <= {*names}


def source_of(paths: Sequence[Path]) -> GraphSource:
    """The graph in files of which each has a format. Raises BadInput for files of several graphs,
    and for what is not read."""
    forms = {path: form_of(path) for path in paths}
    if len({*forms.values()}) > 1:
        named = ", ".join(f"{path} ({form or 'no graph'})" for path, form in forms.items())
        cure = "Give the files of one graph, or archives, in a run."
        raise BadInput(named, "files of several kinds", "files of one kind", cure)
    form, first = forms[paths[0]], paths[0]
    if form == PICKLE:
        cure = "Save it as GraphML: `networkx.write_graphml(G, PATH)` or `G.write_graphml(PATH)`."
        raise BadInput(str(first), "a pickle, which may run any program", "a file of data", cure)
    if form == PARQUET:
        with open_parquet(first) as file:
            lists = "links" in file.schema_arrow.names
        return (ParquetAdjacency if lists else ParquetEdges)(paths)
    if form == TEXT:
        return _text(paths)
    if len(paths) > 1:
        cure = "Rank one graph in a run."
        raise BadInput(str(paths[1]), f"a second file of {form}", "one file of a graph", cure)
    if form == BVGRAPH:
        return BvGraph(first)
    return Matrix(paths) if form == MATRIX else XmlGraph(first, str(form))


def read_graph(paths: Sequence[Path]) -> WholeGraph:
    """The graph in files, in memory. Raises BadInput for files of something else."""
    for path in paths:
        if form_of(path) is None:
            what = "no graph of a known format" if path.is_file() else "no file"
            raise BadInput(str(path), what, EXPECTED)
    return whole(source_of(paths), ", ".join(map(str, paths)))


def _text(paths: Sequence[Path]) -> GraphSource:
    for path in paths:
        if head_of(path).startswith(UTF_16):
            cure = "Convert it: `iconv -f UTF-16 -t UTF-8 FILE > OTHER`."
            raise BadInput(str(path), "UTF-16", "UTF-8", cure)
    vertices = [path for path in paths if "vertices" in path.name]
    if not vertices:
        return EdgeLists(paths)
    edges = [path for path in paths if path not in vertices]
    if not edges:
        cure = "Give both: `crawlrank run …-vertices.txt.gz …-edges.txt.gz --work WORK`."
        raise BadInput(str(vertices[0]), "vertices without edges", "files of both", cure)
    return CommonCrawl(vertices, edges)
