"""Where a record begins: the first lines of WARC and ARC records.

A WARC record begins with `WARC/1.0`, an ARC record with one line of blank-separated fields that
end in a length: `URL IP date type length` (version 1), or `URL IP date type status checksum
location offset filename length` (version 2). URLs may contain blanks.
"""

from __future__ import annotations

import re
from functools import cache

LONGEST_LINE = 2**14  # of an ARC header: a URL of 8,192 bytes and its fields, twice over

WARC_LINE = re.compile(rb"(?i:WARC)/[0-9]+\.[0-9]+[ \t]*\r{0,2}\n(?=[!-9;-~]{1,100}[ \t]*:)")
# The schemes that crawlers write. Any scheme would match `ttp://…`: gzip by blocks may begin there.
_SCHEME = (
    rb"(?i:https?|ftp|dns|whois|filedesc|warcinfo|metadata|screenshot|data|file|urn|mailto|news"
    rb"|gopher|rtsp|mms):"
)
_URI = rb"(?P<uri>" + _SCHEME + rb"[^\n]{0,16000}?)"
_IP = rb"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)"
_REST = rb"(?P<type>[^\n]{0,256}?) %s(?P<length>[^ \r\n]{1,20})[ \t]*\r?\n"
_VERSION_2 = rb"(?:[0-9]{3}|-) [^ \n]+ [^ \n]+ [0-9\-]+ [^ \n]+ "
_DIGITS = rb"[0-9]{8,18}"
# A good IP or a good date makes it a line of ARC. Real files have `null`, dashes or a checksum in
# place of the other, both in the other order, or text behind the date. The surer forms come first.
_FIELDS = (
    rb" " + _IP + rb" (?P<date>" + _DIGITS + rb") ",
    rb" (?P<date>" + _DIGITS + rb") " + _IP + rb" (?!" + _DIGITS + rb" )",
    rb" [^ \n]{1,64} (?P<date>" + _DIGITS + rb") ",
    rb" " + _IP + rb" (?P<date>[^ \n]{1,64}) ",
    rb" [^ \n]{1,64} (?P<date>" + _DIGITS + rb"[^ \n]{0,32}|-) ",
)


@cache  # takes longer than reading some records of a WARC, which needs none of them
def _arc_lines() -> list[re.Pattern[bytes]]:
    middles = (_VERSION_2, b"")
    return [re.compile(_URI + fields + _REST % middle) for fields in _FIELDS for middle in middles]


@cache
def _arc_anywhere() -> re.Pattern[bytes]:
    """Stricter than where a record is expected: it is searched for in bodies and garbage."""
    return re.compile(
        rb"^(?:filedesc://[^\n]{0,2000} -?[0-9]{1,15}|"
        + _SCHEME
        + rb"[^\n]{1,9000} (?:"
        + _IP
        + rb" [0-9]{12,18}[^ \n]{0,32}|[0-9]{12,18} "
        + _IP
        + rb") [^\n]{0,2000} -?[0-9]{1,15})[ \t]*\r?\n",
        re.MULTILINE,
    )


def arc_line(head: bytes) -> re.Match[bytes] | None:
    """The header line of an ARC record at the beginning of head.

    Version 2 is tried first: its lines have the form of version 1 with a long media type.
    """
    line = head[: head.find(b"\n") + 1]
    if line.count(b" ") < 4:
        return None
    return next((match for form in _arc_lines() if (match := form.match(line))), None)


def starts_record(head: bytes) -> bool:
    """Whether a WARC or ARC record begins at the beginning of head (LONGEST_LINE bytes or all)."""
    return bool(WARC_LINE.match(head) or arc_line(head[:LONGEST_LINE]))


def find_start(data: bytes | bytearray, begin: int, end: int, *, arc: bool) -> int:
    """The first position from begin to end where a record seems to start, or -1.

    arc: look for ARC lines too (slower).
    """
    position = -1
    if match := WARC_LINE.search(data, begin, end):
        position = end = match.start()
    if arc and (match := _arc_anywhere().search(data, begin, end)):
        position = match.start()
    return position
