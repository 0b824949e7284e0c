"""The bytes of an archive, inflated, in runs that end where a record must begin anew.

A run is a gzip member, with the members behind it as long as none of them begins with a record
(gzip by blocks), or a plain stretch up to the end of the file. Memory is bounded by what the
caller takes at once. Offsets: that of the run in the file plus the place in its inflated bytes,
so of the member for gzip per record, and of the inflated file for gzip of the whole file.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from jobs.kernel.damage import Damage
from jobs.kernel.record_starts import GZIP_MAGIC, LONGEST_LINE, find_start, member_starts_record

BLOCK = 2**16
_WINDOW = 4 * BLOCK
_SALVAGED = 2**24  # no more than this from the block with the error
BOMB_RATIO = 200  # deflate reaches 1032; archives of text reach 10 to 20


class Run:
    """Bytes that are read once, with a look ahead; `offset` is that of the next byte."""

    def __init__(self, chunks: Callable[[int], Iterator[bytes]], start: int, plain: bool) -> None:
        self.start, self.plain = start, plain
        self.arc_seen = self.warc_seen = False
        self._chunks = chunks
        self._next = chunks(0)
        self._base = self._at = 0
        self._buffer = bytearray()
        self._ended = False

    @property
    def place(self) -> int:
        return self._base + self._at

    @property
    def offset(self) -> int:
        return self.start + self.place

    def _fill(self, count: int) -> None:
        if len(self._buffer) - self._at >= count:
            return
        del self._buffer[: self._at]
        self._base, self._at = self._base + self._at, 0
        while not self._ended and len(self._buffer) < count:
            chunk = next(self._next, None)
            if chunk is None:
                self._ended = True
            else:
                self._buffer += chunk

    def peek(self, count: int) -> bytes:
        """The next bytes, fewer only at the end of the run."""
        self._fill(count)
        return bytes(self._buffer[self._at : self._at + count])

    def take(self, count: int) -> bytes:
        """The next bytes, fewer only at the end of the run; read past them."""
        data = self.peek(count)
        self._at += len(data)
        return data

    def push_back(self, data: bytes) -> None:
        """Undo the last take of these bytes."""
        if self._at < len(data):
            self._buffer[: self._at] = data
            self._base, self._at = self._base - len(data) + self._at, 0
        else:
            self._at -= len(data)

    def skip(self, count: int) -> bool:
        """Read past count bytes without keeping them; False if the run ends before."""
        while count > 0:
            self._fill(1)
            step = min(count, len(self._buffer) - self._at)
            if not step:
                return False
            self._at += step
            count -= step
        return True

    def skip_blank_lines(self) -> None:
        while True:
            self._fill(1)
            while self._at < len(self._buffer) and self._buffer[self._at] in b"\r\n":
                self._at += 1
            if self._at < len(self._buffer) or self._ended:
                return

    def rewind(self, place: int) -> None:
        """Go back to a place. Costs reading from there, or inflating from the start of the run."""
        self._buffer.clear()
        self._ended = False
        self._next = self._chunks(place if self.plain else 0)
        self._base, self._at = place if self.plain else 0, 0
        self.skip(place - self._base)

    def take_until_start(self, limit: int) -> bytes:
        """Read up to where the next record seems to start; the first limit bytes of that."""
        kept = bytearray()
        while True:
            self._fill(_WINDOW)
            buffer, window = self._buffer, min(self._at + _WINDOW, len(self._buffer))
            found = find_start(buffer, self._at, window, **self._looked_for())
            last = self._ended and window == len(buffer)
            if not last:  # a start may be cut by the end of the window
                window -= LONGEST_LINE
            end = found if found >= 0 else window
            kept += buffer[self._at : min(end, self._at + limit - len(kept))]
            self._at = end
            if found >= 0 or last:
                return bytes(kept)

    def find_in(self, data: bytes) -> int:
        """The first place in bytes of this run where a record seems to start, or -1."""
        return find_start(data, 0, len(data), **self._looked_for())

    def _looked_for(self) -> dict[str, bool]:
        return {"text": True, "arc": self.arc_seen or not self.warc_seen, "member": self.plain}


class MemberSearch(Run):
    """A stretch of compressed bytes behind damage: only whole gzip members count in it."""

    def _looked_for(self) -> dict[str, bool]:
        return {"text": False, "arc": False, "member": True}


class RunReader:
    """Opens the runs of a file one after the other.

    rereads: bytes that may still be read again behind damage; without the limit a hostile file
    could make every false start cost the whole file.
    """

    def __init__(self, file: BinaryIO, max_record: int, rereads: int = 2**30) -> None:
        self._file, self._max_record = file, max_record
        self.rereads = rereads
        self.damage: Damage | None = None  # what ended the run, if anything did
        self._next = 0  # file offset behind the run
        self._search = False

    def _read(self, place: int, count: int = BLOCK) -> bytes:
        self._file.seek(place)
        return self._file.read(count)

    def next_run(self) -> Run | None:
        """The next run, once the one before is read to its end or left by `leave`."""
        start, search = self._next, self._search
        self._search, self.damage = False, None
        head = self._read(start, 16)
        if not head.strip(b"\0") and self._rest_is_padding(start):
            return None
        if search:
            return MemberSearch(lambda place: self._plain(start + place), start, True)
        if head.startswith(GZIP_MAGIC):
            return Run(lambda _: self._inflated(start), start, False)
        return Run(lambda place: self._plain(start + place), start, True)

    def _rest_is_padding(self, start: int) -> bool:
        """Whether nothing but zero bytes follows (tapes and block devices pad with them)."""
        while head := self._read(start):
            if head.strip(b"\0"):
                return False
            start += len(head)
        return True

    def leave(self, offset: int) -> None:
        """The run ends here: a gzip member begins at this file offset."""
        self._next = offset

    def _plain(self, place: int) -> Iterator[bytes]:
        while block := self._read(place):
            place += len(block)
            self._next = place
            yield block

    def _inflated(self, start: int) -> Iterator[bytes]:
        """The bytes of the member at start and of those behind it that begin with no record."""
        member, begin = zlib.decompressobj(31), start
        place, raw, made, full = start, b"", 0, False
        while True:
            if not raw and not full:
                raw = self._read(place)
                place += len(raw)
                if not raw:
                    self._broken(begin, place, "the file ends inside the member")
                    return
            before = member.copy()
            try:
                data = member.decompress(raw, BLOCK)
            except zlib.error as error:
                data, consumed = _salvaged(before, raw)
                self._broken(begin, place - len(raw) + consumed, str(error))
                yield data
                return
            raw, full = member.unconsumed_tail, len(data) == BLOCK
            made += len(data)
            if made > self._max_record and made > BOMB_RATIO * (place - len(raw) - start):
                self.damage = Damage(begin, "gzip-bomb", f"more than {made} bytes")
                self._search, self._next = True, place - len(raw)
                return
            if data:
                yield data
            if member.eof:
                begin = place - len(member.unused_data)
                head = self._read(begin, LONGEST_LINE)
                self._next = begin
                goes_on = not member_starts_record(head, blank_lines=False)
                if not (head.startswith(GZIP_MAGIC) and goes_on):
                    return
                member, place, raw, full = zlib.decompressobj(31), begin, b"", False

    def _broken(self, begin: int, place: int, detail: str) -> None:
        """End the run; the search for the next member begins behind the first byte of this one,
        or behind what was read of it when too much was read again already."""
        self.damage = Damage(begin, "bad-gzip", detail)
        self._search = True
        self._next = begin + 1 if place - begin <= self.rereads else place
        self.rereads -= min(place - begin, self.rereads)


def _salvaged(member: zlib._Decompress, raw: bytes) -> tuple[bytes, int]:
    """What inflates before an error, and from how many bytes: zlib drops all of a failed call."""
    data = bytearray()
    for place in range(len(raw)):
        try:
            data += member.decompress(raw[place : place + 1])
        except zlib.error:
            return bytes(data), place
        if len(data) > _SALVAGED:
            return bytes(data), place + 1
    return bytes(data), len(raw)
