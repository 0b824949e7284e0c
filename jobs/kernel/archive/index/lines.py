"""Lines of indexes of captures, CDX and CDXJ, as records without bodies.

CDX: columns, which the first line of the file names by letters, as in ` CDX N b a m s k r M S V g`.
The first byte of the file stands between columns.

CDXJ: `key timestamp {"url": …, "mime": …, "status": …, "digest": …}`. Lines that begin with `!` say
something of the file.

The letters are those of the CDX file format of the Internet Archive
(https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/); `a` and `b`, the
URI and the time, must be there. The key is not read, as crawlrank makes its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from jobs.kernel.archive.records import Record

INDEX = "index"  # the kind of such records and captures
LETTERS = frozenset("ABCDFGHIJKLMNPQRSUVXYZabcdefghijklmnoprstvxyz#")
_TIME = re.compile(r"([0-9]{14})[0-9]*")
_STATUS = re.compile(r"[0-9]{1,3}")
_SHA1 = re.compile(r"[A-Z2-7]{32}")
_REVISIT = "warc/revisit"

LineReader = Callable[
    [str, int], Record
]  # of a line and its place in the file; raises BadIndexLine


class BadIndexLine(ValueError):
    """What is wrong with it."""


class Columns:
    """Those that the first line of a CDX file names."""

    def __init__(self, legend: str) -> None:
        """Raises BadIndexLine for a first line that names other columns than CDX has."""
        self.separator = legend[:1]
        self.letters = legend.strip().split(self.separator)[1:]
        unknown = [letter for letter in self.letters if letter not in LETTERS]
        if unknown:
            raise BadIndexLine(f"the unknown column {unknown[0][:20]!a}")
        for letter, meaning in (("a", "the URI"), ("b", "the time")):
            if self.letters.count(letter) != 1:
                raise BadIndexLine(f"not one column {letter}, {meaning}")
        self._columns = {letter: column for column, letter in enumerate(self.letters)}

    def record(self, line: str, offset: int) -> Record:
        values = line.split(self.separator)
        if len(values) != len(self.letters):
            raise BadIndexLine(f"{len(values)} columns, and {len(self.letters)} in the first line")
        return _record(lambda letter: self._value(values, letter), offset, len(line))

    def _value(self, values: list[str], letter: str) -> str:
        column = self._columns.get(letter)
        return "-" if column is None else values[column]


def json_record(line: str, offset: int) -> Record:
    """Of a line of CDXJ."""
    head, brace, rest = line.partition("{")
    fields = head.split()
    if not brace or len(fields) < 2:
        raise BadIndexLine("no `key timestamp {…}`")
    try:
        values = json.loads(brace + rest)
    except (ValueError, RecursionError) as error:
        raise BadIndexLine("JSON that cannot be read") from error
    names = {"a": "url", "m": "mime", "s": "status", "k": "digest"}

    def value(letter: str) -> str:
        if letter == "b":
            return fields[-1]
        field: Any = values.get(names[letter])
        return str(field) if isinstance(field, (str, int)) else "-"

    return _record(value, offset, len(line))


def _record(value: Callable[[str], str], offset: int, size: int) -> Record:
    """value: of a column, by its letter in CDX, `-` if unknown."""
    uri, time, status = value("a"), _TIME.fullmatch(value("b")), value("s")
    if uri in ("", "-"):
        raise BadIndexLine("no URI")
    if not time:
        raise BadIndexLine(f"no time of 14 digits ({value('b')[:20]!a})")
    if status not in ("", "-") and not _STATUS.fullmatch(status):
        raise BadIndexLine(f"no status ({status[:20]!a})")
    media_type, digest = value("m"), value("k")
    return Record(
        INDEX,
        uri,
        time[1],
        "" if media_type in ("-", _REVISIT) else media_type,
        b"",
        offset,
        int(status) if status not in ("", "-") else None,
        digest="" if digest == "-" else f"sha1:{digest}" if _SHA1.fullmatch(digest) else digest,
        size=size,
    )
