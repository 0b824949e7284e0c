"""Archives for tests: made ones, record by record, and the small real ones of data/archives."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from jobs.kernel.damage import Damage
from jobs.kernel.extraction import Options, extract
from jobs.kernel.lines import Capture, Link
from jobs.kernel.records import Record, read_records

ARCHIVES = Path(__file__).parent / "data" / "archives"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def warc(
    block: bytes,
    uri: str = "http://example.com/",
    kind: str = "response",
    *,
    media_type: str = "application/http; msgtype=response",
    length: object = None,
    version: str = "1.0",
    extra: str = "",
) -> bytes:
    """A WARC record; length: another than the block's, '' for none."""
    header = (
        f"WARC/{version}\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\n"
        f"WARC-Date: 2024-05-06T07:08:09Z\r\nContent-Type: {media_type}\r\n{extra}"
    )
    if length != "":
        header += f"Content-Length: {len(block) if length is None else length}\r\n"
    return header.encode() + b"\r\n" + block + b"\r\n\r\n"


def page(html: str | bytes, uri: str = "http://example.com/", **more: object) -> bytes:
    """A WARC response of status 200 with that HTML."""
    body = html.encode() if isinstance(html, str) else html
    return warc(HTML + body, uri, **more)  # type: ignore[arg-type]


def arc(block: bytes, uri: str = "http://example.com/", *, version: int = 1) -> bytes:
    middle = "200 - - 0 x.arc " if version == 2 else ""
    line = f"{uri} 192.0.2.1 20240506070809 text/html {middle}{len(block)}\n"
    return line.encode() + block + b"\n"


def arc_head(version: int = 1) -> bytes:
    block = f"{version} 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
    return arc(block.encode(), "filedesc://x.arc", version=version)


def plain(records: Iterable[bytes]) -> bytes:
    return b"".join(records)


def each(records: Iterable[bytes]) -> bytes:
    """gzip per record, as archives should be."""
    return b"".join(gzip.compress(record, mtime=0) for record in records)


def whole(records: Iterable[bytes]) -> bytes:
    """gzip of the whole file."""
    return gzip.compress(b"".join(records), mtime=0)


def blocks(records: Iterable[bytes]) -> bytes:
    """gzip by blocks of bytes, whatever records are in them."""
    data = b"".join(records)
    return b"".join(gzip.compress(data[at : at + 50], mtime=0) for at in range(0, len(data), 50))


WRAPPINGS = {"plain": plain, "each": each, "whole": whole, "blocks": blocks}


def read(data: bytes, **more: int) -> tuple[list[Record], list[Damage]]:
    items = list(read_records(io.BytesIO(data), "test.warc", **more))
    return (
        [item for item in items if isinstance(item, Record)],
        [item for item in items if isinstance(item, Damage)],
    )


def extracted(
    data: bytes, **options: object
) -> tuple[list[Link], list[Capture], list[Damage], Counter[str]]:
    counters: Counter[str] = Counter()
    chosen = Options(**options)  # type: ignore[arg-type]
    items = list(extract(io.BytesIO(data), "test.warc", chosen, counters))
    return (
        [item for item in items if isinstance(item, Link)],
        [item for item in items if isinstance(item, Capture)],
        [item for item in items if isinstance(item, Damage)],
        counters,
    )
