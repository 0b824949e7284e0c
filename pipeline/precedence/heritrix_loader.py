"""A model of Heritrix 3.13's PrecedenceLoader, to check precedence files with.

The loader reads UTF-8 lines (inflated if the name ends in .gz) and splits each at every single
blank. The first piece is the URI, the second the precedence; others are ignored. The URI is not
mended; `http://` is put in front unless it begins like `scheme:`. If anything throws, the loader
ends and nothing is stored. Memory: one block and one line.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator
from io import SEEK_CUR, BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.frames import GZIP_MAGIC
from crawlrank.jobs.kernel.keys.heritrix_form import JAVA_DOT, java_int, lookup_key

BLOCK = 8192  # characters that Java's reader reads at once
MAX_LINE = 1 << 20  # of this program: Heritrix reads a line of any length into memory

LoaderSource = str | Path | bytes


class LoaderFails(ValueError):
    """The loader ends with an exception, or refuses the file: nothing is stored.

    line: its number, 0 for the file. exception: what Java says.
    """

    def __init__(self, exception: str, line: int = 0) -> None:
        self.exception, self.line = exception, line
        super().__init__(f"line {line}: {exception}" if line else exception)


class BreaksOff(ValueError):
    """A damaged .gz: the loader logs a warning, keeps what it has read and reports success.

    delivered: whether all text before the damage has reached the loader.
    """

    def __init__(self, reason: str, delivered: bool = False) -> None:
        self.delivered = delivered
        super().__init__(reason)


class Line(NamedTuple):
    """number from 1; end: CR, LF, both, or nothing at the end of the file."""

    number: int
    text: str
    end: str


class HistoryEntry(NamedTuple):
    """An entry for Heritrix's history database. uri: the first piece of the line as written. key:
    under which the precedence is stored."""

    uri: str
    key: str
    precedence: int


def load(source: LoaderSource) -> dict[str, int]:
    """The contents of an empty database after loading the file: precedence by lookup key.

    source: a path, or the bytes of a plain file. Raises LoaderFails when it stores nothing.
    """
    stored: dict[str, int] = {}
    try:
        for line in read_lines(source):
            try:
                entry = read_entry(line.text)
            except LoaderFails as error:
                raise LoaderFails(error.exception, line.number) from error
            stored[entry.key] = entry.precedence
    except BreaksOff:
        pass  # the loader does not notice it
    return stored


# ---- an entry --------------------------------------------------------------------------------

_BLANK = re.compile(r"\s", re.ASCII)
_SCHEME = re.compile(rf"[A-Za-z0-9_]+:{JAVA_DOT}*\Z")


def pieces_of(text: str) -> list[str]:
    """Java's `split("\\\\s")`: empty pieces count, but not at the end of the line."""
    pieces = _BLANK.split(text)
    while len(pieces) > 1 and not pieces[-1]:
        pieces.pop()
    return [] if pieces == [""] and text else pieces


def with_scheme(uri: str) -> str:
    """The URI as the loader takes it; a line separator of Unicode hides its scheme."""
    return uri if _SCHEME.match(uri) else "http://" + uri


def read_entry(text: str) -> HistoryEntry:
    """The entry of a line; raises LoaderFails with Java's exception."""
    pieces = pieces_of(text)
    if len(pieces) < 2:
        raise LoaderFails(
            f"ArrayIndexOutOfBoundsException: Index {len(pieces)} "
            f"out of bounds for length {len(pieces)}"
        )
    precedence = java_int(pieces[1])
    if precedence is None:
        text = ascii(pieces[1][:80])[1:-1]
        raise LoaderFails(f'NumberFormatException: For input string: "{text}"')
    return HistoryEntry(pieces[0], lookup_key(with_scheme(pieces[0])), precedence)


# ---- lines -----------------------------------------------------------------------------------

_END = re.compile("\r\n|\r|\n")


def read_lines(source: LoaderSource) -> Iterator[Line]:
    """The lines as Java's BufferedReader cuts them; raises LoaderFails or BreaksOff."""
    if isinstance(source, bytes):
        yield from cut_lines(_blocks([source]))
        return
    path = Path(source)
    if not path.is_file():
        raise LoaderFails("unacceptable source file")
    try:
        with path.open("rb") as stream:
            yield from cut_lines(_blocks(chunks(path, stream)))
    except OSError as error:
        raise LoaderFails(f"FileNotFoundException: {error.strerror}") from error


