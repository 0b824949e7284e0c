"""The links of a page by the scanner, and by the parser."""

from __future__ import annotations

from collections import Counter

from crawlrank.jobs.kernel.links.html_documents import DEFAULT_OPTIONS, HtmlOptions
from crawlrank.jobs.kernel.links.html_links import html_link_groups
from crawlrank.jobs.kernel.markup.scanner import code
from support.inputs.mutated_pages import Page

Links = set[tuple[bytes, str, str, bool]]
OPTIONS = (
    HtmlOptions(nav=True),
    HtmlOptions(forms=True, canonical=True),
    HtmlOptions(nav=True, as_heritrix=True),
)


def counted() -> tuple[int, int]:
    """How many pages were scanned so far, and how many parsed."""
    return code.pages, code.parsed


def links_of(page: Page, options: HtmlOptions = DEFAULT_OPTIONS) -> tuple[Links, set[str]]:
    """The links, and the reasons why other references are none."""
    counters: Counter[str] = Counter()
    groups = html_link_groups(page.body, page.uri, page.media_type, counters, options=options)
    return {(one, *kind) for targets, *kind in groups for one in targets}, {*counters}  # type: ignore[misc]


def both_ways(page: Page, options: HtmlOptions = DEFAULT_OPTIONS) -> tuple[object, object]:
    """What a page gives when it is parsed, and when it is scanned; None if it has to be parsed."""
    pages, parsed = counted()
    by_scan = links_of(page, options)
    is_decided = code.pages > pages and code.parsed == parsed
    return links_of(page, options._replace(scanned=False)), by_scan if is_decided else None
