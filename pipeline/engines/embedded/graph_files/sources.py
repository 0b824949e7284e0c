"""What a graph in files gives, and how its files are opened.

Nodes have an id, by which edges name them, and a label, which is the key of the page. Both are
strings. Readers give nodes and edges some at a time. An edge of an undirected graph is two.
"""

from __future__ import annotations

import bz2
import csv as csv_of_python
import gzip
import io
import lzma
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.arrow_files import native_bytes
from crawlrank.pipeline.data.pairs import Pairs

PIECE = 1 << 16  # edges at once
EDGES = pa.schema([("source", pa.string()), ("target", pa.string())])
NODES = pa.schema([("id", pa.string()), ("label", pa.string())])
COMMENTS = "lines that begin with # or %, taken for comments"
HEAD = 1 << 14  # bytes by which a format is known
BLOCK = 1 << 20  # bytes of text at once
ODD = bytes({*range(32), ord('"')} - {*b"\t\n"})
COMMENT = (b"#", b"%")
BLANKS = re.compile(rb"[ \t]+")
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}
DECOMPRESSORS = {b"BZh": bz2.BZ2Decompressor, b"\xfd7zXZ": lzma.LZMADecompressor}
#: what readers of packed files raise
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)

Batches = Iterator[pa.RecordBatch]


class GraphSource(ABC):
    """A graph in files. counters: of what is left out, such as weights; complete after the last
    edge. named: whether nodes have labels of their own, and all nodes are
    listed. numbered: how many nodes there are, where numbers from 0 are the labels, and `pairs`
    gives the edges. reversed_names: whether labels are names of hosts from the last label to the
    first, as `org.example.www`."""

    named = True
    reversed_names = False
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


