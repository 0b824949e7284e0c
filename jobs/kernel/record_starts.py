"""Where a record begins: the first lines of WARC and ARC records, and gzip members that hold one.

A WARC record begins with `WARC/1.0`, an ARC record with one line of blank-separated fields that
end in a length: `URL IP date type length` (version 1), or `URL IP date type status checksum
location offset filename length` (version 2). URLs may contain blanks.
"""

from __future__ import annotations

import re
import zlib

GZIP_MAGIC = b"\x1f\x8b\x08"
LONGEST_LINE = 2**14  # of an ARC header: a URL of 8,192 bytes and its fields, twice over

WARC_LINE = re.compile(rb"(?i:WARC)/[0-9]+\.[0-9]+[ \t]*\r?\n(?=[!-9;-~]{1,100}[ \t]*:)")
# The schemes that crawlers write: any would do, but gzip by blocks may begin one at `ttp://…`.
_SCHEME = (
    rb"(?i:https?|ftp|dns|whois|filedesc|warcinfo|metadata|screenshot|data|file|urn|mailto|news"
    rb"|gopher|rtsp|mms):"
)
_URI = rb"(?P<uri>" + _SCHEME + rb"[^\n]{0,16000}?)"
_IP = rb"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)"
_REST = rb"(?P<type>[^\n]{1,256}?) %s(?P<length>[^ \r\n]{1,20})[ \t]*\r?\n"
_VERSION_2 = rb"(?:[0-9]{3}|-) [^ \n]+ [^ \n]+ [0-9\-]+ [^ \n]+ "
# A good IP or a good date makes a line one of ARC: real files have `null` or dashes for the other.
_ARC_LINES = [
    re.compile(_URI + fields + _REST % middle)
    for middle in (_VERSION_2, b"")
    for fields in (
        rb" [^ \n]{1,64} (?P<date>[0-9]{8,18}|-) ",
        rb" " + _IP + rb" (?P<date>[^ \n]{1,20}) ",
    )
]
# Stricter than at an expected place: this is looked for inside of bodies and garbage.
_ARC_FOUND = re.compile(
    rb"^(?:filedesc://[^\n]{0,2000} -?[0-9]{1,15}|"
    + _SCHEME
    + rb"[^\n]{1,9000} "
    + _IP
    + rb" [0-9]{12,18} [^\n]{1,2000} -?[0-9]{1,15})[ \t]*\r?\n",
    re.MULTILINE,
)


def arc_line(head: bytes) -> re.Match[bytes] | None:
    """The header line of an ARC record at the beginning of head.

    Version 2 is tried first: its lines have the form of version 1 with a long media type.
    """
    line = head[: head.find(b"\n") + 1]
    if line.count(b" ") < 4:
        return None
    return next((found for form in _ARC_LINES if (found := form.match(line))), None)


def starts_record(head: bytes) -> bool:
    """Whether a WARC or ARC record begins at the beginning of head (LONGEST_LINE bytes or all)."""
    return bool(WARC_LINE.match(head) or arc_line(head))


def member_starts_record(head: bytes, *, blank_lines: bool = True) -> bool:
    """Whether head is the beginning of a gzip member that begins with a record.

    blank_lines: or with blank lines and a record. Where a member may go on with the record of
    the one before, these may be part of that record, so there they do not count.
    """
    if not head.startswith(GZIP_MAGIC):
        return False
    text = b""
    inflater = zlib.decompressobj(31)
    try:
        for count in (128, LONGEST_LINE):  # few bytes tell, and garbage fails early
            text += inflater.decompress(head, count)
            head = inflater.unconsumed_tail
            if not text or starts_record(text):
                break
    except zlib.error:
        pass  # a small member with a bad checksum may still begin with a record
    return starts_record(text.lstrip(b"\r\n") if blank_lines else text)


def find_start(
    data: bytes | bytearray, begin: int, end: int, *, text: bool, arc: bool, member: bool
) -> int:
    """The first place from begin to end where a record seems to start, or -1.

    text: look for records as they are; arc: ARC lines too (slower); member: gzip members.
    """
    place = -1
    if text and (found := WARC_LINE.search(data, begin, end)):
        place = end = found.start()
    if text and arc and (found := _ARC_FOUND.search(data, begin, end)):
        place = end = found.start()
    found_member = _find_member(data, begin, end) if member else -1
    return found_member if found_member >= 0 else place


def _find_member(data: bytes | bytearray, begin: int, end: int) -> int:
    place = data.find(GZIP_MAGIC, begin, end)
    while place >= 0 and not _may_be_member(data, place):
        place = data.find(GZIP_MAGIC, place + 1, end)
    return place


def _may_be_member(data: bytes | bytearray, place: int) -> bool:
    """As `member_starts_record`, cheap where the bytes are no gzip header.

    No archive writer sets flags other than for an extra field and a name.
    """
    unusual = place + 3 < len(data) and data[place + 3] & 0b11110011
    return not unusual and member_starts_record(bytes(data[place : place + LONGEST_LINE]))
