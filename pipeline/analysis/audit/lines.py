"""Text files as columns of lines, a block at a time: no Python object is made for a line."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.archive.frames import GZIP_MAGIC
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.storage.binary_files import require_text
from crawlrank.jobs.kernel.storage.opening import require_file

CHUNK = 1 << 22  # bytes
GZIP = 16 + zlib.MAX_WBITS
LONGEST = 1 << 20  # bytes of a line that are kept, so that no file can fill the memory


class DamagedGzip(ValueError):
    """The rest of the file cannot be read; what came before it was yielded."""


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, plain or gzip by its first bytes, without a byte order mark. Raises
    OSError, DamagedGzip; BadInput for what is no file."""
    require_file(path)
    require_text(path, "text, plain or gzip", inflated=True)
    mark = BOM
    for chunk in _chunks(path):
        yield chunk.removeprefix(mark)
        mark = b"" if chunk else mark


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        magic = stream.read(len(GZIP_MAGIC))
        stream.seek(0)
        if magic != GZIP_MAGIC:
            while chunk := stream.read(CHUNK):
                yield chunk
            return
        yield from _inflated(stream)


def _inflated(stream: BinaryIO) -> Iterator[bytes]:
    """All members of a gzip file, up to damage."""
    member, data = zlib.decompressobj(GZIP), b""
    while data := data or stream.read(CHUNK >> 4):
        try:
            yield member.decompress(data, CHUNK)
        except zlib.error as error:
            raise DamagedGzip(str(error)) from error
        data = member.unconsumed_tail
        if member.eof:
            data = member.unused_data or stream.read(CHUNK >> 4)
            if not data:
                return
            member = zlib.decompressobj(GZIP)
    raise DamagedGzip("the .gz ends in the middle")


def whole_lines(chunks: Iterable[bytes], longest: int = LONGEST) -> Iterator[bytes]:
    """The same bytes in blocks that end with a line; the last line may have no end. longest: bytes
    of a line that are kept."""
    pending = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield pending + chunk[:end]
            pending = chunk[end:]
        else:
            pending = (pending + chunk)[:longest]
    if pending:
        yield pending


def columns(block: bytes) -> pa.BinaryArray:
    """The lines of a block, each with its end."""
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block)]
    return pa.Array.from_buffers(pa.binary(), len(ends), buffers)
