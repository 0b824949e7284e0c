"""Archives that are no files yet: those from standard input, and the records that an index names.

Both become files before they are read, in the folder `archives` of a work folder, or elsewhere in a
temporary one. Standard input is one archive, whatever number of files it is made of. It is copied,
because it cannot be read twice: to find out that a run knows it, and to read it. Its name says what
is in it, so that a run that gets the same bytes again continues.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.archive.damage import guard
from crawlrank.jobs.kernel.archive.range_lists import SUFFIX, IndexOfRanges, begins_as_index
from crawlrank.jobs.kernel.archive.records import EXPECTED
from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.storage.opening import GZIP, PathOrUrl, opened, real
from crawlrank.jobs.kernel.storage.temporary import temporary_file
from crawlrank.pipeline.terminal.text import STANDARD_INPUT, archive_name
from crawlrank.pipeline.workfolder.finding import list_stream

STDIN = "-"
FOLDER = "archives"  # of a work folder
PIPE = "Pipe archives into it, as in `cat *.warc.gz | crawlrank`."
_BLOCK = 1 << 20
_HEAD = 1 << 13  # bytes, by which an index is known

Given = PathOrUrl | IndexOfRanges
OnNote = Callable[[str], None]


def is_received(archive: Given) -> bool:
    return archive == STDIN or isinstance(archive, IndexOfRanges)


def is_index(list_file: PathOrUrl) -> bool:
    """Whether a list of archives is an index of captures. Raises BadInput."""
    if list_file == STDIN:
        return begins_as_index(_inflated_head(_head_of_input()))
    with list_stream(list_file) as stream:
        return begins_as_index(stream.peek(_HEAD)[:_HEAD])


def _head_of_input() -> bytes:
    """Bytes of standard input, which stay in it."""
    stream = sys.stdin.buffer
    if isinstance(stream, io.BufferedReader):
        return stream.peek(_HEAD)
    head = stream.read(_HEAD)
    stream.seek(-len(head), io.SEEK_CUR)
    return head


def _inflated_head(head: bytes) -> bytes:
    if not head.startswith(GZIP):
        return head
    try:
        return zlib.decompressobj(31).decompress(head, _HEAD)
    except zlib.error:
        return b""  # whoever reads it says what it is


def received(
    archives: Sequence[Given], folder: Path, tmp: Path, note: OnNote, cure: str = PIPE
) -> list[PathOrUrl]:
    """The archives, with files in the folder for those that are none. tmp: a folder on the same
    disk. note: called with what a user should know. cure: for an input without a byte. Raises
    BadInput."""
    files: list[PathOrUrl] = []
    for archive in archives:
        if isinstance(archive, IndexOfRanges):
            folder.mkdir(parents=True, exist_ok=True)
            files += _of_index(archive, folder, tmp, note)
        elif archive == STDIN:
            files.append(_of_input(folder, tmp, cure))
        else:
            files.append(archive)
    return list(dict.fromkeys(files))


def _of_index(source: IndexOfRanges, folder: Path, tmp: Path, note: OnNote) -> list[Path]:
    from crawlrank.pipeline.workfolder.index_ranges import (  # DuckDB, which others do not need
        write_range_lists,
        wrong_lines,
    )

    with _lines(source.index_file) as lines, guard(archive_name(str(source.index_file))):
        paths, wrong, count = write_range_lists(source, lines, folder, tmp)
    if count:
        more = f"; and {count - len(wrong):,} more" if count > len(wrong) else ""
        lines_left = f"{count_of(count, 'line')} of the index left out"
        note(f"{lines_left}: {wrong_lines(wrong)}{more}")
    return paths


@contextmanager
def _lines(index: PathOrUrl) -> Iterator[BinaryIO]:
    if index != STDIN:
        with opened(index) as file:
            yield file
        return
    with temporary_file() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield cast(BinaryIO, copy)


def _of_input(folder: Path, tmp: Path, cure: str) -> Path:
    """Copy standard input to a file. Raises BadInput for one without a byte."""
    digest, size = hashlib.blake2b(digest_size=6), 0
    copy = tmp / STANDARD_INPUT
    with copy.open("wb") as file:
        while block := sys.stdin.buffer.read(_BLOCK):
            digest.update(block)
            size += len(block)
            file.write(block)
    if not size:
        copy.unlink()
        raise BadInput(STANDARD_INPUT, "no byte", EXPECTED, cure)
    path = folder / digest.hexdigest() / STANDARD_INPUT
    path.parent.mkdir(parents=True, exist_ok=True)
    return copy.replace(path)


def received_before(folder: Path) -> list[Path]:
    """The files that runs before have made there, by name."""
    copies = (
        path
        for path in folder.glob(f"*/{STANDARD_INPUT}")
        if archive_name(str(path)) == STANDARD_INPUT
    )
    return sorted([*folder.glob(f"*{SUFFIX}"), *copies])


def drop_unused(folder: Path, used: Collection[PathOrUrl]) -> None:
    """Remove the files that no archive of the run is."""
    kept = set(map(real, used))
    for path in received_before(folder):
        if real(path) not in kept:
            path.unlink()
            if path.name == STANDARD_INPUT:
                path.parent.rmdir()
