"""gen-graph: links as numbers to the graph as PageRank reads it, by an external sort.

Every link becomes a pair of key numbers, by the numbers of its block's distinct strings. Where
canonicalize has left these numbers, links are not read again. The pairs are sorted by target, then
source, each once, and become pairs of ids, which ascend as the numbers do. Self-links are dropped,
and pairs of which an end has no id: a page that nobody links to, unless all pages get ids.

The transposed graph has for each node the targets of its links, ascending. The outdegrees give
where the targets of each node begin. One pass over the edges, which are in the order of their
targets, appends each target to those of its source. Where that does not fit the memory, the pairs
are sorted on disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.pipeline.data.arrays import Growing, missing, open_ids, open_numbers, release, save
from crawlrank.pipeline.data.csr import (
    OFFSETS,
    OUTDEGREES,
    SOURCES,
    Csr,
    Ids,
    Offsets,
    id_type,
    open_csr,
    read_only,
)
from crawlrank.pipeline.data.graph import Floats, Graph, Mask
from crawlrank.pipeline.data.memory import require_memory
from crawlrank.pipeline.data.pairs import LEAST, Pairs, distinct_pairs
from crawlrank.pipeline.engines.embedded.columns import edges_of, link_blocks, written_edges

PIECE = 1 << 22  # edges at once
COUNTED = 1 << 19  # edges that are counted at once
NODE_BYTES = 16  # ids and outdegrees of up to 8 bytes


@dataclass
class GraphCounts:
    """links: all pairs; canonical_links: distinct ones. Each of these is an edge, or is dropped as
    one of self_links or of without_id, where an end has no id; sources_without_id: the sources of
    the latter. dangling: nodes without edges out."""

    nodes: int
    edges: int = 0
    dangling: int = 0
    links: int = 0
    canonical_links: int = 0
    self_links: int = 0
    without_id: int = 0
    sources_without_id: int = 0


def gen_graph(
    links: Path,
    numbers: Path,
    ids: Path,
    output: Path,
    *,
    budget: int,
    tmp: Path,
    threads: int = 1,
    least: int = LEAST,
    edges: Path | None = None,
) -> GraphCounts:
    """The graph of all parts of links, in a new folder `output`.

    numbers: the folder of `canonicalize`'s key numbers; ids: `assign-ids`' file, an id for every
    key number. budget: bytes of memory. tmp: a folder for what does not fit. least: of
    distinct_pairs. edges: the folder of those that canonicalize has left, which are read instead of
    links. Raises BadInput where links and numbers do not belong together.
    """
    of_key = open_ids(ids)
    parts = sorted(links.glob("*.parquet"), key=lambda part: part.stat().st_size, reverse=True)
    streams = [
        key_pairs(part, numbers / f"{part.stem}.npy", len(of_key), edges and edges / part.name)
        for part in parts
    ]
    return write_graph(
        streams, len(of_key), output, budget=budget, tmp=tmp, threads=threads, ids=of_key,
        least=least,
    )  # fmt: skip


def key_pairs(part: Path, numbers: Path, keys: int, edges: Path | None = None) -> Iterator[Pairs]:
    """The links of a part as pairs of key numbers, without those of UNLINKED_HOPS or without a key.

    keys: all numbers are below it. edges: those that canonicalize has left. Raises BadInput where a
    number is not below, or the files do not match."""
    of_string = open_numbers(numbers, keys)
    none = missing(of_string)
    begin = 0
    for block in written_edges(edges) if edges else map(edges_of, link_blocks(part)):
        middle = begin + block.targets
        end = middle + block.sources
        if end > len(of_string):
            _refuse(part, numbers)
        targets = of_string[begin:middle][block.target]
        sources = of_string[middle:end][block.source]
        kept = (targets != none) & (sources != none)
        yield targets[kept], sources[kept]
        begin = end
    if begin != len(of_string):
        _refuse(part, numbers)


def _refuse(part: Path, numbers: Path) -> NoReturn:
    expected = f"a number for every string of {part}"
    raise BadInput(str(numbers), "other numbers", expected, "Run canonicalize again.")


def write_graph(
    streams: Iterable[Iterable[Pairs]],
    bound: int,
    output: Path,
    *,
    budget: int,
    tmp: Path,
    threads: int = 1,
    ids: Ids | None = None,
    least: int = LEAST,
    piece: int = PIECE,
) -> GraphCounts:
    """The graph of pairs (targets, sources) of numbers below `bound`, in a new folder.

    ids: the id of every number, ascending, or `missing`; None: every number is an id. least: of
    distinct_pairs. piece: offsets at once. Memory: the budget, and some 60 MB for threads and
    mapped edges. Raises BadInput where the budget is less than NODE_BYTES a number.
    """
    require_memory("gen-graph", bound, NODE_BYTES, budget)
    nodes = bound if ids is None else bound - int(np.count_nonzero(ids == missing(ids)))
    counts, lengths = GraphCounts(nodes), list[int]()
    unknown: Mask = np.zeros(0 if ids is None else bound, bool)  # sources without id, by number
    held = unknown.nbytes + (0 if ids is None else ids.nbytes)
    output.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=tmp) as folder:
        counted = (_counted(stream, lengths) for stream in streams)
        pairs = distinct_pairs(counted, bound, budget - held, Path(folder), threads, least)
        of_nodes = _Offsets(output, nodes, piece)
        with Growing(output / SOURCES, id_type(nodes)) as file, of_nodes as offsets:
            for targets, sources in pairs:
                edges = _edges(targets, sources, ids, counts, unknown)
                offsets.add(edges[0])
                file.write(edges[1])
    counts.edges, counts.links = file.length, sum(lengths)
    counts.sources_without_id = int(np.count_nonzero(unknown))
    del unknown
    outdegrees = _outdegrees(np.load(output / SOURCES, mmap_mode="r"), nodes)
    save(output / OUTDEGREES, outdegrees)
    counts.dangling = nodes - int(np.count_nonzero(outdegrees))
    return counts


def _counted(stream: Iterable[Pairs], lengths: list[int]) -> Iterator[Pairs]:
    """Appends the number of pairs of a stream to `lengths`, in the thread that reads it."""
    count = 0
    for pairs in stream:
        count += len(pairs[0])
        yield pairs
    lengths.append(count)


def _edges(
    targets: Ids, sources: Ids, ids: Ids | None, counts: GraphCounts, unknown: Mask
) -> Pairs:
    """The edges of distinct pairs, as ids; marks the numbers of sources without id."""
    counts.canonical_links += len(targets)
    if ids is not None:
        numbers, none = sources, missing(ids)
        targets, sources = ids[targets], ids[sources]
        known = (targets != none) & (sources != none)
        unknown[numbers[sources == none]] = True
        counts.without_id += len(known) - int(np.count_nonzero(known))
        targets, sources = targets[known], sources[known]
    edge = targets != sources
    counts.self_links += len(edge) - int(np.count_nonzero(edge))
    return targets[edge], sources[edge]


class _Offsets:
    """Writes where the edges of each node begin, from the targets of edges in order."""

    def __init__(self, folder: Path, nodes: int, piece: int) -> None:
        self._file = Growing(folder / OFFSETS, np.int64)
        self._nodes, self._piece = nodes, piece
        self._edges = 0  # so far
        self._file.write(np.zeros(1, np.int64))

    def add(self, targets: Ids) -> None:
        if len(targets):
            latest = self._file.length - 1  # more edges of this node may follow
            counts = np.bincount((targets - targets.dtype.type(latest)).astype(np.int64))
            self._file.write(self._edges + np.cumsum(counts[:-1]))
            self._edges += len(targets)

    def __enter__(self) -> _Offsets:
        return self

    def __exit__(self, *error: Any) -> None:
        while left := self._nodes + 1 - self._file.length:
            self._file.write(np.full(min(left, self._piece), self._edges))
        self._file.__exit__(*error)


def _outdegrees(sources: Ids, nodes: int) -> Ids:
    """How often each node is a source. Memory: 4 bytes a node, and a piece. A compiled loop would
    take LOOPS bytes, which this step does not need otherwise."""
    counts = np.zeros(nodes, id_type(nodes))
    for begin in range(0, len(sources), COUNTED):
        piece = np.asarray(sources[begin : begin + COUNTED], np.intp)
        np.add.at(counts, piece, counts.dtype.type(1))
        release(sources, begin, min(begin + COUNTED, len(sources)))
    return cast(Ids, counts)


def opic_graph(name: str, csr: Csr, outgoing: Csr, scores: Floats, dummy: float) -> Graph:
    """The graph for OPIC, with scores; ids are positions. outgoing: the transposed graph, whose
    arrays are not copied if there are fewer than 2^31 nodes."""
    kind: Any = np.int32 if csr.nodes < 2**31 else np.int64
    targets = outgoing.sources.view(kind) if kind == np.int32 else outgoing.sources.astype(kind)
    ids = np.arange(csr.nodes, dtype=kind)
    return Graph(name, ids, scores, outgoing.offsets, targets, dummy)


TRANSPOSED_BYTES = 32  # offsets, next positions and degrees of both graphs


def transposed(
    csr: Csr,
    output: Path,
    *,
    budget: int,
    tmp: Path,
    threads: int = 1,
    beside: int = 0,
    piece: int = PIECE,
) -> Csr:
    """The transposed graph: its `sources` are the targets. It is in memory if its edges fit the
    `budget` in bytes, with its nodes or with `beside`, if that is more: what the caller needs next,
    with these nodes. Else it is in a new folder `output`. piece: edges at once."""
    if csr.sources.nbytes + max(TRANSPOSED_BYTES * csr.nodes, beside) <= budget:
        return _in_memory(csr, piece)
    pairs = _reversed(csr, piece)
    write_graph([pairs], csr.nodes, output, budget=budget, tmp=tmp, threads=threads, piece=piece)
    return open_csr(output, edges=False)  # its edges need no check: they come from checked ones


def _in_memory(csr: Csr, piece: int) -> Csr:
    offsets = np.zeros(csr.nodes + 1, np.int64)
    np.cumsum(csr.outdegrees, out=offsets[1:])
    targets = cast(Ids, np.empty(csr.edges, csr.sources.dtype))
    append, positions = compiled(_append), offsets[:-1].copy()
    starts, sources = read_only(csr.offsets), read_only(csr.sources)
    begin = 0
    while begin < csr.nodes:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + piece, "right")) - 1)
        end = min(end, csr.nodes)
        append(begin, starts[begin : end + 1], sources, positions, targets)
        release(csr.sources, int(starts[begin]), int(starts[end]))
        begin = end
    indegrees = cast(Ids, np.diff(csr.offsets).astype(csr.outdegrees.dtype))
    return Csr(offsets, targets, indegrees)


def _append(begin: int, offsets: Offsets, sources: Ids, positions: Offsets, targets: Ids) -> None:
    """The edges to some nodes, from begin on. positions: of the next target of each node."""
    for node in range(len(offsets) - 1):
        for k in range(offsets[node], offsets[node + 1]):
            source = sources[k]
            targets[positions[source]] = begin + node
            positions[source] += 1


def _reversed(csr: Csr, piece: int) -> Iterator[Pairs]:
    for begin in range(0, csr.edges, piece):
        sources = csr.sources[begin : begin + piece]
        edges = np.arange(begin, begin + len(sources))
        first, last = np.searchsorted(csr.offsets, (begin, edges[-1]), "right") - 1
        nodes = np.searchsorted(csr.offsets[first : last + 2], edges, "right") - 1 + first
        yield sources, nodes
