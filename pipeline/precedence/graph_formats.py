"""Graphs as files for other programs, each format a function and a row of GRAPHS.

    graphml            nodes with attributes, and edges, as networkx, igraph and yEd read them
    gexf               the same for Gephi, with the URI as the label of a node
    mtx                the adjacency matrix of Matrix Market: entry (i, j) is a link from node i to
                       node j, which count from 1
    edges              `source<TAB>target`, a line a link, by labels
    adjacency-parquet  a row a node: its number, its columns, and `links`, the numbers of the nodes
                       that it links to
    bvgraph            the files of WebGraph, see bvgraph_files.py

Nodes are numbered from 0, in the order of their rows. Where links have weights, these are the
attribute `weight`, the value of an entry, a third field, and the list `weights`. What is unknown of
a node is left out, and null in Parquet. XML knows no control characters: U+FFFD stands for one.

Memory: some batches of nodes and links; for `edges` all labels. `adjacency-parquet` sorts the links
by source, on disk where they take more than BUDGET.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.datasets import STDOUT, csv_pieces, write_file, write_output
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.pairs import distinct_pairs
from crawlrank.pipeline.data.parquet import parquet_pieces
from crawlrank.pipeline.precedence.bvgraph_files import write_bvgraph
from crawlrank.pipeline.precedence.score_formats import REPEATED

BUDGET = 1 << 30  # bytes of links that are sorted in memory
PIECE = 1 << 14  # edges of a piece of text
LINKS_OF_ROWS = 1 << 20  # of a batch of rows in Parquet
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
GEXF = "http://www.gexf.net/1.2draft"
GRAPHML = "http://graphml.graphdrawing.org/xmlns"

NodesBy = Literal["page", "host", "domain"]
LinkArrays = tuple[Positions, Positions, Positions | None]


@dataclass(frozen=True, eq=False)
class ExportedGraph:
    """label: the column of a node's label. columns: of nodes. rows: makes the batches of nodes, in
    the order of their numbers. links: makes the arrays of sources, targets and weights, some links
    at a time; the weights are of int64, or None in all of them. weighted: whether there are some.
    """

    nodes: int
    label: str
    columns: pa.Schema
    rows: Callable[[], Iterator[pa.RecordBatch]]
    links: Callable[[], Iterator[LinkArrays]]
    weighted: bool = False

    def values(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The number of each node and what is known of it."""
        number = 0
        for batch in self.rows():
            for row in batch.to_pylist():
                yield number, {name: value for name, value in row.items() if value is not None}
                number += 1

    def edges(self) -> Iterator[list[tuple[int, ...]]]:
        """Source, target and, if there are weights, weight; PIECE edges at a time."""
        for sources, targets, weights in self.links():
            columns = [sources, targets, *([] if weights is None else [weights])]
            for begin in range(0, len(sources), PIECE):
                lists = (column[begin : begin + PIECE].tolist() for column in columns)
                yield list(zip(*lists, strict=True))


def _clean(text: str) -> str:
    return ILLEGAL.sub("\ufffd", text)


def _kind(field: pa.Field) -> str:
    """The name that both formats of XML have for the type of a column."""
    if pa.types.is_floating(field.type):
        return "double"
    return "long" if pa.types.is_integer(field.type) else "string"


def _graphml(graph: ExportedGraph, tmp: Path) -> Iterator[bytes]:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<graphml xmlns="{GRAPHML}">']
    for name, field in zip(graph.columns.names, graph.columns, strict=True):
        of = f'id="{name}" for="node" attr.name="{name}" attr.type="{_kind(field)}"'
        lines.append(f"<key {of}/>")
    if graph.weighted:
        lines.append('<key id="weight" for="edge" attr.name="weight" attr.type="long"/>')
    yield "\n".join([*lines, '<graph edgedefault="directed">', ""]).encode()
    for number, values in graph.values():
        data = "".join(
            f'<data key="{name}">{escape(_clean(str(value)))}</data>'
            for name, value in values.items()
        )
        yield f'<node id="n{number}">{data}</node>\n'.encode()
    edge = '<edge source="n{}" target="n{}"/>\n'
    if graph.weighted:
        edge = '<edge source="n{}" target="n{}"><data key="weight">{}</data></edge>\n'
    for edges in graph.edges():
        yield "".join(edge.format(*each) for each in edges).encode()
    yield b"</graph>\n</graphml>\n"


