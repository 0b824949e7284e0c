"""The HTTP message inside a record: status, header, and the body without its transfer codings.

Archives keep headers as they came but often bodies already decoded, so a header that names a
coding is a hint: what does not begin like that coding is taken as it is. Several members of gzip,
or frames of zstd, are one body.

Interim responses (1xx) before the response and blank lines before its status line are left out.

The media type is taken from the header as the Fetch standard says ("extract a MIME type"). Each
value may be a list. What is no media type counts for nothing, nor does `*/*`. The last of the
others wins; a charset is kept where a later value has the same type and none. Like Chromium, a type
ends at the first blank, so `text/html charset=x` is `text/html`, without a charset.
"""

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import zstandard

from crawlrank.jobs.kernel.archive.frames import GZIP_MAGIC, ZSTD_MAGIC
from crawlrank.jobs.kernel.archive.record_headers import (
    Fields,
    blank_line,
    every,
    first,
    read_fields,
)
from crawlrank.jobs.kernel.formats.rows import with_digest_of

LONGEST_TYPE = 1024  # characters of a value that are read
LONGEST_KEPT = 1024  # of what is remembered: longer ones of a hostile archive would fill the memory
_NAME = "content-type"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# One type and at most a charset, which need no reading.
_usual = re.compile(rf"{_TOKEN}/{_TOKEN}(?:; ?charset=[\w.:-]+)?", re.IGNORECASE).fullmatch
_QUOTED = r'"(?:[^"\\]|\\.)*(?:"|\Z)'
_one_of_list = re.compile(rf'(?:[^",]|{_QUOTED})+', re.DOTALL)
_type_of = re.compile(rf"[ \t\r\n]*({_TOKEN}/{_TOKEN})(?=[ \t\r\n;(]|\Z)").match
_parameter = re.compile(rf';[ \t\r\n]*({_TOKEN})=({_QUOTED}|[^;"]*)|{_QUOTED}|[^;"]+|;', re.DOTALL)
_WORD = re.compile(r"[^;,=\s]*")


class MediaType(NamedTuple):
    """essence: in lower case. charset: its label, or ''."""

    essence: str
    charset: str


def content_type(fields: Fields) -> str:
    """The content type of an HTTP header: `text/html` or `text/html;charset=x`. Where no value is a
    media type, the first word of the first one, which names none."""
    value = first(fields, _NAME)
    if _usual(value) and value != "*/*" and len(every(fields, _NAME)) == 1:
        return value[:LONGEST_TYPE]
    return media_type(every(fields, _NAME))


def media_type(values: tuple[str, ...]) -> str:
    """The media type, read as by `content_type`, from the values of the header's fields."""
    is_short = sum(map(len, values)) + len(values) <= LONGEST_KEPT
    return _kept_media_type(values) if is_short else _media_type(values)


def _media_type(values: tuple[str, ...]) -> str:
    chosen = MediaType("", "")
    for one in _listed(values):
        if one.essence == chosen.essence and not one.charset:
            continue
        chosen = one
    if not chosen.essence:
        match = _WORD.match(values[0].strip()) if values else None
        return match[0][:LONGEST_TYPE] if match else ""
    return f"{chosen.essence};charset={chosen.charset}" if chosen.charset else chosen.essence


_kept_media_type = lru_cache(1000)(_media_type)  # a crawl has few different ones


def _listed(values: tuple[str, ...]) -> Iterator[MediaType]:
    for value in values:
        for one in _one_of_list.findall(value[:LONGEST_TYPE]):
            if (match := _type_of(one)) and match[1] != "*/*":
                yield MediaType(match[1].lower(), _charset(one[match.end() :]))


def _charset(parameters: str) -> str:
    """The first that is not empty."""
    for name, value in _parameter.findall(parameters):
        label = re.sub(r"\\(.)", r"\1", value[1:].removesuffix('"')) if value[:1] == '"' else value
        if name.lower() == "charset" and label.strip():
            return label.strip()
    return ""


try:
    brotli: Any = importlib.import_module("brotli")
except ImportError:  # an optional package: without it, bodies in br are counted as damage
    brotli = None

_DECODING_ERRORS: tuple[type[Exception], ...] = (zlib.error, EOFError, zstandard.ZstdError)
if brotli is not None:
    _DECODING_ERRORS += (brotli.error,)

