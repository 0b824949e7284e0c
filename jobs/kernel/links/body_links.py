"""The links of a body, by a reader for each kind of document (documents.py)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from jobs.kernel.formats.reading import BOM
from jobs.kernel.keys.uris import HTTP_PREFIXES, as_text, base_uri
from jobs.kernel.links.css_links import css_references, may_hold_links
from jobs.kernel.links.dropped import Examples
from jobs.kernel.links.html_links import LinkGroup, html_link_groups
from jobs.kernel.links.html_selection import DEFAULT_OPTIONS, HtmlOptions
from jobs.kernel.links.joining import Base
from jobs.kernel.links.link_rules import Reference
from jobs.kernel.links.robots_links import LONGEST as LONGEST_ROBOTS
from jobs.kernel.links.robots_links import robots_references
from jobs.kernel.links.xml_links import xml_references
from jobs.kernel.markup.charsets import as_utf8, charset_of
from jobs.kernel.markup.html_pieces import LONGEST_PAGE

BaseAndReferences = tuple[str, Iterable[Reference]]  # the base that the document states, or ''


def body_links(
    document: str,
    body: bytes,
    uri: str,
    media_type: str,
    counters: Counter[str],
    examples: Examples | None = None,
    options: HtmlOptions = DEFAULT_OPTIONS,
    most: int = sys.maxsize,
) -> Iterator[LinkGroup]:
    """The links of a body in its order. document: a name of documents.py. counters, examples, and
    for HTML options and most: as in `html_link_groups`."""
    if document in ("html", "svg"):
        return html_link_groups(body, uri, media_type, counters, examples, options, most)
    references_of, longest = _READERS[document]
    if len(body) > longest:
        counters[f"dropped.{document}-tail"] += 1
        body = body[:longest]
    base, references = references_of(body, media_type, counters)
    return resolved(references, base_uri(base, uri) if base else uri, counters, examples)


def resolved(
    references: Iterable[Reference],
    base: str,
    counters: Counter[str],
    examples: Examples | None = None,
) -> Iterator[LinkGroup]:
    joining, examples = Base(base), {} if examples is None else examples
    for reference, hop, context in references:
        yield joining.targets([reference], counters, examples), hop, context, False


def _text(body: bytes, media_type: str) -> str:
    return as_utf8(body, charset_of(body, media_type)).decode()


def _css(body: bytes, media_type: str, counters: Counter[str]) -> BaseAndReferences:
    text = _text(body, media_type) if may_hold_links(body.lower()) else ""
    return "", ((reference, "E", "url()") for reference in css_references(text))


def _feed(body: bytes, media_type: str, counters: Counter[str]) -> BaseAndReferences:
    return xml_references(_text(body, media_type), "feed")


def _sitemap(body: bytes, media_type: str, counters: Counter[str]) -> BaseAndReferences:
    text = _text(body, media_type)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return xml_references(text, "sitemap")
    return "", ((line, "L", "sitemap.txt") for line in _text_sitemap(text, counters))


def _text_sitemap(text: str, counters: Counter[str]) -> Iterator[str]:
    """A whole URI a line, as sitemaps.org says. Other lines are counted and left out, as they would
    resolve to pages that do not exist."""
    for line in map(str.strip, text.splitlines()):
        if line.lower().startswith(HTTP_PREFIXES):
            yield line
        elif line:
            counters["dropped.no-uri"] += 1


def _robots(body: bytes, media_type: str, counters: Counter[str]) -> BaseAndReferences:
    text = as_text(body.removeprefix(BOM))
    return "", ((reference, "X", "Sitemap:") for reference in robots_references(text))


def _pdf(body: bytes, media_type: str, counters: Counter[str]) -> BaseAndReferences:
    from jobs.kernel.links.pdf_links import pdf_references

    return "", ((reference, "L", "Annot/URI") for reference in pdf_references(body, counters))


# By document: its reader, and how many bytes that reads.
_READERS: dict[str, tuple[Callable[[bytes, str, Counter[str]], BaseAndReferences], int]] = {
    "css": (_css, LONGEST_PAGE),
    "feed": (_feed, LONGEST_PAGE),
    "sitemap": (_sitemap, LONGEST_PAGE),
    "robots": (_robots, LONGEST_ROBOTS),
    "pdf": (_pdf, sys.maxsize),
}
