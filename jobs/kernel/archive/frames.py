"""Where frames and records of archives begin.

Compressed frames are gzip members, zstd frames and lz4 frames.

A frame is known by its first bytes. zstd frames may need a dictionary. A `.warc.zst` has it in a
skippable frame at its beginning (IIPC, Zstandard Compression for WARC Files 1.0); other skippable
frames are passed over. zstd and lz4 decoders return nothing from a call that fails, so they are fed
part by part: all blocks before the damaged one are out when the error comes, and a call returns at
most one block (128 KiB, 4 MiB), however small it was.

A WARC record begins with `WARC/1.0`, an ARC record with one line of blank-separated fields that
end in a length: `URL IP date type length` (version 1), or `URL IP date type status checksum
location offset filename length` (version 2). URLs may contain blanks.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Generator
from functools import cache
from typing import Any, Protocol

import zstandard

from crawlrank.jobs.kernel.errors import count_of

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
# place of the other, both in the other order, or text after the date. The surer forms come first.
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


try:  # three fifths of the time; the bytes before an error and its message are the same
    zlib: Any = importlib.import_module("zlib_ng.zlib_ng")
except ImportError:
    zlib = importlib.import_module("zlib")

SUFFIXES = (".gz", ".zst", ".lz4")  # of files of such frames
GZIP_MAGIC, ZSTD_MAGIC = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
LZ4_MAGIC, DICTIONARY_MAGIC = b"\x04\x22\x4d\x18", b"\x5d\x2a\x4d\x18"
LONGEST_DICTIONARY = 2**23  # the specification's limit, compressed and not
STEP = 2**16
_LONGEST_WINDOW = 2**27  # zstd's own default
_SALVAGED = 2**24  # no more than this from the call with the error
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
# No archive writer sets gzip flags other than for an extra field and a name.
_MAGICS = map(re.escape, (GZIP_MAGIC, ZSTD_MAGIC, LZ4_MAGIC))
_FRAME = re.compile(rb"%b[\x00\x04\x08\x0c]|%b|%b" % tuple(_MAGICS))


class Broken(Exception):
    """A frame that cannot be inflated. data: what the failed call inflated before the error;
    consumed: how many of its bytes that took."""

    def __init__(self, data: bytes, consumed: int, message: str) -> None:
        self.data, self.consumed = data, consumed
        super().__init__(message)


class Inflater(Protocol):
    """One frame. full: more output waits, without more input. name: as in reasons of damage."""

    name: str
    full: bool

    @property
    def eof(self) -> bool: ...

    def feed(self, raw: bytes, limit: int) -> tuple[bytes, bytes]:
        """(output, rest of raw that was not read); only gzip keeps to the limit."""


class _Gzip:
    name = "gzip"

    def __init__(self, zlib: Any) -> None:
        self._zlib, self._member = zlib, zlib.decompressobj(31)
        self.full = False
        # A copy of the member, its input since then and the size of its output: to salvage from.
        self._saved: Any = None
        self._input, self._output_size = b"", 0

    @property
    def eof(self) -> bool:
        return bool(self._member.eof)

    def feed(self, raw: bytes, limit: int) -> tuple[bytes, bytes]:
        try:
            data = self._member.decompress(raw, limit)
        except self._zlib.error as error:
            raise Broken(*self._salvaged(raw), str(error)) from error
        self.full = len(data) == limit
        if self.eof:
            return data, self._member.unused_data
        rest = self._member.unconsumed_tail
        self._input += raw[: len(raw) - len(rest)]
        self._output_size += len(data)
        if len(self._input) > STEP or self._output_size > 16 * STEP:
            self._saved, self._input, self._output_size = self._member.copy(), b"", 0
        return data, rest

    def _salvaged(self, raw: bytes) -> tuple[bytes, int]:
        """What inflates before an error, and from how many bytes: zlib drops the output of a call
        that fails, and the next call fails again."""
        member = self._saved or self._zlib.decompressobj(31)
        data = bytearray(member.decompress(self._input)[self._output_size :])
        for position in range(len(raw)):
            try:
                data += member.decompress(raw[position : position + 1])
            except self._zlib.error:
                return bytes(data), position
            if len(data) > _SALVAGED:
                return bytes(data), position + 1
        return bytes(data), len(raw)


Sizes = Generator[int, bytes, None]  # yields the size of the next part, is sent its first bytes


class _ByParts:
    full = False

    def __init__(self, name: str, decoder: Any, sizes: Sizes, error: type[Exception]) -> None:
        self.name = name
        self._decoder, self._sizes, self._error = decoder, sizes, error
        self._left, self._seen = next(sizes), b""

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    def feed(self, raw: bytes, limit: int) -> tuple[bytes, bytes]:
        consumed, data = 0, b""
        while not data and not self.eof and consumed < len(raw):
            part = raw[consumed : consumed + self._left]
            consumed += len(part)
            data = self._part(part, consumed)
        return data, raw[consumed:]

    def _part(self, part: bytes, consumed: int) -> bytes:
        try:
            data: bytes = self._decoder.decompress(part)
        except self._error as error:
            raise Broken(b"", consumed, str(error)) from error
        self._left -= len(part)
        self._seen = (self._seen + part)[:8]
        while not self._left and not self.eof:
            try:
                self._left, self._seen = self._sizes.send(self._seen), b""
            except StopIteration as end:
                raise Broken(data, consumed, "no end where the frame ends") from end
        return data


def _zstd_sizes() -> Sizes:
    """RFC 8878, 3.1.1: a header of which the fifth byte tells the rest, blocks, a checksum."""
    descriptor = (yield 5)[4]
    single = descriptor >> 5 & 1
    yield (1 - single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
    last = 0
    while not last:
        header = int.from_bytes((yield 3), "little")
        last, repeated, size = header & 1, header >> 1 & 3 == 1, header >> 3
        yield 1 if repeated else size
    yield 4 * (descriptor >> 2 & 1)


def _lz4_sizes() -> Sizes:
    """LZ4 frame format 1.6: magic, flags, blocks until one of size 0, a checksum."""
    flags = (yield 6)[4]
    yield 8 * (flags >> 3 & 1) + 4 * (flags & 1) + 1
    while size := int.from_bytes((yield 4), "little"):
        yield (size & 0x7FFFFFFF) + 4 * (flags >> 4 & 1)
    yield 4 * (flags >> 2 & 1)


class CompressedFrames:
    """Opens frames and finds their beginnings; holds the zstd dictionary of the file. zlib: the
    module that inflates gzip."""

    def __init__(self, zlib: Any = zlib) -> None:
        self._zlib = zlib
        self._dictionary: zstandard.ZstdCompressionDict | None = None

    def open(self, head: bytes) -> Inflater | None:
        """The frame that begins with these bytes, or None if none does."""
        if head.startswith(GZIP_MAGIC):
            return _Gzip(self._zlib)
        if head.startswith(ZSTD_MAGIC):
            decoder = self._zstd().decompressobj()
            return _ByParts("zstd", decoder, _zstd_sizes(), zstandard.ZstdError)
        if head.startswith(LZ4_MAGIC):
            import lz4.frame  # type: ignore[import-untyped]

            lz4_decoder = lz4.frame.LZ4FrameDecompressor()
            return _ByParts("lz4", lz4_decoder, _lz4_sizes(), RuntimeError)
        return None

    def _zstd(self) -> zstandard.ZstdDecompressor:
        return zstandard.ZstdDecompressor(self._dictionary, max_window_size=_LONGEST_WINDOW)

    def set_dictionary(self, data: bytes) -> str:
        """Use the content of a dictionary frame. Returns what is wrong with it, or ''."""
        self._dictionary = None
        try:
            if data.startswith(ZSTD_MAGIC):
                data = self._zstd().stream_reader(data).read(LONGEST_DICTIONARY + 1)
            if not 8 <= len(data) <= LONGEST_DICTIONARY:
                return f"a dictionary of {count_of(len(data), 'byte')}"
            self._dictionary = zstandard.ZstdCompressionDict(data)
            self._zstd().decompressobj()  # loads it
        except zstandard.ZstdError as error:
            self._dictionary = None
            return str(error)
        return ""

    def begins_record(self, head: bytes, *, blank_lines: bool = True) -> bool | None:
        """Whether a frame that begins with a record begins here; None if that takes more bytes.

        blank_lines: blank lines may stand before the record. They do not count where a frame may
        continue with the record of the frame before: they may be part of that record.
        """
        inflater, text = self.open(head), b""
        if inflater is None:
            return False
        try:
            while (head or inflater.full) and not inflater.eof and len(text) < LONGEST_LINE:
                # few bytes are enough at first, and garbage fails early
                data, head = inflater.feed(head, LONGEST_LINE if text else 128)
                text += data
                if starts_record(text):
                    return True
        except Broken:
            pass  # a small frame with a bad checksum may still begin with a record
        else:
            if not text and inflater.name != "gzip" and not inflater.eof:
                return None
        return starts_record(text.lstrip(b"\r\n") if blank_lines else text)

    def find(self, data: bytes | bytearray, begin: int, end: int) -> int:
        """The first position from begin to end where a frame that begins with a record seems to
        begin, or -1."""
        while match := _FRAME.search(data, begin, end):  # finditer would miss those that overlap
            position = match.start()
            for size in (LONGEST_LINE, 4 * STEP):
                begins = self.begins_record(bytes(data[position : position + size]))
                if begins is not None:
                    break
            if begins is not False:
                return position
            begin = position + 1
        return -1


def skippable(head: bytes) -> int:
    """The size of the skippable frame that begins with these 8 bytes, 0 if none does."""
    return 8 + int.from_bytes(head[4:8], "little") if _SKIPPABLE.match(head) else 0
