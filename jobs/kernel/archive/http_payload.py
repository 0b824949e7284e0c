"""The HTTP message inside a record: status, header, and the body without its transfer codings.

Archives keep headers as they came but often bodies already decoded, so a header that names a
coding is a hint: what does not begin like that coding is taken as it is.
"""

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import zstandard

from jobs.kernel.archive.frames import GZIP_MAGIC, ZSTD_MAGIC
from jobs.kernel.archive.record_headers import (
    Fields,
    FieldScanner,
    blank_line,
    every,
    first,
    read_fields,
)

try:
    brotli: Any = importlib.import_module("brotli")
except ImportError:  # an optional package: without it, bodies in br are counted as damage
    brotli = None

_DECODING_ERRORS: tuple[type[Exception], ...] = (zlib.error, EOFError, zstandard.ZstdError)
if brotli is not None:
    _DECODING_ERRORS += (brotli.error,)

MAX_HTTP_HEADER = 2**18
_STEP = 2**16
_ZSTD_WINDOW = 2**23  # the most that RFC 9659 allows in this use
HTTP_NAMES = (
    *("content-type", "content-encoding", "transfer-encoding"),
    *("location", "refresh", "link", "x-robots-tag"),
)
VALIDATORS = ("last-modified", "etag")  # read where asked for: nearly all responses have one
_HTTP_FIELDS = FieldScanner(HTTP_NAMES)
_MORE_FIELDS = FieldScanner(HTTP_NAMES + VALIDATORS)
_CODINGS = {"transfer-encoding", "content-encoding"}
_STATUS = re.compile(r"HTTP/?[0-9.]* +([1-9][0-9]{2})(?![0-9])", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")


class Message(NamedTuple):
    """status: None without an HTTP header; then the payload is the whole block."""

    status: int | None
    fields: Fields
    payload: bytes


class Decoded(NamedTuple):
    """damage: (reason, detail) of what did not decode; the body is what did."""

    body: bytes
    damage: list[tuple[str, str]]


# Half the time of Message(…) and Decoded(…).
_message, _decoded = partial(tuple.__new__, Message), partial(tuple.__new__, Decoded)


def split_message(block: bytes, *, validators: bool = False) -> Message:
    """Status, header and payload of a response; a block that begins otherwise is all payload."""
    if block[:5].upper() != b"HTTP/":
        return Message(None, [], block)
    scanner = _MORE_FIELDS if validators else _HTTP_FIELDS
    if scanned := scanner.scanned(block, min(len(block), MAX_HTTP_HEADER)):
        line, fields, size = scanned
    else:
        size = blank_line(block, 0, MAX_HTTP_HEADER) or MAX_HTTP_HEADER
        line, fields = read_fields(block[:size])
    return _message((status_of(line), fields, block[size:]))


@lru_cache(1000)  # nearly all have one of few
def status_of(line: str) -> int | None:
    """line: the first one of a response."""
    status = _STATUS.match(line)
    return int(status[1]) if status else None


def decode(fields: Fields, payload: bytes, limit: int) -> Decoded:
    """The payload without chunks and content encodings, at most limit bytes of it."""
    if _CODINGS.isdisjoint([name for name, _ in fields]) and payload[:3] != GZIP_MAGIC:
        return _decoded((payload, []))
    damage: list[tuple[str, str]] = []
    body = payload
    if "chunked" in first(fields, "transfer-encoding").lower():
        body, problem = _dechunked(body)
        if problem:
            damage.append(("bad-chunks", problem))
    codings = ",".join(every(fields, "content-encoding")).lower().split(",")
    for coding in reversed([name.strip() for name in codings][:5]):
        body, reason, detail = _inflated(body, coding, limit)
        if reason:
            damage.append((reason, detail))
    if not any(codings) and body.startswith(GZIP_MAGIC) and "html" in first(fields, "content-type"):
        body = _inflated(body, "gzip", limit)[0]
    return Decoded(body, damage)


def _dechunked(payload: bytes) -> tuple[bytes, str]:
    """(the chunks' bytes and, behind a broken chunk, the rest as it is; what is broken or '').

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
        steps = _zlib_steps(body, 31) if body.startswith(GZIP_MAGIC) else None
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
    inflater = zlib.decompressobj(window)
    while True:
        part = inflater.decompress(body, _STEP)
        yield part
        body = inflater.unconsumed_tail
        if inflater.eof:
            return
        if not body and len(part) < _STEP:
            raise EOFError("the body ends inside its encoding")


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
    """In small steps, as a call returns up to 32,768 times its input."""
    frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
    for begin in range(0, len(body), 256):
        yield frame.decompress(body[begin : begin + 256])
        if frame.eof:
            return
    raise EOFError("the body ends inside its encoding")