def decoded(data: bytes) -> str:
    """Whole lines as the loader decodes them."""
    return data.decode("utf-8", _JAVA_ERRORS)


def cut_lines(blocks: Iterable[str]) -> Iterator[Line]:
    """Lines of text that comes in pieces, numbered from 1."""
    number, pending = 0, ""
    for block in blocks:
        text, start = pending + block, 0
        for end in _END.finditer(text):
            if end[0] == "\r" and end.end() == len(text):
                break  # perhaps half of CR LF
            number += 1
            yield Line(number, text[start : end.start()], end[0])
            start = end.end()
        pending = text[start:]
        if len(pending) > MAX_LINE:
            raise LoaderFails(f"a line of more than {MAX_LINE} characters", number + 1)
    if pending:
        last = pending.removesuffix("\r")
        yield Line(number + 1, last, pending[len(last) :])


def _blocks(chunks: Iterable[bytes]) -> Iterator[str]:
    """Text in whole blocks. As in Java, a block in which the chunks break off is lost."""
    decoder = codecs.getincrementaldecoder("utf-8")(_JAVA_ERRORS)
    pending = ""
    try:
        for chunk in chunks:
            pending += decoder.decode(chunk)
            whole = len(pending) - len(pending) % BLOCK
            yield pending[:whole]
            pending = pending[whole:]
    except BreaksOff as damage:
        if damage.delivered:
            yield pending
        raise
    yield pending + decoder.decode(b"", final=True)


_JAVA_ERRORS = "crawlrank-java-utf-8"


def _replaced_as_java_does(error: UnicodeError) -> tuple[str, int]:
    """U+FFFD as in Python, but one for the bytes of a surrogate."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    surrogate = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?").match(error.object, error.start)
    return "\ufffd", surrogate.end() if surrogate else error.end


codecs.register_error(_JAVA_ERRORS, _replaced_as_java_does)

# ---- bytes -----------------------------------------------------------------------------------

_CHUNK = 1 << 16
_INFLATER = 512  # bytes that Java's GZIPInputStream gives to the inflater at once
_TRAILER = 8
_EXTRA, _NAME, _COMMENT, _HEADER_CRC = 4, 8, 16, 2  # flags of a gzip member (RFC 1952)


def chunks(path: Path, stream: BufferedReader) -> Iterator[bytes]:
    """The bytes of a file opened for reading, inflated where the loader would; BreaksOff."""
    return _inflated(stream) if path.name.lower().endswith(".gz") else _chunks(stream)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk


def _inflated(stream: BufferedReader) -> Iterator[bytes]:
    """All members of a gzip file; other bytes after the last member are ignored."""
    if reason := _skip_header(stream):
        raise LoaderFails(reason)
    while True:
        checksum = 0
        for inflated in _member(stream):
            checksum = zlib.crc32(inflated, checksum)
            yield inflated
        if stream.read(_TRAILER)[:4] != checksum.to_bytes(4, "little"):
            raise BreaksOff("the checksum of the .gz is wrong", delivered=True)
        if _skip_header(stream):
            return


def _skip_header(stream: BinaryIO) -> str:
    """Reads the header of a gzip member; returns what Java throws if there is none, else ''."""
    head = stream.read(10)
    if len(head) < 10:
        return "EOFException" if GZIP_MAGIC.startswith(head[:3]) else "ZipException"
    if not head.startswith(GZIP_MAGIC):
        return "ZipException: Not in GZIP format"
    flags = head[3]
    if flags & _EXTRA:
        stream.read(int.from_bytes(stream.read(2), "little"))
    for text in (_NAME, _COMMENT):
        while flags & text and stream.read(1) not in (b"\0", b""):
            pass
    if flags & _HEADER_CRC:
        stream.read(2)
    return ""


def _member(stream: BufferedReader) -> Iterator[bytes]:
    """The inflated bytes up to the member's trailer, where the stream then stands."""
    member = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
    data = b""
    while not member.eof:
        data = data or stream.read(_INFLATER)
        try:
            inflated = member.decompress(data, BLOCK)
        except zlib.error as error:
            raise BreaksOff(f"the .gz is damaged ({error})") from error
        if not data and not inflated:
            raise BreaksOff("the .gz ends in the middle")
        yield inflated
        data = member.unconsumed_tail
    stream.seek(-len(member.unused_data), SEEK_CUR)
