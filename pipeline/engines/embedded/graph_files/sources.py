"""What a graph in files gives, and how its files are opened.

Nodes have an id, by which edges name them, and a label, which is the key of the page. Both are
strings. Readers give nodes and edges some at a time. An edge of an undirected graph is two.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.pairs import Pairs

PIECE = 1 << 16  # edges at once
EDGES = pa.schema([("source", pa.string()), ("target", pa.string())])
NODES = pa.schema([("id", pa.string()), ("label", pa.string())])
COMMENTS = "lines that begin with # or %, taken for comments"
HEAD = 1 << 14  # bytes by which a format is known
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}
#: what readers of packed files raise
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)

Batches = Iterator[pa.RecordBatch]


class GraphSource(ABC):
    """A graph in files. counters: of what is left out, such as weights; complete after the last
    edge. named: whether nodes have labels of their own, and all nodes are
    listed. numbered: how many nodes there are, where numbers from 0 are the labels, and `pairs`
    gives the edges."""

    named = True
    numbered: int | None = None

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.counters: Counter[str] = Counter()

    def nodes(self) -> Batches:
        """All nodes, as NODES, where the graph is `named`. To be read before the edges."""
        return iter(())

    def pairs(self) -> Iterator[Pairs]:
        """The edges of a graph that is `numbered`."""
        return iter(())

    @abstractmethod
    def edges(self) -> Batches:
        """The edges, as EDGES. Raises BadInput with the place of what is none."""


def node_twice(where: str, name: str, which: str) -> BadInput:
    """name: `id` or `label`, of which two nodes have the same."""
    return BadInput(where, f"two nodes of the {name} {which}", f"one of each {name}")


def unlisted_node(where: str, which: str) -> BadInput:
    what = f"an edge of the node {which}, which is not listed"
    return BadInput(where, what, "a line for each node", "Give all files of the graph.")


class WholeGraph(NamedTuple):
    """A graph in memory. nodes: how many; sources and targets are int64[E], from 0 to nodes - 1.
    None: those with an edge, and sources and targets are columns of their labels. labels: of the
    nodes, by number; None where numbers are the labels."""

    sources: Any
    targets: Any
    nodes: int | None = None
    labels: list[str] | None = None


def whole(source: GraphSource, where: str) -> WholeGraph:
    """Raises BadInput for two nodes of one id or label, and for an edge whose node is not listed.
    where: names of the files."""
    if source.numbered is not None:
        none = np.zeros(0, np.int64)
        targets, sources = zip((none, none), *source.pairs(), strict=True)
        ends = [np.concatenate(each).astype(np.int64) for each in (sources, targets)]
        return WholeGraph(ends[0], ends[1], source.numbered)
    nodes = pa.Table.from_batches(source.nodes(), NODES)  # to be read before the edges
    edges = pa.Table.from_batches(source.edges(), EDGES)
    if not source.named:
        return WholeGraph(edges["source"], edges["target"])
    for name in NODES.names:
        for each in nodes[name].value_counts().to_pylist():
            if each["counts"] > 1:
                raise node_twice(where, name, each["values"])
    ends = []
    for name in EDGES.names:
        ids = pc.index_in(edges[name], nodes["id"])
        if ids.null_count:
            raise unlisted_node(where, edges[name].filter(ids.is_null())[0].as_py())
        ends.append(ids.to_numpy().astype(np.int64))
    return WholeGraph(ends[0], ends[1], len(nodes), nodes["label"].to_pylist())


def pieces_of(pairs: Iterator[tuple[str, str]], schema: pa.Schema) -> Batches:
    """Batches of a schema of two columns."""
    rows: list[tuple[str, str]] = []
    for pair in pairs:
        rows.append(pair)
        if len(rows) == PIECE:
            yield _batch(rows, schema)
            rows = []
    if rows:
        yield _batch(rows, schema)


def _batch(rows: list[tuple[str, str]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.record_batch([pa.array(column, pa.string()) for column in columns], schema)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, plain or packed by gzip, bzip2 or xz. Raises BadInput for one that
    cannot be read to its end."""
    try:
        with path.open("rb") as file:
            head = file.read(6)
        module = next((each for begin, each in PACKED.items() if head.startswith(begin)), None)
        with cast(BinaryIO, module.open(path, "rb") if module else path.open("rb")) as stream:
            yield stream
    except DAMAGE as error:
        what = f"cannot be read to its end ({error})"
        raise BadInput(str(path), what, "a whole file", "Copy or make it again.") from error


def head_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked as far as they can be."""
    with path.open("rb") as file:
        packed = file.read(HEAD)
    for begin, module in PACKED.items():
        if packed.startswith(begin):
            try:
                with module.open(io.BytesIO(packed)) as stream:
                    return bytes(stream.read1(HEAD))
            except DAMAGE:
                return packed
    return packed


def lines_of(path: Path, counters: Counter[str] | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers from 1, without those that are empty or begin with #
    or %, which are counted. Raises BadInput for one that is not UTF-8."""
    with unpacked(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                cure = "Convert it: `iconv -f FROM -t UTF-8 FILE > OTHER`."
                raise BadInput(f"{path}, line {number}", "not UTF-8", "UTF-8", cure) from error
            if text and text[0] not in "#%":
                yield number, text
            elif text and counters is not None:
                counters[COMMENTS] += 1
