"""Arrays as text-safe lines, and back: `label<TAB>section.number<TAB>base64 of zstd`.

A line holds PIECE bytes of arrays at most; the arrays of a section go over as many lines as they
need. What lies beside a job's input is read section by section, by the place of its first byte.
Nothing here runs what it reads: names, types and lengths as JSON, then the bytes of the arrays.

Sections of a partition (packed_graph.py) are checked before loops read them. A checksum finds
damaged lines; the checks find sections that do not belong together. A check is one pass over the
indices of a section, less than a tenth of the loop that reads them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pybase64
import zstandard

from crawlrank.jobs.kernel.errors import BadInput, BadLine, count_of
from crawlrank.jobs.kernel.storage.opening import open_binary

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]
PIECE = 1 << 21  # bytes of arrays in a line, before they are compressed
STORED = -5  # of scores, which no level makes a tenth smaller
CURE = "Remove the folder of these parts and rank again: packing then begins anew."
LEVEL = 1  # of zstd: what is sent is read but once or a few times


class Where(NamedTuple):
    """A part, and in it the sections of a partition: name -> [offset, bytes]."""

    part: str
    sections: dict[str, list[int]]


def to_text(arrays: Arrays) -> bytes:
    """Arrays of one dimension as one word of ASCII."""
    head = json.dumps([[name, array.dtype.str, len(array)] for name, array in arrays.items()])
    raw = b"".join((head.encode(), b"\n", *(array.tobytes() for array in arrays.values())))
    level = LEVEL if any(array.dtype.kind != "f" for array in arrays.values()) else STORED
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True)
    return pybase64.b64encode(compressor.compress(raw))


def from_text(text: bytes | memoryview) -> dict[str, Array]:
    """The arrays of a word; they cannot be written to. Raises BadLine for what is damaged: zstd's
    checksum tells."""
    try:
        packed = pybase64.b64decode(text, validate=True)
        raw = zstandard.ZstdDecompressor().decompress(packed)
        at = raw.index(b"\n") + 1
        arrays = {}
        for name, kind, length in json.loads(raw[: at - 1]):
            arrays[name] = np.frombuffer(raw, np.dtype(kind), length, at)
            at += arrays[name].nbytes
    except (ValueError, TypeError, MemoryError, zstandard.ZstdError) as error:
        message = str(error).partition("\n")[0][:200]
        raise BadLine(f"damaged arrays ({message})", "base64 of zstd of arrays") from error
    return arrays


def pieces(arrays: Arrays, most: int = PIECE) -> Iterator[dict[str, Array]]:
    """The arrays cut so that each piece has at most this number of bytes; at least one piece, and
    each array in at least one."""
    held: dict[str, Array] = {}
    room = most
    for name, array in arrays.items():
        begin = 0
        while begin < len(array) or name not in held:
            step = max(1, room // array.itemsize)
            held[name] = array[begin : begin + step]
            begin += step
            room -= held[name].nbytes
            if begin < len(array):
                yield held
                held, room = {}, most
            else:
                break
    yield held


def joined(parts: Iterable[Arrays]) -> dict[str, Array]:
    """The arrays of pieces, in their order; they can be written to."""
    lists: dict[str, list[Array]] = {}
    for piece in parts:
        for name, array in piece.items():
            lists.setdefault(name, []).append(array)
    return {name: np.concatenate(arrays) for name, arrays in lists.items()}


class Writer:
    """The lines of sections, and where they are in the part that a task writes. piece: bytes of
    arrays in a line, at most."""

    def __init__(self, piece: int = PIECE) -> None:
        self._at, self._piece = 0, piece

    def lines(
        self, label: bytes, section: str, arrays: Arrays, places: dict[str, list[int]]
    ) -> Iterator[bytes]:
        """Lines of a section, all of which have to be written; its place goes into `places`."""
        begin = self._at
        for number, piece in enumerate(pieces(arrays, self._piece)):
            line = b"%s\t%s.%d\t%s" % (label, section.encode(), number, to_text(piece))
            self._at += len(line) + 1
            yield line
        places[section] = [begin, self._at - begin]


def read_section(where: Where, section: str) -> dict[str, Array]:
    """The arrays of a section. Raises OSError, and BadInput for what is damaged."""
    try:
        offset, length = where.sections[section]
        with open_binary(where.part) as stream:
            stream.seek(offset)
            data = stream.read(length)
        if len(data) != length:
            raise ValueError(f"{len(data)} of {count_of(length, 'byte')}")
        return joined(from_text(word) for word in _words(data))
    except (ValueError, TypeError, LookupError, MemoryError, OverflowError) as error:
        problem = f"a damaged section {section} ({error})"
        raise BadInput(where.part, problem, "a part that packing or a round wrote", CURE) from error


def _words(lines: bytes) -> Iterator[memoryview]:
    """The last field of each line; nothing is copied, as lines are megabytes."""
    whole, end = memoryview(lines), -1
    while end + 1 < len(lines):
        name = lines.index(b"\t", end + 1) + 1
        begin = lines.index(b"\t", name) + 1
        end = lines.index(b"\n", begin)
        yield whole[begin:end]


EXPECTED = "sections of one partition of one graph"


def check_outgoing(where: Where, linking: Arrays, outgoing: Arrays, partitions: int) -> None:
    """What a partition sends. Raises BadInput."""
    with _checking(where) as require:
        links, counts = len(linking["degrees"]), outgoing["counts"]
        require("degrees above 0", _integers(linking) and bool(linking["degrees"].all()))
        require("types of outgoing", _integers(outgoing))
        require("partitions", len(outgoing["lengths"]) == partitions)
        require("outgoing numbers", int(outgoing["lengths"].sum()) == len(counts))
        require("outgoing edges", _edges(outgoing, links))


def check_inside(
    where: Where, linking: Arrays, local: Arrays, outgoing: Arrays, groups: int
) -> None:
    """A partition's own edges, and its groups; after `check_outgoing`. Raises BadInput."""
    with _checking(where) as require:
        links, own = len(linking["degrees"]), len(linking["groups"])
        first, dangling = linking["first_group"], linking["dangling"]
        require("groups", len(first) == 1 and int(first[0]) + own <= groups)
        require("groups that dangle", len(dangling) == own)
        require("linking nodes", int(linking["groups"].sum()) == links)
        require("types of local", _integers(local))
        require("nodes", len(local["counts"]) == links + int(dangling.sum()))
        require("local edges", _edges(local, links))
        require("groups of numbers", len(outgoing["groups"]) == groups)
        require("numbers", int(outgoing["groups"].sum()) == len(outgoing["counts"]))
        edges = len(local["sources"]) + len(outgoing["sources"])
        require("degrees", int(linking["degrees"].sum(dtype=np.int64)) == edges)