DIGITS = re.compile(r"[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """The number that text of ASCII's digits stands for; None for other text, and for a number
    that may not fit into 64 bits."""
    return int(text) if DIGITS.fullmatch(text) else None


def are_ids(column: pa.Array) -> bool:
    """Whether all strings have nothing but digits, of any script."""
    return bool(pc.all(pc.utf8_is_digit(column)).as_py())


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


NAMES = "a header, and a name for each node"


def names_in(path: Path, count: int) -> list[str]:
    """The names of nodes in the first column of NAME.nodes.csv, beside a graph of `count` nodes."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            names = [row[0].removeprefix("'") for row in csv_of_python.reader(file) if row][1:]
    except (UnicodeDecodeError, csv_of_python.Error) as error:
        cure = "Write it in UTF-8, or remove it: nodes are numbers then."
        raise BadInput(str(path), f"no lines of names ({error})", NAMES, cure) from error
    if len({*names}) != count or len(names) != count:
        what = f"{len(names)} names, {len({*names})} of them different"
        raise BadInput(str(path), what, f"a name for each of {count} nodes")
    return names


def pieces_of(pairs: Iterator[tuple[str, str]], schema: pa.Schema) -> Batches:
    """Batches of a schema of two columns."""
    rows: list[tuple[str, str]] = []
    for pair in pairs:
        rows.append(pair)
        if len(rows) == PIECE:
            yield batch_of(rows, schema)
            rows = []
    if rows:
        yield batch_of(rows, schema)


def batch_of(rows: Iterable[tuple[str, str]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [*zip(*rows, strict=True)] or [(), ()]
    return pa.record_batch([pa.array(column, pa.string()) for column in columns], schema)


class Unpacked(io.RawIOBase):
    """The bytes of packed streams, one after the other. bz2 and lzma of Python take what is damaged
    after the first of them for the end. decompressor: makes one for a stream."""

    def __init__(self, file: BinaryIO, decompressor: Callable[[], Any]) -> None:
        self._file, self._make = file, decompressor
        self._stream, self._packed = decompressor(), b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._stream.eof:
                more = self._stream.unused_data or self._file.read(BLOCK)
                self._packed = more.lstrip(b"\0")  # which may fill a file up
                if not self._packed:
                    return 0
                self._stream = self._make()
            elif self._stream.needs_input:
                self._packed = self._file.read(BLOCK)
                if not self._packed:
                    raise EOFError("it ends within a stream")
            data = self._stream.decompress(self._packed, len(buffer))
            self._packed = b""
            if data:
                buffer[: len(data)] = data
                return len(data)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, plain or packed by gzip, bzip2 or xz. Raises BadInput for one that
    cannot be read to its end."""
    try:
        with path.open("rb") as file:
            head = file.read(6)
        begin = next((each for each in PACKED if head.startswith(each)), b"")
        with _opened(path, begin) as stream:
            yield stream
    except DAMAGE as error:
        what = f"cannot be read to its end ({error})"
        raise BadInput(str(path), what, "a whole file", "Copy or make it again.") from error


def _opened(path: Path, begin: bytes) -> BinaryIO:
    """begin: of PACKED, or nothing for a file that is not packed."""
    if begin in DECOMPRESSORS:
        return cast(BinaryIO, io.BufferedReader(Unpacked(path.open("rb"), DECOMPRESSORS[begin])))
    return cast(BinaryIO, gzip.open(path, "rb")) if begin else path.open("rb")


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


def blocks_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Some whole lines of a text at a time, with the number of the first of them, from 1."""
    with unpacked(path) as stream:
        number, size = 1, HEAD
        while block := stream.read(size):
            block += stream.readline()
            yield number, block
            number, size = number + block.count(b"\n"), BLOCK


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text, as `lines_in` has them."""
    for number, block in blocks_of(path):
        yield from lines_in(block, number, path)


def lines_in(
    block: bytes, number: int, path: Path, counters: Counter[str] | None = None
) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without those that are empty or begin with # or %, which are
    counted. number: of the first line. Raises BadInput for one that is not UTF-8, and for lines
    that end with a carriage return alone."""
    for at, line in enumerate(block.removesuffix(b"\n").split(b"\n"), number):
        try:
            text = line.decode("utf-8-sig" if at == 1 else "utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            cure = "Convert it: `iconv -f FROM -t UTF-8 FILE > OTHER`."
            raise BadInput(f"{path}, line {at}", "not UTF-8", "UTF-8", cure) from error
        if "\r" in text:
            cure = r"Convert it: `tr '\r' '\n' < FILE > OTHER`."
            raise BadInput(f"{path}, line {at}", "a carriage return in it", "lines", cure)
        if text and text[0] not in "#%":
            yield at, text
        elif text and counters is not None:
            counters[COMMENTS] += 1


def columns_in(block: bytes, delimiter: str) -> list[pa.Array] | None:
    """The fields of lines, as columns of strings, in a tenth of the time that lines take. None for
    lines that have to be read one by one: with comments, quotation marks or other control
    characters, of another number of fields than the others, or not of UTF-8. delimiter: "" for
    blanks."""
    block = block.replace(b"\r\n", b"\n")
    is_odd = len(block.translate(None, ODD)) < len(block) or not (delimiter or block.isascii())
    if is_odd or block.startswith(COMMENT) or any(b"\n" + each in block for each in COMMENT):
        return None
    if not delimiter:
        block = b"\n" + BLANKS.sub(b" ", block) + b"\n"
        if b"\n \n" in block:
            return None
        block = block.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    fields = block.lstrip(b"\n").partition(b"\n")[0].count((delimiter or " ").encode()) + 1
    try:
        table = csv.read_csv(
            native_bytes(block),
            csv.ReadOptions(
                use_threads=False, autogenerate_column_names=True, block_size=len(block) + 1
            ),
            csv.ParseOptions(delimiter=delimiter or " ", quote_char=False),
            csv.ConvertOptions(column_types={f"f{k}": pa.string() for k in range(fields)}),
        )
    except pa.ArrowInvalid:
        return None
    return [column.combine_chunks() for column in table.columns]
