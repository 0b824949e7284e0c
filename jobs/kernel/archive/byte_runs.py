"""The inflated bytes of an archive, in runs. A new record begins after the end of a run.

A run is a compressed frame (a gzip member, or a frame of zstd or lz4) and the frames after it that
begin with no record (gzip by blocks, a record in several zstd frames); or it is a plain stretch up
to the end of the file. Memory is bounded by what the caller takes at once.
An offset is that of the run in the file plus the position in its inflated bytes: with one frame a
record it is the frame's, and in a file of one frame that of the inflated file.

Files are read ahead in large steps and inflated frame by frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from crawlrank.jobs.kernel.archive.frames import (
    LONGEST_LINE,
    STEP,
    Broken,
    CompressedFrames,
    Inflater,
    find_start,
    starts_record,
)

_AHEAD = 4 * STEP
FIRST = STEP // 8  # most frames hold one page, and bytes beyond are copied in vain


class FileBytes:
    """Bytes of a file at any position, read in large pieces where positions ascend."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data, self._begin, self._last = b"", 0, False

    def read(self, position: int, count: int = STEP) -> bytes:
        """The bytes at a position, fewer only at the end of the file. Raises OSError."""
        begin = position - self._begin
        if begin < 0 or (begin + count > len(self._data) and not self._last):
            self._file.seek(position)
            wanted = max(count, _AHEAD)
            self._data = self._file.read(wanted)
            self._begin, self._last, begin = position, len(self._data) < wanted, 0
        return self._data[begin : begin + count]


class OpenFrame:
    """A frame of the file while it is inflated. head: its first bytes. position: in the file,
    after the bytes that were inflated."""

    def __init__(
        self, read: Callable[[int, int], bytes], inflater: Inflater, begin: int, head: bytes
    ) -> None:
        self.inflater, self.begin, self.position = inflater, begin, begin
        self._read, self._raw = read, head
        self._ahead = b""

    def look(self) -> bytes:
        """What `next` will return."""
        self._ahead = self._ahead or self.next()
        return self._ahead

    def give_back(self, data: bytes) -> None:
        """Undo the calls of `next` that returned these bytes."""
        self._ahead = data + self._ahead

    def next(self) -> bytes:
        """The next bytes, b"" at the end of the frame. Raises Broken, and OSError."""
        data, self._ahead = self._ahead, b""
        while not data and not self.inflater.eof:
            if not self._raw and not self.inflater.full:
                self._raw = self._read(self.position, STEP)
                if not self._raw:
                    raise Broken(b"", 0, "the file ends inside it")
            data = self._inflate()
        return data

    def _inflate(self) -> bytes:
        before = len(self._raw)
        try:
            data, self._raw = self.inflater.feed(self._raw, STEP)
        except Broken as error:
            self.position += error.consumed
            raise
        self.position += before - len(self._raw)
        return data


_WINDOW = 4 * STEP
_KEPT = 2**20  # bytes already read that may stay in the buffer
_BLANKS = re.compile(rb"[\r\n]*")