def check_incoming(where: Where, incoming: Arrays, nodes: int, partitions: int) -> None:
    """What a partition gets. Raises BadInput."""
    with _checking(where) as require:
        rows, lengths = incoming["rows"], incoming["lengths"]
        require("types of incoming", _integers(incoming))
        require("partitions", len(lengths) == partitions)
        require("incoming numbers", int(lengths.sum()) == len(rows))
        require("incoming rows", not len(rows) or int(rows.max()) < nodes)


def check_teleport(where: Where, teleport: Arrays, nodes: int) -> None:
    """How often a reader starts at each node. Raises BadInput."""
    with _checking(where) as require:
        weights = teleport["weights"]
        require("type of weights", weights.dtype == np.float64)
        require("weights", len(weights) == nodes and bool((weights >= 0).all()))


def check_lines(
    where: Where, nodes: Arrays, local: Arrays, outgoing: Arrays, targets: Arrays
) -> None:
    """What lines of a graph are made of again. Raises BadInput."""
    with _checking(where) as require:
        degrees, links = nodes["degrees"], int(np.count_nonzero(nodes["degrees"]))
        require("nodes", len(nodes["ids"]) == len(degrees) == len(local["counts"]))
        require("targets", len(targets["ids"]) == len(outgoing["counts"]))
        require("types", _integers(local) and _integers(outgoing))
        require("edges", _edges(local, links) and _edges(outgoing, links))
        edges = len(local["sources"]) + len(outgoing["sources"])
        require("degrees", int(degrees.sum(dtype=np.int64)) == edges)


def check_state(where: Where, state: Arrays, links: int) -> None:
    """Vectors of linking nodes. Raises BadInput."""
    with _checking(where) as require:
        for name in ("plain", *state):
            vector = state[name]
            require(f"state {name}", vector.dtype.kind == "f" and len(vector) == links)


@contextmanager
def _checking(where: Where) -> Iterator[Callable[[str, bool], None]]:
    """A function that raises BadInput for what does not hold. An array that is not there raises it,
    too."""

    def require(what: str, holds: bool) -> None:
        if not holds:
            raise BadInput(where.part, f"sections that do not fit ({what})", EXPECTED, CURE)

    try:
        yield require
    except KeyError as error:
        raise BadInput(where.part, f"sections without {error}", EXPECTED, CURE) from error


def _integers(arrays: Mapping[str, Array]) -> bool:
    return all(array.dtype == np.uint32 for array in arrays.values())


def _edges(arrays: Arrays, links: int) -> bool:
    """Whether there are as many sources as are counted, all of them rows of linking nodes."""
    counts, sources = arrays["counts"], arrays["sources"]
    counted = int(counts.sum(dtype=np.int64)) == len(sources)
    return counted and (not len(sources) or int(sources.max()) < links)
