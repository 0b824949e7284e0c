"""How an archive is made, by its beginning: packing, format of its records, and frames."""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.byte_runs import FrameSearch
from crawlrank.jobs.kernel.archive.damage import MAX_RECORD
from crawlrank.jobs.kernel.archive.frames import DICTIONARY_MAGIC, CompressedFrames
from crawlrank.jobs.kernel.archive.index.files import kind_of as index_kind
from crawlrank.jobs.kernel.archive.record_headers import read_header
from crawlrank.jobs.kernel.archive.record_starts import LONGEST_LINE, WARC_LINE
from crawlrank.jobs.kernel.archive.run_reader import RunReader
from crawlrank.jobs.kernel.archive.sources import WACZ


class Container(NamedTuple):
    """'' for what the beginning does not show.

    packing: plain, gzip, zstd, lz4 or zip (a WACZ). records: `WARC/1.1` and the like, `ARC/1`, or
    the kind of an index (index/files.py).
    frames: `record` if the first frame ends with its first record, as random access needs it, else
    `shared`; '' without frames.
    """

    packing: str = ""
    records: str = ""
    frames: str = ""


def container(stream: BinaryIO, max_record: int = MAX_RECORD) -> Container:
    """Of a stream that can seek. Leaves it at its beginning. Raises OSError."""
    stream.seek(0)
    head = stream.read(16)
    if head.startswith(WACZ.beginnings):
        stream.seek(0)
        return Container("zip")
    packing = _packing(head)
    if kind := index_kind(stream):
        return Container(packing or "plain", kind)
    records, frames = _first_record(RunReader(stream, max_record), max_record)
    stream.seek(0)
    return Container(packing or ("plain" if records else ""), records, frames if packing else "")


def _packing(head: bytes) -> str:
    if head.startswith(DICTIONARY_MAGIC):
        return "zstd"
    inflater = CompressedFrames().open(head)
    return inflater.name if inflater else ""


def _first_record(reader: RunReader, max_record: int) -> tuple[str, str]:
    """Format of the first record, and frames as in `Container`."""
    run = reader.next_run()
    if run is None or isinstance(run, FrameSearch):
        return "", ""
    run.skip_blank_lines()
    head = run.peek(LONGEST_LINE)
    header = read_header(run)
    if header is None:
        return "", ""
    run.skip(header.size)
    records = f"ARC/{_digit(run.peek(1))}"
    if not header.arc:
        line = WARC_LINE.match(head)
        records = line[0].split()[0].decode("latin-1").upper() if line else ""
    if header.length is None or header.length > max_record or not run.skip(header.length):
        return records, ""
    run.skip_blank_lines()
    return records, "shared" if run.peek(1) else "record"


def _digit(version: bytes) -> str:
    """The version of an ARC; its first record begins with it."""
    return version.decode() if version in (b"1", b"2") else "?"
