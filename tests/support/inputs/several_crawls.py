"""Archives of several crawls of one site: records with dates, ids and digests, revisits as
Heritrix's deduplication writes them, and the metadata beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from support.crawls import write_records


class Captured(NamedTuple):
    """What a later revisit may refer to."""

    uri: str
    date: str
    id: str


def date(day: int) -> str:
    """A day of May 2024, as WARC-Date has it."""
    return f"2024-05-{day:02d}T00:00:00Z"


def captured(uri: str, day: int) -> Captured:
    name = hashlib.md5(f"{uri} {day}".encode()).hexdigest()
    return Captured(uri, date(day), f"<urn:uuid:{name}>")


def sha1(body: str) -> str:
    return "sha1:" + hashlib.sha1(body.encode()).hexdigest()


def _record(kind: str, of: Captured, block: str, more: Iterable[tuple[str, str]]) -> bytes:
    fields = [
        ("WARC-Type", kind), ("WARC-Target-URI", of.uri), ("WARC-Date", of.date),
        ("WARC-Record-ID", of.id), *more, ("Content-Length", str(len(block.encode()))),
    ]  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in fields if value)
    return f"WARC/1.0\r\n{head}\r\n{block}\r\n\r\n".encode()


def response(
    uri: str, day: int, body: str = "", status: str = "200 OK", headers: str = ""
) -> bytes:
    block = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{headers}\r\n{body}"
    more = [
        ("Content-Type", "application/http; msgtype=response"),
        ("WARC-Payload-Digest", sha1(body)),
    ]
    return _record("response", captured(uri, day), block, more)


def html_record(uri: str, body: str, day: int) -> bytes:
    return response(uri, day, body)


def redirect(uri: str, to: str, day: int, status: str = "301 Moved Permanently") -> bytes:
    return response(uri, day, "", status, f"Location: {to}\r\n")


def revisit(
    uri: str,
    day: int,
    *,
    of: Captured | None = None,
    body: str | None = None,
    status: str = "200 OK",
) -> bytes:
    """A page that had not changed. of: the capture that the record names; body: what it had, which
    gives it its digest."""
    more = [
        ("WARC-Profile", "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"),
        ("Content-Type", "application/http; msgtype=response"),
        ("WARC-Payload-Digest", "" if body is None else sha1(body)),
    ]
    if of:
        more += [
            ("WARC-Refers-To", of.id), ("WARC-Refers-To-Target-URI", of.uri),
            ("WARC-Refers-To-Date", of.date),
        ]  # fmt: skip
    block = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n"
    return _record("revisit", captured(uri, day), block, more)


def metadata(uri: str, day: int, outlinks: Iterable[str]) -> bytes:
    """What Heritrix found on a page, as it writes it beside responses and revisits alike."""
    of = captured(uri, day)
    lines = "".join(f"outlink: {target} L a/@href\r\n" for target in outlinks)
    more = [("Content-Type", "application/warc-fields"), ("WARC-Concurrent-To", of.id)]
    return _record("metadata", of._replace(id=of.id.replace("uuid:", "uuid:m")), lines, more)


SITE = "http://site.example"
HOME = "<a href=/old-news>n</a><a href=/a>a</a><a href=/kept>k</a><a href=/print/a>p</a>"
KEPT = "<a href=/gone>g</a><a href=/a>a</a>"


def page(path: str, body: str, day: int, *, outlinks: tuple[str, ...] = ()) -> list[bytes]:
    uri = SITE + path
    record = html_record(uri, body, day)
    return [record, metadata(uri, day, [SITE + to for to in outlinks])]


def first_crawl(folder: Path) -> Path:
    records = [
        *page("/", HOME, 1),
        *page("/a", "<a href=/b>old</a>", 1),
        *page("/kept", KEPT, 1),
        *page("/print/a", "<link rel=canonical href=/a><a href=/b>x</a>", 1),
        *page("/gone", "<a href=/>home</a>", 1),
        redirect(f"{SITE}/old-news", "/moved-news", 1),
        redirect(f"{SITE}/moved-news", "/news", 1, "302 Found"),
        *page("/news", "<a href=/>home</a><a href=/loop/1>l</a>", 1),
        redirect(f"{SITE}/loop/1", "/loop/2", 1),
        redirect(f"{SITE}/loop/2", "/loop/1", 1),
        redirect(f"{SITE}/into-loop", "/loop/1", 1),
        *page("/b", "<a href=/into-loop>x</a><a href=/dead>x</a>", 1),
    ]
    return write_records(folder / "one.warc.gz", records)


def second_crawl(folder: Path) -> Path:
    """Some pages have changed; Heritrix found the others unchanged, and wrote what it found there;
    one of these was never crawled before."""
    records = [
        revisit(f"{SITE}/", 9, of=captured(f"{SITE}/", 1), body=HOME),
        metadata(f"{SITE}/", 9, [f"{SITE}/only-in-metadata"]),
        *page("/a", "<a href=/news>new</a>", 9),
        revisit(f"{SITE}/kept", 9, body=KEPT),
        metadata(f"{SITE}/kept", 9, [f"{SITE}/a", f"{SITE}/gone"]),
        redirect(f"{SITE}/gone", "/", 9),
        revisit(f"{SITE}/lost", 9, of=captured(f"{SITE}/elsewhere", 1), body="lost"),
        metadata(f"{SITE}/lost", 9, [f"{SITE}/a"]),
        response(f"{SITE}/b", 9, "<a href=/never>x</a>", "404 Not Found"),
        redirect(f"{SITE}/chain/print", "/print/a", 9),
        *page("/c", "<a href=/chain/print>x</a><a href=/lost>x</a>", 9),
    ]
    return write_records(folder / "two.warc.gz", records)
