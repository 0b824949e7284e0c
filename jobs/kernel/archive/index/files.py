"""Indexes of captures as archives: CDX and CDXJ files and lines of JSON, plain or gzip, also in
parts of ZipNum.

An index tells of captures whose archives may not be there: URI, time, status, media type and digest
of each. Its records have no bodies, and the offsets are those of lines, inflated.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.index.lines import BadIndexLine, Columns, LineReader, json_record
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.errors import BadInput

CDX, CDXJ, HEADLESS, SUMMARY = "CDX", "CDXJ", "CDX without a first line", "ZipNum"
WHAT = "a CDX index"
EXPECTED = "a CDX file whose first line names its columns, or a CDXJ file, or lines of JSON"
LONGEST = 2**17  # bytes of a line
_BEGINNING, _BLOCK = 2**14, 2**18  # bytes
_GZIP = b"\x1f\x8b"
_LEGEND = re.compile(rb"[ \t]CDX[ \t]")
_ABOUT = re.compile(rb"(?:![^\n]*\n)*")  # lines of CDXJ about the file
_JSON = re.compile(rb"[^\s]+ [0-9]{14} +\{")
_JSON_ALONE = re.compile(  # as lines of CDXJ that lack their beginning
    rb'\{(?=[^\n]*"url" ?:)(?=[^\n]*"timestamp" ?: ?"?[0-9]{14})[^\n]*\}\r?(?:\n|\Z)'
)
_SUMMARY = re.compile(
    rb"[^\s]+(?: [0-9]{14})?\t[^\t\n]+\t[0-9]+\t[0-9]+(?:\t[0-9]+)?\r?\n"
    rb'|[^\s]+ [0-9]{14} +\{"offset": ?[0-9]+, ?"length": ?[0-9]+[,}]'  # of a WACZ
)
_HEADLESS = re.compile(rb"[^\s]+ [0-9]{14} (?:https?|dns|ftp|warcinfo|filedesc)\S* [^\n]*")


_KINDS = ((_SUMMARY, SUMMARY), (_JSON, CDXJ), (_JSON_ALONE, CDXJ), (_HEADLESS, HEADLESS))


def kind_of(file: BinaryIO) -> str:
    """CDX, CDXJ, HEADLESS, SUMMARY, or '' for what is no index. Leaves the file at its beginning.
    Raises OSError."""
    file.seek(0)
    head = file.read(_BEGINNING)
    file.seek(0)
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, _BEGINNING)
        except zlib.error:
            return ""
    if _LEGEND.match(head):
        return CDX
    about = _ABOUT.match(head)
    begin = about.end() if about else 0
    kinds = (pattern.match(head, begin) and kind for pattern, kind in _KINDS)
    return next(filter(None, kinds), "")


def index_records(file: BinaryIO, name: str, kind: str) -> Iterator[Record | Damage]:
    """The captures of an index in the order of its lines, and the lines that are bad. Raises
    BadInput for one whose columns are not known, or that has no capture."""
    _require_readable(name, kind)
    reader: LineReader = json_record
    readable = False
    for offset, line in _lines(file):
        if isinstance(line, bytes) and _LEGEND.match(line):
            reader = _columns(name, line).record  # indexes that were put together have several
            continue
        item = _item(line, offset, reader) if isinstance(line, bytes) else line
        if item:
            readable = readable or isinstance(item, Record)
            yield item
    if not readable:
        raise BadInput(name, f"{WHAT}, and not one readable record", EXPECTED, "Leave it out.")


def _require_readable(name: str, kind: str) -> None:
    if kind == HEADLESS:
        cure = "Put that line before it, such as ` CDX N b a m s k r M S V g`."
        raise BadInput(name, "a CDX index without the line that names its columns", EXPECTED, cure)
    if kind == SUMMARY:
        what = "the summary of an index in parts (ZipNum)"
        raise BadInput(name, what, EXPECTED, "Give the parts that it names (cdx-*.gz).")


def _columns(name: str, legend: bytes) -> Columns:
    try:
        return Columns(legend.decode("utf-8", "replace"))
    except BadIndexLine as error:
        cure = "Correct the line that begins with ` CDX`."
        raise BadInput(name, f"{WHAT} with {error}", EXPECTED, cure) from error


def _item(line: bytes, offset: int, reader: LineReader) -> Record | Damage | None:
    if not line or (reader is json_record and line.startswith(b"!")):
        return None
    try:
        return reader(line.decode("utf-8", "surrogateescape"), offset)
    except BadIndexLine as error:
        return Damage(offset, "bad-line", str(error))


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | Damage]]:
    """Lines without their ends, and damage, each with its offset."""
    offset, rest, cut = 0, b"", 0  # cut: bytes of a line that are not kept
    for block in _blocks(file):
        if isinstance(block, Damage):
            yield offset, block._replace(offset=offset)
            return
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            if cut or len(line) > LONGEST:
                yield offset, Damage(offset, "bad-line", f"longer than {LONGEST:,} bytes")
            else:
                yield offset, line.rstrip(b"\r")
            offset += cut + len(line) + 1
            cut = 0
        if len(rest) > LONGEST:
            cut += len(rest)
            rest = b""
    if cut:
        yield offset, Damage(offset, "bad-line", f"longer than {LONGEST:,} bytes")
    elif rest:
        yield offset, rest.rstrip(b"\r")


def _blocks(file: BinaryIO) -> Iterator[bytes | Damage]:
    """The bytes, inflated; damage where they end too early."""
    packed = file.read(2) == _GZIP
    file.seek(0)
    if not packed:
        while block := file.read(_BLOCK):
            yield block
        return
    members = gzip.GzipFile(fileobj=file)
    try:
        while block := members.read1(_BLOCK):
            yield block
    except EOFError:
        yield Damage(0, "truncated", "the gzip file ends inside a member")
    except (zlib.error, gzip.BadGzipFile) as error:
        yield Damage(0, "bad-gzip", ascii(str(error))[1:-1])
