"""Graphs of other libraries and of files as the arrays that rankings take.

An edge is an ordered pair of nodes, a link from its source to its target. Repeated edges count
once, or with the sum of their weights. Edges of a node to itself, and edges of weight 0, are left
out. A library is recognized by its types and is never imported. Memory: about 40 bytes an edge,
and the labels of both its ends where it comes from a file or a table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.csr import Csr, id_type
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.data.pairs import distinct as each_once

WHERE = "graph"
MOST_NODES = 3_000_000_000  # a pair of nodes is one number of 64 bits
SPARSE, FEW = (
    1000,
    1_000_000,
)  # ids below SPARSE times the edges, or below FEW, are taken as they are
EXPECTED = (
    "a scipy.sparse matrix, two arrays (sources, targets), an Arrow table with the columns source"
    " and target, a graph of networkx or igraph, or the path of a file of a graph"
)


@dataclass(frozen=True, eq=False)
class InputGraph:
    """csr: the graph by target. labels: of the N nodes, by id; None where ids are the labels.
    weights: float64[E], of the edges in the order of csr.sources; None where all weigh the same.
    self_loops, duplicates: edges that were left out."""

    csr: Csr
    labels: Sequence[Any] | None
    weights: Floats | None
    self_loops: int
    duplicates: int


class _Edges(NamedTuple):
    """sources, targets: int64[E], ids from 0 to nodes - 1. weights: float64[E], or None."""

    sources: Positions
    targets: Positions
    weights: Floats | None
    nodes: int
    labels: Sequence[Any] | None = None


def input_graph(
    graph: Any, *, nodes: int | None = None, weighted: bool | None = None
) -> InputGraph:
    """The graph of an object of one of the kinds that EXPECTED names.

    nodes: number of nodes of a graph that is given as two arrays of ids. weighted: whether edges
    have the weights of the object: the values of a matrix, the third array, the column `weight`,
    the attribute `weight`. None: only a third array and a column count. Raises BadInput.
    """
    edges = _edges_of(graph, nodes, weighted)
    if not edges.nodes:
        raise BadInput(WHERE, "no node", "at least one node", "Add a node or an edge.")
    if edges.nodes > MOST_NODES:
        cure = "Rank it with `crawlrank run`."
        raise BadInput(WHERE, count_of(edges.nodes, "node"), f"at most {MOST_NODES:,}", cure)
    return _arranged(edges)


def _edges_of(graph: Any, nodes: int | None, weighted: bool | None) -> _Edges:
    paths = _paths_of(graph)
    pair = isinstance(graph, (tuple, list)) and not paths
    nodes = None if nodes is None else _node_count(nodes)
    if nodes is not None and not pair:
        cure = "Leave nodes out: this graph has a number of nodes itself."
        raise BadInput("nodes", f"{nodes} with a {type(graph).__name__}", "two arrays", cure)
    if paths:
        return _of_files(paths, bool(weighted))
    if pair:
        return _of_arrays(graph, nodes, weighted)
    if hasattr(graph, "tocoo"):
        return _of_matrix(graph, bool(weighted))
    if is_of(graph, "networkx"):
        return _of_networkx(graph, bool(weighted))
    if is_of(graph, "igraph"):
        return _of_igraph(graph, bool(weighted))
    if hasattr(graph, "__arrow_c_stream__") or hasattr(graph, "__arrow_c_array__"):
        return _of_table(graph, weighted)
    raise BadInput(WHERE, f"an object of the type {type(graph).__name__}", EXPECTED)


def _node_count(nodes: Any) -> int:
    """Raises BadInput for what is no number of nodes."""
    try:
        count = 0 if isinstance(nodes, bool) else int(nodes)
    except (TypeError, ValueError, OverflowError):
        count = 0
    if count < 1 or count != nodes:
        raise BadInput("nodes", f"{nodes!r}", "a whole number of at least 1")
    return count


def _paths_of(graph: Any) -> list[Path]:
    """The files of a graph that is given by its path, or by several; else none."""
    several = graph if isinstance(graph, (tuple, list)) else [graph]
    return [*map(Path, several)] if all(isinstance(p, (str, os.PathLike)) for p in several) else []


def _of_files(paths: Sequence[Path], weighted: bool) -> _Edges:
    """The labels are those of the file: URIs are not made keys, as a run does."""
    from crawlrank.pipeline.engines.embedded.graph_files.recognition import (
        read_graph,
    )  # has pyarrow

    if weighted:
        where, cure = ", ".join(map(str, paths)), "Read it by networkx, igraph or pyarrow."
        raise BadInput(where, "weights in a file, which are not read", "a graph in memory", cure)
    graph = read_graph(paths)
    if graph.nodes is None:
        return _of_labels(graph.sources, graph.targets, None, None)
    return _Edges(graph.sources, graph.targets, None, graph.nodes, graph.labels)


def is_of(given: Any, library: str) -> bool:
    """Whether an object is of a library, by its type."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(given).__mro__)


