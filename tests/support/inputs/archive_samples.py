"""Archives for tests: made ones, record by record, and the small real ones of data/archives."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Capture, Link

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


def zstd(record: bytes, dictionary: zstandard.ZstdCompressionDict | None = None) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True, dict_data=dictionary).compress(record)


def lz4_frame(record: bytes) -> bytes:
    frame: bytes = lz4.frame.compress(record, content_checksum=True)
    return frame


def each_zstd(records: Iterable[bytes]) -> bytes:
    """zstd as specified for WARC: a frame a record."""
    return b"".join(map(zstd, records))


def whole_zstd(records: Iterable[bytes]) -> bytes:
    return zstd(b"".join(records))


def zstd_blocks(records: Iterable[bytes]) -> bytes:
    """Many frames for a record, with empty ones and frames of other meaning between them."""
    data = b"".join(records)
    pieces = [zstd(data[at : at + 50]) for at in range(0, len(data), 50)]
    return (zstd(b"") + skippable(b"index", 0x50)).join(pieces)


def each_lz4(records: Iterable[bytes]) -> bytes:
    return b"".join(map(lz4_frame, records))


def whole_lz4(records: Iterable[bytes]) -> bytes:
    return lz4_frame(b"".join(records))


def skippable(content: bytes, kind: int) -> bytes:
    return bytes([kind]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


def a_dictionary() -> zstandard.ZstdCompressionDict:
    """Trained on made pages."""
    made = (page(f"<a href=/{n * n}>{n}</a>" * 9, f"http://h/{n}") for n in range(200))
    pages: list[bytes | bytearray | memoryview[int]] = [*made]
    return zstandard.train_dictionary(2000, pages)


DICTIONARY = a_dictionary()


def with_dictionary(records: Iterable[bytes], *, compressed: bool = False) -> bytes:
    """An archive as the IIPC specifies it: the dictionary in a skippable frame, then a frame a
    record."""
    content = DICTIONARY.as_bytes()
    frames = [zstd(record, DICTIONARY) for record in records]
    return skippable(zstd(content) if compressed else content, 0x5D) + b"".join(frames)


WRAPPINGS = {
    **{"plain": plain, "each": each, "whole": whole, "blocks": blocks},
    **{"each-zstd": each_zstd, "whole-zstd": whole_zstd, "zstd-blocks": zstd_blocks},
    **{"each-lz4": each_lz4, "whole-lz4": whole_lz4, "dictionary": with_dictionary},
}
FRAME_A_RECORD = ("each", "each-zstd", "each-lz4", "dictionary")


def read(data: bytes, **more: Any) -> tuple[list[Record], list[Damage]]:
    items = list(read_records(io.BytesIO(data), "test.warc", **more))
    return (
        [item for item in items if isinstance(item, Record)],
        [item for item in items if isinstance(item, Damage)],
    )


def extracted(
    data: bytes | Path, **options: object
) -> tuple[list[Link], list[Capture], list[Damage], Counter[str]]:
    counters: Counter[str] = Counter()
    chosen = ExtractionOptions(**options)  # type: ignore[arg-type]
    with io.BytesIO(data) if isinstance(data, bytes) else data.open("rb") as stream:
        items = list(extract(stream, "test.warc", chosen, counters))
    return (
        [item for item in items if isinstance(item, Link)],
        [item for item in items if isinstance(item, Capture)],
        [item for item in items if isinstance(item, Damage)],
        counters,
    )


FIELDS = "application/warc-fields"
ID = "WARC-Record-ID: <urn:uuid:{}>\r\n"
OF = "WARC-Concurrent-To: <urn:uuid:{}>\r\n"
LINES = b"outlink: http://h/line L a/@href\r\noutlink: http://h/favicon.ico I =INFERRED_MISC\r\n"


def response(status: int, body: bytes = b"", header: str = "", **more: object) -> bytes:
    block = f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n{header}\r\n".encode() + body
    return warc(block, "http://h/", **more)  # type: ignore[arg-type]


def metadata(of: object = "", uri: str = "http://h/", body: bytes = LINES) -> bytes:
    extra = OF.format(of) if of else ""
    return warc(body, uri, "metadata", media_type=FIELDS, extra=extra)


def targets(data: bytes, **options: object) -> list[tuple[str, str]]:
    return [(link.target.decode(), link.hop.decode()) for link in extracted(data, **options)[0]]


#: the pages of a WACZ, and its archives
PAGES = [page(f'<a href="/{n}">' + "x" * 50, f"http://h/{n}") for n in range(6)]
FILES = {
    "archive/a.warc.gz": each(PAGES[:2]),
    "archive/b.warc.zst": with_dictionary(PAGES[2:4]),
    "archive/sub/c.warc": plain(PAGES[4:]),
}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in {"datapackage.json": b"{}", **files}.items():
            archive.writestr(name, content)
        archive.writestr("pages/pages.jsonl", plain(PAGES))
    return made.getvalue()


def made_pdf(*uris: str) -> bytes:
    pypdf = pytest.importorskip("pypdf", reason="the extra crawlrank[pdf] is not installed")
    annotations = pytest.importorskip("pypdf.annotations")
    writer = pypdf.PdfWriter()
    for number, uri in enumerate(uris):
        writer.add_blank_page(100, 100)
        writer.add_annotation(number, annotations.Link(rect=(0, 0, 9, 9), url=uri))
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()
