"""Where the time of extraction goes: each stage is the time of all up to it, less that of the stage
before, so that no clock runs inside a loop. Used by scripts/bench/bench_extract.py --profile."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from selectolax.lexbor import LexborHTMLParser

from jobs.kernel.archive.frames import zlib
from jobs.kernel.archive.records import Record
from jobs.kernel.archive.sources import read_records
from jobs.kernel.captures.extraction import extract
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.formats.rows import Link
from jobs.kernel.keys.keys import KeyFunction, key_function
from jobs.kernel.links.documents import document
from jobs.kernel.links.html_documents import Document
from jobs.kernel.links.html_links import html_link_groups
from jobs.kernel.links.html_selection import HtmlOptions
from jobs.kernel.markup.charsets import as_utf8, charset_of
from jobs.kernel.markup.html_pieces import is_simple, pieces
from jobs.kernel.markup.page_text import PageText

BLOCK = 2**16
NAV = HtmlOptions(nav=True)
NAVIGATION = (["a", "area", "base", "frame", "iframe", "meta"], frozenset(["href", "content"]))


def inflate(archives: list[Path]) -> None:
    """Inflating alone, frame by frame, and nothing looked at."""
    for archive in archives:
        with archive.open("rb") as stream:
            rest = b""
            while data := rest or stream.read(BLOCK):
                frame = zlib.decompressobj(31)
                while data and not frame.eof:
                    frame.decompress(data)
                    rest, data = frame.unused_data, b"" if frame.eof else stream.read(BLOCK)


def records(archives: list[Path]) -> Iterator[Record]:
    for archive in archives:
        with archive.open("rb") as stream:
            for item in read_records(stream, archive.name):
                if isinstance(item, Record):
                    yield item


def pages(archives: list[Path]) -> Iterator[Record]:
    for record in records(archives):
        if document(record.media_type, record.body, record.uri) == "html":
            yield record


def read(archives: list[Path]) -> None:
    for _ in records(archives):
        pass


def prepared(page: Record) -> Iterable[bytes]:
    """What the parser is given of a page."""
    text = as_utf8(page.body, charset_of(page.body, page.media_type))
    return [text] if is_simple(text) else pieces(text, *NAVIGATION)


def prepare(archives: list[Path]) -> None:
    for page in pages(archives):
        for _ in prepared(page):
            pass


def parse(archives: list[Path]) -> None:
    for page in pages(archives):
        for piece in prepared(page):
            LexborHTMLParser(piece)


def select(archives: list[Path]) -> None:
    for page in pages(archives):
        Document(PageText(page.body, page.media_type), NAV)


def join(archives: list[Path]) -> None:
    counters: Counter[str] = Counter()
    for page in pages(archives):
        for _ in html_link_groups(page.body, page.uri, page.media_type, counters, options=NAV):
            pass


def links(archives: list[Path]) -> Iterator[Link]:
    for archive in archives:
        with archive.open("rb") as stream:
            for item in extract(stream, archive.name, ExtractionOptions(), Counter()):
                if isinstance(item, Link):
                    yield item


def collect(archives: list[Path]) -> None:
    for _ in links(archives):
        pass


def keys(archives: list[Path], key_of: KeyFunction) -> None:
    for link in links(archives):
        key_of(link.target)
        key_of(link.source)


STAGES = {
    "inflate": (inflate, "zlib-ng"),
    "read": (read, "records, headers, bodies"),
    "prepare": (prepare, "kind of document, charset, pieces of large pages"),
    "parse": (parse, "lexbor"),
    "select": (select, "elements and attributes"),
    "join": (join, "references to targets"),
    "links": (collect, "captures, distinct links, counters"),
}


def profile(archives: list[Path], repeat: int) -> list[tuple[str, float, str]]:
    """(stage, its processor seconds, what it does); the least of so many passes for each."""
    passes: dict[str, tuple[Callable[[], None], str]] = {
        name: (partial(run, archives), what) for name, (run, what) in STAGES.items()
    }
    passes["key"] = (lambda: keys(archives, key_function(False)), "both ends of a link")
    best = dict.fromkeys(passes, float("inf"))
    for _ in range(repeat):
        for name, (run, _) in passes.items():
            began = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - began)
    totals = [0.0, *best.values()]
    return [
        (name, totals[place + 1] - totals[place], what)
        for place, (name, (_, what)) in enumerate(passes.items())
    ]