def _of_matrix(matrix: Any, weighted: bool) -> _Edges:
    """Entry (i, j) is an edge from node i to node j, if it is not 0."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        what = f"a matrix of the shape {'x'.join(map(str, matrix.shape))}"
        cure = "Row i has the links of node i: a square matrix has a row for every node."
        raise BadInput(WHERE, what, "a square matrix", cure)
    entries = matrix.tocoo()
    values = _checked_weights(entries.data)
    sources, targets = entries.row.astype(np.int64), entries.col.astype(np.int64)
    if not weighted:
        linked = values != 0
        sources, targets = sources[linked], targets[linked]
    return _Edges(sources, targets, values if weighted else None, matrix.shape[0])


def _of_arrays(arrays: Sequence[Any], nodes: int | None, weighted: bool | None) -> _Edges:
    if len(arrays) not in (2, 3):
        what, cure = f"{len(arrays)} arrays", "Give (sources, targets), or weights as the third."
        raise BadInput(WHERE, what, "two arrays, or three", cure)
    sources, targets = (np.asarray(array) for array in arrays[:2])
    _require_lengths(sources, targets, *arrays[2:])
    if weighted and len(arrays) == 2:
        cure = "Give them as the third array, or leave weighted out."
        raise BadInput(WHERE, "two arrays, weighted", "weights", cure)
    weights = _checked_weights(arrays[2]) if len(arrays) == 3 and weighted is not False else None
    if {sources.dtype.kind, targets.dtype.kind} & {"U", "S", "O", "T"}:
        return _of_labels(sources, targets, weights, nodes)
    for name, ids in (("sources", sources), ("targets", targets)):
        _check_ids(name, ids, nodes)
    highest = max((int(ids.max()) for ids in (sources, targets) if len(ids)), default=-1)
    if nodes is None and highest >= max(FEW, SPARSE * len(sources)):
        cure = "Give them as an Arrow table, where numbers may be any, or give nodes."
        what = f"the id {highest} in a graph of {count_of(len(sources), 'edge')}"
        raise BadInput(WHERE, what, "ids that count from 0", cure)
    count = highest + 1 if nodes is None else nodes
    return _Edges(sources.astype(np.int64), targets.astype(np.int64), weights, count)


def _require_lengths(sources: Any, targets: Any, *weights: Any) -> None:
    shapes = [np.shape(array) for array in (sources, targets, *weights)]
    if any(len(shape) != 1 for shape in shapes) or len(set(shapes)) > 1:
        what = f"arrays of the shapes {', '.join(map(str, shapes))}"
        cure = "Edge k is from sources[k] to targets[k]."
        raise BadInput(WHERE, what, "arrays of one dimension and the same length", cure)


def _check_ids(name: str, ids: npt.NDArray[Any], nodes: int | None) -> None:
    """Raises BadInput for what is no id of a node."""
    if not len(ids):
        return
    if ids.dtype.kind not in "iu":
        cure = "Labels that are strings, or any numbers, may be given as an Arrow table."
        raise BadInput(f"{WHERE}, {name}", f"values of the type {ids.dtype}", "integers", cure)
    if ids.min() < 0:
        at = int(np.argmax(ids < 0))
        cure = "Number the nodes from 0."
        raise BadInput(f"{WHERE}, {name}[{at}]", f"{ids[at]}", "an id of at least 0", cure)
    if nodes is not None and ids.max() >= nodes:
        at = int(np.argmax(ids >= nodes))
        where, cure = f"{WHERE}, {name}[{at}]", "Give a larger number of nodes."
        raise BadInput(where, f"{ids[at]}", f"an id below nodes, {nodes}", cure)


def _checked_weights(weights: Any) -> Floats:
    """float64[E]. Raises BadInput for weights that are not finite, below 0, or so near to it that
    they have fewer digits than other numbers."""
    try:
        numbers: Floats = np.asarray(weights).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{WHERE}, weights", f"{error}", "a number for each edge") from error
    exact = (numbers == 0) | (numbers >= np.finfo(np.float64).tiny)
    wrong = ~(np.isfinite(numbers) & exact)
    if wrong.any():
        at = int(np.argmax(wrong))
        cure = "Leave such edges out."
        where = f"{WHERE}, weights[{at}]"
        raise BadInput(where, f"{numbers[at]:g}", "a finite number, 0 or at least 2.3e-308", cure)
    return numbers


def _of_networkx(graph: Any, weighted: bool) -> _Edges:
    """An undirected edge is two edges. A missing weight is 1, as networkx has it."""
    labels = list(graph)
    ids = {label: at for at, label in enumerate(labels)}
    ends = chain.from_iterable((ids[edge[0]], ids[edge[1]]) for edge in graph.edges())
    pairs = np.fromiter(ends, np.int64, 2 * graph.number_of_edges()).reshape(-1, 2)
    weights = [w for *_, w in graph.edges(data="weight", default=1)] if weighted else None
    return _both_ways(pairs, weights, len(labels), labels, directed=graph.is_directed())


def _of_igraph(graph: Any, weighted: bool) -> _Edges:
    """The labels are the attribute `name` of the vertices, if there is one."""
    pairs = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    labels = graph.vs["name"] if "name" in graph.vs.attributes() else None
    if labels is not None and len(set(labels)) < len(labels):
        repeated = next(name for name, count in Counter(labels).items() if count > 1)
        cure = "Make the names distinct, or delete the attribute: then nodes are numbers."
        raise BadInput(WHERE, f"several vertices of the name {repeated!r}", "distinct names", cure)
    if weighted and "weight" not in graph.es.attributes():
        cure = "Name the attribute weight, or leave weighted out."
        raise BadInput(WHERE, "edges without the attribute weight", "weights", cure)
    weights = graph.es["weight"] if weighted else None
    return _both_ways(pairs, weights, graph.vcount(), labels, directed=graph.is_directed())


def _both_ways(
    pairs: npt.NDArray[np.int64],
    weights: Iterable[Any] | None,
    nodes: int,
    labels: Sequence[Any] | None,
    *,
    directed: bool,
) -> _Edges:
    """The edges, and those of an undirected graph also from the second end to the first."""
    numbers = None if weights is None else _checked_weights(list(weights))
    if not directed:
        back = pairs[pairs[:, 0] != pairs[:, 1]]
        if numbers is not None:
            numbers = np.concatenate((numbers, numbers[pairs[:, 0] != pairs[:, 1]]))
        pairs = np.concatenate((pairs, back[:, ::-1]))
    return _Edges(pairs[:, 0], pairs[:, 1], numbers, nodes, labels)


def _of_table(graph: Any, weighted: bool | None) -> _Edges:
    import pyarrow as pa  # not for graphs of numpy

    try:
        table = pa.table(graph)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise BadInput(WHERE, f"{error}", "columns of one type each") from error
    for name in ("source", "target", *(("weight",) if weighted else ())):
        if name not in table.column_names:
            what = f"the columns {', '.join(table.column_names) or '(none)'}"
            raise BadInput(WHERE, what, f"a column {name}", "Rename a column.")
    weights = None
    if "weight" in table.column_names and weighted is not False:
        weights = _checked_weights(table["weight"].to_numpy())
    return _of_labels(table["source"], table["target"], weights, None)


def _of_labels(sources: Any, targets: Any, weights: Floats | None, nodes: int | None) -> _Edges:
    """The distinct labels in ascending order, as nodes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if nodes is not None:
        cure = "Leave nodes out: the labels are the nodes."
        raise BadInput("nodes", f"{nodes} with labels", "ids that are integers", cure)
    try:
        columns = [_decoded(pa, each) for each in (sources, targets)]
        kind = _kind_of(pa, [column.type for column in columns])
        ends = pa.chunked_array([c for column in columns for c in column.cast(kind).chunks], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise BadInput(WHERE, f"{error}", "labels of one type, strings or integers") from error
    if ends.null_count:
        cure = "Leave such edges out."
        raise BadInput(WHERE, "a label that is missing", "strings or integers", cure)
    distinct = ends.unique()
    distinct = distinct.take(pc.sort_indices(distinct))
    ids = pc.index_in(ends, distinct).to_numpy().astype(np.int64)
    half = len(ids) // 2
    return _Edges(ids[:half], ids[half:], weights, len(distinct), distinct.to_pylist())


def _decoded(pa: Any, values: Any) -> Any:
    """A chunked array of the values, without a dictionary."""
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([pa.array(values)])
    if not pa.types.is_dictionary(column.type):
        return column
    kind = _kind_of(pa, [column.type.value_type])
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(chunks, kind)


def _kind_of(pa: Any, kinds: Sequence[Any]) -> Any:
    """The type in which labels of these can be compared and sorted; polars has strings of a type
    that cannot. Raises BadInput for what are no labels, or are of two sorts."""
    sorts = (
        (("is_string", "is_large_string", "is_string_view"), pa.large_string()),
        (("is_binary", "is_large_binary", "is_binary_view"), pa.large_binary()),
        (("is_integer",), pa.uint64() if pa.uint64() in kinds else pa.int64()),
    )
    for names, kind in sorts:
        tests = [getattr(pa.types, name) for name in names if hasattr(pa.types, name)]
        if all(any(test(one) for test in tests) for one in kinds):
            return kind
    what = f"labels of the type {' and '.join(map(str, dict.fromkeys(kinds)))}"
    raise BadInput(WHERE, what, "strings or integers", "Leave such edges out.")


def _scaled(sources: Positions, weights: Floats, nodes: int) -> Floats:
    """The weights times a power of 2 for each source, with which the largest is at least 0.5 and
    below 1: a node shares by the ratio of its weights alone, and no sum of them is infinite. Raises
    BadInput for weights of a node that no double can have beside each other."""
    largest = np.zeros(nodes)
    np.maximum.at(largest, sources, weights)
    _, exponents = np.frexp(largest)
    scaled: Floats = np.ldexp(weights, -exponents[sources])
    small = scaled < np.finfo(np.float64).tiny
    if small.any():
        at = int(np.argmax(small))
        what = f"{weights[at]:g} beside {largest[sources[at]]:g} of the same node"
        raise BadInput(
            f"{WHERE}, weights", what, "a ratio of at most 1e307", "Leave such edges out."
        )
    return scaled


def _arranged(edges: _Edges) -> InputGraph:
    """The edges by target, then source, each once."""
    sources, targets, weights, nodes = edges[:4]
    loops = sources == targets
    kept = ~loops if weights is None else ~loops & (weights > 0)
    pairs = targets[kept] * nodes + sources[kept]
    if weights is None:
        summed: Floats | None = None
        distinct = each_once(pairs)  # np.unique takes ten times as long
    else:
        from crawlrank.pipeline.ranking.weighted import weight_sums  # which needs machine code

        distinct, at = np.unique(pairs, return_inverse=True)
        scaled = _scaled(sources[kept], weights[kept], nodes)
        summed = weight_sums(at.astype(np.int64), scaled, len(distinct))
    of_edges, kind = distinct % nodes, cast(Any, id_type(nodes))
    csr = Csr(
        np.searchsorted(distinct, np.arange(nodes + 1) * nodes).astype(np.int64),
        of_edges.astype(kind),
        np.bincount(of_edges, minlength=nodes).astype(kind),
    )
    counts = int(np.count_nonzero(loops)), len(pairs) - len(distinct)
    return InputGraph(csr, edges.labels, summed, *counts)
