"""Opens the runs of an archive one after the other; byte_runs.py says what a run is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO

from crawlrank.jobs.kernel.archive.byte_runs import (
    FIRST,
    ByteRun,
    FileBytes,
    FrameSearch,
    OpenFrame,
)
from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.frames import (
    DICTIONARY_MAGIC,
    LONGEST_DICTIONARY,
    LONGEST_LINE,
    Broken,
    CompressedFrames,
    skippable,
    starts_record,
)

BOMB_RATIO = 200  # deflate reaches 1032, zstd 30,000; archives of text reach 10 to 20
FEW_RECORDS = 2**16  # are no bomb, whatever the size of their run
_WHOLE = 2**20  # bytes of a frame that is inflated at once
_HEADS = (LONGEST_LINE, 2**18, 2**23)  # the last two hold the first block of a zstd and lz4 frame
REREADS = 2**30


class ArchiveRange:
    """The records of an archive that begin between two offsets of its file, and how reading these
    ended, by which ranges are known to fit together.

    as_heritrix: whether a warcinfo record before the range says that Heritrix wrote it; afterwards,
    whether one before its end does. behind: where reading would have gone on, -1 at the end of the
    file. rereads: bytes read again after damage. has_arc, has_warc: records in plain stretches.
    alone: whether the range gives by itself what it gives in the archive.
    """

    __slots__ = (
        *("begin", "end", "as_heritrix"),
        *("behind", "rereads", "has_arc", "has_warc", "alone"),
    )

    def __init__(
        self, begin: int = 0, end: int = sys.maxsize, *, as_heritrix: bool = False
    ) -> None:
        self.begin, self.end, self.as_heritrix = begin, end, as_heritrix
        self.behind, self.rereads = -1, 0
        self.has_arc = self.has_warc = False
        self.alone = True


class RunReader:
    """The runs of a file. Each must be read to its end, or left, before the next is opened.

    rereads: bytes that may still be read again after damage. Without the limit, every false start
    in a hostile file could cost the whole file. part: what is read of the file. few: records of a
    run that are no bomb.
    """

    def __init__(
        self, file: BinaryIO, max_record: int, part: ArchiveRange | None = None,
        few: int = FEW_RECORDS,
    ) -> None:  # fmt: skip
        self._max_record, self._few = max_record, few
        self.rereads = REREADS
        self.part = part or ArchiveRange()
        self._read = FileBytes(file).read
        self._file = file
        self._consumed = 0  # bytes of the file that the frames of this run have taken
        self._frames = CompressedFrames()
        self._looked_at: OpenFrame | None = None  # inflated as far as to see that a record begins
        self._damage: list[Damage] = []
        self._next = 0  # file offset after the run
        self._search = False
        if self.part.begin:
            self._behind_skippable(0)  # the dictionary of the frames
            self._damage.clear()
            self._next = self.part.begin

    def take_damage(self) -> list[Damage]:
        """The damage outside of records since the last call, each once: bytes that are inflated
        again report theirs again."""
        if not self._damage:
            return []
        damage, self._damage = self._damage, []
        return list(dict.fromkeys(damage))

    def next_whole(self) -> tuple[int, bytes] | None:
        """(offset, bytes) of the next frame, if it is small and whole and both it and the frame
        after it begin with a record. Most do, and need no run. Else None: see `next_run`."""
        frame = self._looked_at
        if (
            frame is None
            or frame.begin != self._next
            or self._search
            or self._next >= self.part.end
        ):
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
            self._looked_at = None  # the run that reads it from the beginning reports it
            return None
        self._looked_at = None
        if self._going_on(frame.position) is not None:
            self.again(frame.begin)
            return None
        return frame.begin, chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def again(self, begin: int) -> None:
        """Read as a run what `next_whole` returned, as it is no single record."""
        self._next, self._looked_at = begin, None

    def next_run(self) -> ByteRun | None:
        """The next run, when the one before was read to its end or left."""
        start, search = self._next, self._search
        self._search = False
        if start >= self.part.end and not search:
            self.part.behind = self._behind_skippable(start)
            self.part.rereads = REREADS - self.rereads
            return None
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
        return ByteRun(lambda at: self._plain(start + at), start, True, self._frames)

    def _frame_run(self, start: int) -> ByteRun:
        return ByteRun(lambda _: self._inflated(start), start, False, self._frames)

    def _rest_is_padding(self, start: int) -> bool:
        """Whether nothing but zero bytes follows (tapes and block devices pad with them)."""
        while head := self._read(start):
            if head.strip(b"\0"):
                return False
            start += len(head)
        return True

    def _behind_skippable(self, offset: int, *, dictionaries: bool = True) -> int:
        """The offset after the skippable frames. dictionaries: use them, or stop at the first."""
        while size := skippable(head := self._read(offset, 8)):
            if head.startswith(DICTIONARY_MAGIC):
                if not dictionaries:
                    break
                self.part.alone &= offset == 0
                data = self._read(offset + 8, min(size - 8, LONGEST_DICTIONARY + 1))
                if problem := self._frames.set_dictionary(data):
                    self._damage.append(Damage(offset, "bad-zstd", f"dictionary: {problem}"))
            offset += size
        return offset

    def flooded(self, run: ByteRun, records: int) -> bool:
        """Whether a run has more records than bytes in the file: each costs time, however well
        they compress. Then the search for the next frame continues after the run."""
        if records <= self._few or records % 1000:
            return False
        # a plain stretch has the size of its records, unless it lies deflated in a zip
        consumed = getattr(self._file, "consumed", run.position) if run.plain else self._consumed
        if records <= consumed:
            return False
        self._damage.append(Damage(run.start, "bomb", f"more than {records} records"))
        self._search, self._next = True, self._next if run.plain else run.start + self._consumed
        return True

    def is_behind(self, run: ByteRun) -> bool:
        """Whether the next record of a plain stretch is no longer of this part of the file."""
        self.part.has_arc |= run.plain and run.arc_seen
        self.part.has_warc |= run.plain and run.warc_seen
        return run.plain and run.offset >= self.part.end

    def leave(self, offset: int) -> None:
        """End the run: a frame begins at this file offset."""
        self._next = offset

    def _plain(self, offset: int) -> Iterator[bytes]:
        while block := self._read(offset):
            offset += len(block)
            self._next = offset
            yield block

    def _inflated(self, start: int) -> Iterator[bytes]:
        """The bytes of the frame at start and of those after it that begin with no record."""
        begin: int | None = start
        size = 0
        while begin is not None and (frame := self._open(begin)):
            while True:
                try:
                    data = frame.next()
                except Broken as error:
                    self._broken(frame, str(error))
                    yield error.data
                    return
                if not data:
                    break
                size += len(data)
                self._consumed = frame.position - start
                if size > self._max_record and size > BOMB_RATIO * self._consumed:
                    self._damage.append(Damage(begin, "bomb", f"more than {size} bytes"))
                    self._search, self._next = True, frame.position
                    return
                yield data
            begin = self._going_on(frame.position)

    def _open(self, begin: int) -> OpenFrame | None:
        frame, self._looked_at = self._looked_at, None
        if frame and frame.begin == begin:
            return frame
        head = self._read(begin, FIRST)
        inflater = self._frames.open(head)
        return OpenFrame(self._read, inflater, begin, head) if inflater else None

    def _going_on(self, end: int) -> int | None:
        """After a frame: the offset of the frame that continues its record, if one does."""
        self._next = end
        if self._look_at(end):
            return None
        begin = self._behind_skippable(end, dictionaries=False)
        if begin > end and self._look_at(begin):
            return None
        for size in _HEADS:
            begins = self._frames.begins_record(self._read(begin, size), blank_lines=False)
            if begins is not None:
                break
        return None if begins else begin

    def _look_at(self, begin: int) -> bool:
        """Whether a frame begins here, whole so far, that begins with a record. Its bytes are
        kept, so that nearly every frame is inflated once."""
        frame = self._open(begin)
        try:
            if frame and starts_record(frame.look()):
                self._looked_at = frame
        except Broken:
            return False  # the run that begins here reports it
        return self._looked_at is not None

    def _broken(self, frame: OpenFrame, detail: str) -> None:
        """End the run. The search for the next frame begins after the first byte of this one, or
        after what was read of it when too much was already read again."""
        size = frame.position - frame.begin
        self._damage.append(Damage(frame.begin, f"bad-{frame.inflater.name}", detail))
        self._search = True
        self._next = frame.begin + 1 if size <= self.rereads else frame.position
        self.rereads -= min(size, self.rereads)
