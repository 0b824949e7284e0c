"""Indexes of captures as archives: CDX and CDXJ files and lines of JSON, plain or gzip, also in
parts of ZipNum.

An index tells of captures whose archives may not be there: URI, time, status, media type and digest
of each. Its records have no bodies, and the offsets are those of lines, inflated.

CDX: columns, which the first line of the file names by letters, as in ` CDX N b a m s k r M S V g`.
The first byte of the file stands between columns.

CDXJ: `key timestamp {"url": …, "mime": …, "status": …, "digest": …}`. Lines that begin with `!` say
something of the file.

JSON lines, as servers of indexes give them: the same without key and time, which is `timestamp`.

The letters are those of the CDX file format of the Internet Archive
(https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/), and those that
others add, such as the `u` of wget; `a` and `b`, the URI and the time, must be there. Of several
columns of a letter the last counts: wget writes `a` in place of the key, too. The key is not read,
as crawlrank makes its own.

A line of a request, of metadata or of another record that is no capture has its kind as its type
(`warc/request`), or in JSON as `warc-type`. It gives a record of that kind. So does a line of type
`application/warc-fields`: of metadata, or of warcinfo if it has no URI.

A line of an answer to another method than GET says so in JSON as `method`, or by what pywb adds to
the key: `__wb_method=POST`, or in older versions `__wb_post_data=…`.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import method_named

INDEX = "index"  # the kind of such records and captures
_TIME = re.compile(r"([0-9]{14})[0-9]*")
_STATUS = re.compile(r"[0-9]{1,3}")
_DIGITS = re.compile(r"[0-9]{1,15}", re.ASCII)  # of an offset
_SHA1 = re.compile(r"[A-Z2-7]{32}")
_BRACE = re.compile(r"(?:\A|[ \t])\{")  # a key may have others
_WARC, _REVISIT, _FIELDS = "warc/", "warc/revisit", "application/warc-fields"
_METHOD_IN_KEY = re.compile(r"[?&]__wb_(?:method=([a-z]{1,20})|post_data=)", re.IGNORECASE)
_CAPTURES = ("revisit", "response", "resource")

LineReader = Callable[
    [str, int], Record
]  # of a line and its place in the file; raises BadIndexLine


class BadIndexLine(ValueError):
    """What is wrong with it."""


class Columns:
    """The columns that the first line of a CDX file names."""

    def __init__(self, legend: str) -> None:
        """Raises BadIndexLine for a first line that names other columns than CDX has."""
        self.separator = legend[:1]
        self.letters = legend.strip().split(self.separator)[1:]
        if unknown := [letter for letter in self.letters if len(letter) != 1]:
            raise BadIndexLine(f"the column {unknown[0][:20]!a}, which is no letter")
        for letter, meaning in (("a", "the URI"), ("b", "the time")):
            if letter not in self.letters:
                raise BadIndexLine(f"no column {letter}, {meaning}")
        self._columns = {letter: column for column, letter in enumerate(self.letters)}

    def record(self, line: str, offset: int) -> Record:
        values = line.split(self.separator)
        if len(values) != len(self.letters):
            raise BadIndexLine(f"{len(values)} columns, and {len(self.letters)} in the first line")
        record = _record(lambda letter: self._value(values, letter), offset, len(line))
        return _with_method(record, None, self._value(values, "N"))

    def _value(self, values: list[str], letter: str) -> str:
        column = self._columns.get(letter)
        return "-" if column is None else values[column]


def json_record(line: str, offset: int) -> Record:
    """The record of a line of CDXJ, or of JSON alone."""
    brace = _BRACE.search(line)
    fields = line[: brace.start()].split() if brace else []
    if not brace or len(fields) == 1:
        raise BadIndexLine("no `key timestamp {…}`")
    try:
        values = json.loads(line[brace.end() - 1 :])
    except (ValueError, RecursionError) as error:
        raise BadIndexLine("JSON that cannot be read") from error
    names = {"a": "url", "b": "timestamp", "m": "mime", "s": "status", "k": "digest"}

    def value(letter: str) -> str:
        if letter == "b" and fields:
            return fields[-1]
        field: Any = values.get(names[letter])
        return str(field) if isinstance(field, (str, int)) else "-"

    record = _record(value, offset, len(line), str(values.get("warc-type", "")).lower())
    key = fields[0] if fields else str(values.get("urlkey", ""))
    return _with_method(record, values.get("method"), key)


class RecordRange(NamedTuple):
    """Where a record is: the name of its archive, the offset of its first byte there, and its
    compressed size in bytes."""

    archive: str
    begin: int
    size: int


_RANGE_NAMES = (  # of servers of indexes, and in the table of Common Crawl's index
    ("filename", "warc_filename"),
    ("offset", "warc_record_offset"),
    ("length", "warc_record_length"),
)


def json_range(line: str) -> RecordRange:
    """The place of the record that a line of CDXJ, or of JSON alone, is about. Raises
    BadIndexLine."""
    brace = _BRACE.search(line)
    if not brace:
        raise BadIndexLine("no JSON")
    try:
        values = json.loads(line[brace.end() - 1 :])
    except (ValueError, RecursionError) as error:
        raise BadIndexLine("JSON that cannot be read") from error
    archive, begin, size = (
        next((values[name] for name in names if values.get(name) is not None), None)
        for names in _RANGE_NAMES
    )
    if not isinstance(archive, str) or not archive:
        raise BadIndexLine("no filename")
    return RecordRange(archive, _bytes("offset", begin, 0), _bytes("length", size, 1))


def _bytes(name: str, value: object, least: int) -> int:
    """A number of bytes, which servers write as text. Raises BadIndexLine."""
    text = str(value) if isinstance(value, (str, int)) else ""
    if value is None:
        raise BadIndexLine(f"no {name}")
    if not _DIGITS.fullmatch(text) or int(text) < least:
        raise BadIndexLine(f"the {name} {str(value)[:20]!a}")
    return int(text)


def _record(value: Callable[[str], str], offset: int, size: int, kind: str = "") -> Record:
    """value: of a column, by its letter in CDX, `-` if unknown. kind: of the record, if known."""
    uri, time, status = value("a"), _TIME.fullmatch(value("b")), value("s")
    media_type, digest = value("m"), value("k")
    kind = _kind(kind, media_type, uri)
    if uri in ("", "-") and kind == INDEX:
        raise BadIndexLine("no URI")
    if not time:
        raise BadIndexLine(f"no time of 14 digits ({value('b')[:20]!a})")
    if status not in ("", "-") and not _STATUS.fullmatch(status):
        raise BadIndexLine(f"no status ({status[:20]!a})")
    return Record(
        kind,
        uri,
        time[1],
        "" if media_type in ("-", _REVISIT) else media_type,
        b"",
        offset,
        int(status) if status not in ("", "-") else None,
        digest="" if digest == "-" else f"sha1:{digest}" if _SHA1.fullmatch(digest) else digest,
        size=size,
    )


def _with_method(record: Record, stated: object, key: str) -> Record:
    """The record with the method of the request that the line's capture answers."""
    method = method_named(stated) if isinstance(stated, str) else ""
    if "__wb_" in key or "__wb_" in record.uri:
        in_key = _METHOD_IN_KEY.search(key) or _METHOD_IN_KEY.search(record.uri)
        method = method or (method_named(in_key[1] or "POST") if in_key else "")
    return record._replace(method=method) if method else record


