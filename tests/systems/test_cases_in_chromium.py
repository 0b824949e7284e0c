"""The table of inputs as a real Chromium sees them: where the browser is the judge, it has no say
of ours in it. And the titles of pages, which the browser reads without running them."""

from __future__ import annotations

import re
import socketserver
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.inputs.case_table import BROWSER, HOST, InputCase, input_cases
from support.inputs.samples import needs_reference
from support.inputs.titled_pages import PAGES
from support.paths import REFERENCE
from support.systems.browser import PATIENCE, chromium

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.jobs.kernel.links.documents import readable
from crawlrank.jobs.kernel.markup.page_text import LONGEST_TITLE, PageText

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.browser

CASES = [case for case in input_cases() if case.judge == BROWSER]
MOST = 1 << 25
LINKS = "[...document.links].map(link => link.href)"


class _Server(socketserver.ThreadingTCPServer):
    """Sends the HTTP messages of blocks, byte for byte, by their numbers."""

    daemon_threads = True

    def __init__(self, blocks: Sequence[bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.blocks = blocks


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        path = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            pass
        number = path.strip("/").partition("/")[0]
        if number.isdigit():
            self.wfile.write(self.server.blocks[int(number)])


@contextmanager
def serving(blocks: Sequence[bytes]) -> Iterator[str]:
    with _Server(blocks) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    """One context for all pages, as a new one for each page is slow."""
    with chromium() as started:
        context = started.new_context()
        context.set_default_timeout(PATIENCE)
        yield context


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with serving([case.block for case in CASES]) as url:
        yield url


@pytest.mark.parametrize("case", CASES, ids=[case.shape for case in CASES])
def test_a_case(case: InputCase, context: BrowserContext, origin: str) -> None:
    from playwright.sync_api import Error

    page = context.new_page()
    try:
        page.goto(f"{origin}/{CASES.index(case)}{case.path}", wait_until="domcontentloaded")
        links = page.evaluate(LINKS)
    except Error as error:
        assert "Download is starting" in str(error)  # shown as no page
        links = []
    finally:
        page.close()
    assert " ".join(sorted(link.replace(origin, HOST) for link in links)) == case.links


#: read as documents that nothing shows: no script runs, nothing else is fetched
TITLES = """async (types) => {
  const titles = [];
  for (const [number, type] of types.entries()) titles.push(await new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", `/${number + 1}/`);
    request.responseType = "document";
    request.overrideMimeType(type);
    request.onloadend = () => resolve(request.response?.title ?? null);
    request.send();
  }));
  return titles;
}"""
DIRECTIONS = dict.fromkeys(
    map(ord, "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
)


def block_of(body: bytes) -> bytes:
    head = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def titles_in_chromium(pages: Sequence[tuple[bytes, str]], context: BrowserContext) -> list[str]:
    """`document.title` of pages, each with its media type, in the charset that crawlrank takes."""
    kinds = ("application/xhtml+xml" if "xhtml" in kind else "text/html" for _, kind in pages)
    charsets = (PageText(body, media_type).charset for body, media_type in pages)
    types = [f"{kind}; charset={name}" for kind, name in zip(kinds, charsets, strict=True)]
    with serving([block_of(b""), *(block_of(body) for body, _ in pages)]) as url:
        shown = context.new_page()
        shown.goto(f"{url}/0/")
        titles: list[str] = shown.evaluate(TITLES, types)
        shown.close()
    return list(map(as_documented, titles))


def as_documented(title: str) -> str:
    """Without what docs/formats.md says is left out. Chromium keeps vertical tabs."""
    text = re.sub("[\v\u2028\u2029]", " ", title.translate(DIRECTIONS))
    kept = "".join(c for c in text if unicodedata.category(c) != "Cc")
    return " ".join(filter(None, kept.split(" ")))


def test_titles_of_made_pages(context: BrowserContext) -> None:
    made = {name: case for name, case in PAGES.items() if name != "a dash"}
    shown = titles_in_chromium([case[:2] for case in made.values()], context)
    assert dict(zip(made, shown, strict=True)) == {name: case[2] for name, case in made.items()}


def real_pages(archive: Path) -> Iterator[tuple[int, bytes, str]]:
    """The offset, the body and the media type of each HTML page."""
    with archive.open("rb") as stream:
        for record in read_records(stream, archive.name, max_record=MOST):
            if isinstance(record, Record) and record.status == 200:
                body, name, _ = readable(record, MOST)
                if name == "html":
                    yield record.offset, body, record.media_type


@needs_reference
def test_titles_of_two_thousand_real_pages(context: BrowserContext) -> None:
    compared, titled = 0, 0
    for archive in sorted((REFERENCE / "archives" / "ics-uci").glob("*.gz")):
        with archive.open("rb") as stream:
            rows = extract(stream, archive.name, ExtractionOptions(titles=True), Counter())
            titles = {int(row.offset): row.title for row in rows if isinstance(row, Capture)}
        pages = [*islice(real_pages(archive), 2000 - compared)]
        shown = titles_in_chromium([page[1:] for page in pages], context)
        for (offset, *_), title in zip(pages, shown, strict=True):
            ours = titles[offset].decode()
            if len(title) > LONGEST_TITLE:
                assert title.startswith(ours.removesuffix("…")), title
            else:
                assert ours == (title if title not in ("", "-") else UNKNOWN.decode())
            titled += ours != UNKNOWN.decode()
        compared += len(pages)
    assert compared == 2000
    assert titled > 1000