class ByteRun:
    """Bytes that are read forward, with a look ahead; `offset` is that of the next byte."""

    def __init__(
        self,
        chunks: Callable[[int], Iterator[bytes]],
        start: int,
        plain: bool,
        frames: CompressedFrames,
    ) -> None:
        self.start, self.plain, self._frames = start, plain, frames
        self.arc_seen = self.warc_seen = False
        self._chunks = chunks
        self._next = chunks(0)
        self._base = self._at = 0
        self._buffer = b""
        self._ended = False

    @property
    def position(self) -> int:
        return self._base + self._at

    @property
    def offset(self) -> int:
        return self.start + self.position

    def _fill(self, count: int) -> None:
        size = len(self._buffer) - self._at
        if size >= count or self._ended:
            return
        self._drop()
        chunks = [self._buffer] if size else []  # a single chunk is not copied
        while size < count:
            chunk = next(self._next, None)
            if chunk is None:
                self._ended = True
                break
            chunks.append(chunk)
            size += len(chunk)
        self._buffer = b"".join(chunks)

    def peek(self, count: int) -> bytes:
        """The next bytes, fewer only at the end of the run."""
        self._fill(count)
        return self._buffer[self._at : self._at + count]

    def take(self, count: int) -> bytes:
        """The next bytes, fewer only at the end of the run, which are then after."""
        data = self.peek(count)
        self._at += len(data)
        if self._at > _KEPT:
            self._drop()
        return data

    def _drop(self) -> None:
        """Forget the bytes already read."""
        self._buffer = self._buffer[self._at :]
        self._base, self._at = self._base + self._at, 0

    def push_back(self, data: bytes) -> None:
        """Undo the last take of these bytes."""
        if self._at < len(data):
            self._buffer = data + self._buffer[self._at :]
            self._base, self._at = self._base - len(data) + self._at, 0
        else:
            self._at -= len(data)

    def skip(self, count: int) -> bool:
        """Read past count bytes without keeping them. False if the run ends before."""
        while count > 0:
            self._fill(1)
            step = min(count, len(self._buffer) - self._at)
            if not step:
                return False
            self._at += step
            count -= step
        return True

    def skip_blank_lines(self) -> bool:
        """Read past blank lines. False if nothing follows."""
        while True:
            self._fill(1)
            self._at = self._behind_blank_lines(len(self._buffer))
            if self._at < len(self._buffer):
                return True
            if self._ended:
                return False

    def _behind_blank_lines(self, end: int) -> int:
        blanks = _BLANKS.match(self._buffer, self._at, end)
        return blanks.end() if blanks else self._at

    def ends_well(self) -> bool:
        """Whether, after blank lines, another record or the end of the run follows."""
        self._fill(2 * LONGEST_LINE)
        end = min(self._at + 2 * LONGEST_LINE, len(self._buffer))
        begin = self._behind_blank_lines(end)
        return begin == end or self._record_follows(self._buffer[begin:end])

    def rewind(self, position: int) -> None:
        """Go back. Costs reading from there, or inflating from the start of the run."""
        self._buffer = b""
        self._ended = False
        self._base, self._at = position if self.plain else 0, 0
        self._next = self._chunks(self._base)
        self.skip(position - self._base)

    def take_until_start(self, limit: int) -> bytes:
        """Read up to where the next record seems to start; the first `limit` of these bytes."""
        kept = bytearray()
        while True:
            self._fill(_WINDOW)
            buffer, window = self._buffer, min(self._at + _WINDOW, len(self._buffer))
            start = self._find(buffer, self._at, window)
            last = self._ended and window == len(buffer)
            if not last:  # a start may be cut by the end of the window
                window -= LONGEST_LINE
            end = start if start >= 0 else window
            kept += buffer[self._at : min(end, self._at + limit - len(kept))]
            self._at = end
            if start >= 0 or last:
                return bytes(kept)

    def find_in(self, data: bytes) -> int:
        """The first position in bytes of this run where a record seems to start, or -1."""
        return self._find(data, 0, len(data))

    def at_frame(self) -> bool:
        """Whether a frame of records seems to begin at the next byte of this plain stretch."""
        return self.plain and self._begins_frame(self.peek(LONGEST_LINE))

    def _record_follows(self, head: bytes) -> bool:
        return starts_record(head) or (self.plain and self._begins_frame(head))

    def _begins_frame(self, head: bytes) -> bool:
        return self._frames.begins_record(head) is not False

    def _find(self, data: bytes | bytearray, begin: int, end: int) -> int:
        arc = self.arc_seen or not self.warc_seen
        record = find_start(data, begin, end, arc=arc)
        frame = self._frames.find(data, begin, end if record < 0 else record) if self.plain else -1
        return record if frame < 0 else frame


class FrameSearch(ByteRun):
    """Compressed bytes after damage, in which only frames that hold records are looked for."""

    def _find(self, data: bytes | bytearray, begin: int, end: int) -> int:
        return self._frames.find(data, begin, end)
