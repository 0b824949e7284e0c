"""Arrays as text-safe lines, and back: `label<TAB>section.number<TAB>base64 of zstd`.

A line holds PIECE bytes of arrays at most; the arrays of a section go over as many lines as they
need. What lies beside a job's input is read section by section, by the place of its first byte.
Nothing here runs what it reads: names, types and lengths as JSON, then the bytes of the arrays.
"""

from __future__ import annotations

import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import zstandard

from jobs.kernel.opening import open_binary

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]
PIECE = 1 << 21  # bytes of arrays in a line, before they are compressed
LEVEL = 1  # of zstd: what is sent is read but once or a few times


class Where(NamedTuple):
    """A part, and in it the sections of a partition: name -> [offset, bytes]."""

    part: str
    sections: dict[str, list[int]]


def to_text(arrays: Arrays) -> bytes:
    """Arrays of one dimension as one word of ASCII."""
    head = json.dumps([[name, array.dtype.str, len(array)] for name, array in arrays.items()])
    raw = b"".join((head.encode(), b"\n", *(array.tobytes() for array in arrays.values())))
    return binascii.b2a_base64(zstandard.ZstdCompressor(level=LEVEL).compress(raw), newline=False)


def from_text(text: bytes) -> dict[str, Array]:
    """The arrays of a word; they cannot be written to."""
    raw = zstandard.ZstdDecompressor().decompress(binascii.a2b_base64(text))
    at = raw.index(b"\n") + 1
    found = {}
    for name, kind, length in json.loads(raw[: at - 1]):
        found[name] = np.frombuffer(raw, np.dtype(kind), length, at)
        at += found[name].nbytes
    return found


def pieces(arrays: Arrays) -> Iterator[dict[str, Array]]:
    """The arrays cut so that each piece has PIECE bytes at most; at least one piece, and each
    array in at least one."""
    held: dict[str, Array] = {}
    room = PIECE
    for name, array in arrays.items():
        begin = 0
        while begin < len(array) or name not in held:
            step = max(1, room // array.itemsize)
            held[name] = array[begin : begin + step]
            begin += step
            room -= held[name].nbytes
            if begin < len(array):
                yield held
                held, room = {}, PIECE
            else:
                break
    yield held


def joined(found: Iterable[Arrays]) -> dict[str, Array]:
    """The arrays of pieces, in their order; they can be written to."""
    lists: dict[str, list[Array]] = {}
    for piece in found:
        for name, array in piece.items():
            lists.setdefault(name, []).append(array)
    return {name: np.concatenate(arrays) for name, arrays in lists.items()}


class Writer:
    """The lines of sections, and where they are in the part that a task writes."""

    def __init__(self) -> None:
        self._at = 0

    def lines(
        self, label: bytes, section: str, arrays: Arrays, places: dict[str, list[int]]
    ) -> Iterator[bytes]:
        """Lines of a section, all of which have to be written; its place goes into `places`."""
        begin = self._at
        for number, piece in enumerate(pieces(arrays)):
            line = b"%s\t%s.%d\t%s" % (label, section.encode(), number, to_text(piece))
            self._at += len(line) + 1
            yield line
        places[section] = [begin, self._at - begin]


def is_first(line: bytes, section: str) -> bytes | None:
    """The label of the line, if a section of that name begins with it."""
    label, name, _ = line.split(b"\t")
    return label if name == section.encode() + b".0" else None


def read_section(where: Where, section: str) -> dict[str, Array]:
    """The arrays of a section. Raises OSError."""
    offset, length = where.sections[section]
    with open_binary(where.part) as stream:
        stream.seek(offset)
        lines = stream.read(length).splitlines()
    return joined(from_text(line.rsplit(b"\t", 1)[1]) for line in lines)