def _kind(kind: str, media_type: str, uri: str) -> str:
    if not kind and media_type == _FIELDS:
        return "metadata" if uri not in ("", "-") else "warcinfo"
    if not kind and not media_type.startswith(_WARC):
        return INDEX
    kind = kind or media_type.removeprefix(_WARC)
    if kind == INDEX:  # no record calls itself so
        return ""
    return INDEX if kind in _CAPTURES else kind


CDX, CDXJ, HEADLESS, SUMMARY = "CDX", "CDXJ", "CDX without a first line", "ZipNum"
WHAT = "a CDX index"
EXPECTED = "a CDX file whose first line names its columns, or a CDXJ file, or lines of JSON"
LONGEST_LINE = 2**17  # bytes of a line
_BEGINNING, _BLOCK = 2**14, 2**18  # bytes
_GZIP = b"\x1f\x8b"
_LEGEND = re.compile(rb"[ \t]CDX[ \t]")
_ABOUT = re.compile(rb"(?:![^\n]*\n)*")  # lines of CDXJ about the file
_JSON = re.compile(rb"[^\s]+ [0-9]{14,} +\{")
_JSON_ALONE = re.compile(  # as lines of CDXJ that lack their beginning
    rb'\{(?=[^\n]*"url" ?:)(?=[^\n]*"timestamp" ?: ?"?[0-9]{14})[^\n]*\}\r?(?:\n|\Z)'
)
_SUMMARY = re.compile(
    rb"[^\s]+(?: [0-9]{14,})?\t[^\t\n]+\t[0-9]+\t[0-9]+(?:\t[0-9]+)?\r?\n"
    rb'|[^\s]+ [0-9]{14,} +\{"offset": ?[0-9]+, ?"length": ?[0-9]+[,}]'  # of a WACZ
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
    for offset, line in lines_of(file):
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


def lines_of(file: BinaryIO) -> Iterator[tuple[int, bytes | Damage]]:
    """Lines without their ends, and damage, each with its offset."""
    offset, rest, cut = 0, b"", 0  # cut: bytes of a line that are not kept
    for block in _blocks(file):
        if isinstance(block, Damage):
            yield offset, block._replace(offset=offset)
            return
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            if cut or len(line) > LONGEST_LINE:
                yield offset, Damage(offset, "bad-line", f"longer than {LONGEST_LINE:,} bytes")
            else:
                yield offset, line.rstrip(b"\r")
            offset += cut + len(line) + 1
            cut = 0
        if len(rest) > LONGEST_LINE:
            cut += len(rest)
            rest = b""
    if cut:
        yield offset, Damage(offset, "bad-line", f"longer than {LONGEST_LINE:,} bytes")
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
