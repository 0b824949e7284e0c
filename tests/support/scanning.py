"""The links of a page by the scanner, and by the parser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.kernel.links.html_links import html_link_groups
from jobs.kernel.links.html_selection import DEFAULT_OPTIONS, HtmlOptions
from jobs.kernel.markup import scanner
from support.inputs.mutated_pages import Page

Links = set[tuple[bytes, str, str, bool]]
OPTIONS = (
    HtmlOptions(nav=True),
    HtmlOptions(forms=True, canonical=True),
    HtmlOptions(nav=True, as_heritrix=True),
)


@contextmanager
def reading_pages(*, scanned: bool) -> Iterator[scanner.Code]:
    """Pages are scanned as far as they can be, or all parsed."""
    before, scanner.code = scanner.code, scanner.Code()
    if not scanned:
        scanner.code.function = lambda *_: -1
    try:
        yield scanner.code
    finally:
        scanner.code = before


def links_of(page: Page, options: HtmlOptions = DEFAULT_OPTIONS) -> tuple[Links, set[str]]:
    """The links, and the reasons why other references are none."""
    counters: Counter[str] = Counter()
    groups = html_link_groups(page.body, page.uri, page.media_type, counters, options=options)
    return {(one, *kind) for targets, *kind in groups for one in targets}, {*counters}  # type: ignore[misc]


def both_ways(page: Page, options: HtmlOptions = DEFAULT_OPTIONS) -> tuple[object, object]:
    """What a page gives when it is parsed, and when it is scanned; None if it has to be parsed."""
    with reading_pages(scanned=True) as code:
        by_scan = links_of(page, options)
        is_decided = code.pages and not code.parsed
    with reading_pages(scanned=False):
        return links_of(page, options), by_scan if is_decided else None
