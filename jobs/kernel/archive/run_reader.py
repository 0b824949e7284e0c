"""Opens the runs of an archive's file one after the other; see jobs/kernel/archive/byte_runs.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from jobs.kernel.archive.byte_runs import FrameSearch, Run
from jobs.kernel.archive.damage import Damage
from jobs.kernel.archive.file_bytes import FIRST, FileBytes, OpenFrame
from jobs.kernel.archive.frames import (
    DICTIONARY_MAGIC,
    LONGEST_DICTIONARY,
    Broken,
    Frames,
    Inflater,
    skippable,
)
from jobs.kernel.archive.record_starts import LONGEST_LINE, starts_record

BOMB_RATIO = 200  # deflate reaches 1032, zstd 30,000; archives of text reach 10 to 20
_FEW_RECORDS = 2**16  # of a run, whatever its size
_WHOLE = 2**20  # bytes of a frame that is inflated at once
_HEADS = (LONGEST_LINE, 2**18, 2**23)  # the first block of a zstd frame fits in, of an lz4 frame


class RunReader:
    """Gives the runs of a file; each must be read to its end, or left, before the next.

    rereads: bytes that may still be read again behind damage; without the limit a hostile file
    could make every false start cost the whole file.
    """

    def __init__(self, file: BinaryIO, max_record: int, rereads: int = 2**30) -> None:
        self._max_record = max_record
        self.rereads = rereads
        self._read = FileBytes(file).read
        self._file = file
        self._consumed = 0  # bytes of the file that the frames of this run took so far
        self._frames = Frames()
        self._looked_at: OpenFrame | None = None  # inflated so far as to tell that a record begins
        self._damage: list[Damage] = []
        self._next = 0  # file offset behind the run
        self._search = False

    def take_damage(self) -> list[Damage]:
        """What was found wrong since the last call, apart from records; what is inflated again
        tells it again, which counts once."""
        if not self._damage:
            return []
        damage, self._damage = self._damage, []
        return list(dict.fromkeys(damage))

    def next_whole(self) -> tuple[int, bytes] | None:
        """(offset, bytes) of the next frame if it is small and whole, begins with a record, and so
        does the frame behind it: most are, and need no run. None leaves all to `next_run`."""
        frame = self._looked_at
        if frame is None or frame.begin != self._next or self._search:
            return None
        chunks, room = [], min(_WHOLE, self._max_record)
        try:
            while data := frame.next():
                chunks.append(data)
                room -= len(data)
                if room < 0:
                    frame.give_back(b"".join(chunks))
                    return None
                if frame.inflater.eof:
                    break
        except Broken:
            self._looked_at = None  # it is told by whoever reads it from the beginning
            return None
        self._looked_at = None
        if self._going_on(frame.place) is not None:
            self.again(frame.begin)
            return None
        return frame.begin, chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def again(self, begin: int) -> None:
        """What `next_whole` gave is to be read as a run: it is no single record."""
        self._next, self._looked_at = begin, None

    def next_run(self) -> Run | None:
        """The next run, once the one before is read to its end or left by `leave`."""
        start, search = self._next, self._search
        self._search = False
        if self._looked_at and self._looked_at.begin == start and not search:
            return self._frame_run(start)
        if not search:
            start = self._behind_skippable(start)
        head = self._read(start, 16)
        if not head.strip(b"\0") and self._rest_is_padding(start):
            return None
        if search:
            return FrameSearch(lambda at: self._plain(start + at), start, True, self._frames)
        if self._frames.open(head):
            return self._frame_run(start)
        return Run(lambda at: self._plain(start + at), start, True, self._frames)

    def _frame_run(self, start: int) -> Run:
        return Run(lambda _: self._inflated(start), start, False, self._frames)

    def _rest_is_padding(self, start: int) -> bool:
        """Whether nothing but zero bytes follows (tapes and block devices pad with them)."""
        while head := self._read(start):
            if head.strip(b"\0"):
                return False
            start += len(head)
        return True

    def _behind_skippable(self, place: int, *, dictionaries: bool = True) -> int:
        """The offset behind the skippable frames at place, with their dictionaries taken."""
        while size := skippable(head := self._read(place, 8)):
            if head.startswith(DICTIONARY_MAGIC):
                if not dictionaries:
                    break
                data = self._read(place + 8, min(size - 8, LONGEST_DICTIONARY + 1))
                if problem := self._frames.set_dictionary(data):
                    self._damage.append(Damage(place, "bad-zstd", f"dictionary: {problem}"))
            place += size
        return place

    def flooded(self, run: Run, records: int) -> bool:
        """Whether more records came of a run than it has bytes in the file: each costs time,
        however well they compress. Then the search for the next frame goes on behind it."""
        if records <= _FEW_RECORDS or records % 1000:
            return False
        # a plain stretch has the size of its records, unless it lies deflated in a zip
        consumed = getattr(self._file, "consumed", run.place) if run.plain else self._consumed
        if records <= consumed:
            return False
        self._damage.append(Damage(run.start, "bomb", f"more than {records} records"))
        self._search, self._next = True, self._next if run.plain else run.start + self._consumed
        return True

    def leave(self, offset: int) -> None:
        """The run ends here: a frame begins at this file offset."""
        self._next = offset

    def _plain(self, place: int) -> Iterator[bytes]:
        while block := self._read(place):
            place += len(block)
            self._next = place
            yield block

    def _inflated(self, start: int) -> Iterator[bytes]:
        """The bytes of the frame at start and of those behind it that begin with no record."""
        begin: int | None = start
        made = 0
        while begin is not None and (frame := self._open(begin)):
            while True:
                try:
                    data = frame.next()
                except Broken as error:
                    self._broken(frame.inflater, begin, frame.place, str(error))
                    yield error.data
                    return
                if not data:
                    break
                made += len(data)
                self._consumed = frame.place - start
                if self._is_bomb(made, frame.place - start):
                    self._damage.append(Damage(begin, "bomb", f"more than {made} bytes"))
                    self._search, self._next = True, frame.place
                    return
                yield data
            begin = self._going_on(frame.place)

    def _open(self, begin: int) -> OpenFrame | None:
        frame, self._looked_at = self._looked_at, None
        if frame and frame.begin == begin:
            return frame
        head = self._read(begin, FIRST)
        inflater = self._frames.open(head)
        return OpenFrame(self._read, inflater, begin, head) if inflater else None

    def _is_bomb(self, made: int, consumed: int) -> bool:
        return made > self._max_record and made > BOMB_RATIO * consumed

    def _going_on(self, place: int) -> int | None:
        """Behind a frame: where the frame begins that goes on with its record, if one does."""
        self._next = place
        if self._look_at(place):
            return None
        behind = self._behind_skippable(place, dictionaries=False)
        if behind > place and self._look_at(behind):
            return None
        place = behind
        for size in _HEADS:
            begins = self._frames.begins_record(self._read(place, size), blank_lines=False)
            if begins is not None:
                break
        return None if begins else place

    def _look_at(self, place: int) -> bool:
        """Whether a frame begins here that begins with a record and is whole so far: what came out
        is kept, so that nearly every frame is inflated once."""
        frame = self._open(place)
        try:
            if frame and starts_record(frame.look()):
                self._looked_at = frame
        except Broken:
            return False  # whatever it is, it is told with more care
        return self._looked_at is not None

    def _broken(self, frame: Inflater, begin: int, place: int, detail: str) -> None:
        """End the run; the search for the next frame begins behind the first byte of this one,
        or behind what was read of it when too much was read again already."""
        self._damage.append(Damage(begin, f"bad-{frame.name}", detail))
        self._search = True
        self._next = begin + 1 if place - begin <= self.rereads else place
        self.rereads -= min(place - begin, self.rereads)