MAX_HTTP_HEADER = 2**18
_STEP, _FIRST_STEP = 2**16, 2**8  # bytes; the first is short, as a body may have many members
_GZIP_WINDOW = 31  # zlib's number for gzip
_ZSTD_WINDOW = 2**23  # the most that RFC 9659 allows in this use
HTTP_NAMES = (
    *("content-type", "content-encoding", "transfer-encoding"),
    *("location", "refresh", "link", "x-robots-tag"),
)
VALIDATORS = ("last-modified", "etag")  # read where asked for: nearly all responses have one
_PACKING = ("gzip", "x-gzip", "deflate")  # as transfer codings (RFC 9112, 7.2)
_CODINGS = {"transfer-encoding", "content-encoding"}
_STATUS = re.compile(r"HTTP/?[0-9.]* +([1-9][0-9]{2})(?![0-9])", re.IGNORECASE)
_START = re.compile(rb"HTTP(?:/| +[1-9][0-9]{2}(?![0-9]))", re.IGNORECASE)  # NCSA: `HTTP 200`
_INTERIM = re.compile(rb"HTTP/?[0-9.]* +1[0-9]{2}(?![0-9])", re.IGNORECASE)
_BLANK_LINES = re.compile(rb"[\r\n]*")
_MOST_INTERIM = 100  # as each is searched for its end
PACKED = (GZIP_MAGIC, ZSTD_MAGIC)  # the beginnings of bodies that are packed, declared or not
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


class Message(NamedTuple):
    """status: None without an HTTP header; then the payload is the whole block."""

    status: int | None
    fields: Fields
    payload: bytes


BodyDamage = list[tuple[str, str]]  # reason and detail of what did not decode


class Decoded(NamedTuple):
    """damage: of what did not decode; the body is what did. digest: of the payload
    (formats/rows.py)."""

    body: bytes
    damage: BodyDamage
    digest: str = ""


# Half the time of Message(…) and Decoded(…).
_message, _decoded = partial(tuple.__new__, Message), partial(tuple.__new__, Decoded)


def split_message(block: bytes, *, validators: bool = False) -> Message:
    """Status, header and payload of a response; a block that begins otherwise is all payload."""
    if not _START.match(block) or _INTERIM.match(block):
        begin = _response_begins(block)
        if begin is None:
            return Message(None, [], block)
        block = block[begin:]
    size = blank_line(block, 0, MAX_HTTP_HEADER) or MAX_HTTP_HEADER
    line, fields = read_fields(block[:size])
    names = HTTP_NAMES + VALIDATORS if validators else HTTP_NAMES
    fields = [field for field in fields if field[0] in names]
    return _message((status_of(line), fields, block[size:]))


def _response_begins(block: bytes) -> int | None:
    """Where the response does, after blank lines and interim responses; None if there is none. An
    interim response that nothing follows is the response."""
    begin = _line_begins(block, 0)
    for _ in range(_MOST_INTERIM):
        if begin is None or not _INTERIM.match(block, begin):
            break
        end = blank_line(block, begin, begin + MAX_HTTP_HEADER)
        following = _line_begins(block, end) if end else None
        if following is None:
            break
        begin = following
    return begin


def _line_begins(block: bytes, begin: int) -> int | None:
    """Where a status line does, after blank lines."""
    blank = _BLANK_LINES.match(block, begin)
    at = blank.end() if blank else begin
    return at if _START.match(block, at) else None


def status_of(line: str) -> int | None:
    """line: the first one of a response."""
    return _kept_status(line) if len(line) <= LONGEST_KEPT else _status(line)


def _status(line: str) -> int | None:
    status = _STATUS.match(line)
    return int(status[1]) if status else None


_kept_status = lru_cache(1000)(_status)  # nearly all have one of few


def decode(fields: Fields, block: bytes, limit: int, digest: str = "") -> Decoded:
    """The body of a block without chunks and content encodings, at most limit bytes of it. digest:
    of the payload, as the record states it."""
    if _CODINGS.isdisjoint([name for name, _ in fields]) and not block.startswith(PACKED):
        return _decoded((block, [], digest))
    damage: BodyDamage = []
    body = block
    if transfer := every(fields, "transfer-encoding"):
        body = _transferred(block, ",".join(transfer).lower(), limit, damage)
        if body is not block:
            digest = with_digest_of(body, digest)
    codings = ",".join(every(fields, "content-encoding")).lower().split(",")
    for coding in reversed([name.strip() for name in codings][:5]):
        body, reason, detail = _inflated(body, coding, limit)
        if reason:
            damage.append((reason, detail))
    if not damage and body.startswith(PACKED) and "html" in content_type(fields).lower():
        body, damage = unpacked(body, limit)
    return Decoded(body, damage, digest)


def _transferred(block: bytes, codings: str, limit: int, damage: BodyDamage) -> bytes:
    """The payload without its transfer codings; the block itself if it has none of them."""
    body = block
    if "chunked" in codings:
        body, problem = _dechunked(body)
        if problem:
            damage.append(("bad-chunks", problem))
    names = [name.strip() for name in codings.split(",")][:5]
    for coding in reversed([name for name in names if name in _PACKING]):
        body, reason, detail = _inflated(body, coding, limit)
        if reason:
            damage.append((reason, detail))
    return body