def _gexf(graph: ExportedGraph, tmp: Path) -> Iterator[bytes]:
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="{GEXF}" version="1.2">\n'
        '<graph defaultedgetype="directed" mode="static">\n<attributes class="node">\n'
    ).encode()
    for name, field in zip(graph.columns.names, graph.columns, strict=True):
        yield f'<attribute id="{name}" title="{name}" type="{_kind(field)}"/>\n'.encode()
    yield b"</attributes>\n<nodes>\n"
    for number, values in graph.values():
        label = quoteattr(_clean(str(values.get(graph.label, number))))
        data = "".join(
            f'<attvalue for="{name}" value={quoteattr(_clean(str(value)))}/>'
            for name, value in values.items()
        )
        node = f'<node id="{number}" label={label}><attvalues>{data}</attvalues></node>\n'
        yield node.encode()
    yield b"</nodes>\n<edges>\n"
    weight = ' weight="{}"' if graph.weighted else ""
    edge, number = f'<edge id="{{}}" source="{{}}" target="{{}}"{weight}/>\n', 0
    for edges in graph.edges():
        yield "".join(edge.format(at, *each) for at, each in enumerate(edges, number)).encode()
        number += len(edges)
    yield b"</edges>\n</graph>\n</gexf>\n"


def _mtx(graph: ExportedGraph, tmp: Path) -> Iterator[bytes]:
    kind = "integer" if graph.weighted else "pattern"
    count = sum(len(sources) for sources, *_ in graph.links())
    size = f"{graph.nodes} {graph.nodes} {count}"
    yield f"%%MatrixMarket matrix coordinate {kind} general\n{size}\n".encode()
    for edges in graph.edges():
        yield "".join(
            " ".join(map(str, (source + 1, target + 1, *weight))) + "\n"
            for source, target, *weight in edges
        ).encode()


def _edges(graph: ExportedGraph, tmp: Path) -> Iterator[bytes]:
    labels = pa.chunked_array(
        [batch[graph.label] for batch in graph.rows()], graph.columns.field(graph.label).type
    ).combine_chunks()
    labels = _quoted(labels.cast(pa.string()))
    for sources, targets, weights in graph.links():
        for begin in range(0, len(sources), PIECE):
            some = slice(begin, begin + PIECE)
            fields = [labels.take(pa.array(ends[some])) for ends in (sources, targets)]
            if weights is not None:
                fields.append(pa.array(weights[some]).cast(pa.string()))
            lines = pc.binary_join_element_wise(*fields, "\t").to_pylist()
            yield "".join(f"{line}\n" for line in lines).encode()


def _quoted(labels: pa.StringArray) -> pa.StringArray:
    """Those that a reader would take for a comment, for quoted or for several fields, in quotation
    marks."""
    ends = labels.filter(pc.match_substring_regex(labels, "[\\r\\n]"))
    if len(ends):
        cure = "Take another format, such as graphml or adjacency-parquet."
        raise BadInput("edges", f"the label {ends[0].as_py()[:80]!r}", "labels of one line", cure)
    special = pc.match_substring_regex(labels, '^["#%]|\\t')
    if not pc.any(special).as_py():
        return labels
    doubled = pc.replace_substring(labels, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), labels)


def adjacency(
    graph: ExportedGraph, tmp: Path, *, budget: int = BUDGET, links: int = LINKS_OF_ROWS
) -> Iterator[bytes]:
    """budget: bytes of links that are sorted in memory. links: of a batch of rows, at most, if it
    has several."""
    lists = [pa.field("links", pa.list_(pa.int64()))]
    lists += [pa.field("weights", pa.list_(pa.int64()))] * graph.weighted
    schema = pa.schema([pa.field("id", pa.int64()), *graph.columns, *lists])
    outgoing = _Outgoing(graph, tmp, budget, links)
    return parquet_pieces(schema, _with_links(graph, outgoing, schema), use_dictionary=REPEATED)


