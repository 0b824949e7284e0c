"""The table of inputs as a real Chromium sees them: where the browser is the judge, it has no say
of ours in it."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.inputs.case_table import BROWSER, HOST, InputCase, input_cases
from support.systems.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.browser

CASES = [case for case in input_cases() if case.judge == BROWSER]
LINKS = "[...document.links].map(link => link.href)"


class _Handler(socketserver.StreamRequestHandler):
    """Sends the message of the case whose number is the path, byte for byte."""

    def handle(self) -> None:
        path = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            pass
        number = path.strip("/").partition("/")[0]
        if number.isdigit():
            self.wfile.write(CASES[int(number)].block)


@contextmanager
def serving() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
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
        yield started.new_context()


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with serving() as url:
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