def unpacked(body: bytes, limit: int) -> tuple[bytes, BodyDamage]:
    """At most limit bytes of a body, inflated if it begins like gzip or zstd, whatever the header
    says; as far as that goes."""
    if not body.startswith(PACKED):
        return body, []
    coding = "gzip" if body.startswith(GZIP_MAGIC) else "zstd"
    inflated, reason, detail = _inflated(body, coding, limit)
    return inflated, [(reason, detail)] if reason else []


def _dechunked(payload: bytes) -> tuple[bytes, str]:
    """(the chunks' bytes and, after a broken chunk, the rest as it is; what is broken or '').

    A payload without chunks stays as it is.
    """
    size = _CHUNK_SIZE.match(payload)
    if not size:
        return payload, ""
    chunks: list[bytes] = []
    end = 0
    while size:
        begin, length = size.end(), int(size[1], 16)
        if length == 0:
            return b"".join(chunks), ""
        chunks.append(payload[begin : begin + length])
        end = begin + length
        if end > len(payload):
            return b"".join(chunks), "the body ends inside a chunk"
        end += 2 if payload.startswith(b"\r\n", end) else payload.startswith(b"\n", end)
        size = _CHUNK_SIZE.match(payload, end)
    if end < len(payload):
        return b"".join([*chunks, payload[end:]]), "no chunk where one should begin"
    return b"".join(chunks), "no last chunk"


def _inflated(body: bytes, coding: str, limit: int) -> tuple[bytes, str, str]:
    """(body, reason of damage or '', detail); the body as it is where it is not in that coding."""
    if coding in ("gzip", "x-gzip"):
        steps = _zlib_steps(body, _GZIP_WINDOW) if body.startswith(GZIP_MAGIC) else None
    elif coding == "deflate":
        steps = _deflate_steps(body)
    elif coding == "br":
        steps = _brotli_steps(body)
    elif coding == "zstd":
        steps = _zstd_steps(body) if body.startswith(ZSTD_MAGIC) else None
    else:
        steps = None
        if coding not in ("", "identity", "none", "utf-8", "binary"):
            return body, "bad-encoding", ascii(coding[:40])
    if steps is None or not body:
        return body, "", ""
    return _collect(steps, body, limit)


def _collect(steps: Iterator[bytes], body: bytes, limit: int) -> tuple[bytes, str, str]:
    parts, size = [], 0
    try:
        for part in steps:
            parts.append(part[: limit - size])
            size += len(part)
            if size > limit:
                return b"".join(parts), "body-too-large", f"more than {limit} bytes"
    except _DECODING_ERRORS as error:
        if not size and body.lstrip()[:1] == b"<":  # decoded before it was archived
            return body, "", ""
        return b"".join(parts) or body, "bad-encoding", str(error)[:80]
    return b"".join(parts), "", ""


def _zlib_steps(body: bytes, window: int) -> Iterator[bytes]:
    """The bytes of one member, or of several members of gzip."""
    begin = 0
    while not begin or body.startswith(GZIP_MAGIC, begin):
        inflater, step = zlib.decompressobj(window), _FIRST_STEP
        while not inflater.eof:
            if not inflater.unconsumed_tail:
                if begin >= len(body):
                    raise EOFError("the body ends inside its encoding")
                some = body[begin : begin + step]
                begin, step = begin + len(some), min(2 * step, _STEP)
            yield inflater.decompress(inflater.unconsumed_tail or some, _STEP)
        begin -= len(inflater.unused_data)
        if window != _GZIP_WINDOW:
            return


def _deflate_steps(body: bytes) -> Iterator[bytes] | None:
    """`deflate` means zlib's format; some servers send raw deflate. None if it is neither."""
    for window in (15, -15):
        try:
            zlib.decompressobj(window).decompress(body[:_STEP], _STEP)
        except zlib.error:
            continue
        return _zlib_steps(body, window)
    return None


def _brotli_steps(body: bytes) -> Iterator[bytes]:
    if brotli is None:
        raise EOFError("brotli is not installed")
    inflater = brotli.Decompressor()
    while not inflater.is_finished():
        part = inflater.process(body, output_buffer_limit=_STEP)
        yield part
        body = b""
        if not part and inflater.can_accept_more_data():
            raise EOFError("the body ends inside its encoding")


def _zstd_steps(body: bytes) -> Iterator[bytes]:
    """The bytes of all frames, in small steps, as a call returns up to 32,768 times its input."""
    begin = 0
    while not begin or body.startswith(ZSTD_MAGIC, begin):
        frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        while not frame.eof:
            if begin >= len(body):
                raise EOFError("the body ends inside its encoding")
            some = body[begin : begin + _FIRST_STEP]
            begin += len(some)
            yield frame.decompress(some)
        begin -= len(frame.unused_data)
