"""A real Chromium, without a screen, for pages from a disk or from loopback.

`chromium()` gives the browser, `opened()` a page in it that notes every message of its console,
every error and every request; `violations()` runs axe-core on what is shown.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fetching import npm_member, program

if TYPE_CHECKING:  # installed by `make test-browser` alone
    from playwright.sync_api import Browser, Page

AXE = (
    "axe-core", "4.14.1", "axe.min.js",
    "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
)  # fmt: skip
#: nothing of the browser's own goes to the network either
SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PATIENCE = 600_000.0  # milliseconds, of a busy machine
#: WCAG 2.2 AA, and what axe calls good practice
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@dataclass
class Opened:
    """A page and what it has said. messages: of its console, and errors that nothing caught.
    requests: URLs, but for data: and that of the page itself."""

    page: Page
    url: str
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def note_request(self, url: str) -> None:
        if not url.startswith(("data:", "blob:")) and url.partition("#")[0] != self.url:
            self.requests.append(url)

    def require_silence(self) -> None:
        assert self.messages == []
        assert self.requests == []


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program("chromium"), args=list(SWITCHES), timeout=PATIENCE
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, page: Path | str, *, width: int = 1280, height: int = 900, **context: Any
) -> Iterator[Opened]:
    """A page of a path or a URL. context: further options of Playwright, such as color_scheme."""
    url = page.resolve().as_uri() if isinstance(page, Path) else page
    size: Any = {"width": width, "height": height}
    made = browser.new_context(viewport=size, **context)
    made.set_default_timeout(PATIENCE)
    try:
        shown = Opened(made.new_page(), url.partition("#")[0])
        shown.page.on("console", lambda message: shown.messages.append(message.text))
        shown.page.on("pageerror", lambda error: shown.messages.append(str(error)))
        shown.page.on("request", lambda request: shown.note_request(request.url))
        shown.page.goto(url)
        yield shown
    finally:
        made.close()


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it is now: the rule, and where."""
    page.evaluate(_axe())
    result = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
    )
    return [
        f"{violation['id']}: {violation['help']}: {node['target']}: {node.get('failureSummary')}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


@functools.cache
def _axe() -> str:
    return npm_member(*AXE).decode()