def _with_links(
    graph: ExportedGraph, outgoing: _Outgoing, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    number = 0
    for whole in graph.rows():
        begin = 0
        while begin < len(whole):
            count = outgoing.rows_of(number, len(whole) - begin)
            batch = whole.slice(begin, count)
            ids, lists = np.arange(number, number + count), outgoing.take(number, count)
            yield pa.record_batch([pa.array(ids), *batch.columns, *lists], schema)
            begin, number = begin + count, number + count


class _Outgoing:
    """The links of each node, and their weights, taken by ascending nodes."""

    def __init__(self, graph: ExportedGraph, tmp: Path, budget: int, links: int) -> None:
        self._links_of_rows = links
        self._degrees: Positions = np.zeros(graph.nodes, np.int64)
        for sources, *_ in graph.links():
            self._degrees += np.bincount(sources, minlength=graph.nodes)
        self._sorted = self._by_weight(graph) if graph.weighted else self._pairs(graph, tmp, budget)
        self._left: list[Positions] = [np.empty(0, np.int64)] * (1 + graph.weighted)

    @staticmethod
    def _pairs(graph: ExportedGraph, tmp: Path, budget: int) -> Iterator[list[Positions]]:
        runs = tmp / "links"
        runs.mkdir()
        stream = ((sources, targets) for sources, targets, _ in graph.links())
        for _, targets in distinct_pairs([stream], graph.nodes, budget, runs):
            yield [targets.astype(np.int64)]

    @staticmethod
    def _by_weight(graph: ExportedGraph) -> Iterator[list[Positions]]:
        """In memory: links of hosts are few."""
        columns = [np.concatenate(column) for column in zip(*graph.links(), strict=True)]
        sources, targets, weights = columns or [np.empty(0, np.int64)] * 3
        order = np.lexsort((targets, sources))
        yield [targets[order], weights[order]]

    def rows_of(self, number: int, most: int) -> int:
        """How many nodes from `number` on make a batch."""
        links = np.cumsum(self._degrees[number : number + most])
        return max(1, int(np.searchsorted(links, self._links_of_rows, side="right")))

    def take(self, number: int, count: int) -> list[pa.Array]:
        """The lists of the next nodes, as columns."""
        degrees, columns = self.lists(number, count)
        offsets = pa.array(np.concatenate(([0], np.cumsum(degrees))), pa.int32())
        return [pa.ListArray.from_arrays(offsets, pa.array(column)) for column in columns]

    def lists(self, number: int, count: int) -> tuple[Positions, list[Positions]]:
        """How many links each of the next nodes has, and their targets and weights."""
        degrees = self._degrees[number : number + count]
        wanted = int(degrees.sum())
        while len(self._left[0]) < wanted:
            more = next(self._sorted)
            self._left = [np.concatenate(pair) for pair in zip(self._left, more, strict=True)]
        columns = [values[:wanted] for values in self._left]
        self._left = [values[wanted:] for values in self._left]
        return degrees, columns


GRAPHS: dict[str, Callable[[ExportedGraph, Path], Iterator[bytes]]] = {
    "graphml": _graphml,
    "gexf": _gexf,
    "mtx": _mtx,
    "edges": _edges,
    "adjacency-parquet": adjacency,
}
MATRIX, BVGRAPH = UNNAMED = "mtx", "bvgraph"  # which have names of nodes in a file beside
GRAPH_FORMS = (*GRAPHS, BVGRAPH)
GRAPH_ENDINGS = {"graphml": "graphml", "gexf": "gexf", "mtx": MATRIX, "graph": BVGRAPH}
BINARY_GRAPHS = {"adjacency-parquet": "parquet", BVGRAPH: "graph"}  # and their endings


def nodes_beside(output: Path) -> Path:
    """The file of the nodes of a graph that has no names."""
    return output.with_name(re.sub(r"(\.mtx|\.graph)?(\.gz)?$", "", output.name) + ".nodes.csv")


def write_graph(graph: ExportedGraph, form: str, output: Path, tmp: Path) -> None:
    """Write the files of a format of GRAPH_FORMS."""
    if form == BVGRAPH:
        write_bvgraph(_lists(graph, tmp), output)
    else:
        write_output(GRAPHS[form](graph, tmp), output)
    if form in UNNAMED and output != STDOUT:
        rows = (row.values() for batch in graph.rows() for row in batch.to_pylist())
        pieces = csv_pieces(graph.columns.names, rows)
        write_file(map(str.encode, pieces), nodes_beside(output))


def _lists(graph: ExportedGraph, tmp: Path) -> Iterator[tuple[Positions, Positions]]:
    outgoing, number = _Outgoing(graph, tmp, BUDGET, LINKS_OF_ROWS), 0
    while number < graph.nodes:
        count = outgoing.rows_of(number, graph.nodes - number)
        degrees, (targets, *_) = outgoing.lists(number, count)
        yield degrees, targets
        number += count
