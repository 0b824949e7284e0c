"""The links of a body, by a reader for each kind of document (documents.py)."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from crawlrank.jobs.kernel.encodings.labels import REPLACED
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.keys.uris import HTTP_PREFIXES, as_text
from crawlrank.jobs.kernel.links.css_links import css_references, may_hold_links
from crawlrank.jobs.kernel.links.dropped import Examples
from crawlrank.jobs.kernel.links.html_links import LinkGroup, html_link_groups
from crawlrank.jobs.kernel.links.html_selection import DEFAULT_OPTIONS, HtmlOptions
from crawlrank.jobs.kernel.links.joining import Base
from crawlrank.jobs.kernel.links.link_rules import Reference
from crawlrank.jobs.kernel.links.reference_kinds import elsewhere
from crawlrank.jobs.kernel.links.robots_links import LONGEST as LONGEST_ROBOTS
from crawlrank.jobs.kernel.links.robots_links import robots_references
from crawlrank.jobs.kernel.links.xml_links import BasedReference, xml_references
from crawlrank.jobs.kernel.markup.charsets import as_utf8, charset_of
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE

Read = Callable[[bytes, str, str, Counter[str]], Iterable[BasedReference]]
_BLANKS = "\ufeff \t\r\n"


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
    examples = {} if examples is None else examples
    if document in ("html", "svg"):
        return html_link_groups(body, uri, media_type, counters, examples, options, most)
    references_of, longest = _READERS[document]
    if len(body) > longest:
        counters[f"dropped.{document}-tail"] += 1
        body = body[:longest]
    based = references_of(body, media_type, uri, counters)
    if options.kinds:  # read twice, as bases inside it may be relative
        others = references_of(body, media_type, elsewhere(uri), Counter())
        return _joined_with_kinds(based, others, counters, examples)
    return _joined(based, counters, examples)


def resolved(
    references: Iterable[Reference],
    base: str,
    counters: Counter[str],
    examples: Examples | None = None,
    options: HtmlOptions = DEFAULT_OPTIONS,
) -> Iterator[LinkGroup]:
    """References outside of a body, joined. options: only kinds matter."""
    examples = {} if examples is None else examples
    based = [(base, reference) for reference in references]
    if options.kinds:
        others = [(elsewhere(base), reference) for _, reference in based]
        return _joined_with_kinds(based, others, counters, examples)
    return _joined(based, counters, examples)


def _joined(
    based: Iterable[BasedReference], counters: Counter[str], examples: Examples
) -> Iterator[LinkGroup]:
    joining = Base("")
    for base, (reference, hop, context) in based:
        if base != joining.uri:
            joining = Base(base)
        yield joining.targets([reference], counters, examples), hop, context, False, None


def _joined_with_kinds(
    based: Iterable[BasedReference],
    others: Iterable[BasedReference],
    counters: Counter[str],
    examples: Examples,
) -> Iterator[LinkGroup]:
    """others: the same references of the page elsewhere."""
    joining = compared = Base("")
    for (base, (reference, hop, context)), (other, _) in zip(based, others, strict=True):
        if base != joining.uri:
            joining = Base(base)
        if other != compared.uri:
            compared = Base(other)
        targets, kinds = joining.targets_and_kinds([reference], compared, counters, examples)
        yield targets, hop, context, False, kinds


def _text(body: bytes, media_type: str, counters: Counter[str]) -> str:
    charset = charset_of(body, media_type)
    if body and charset == REPLACED:
        counters["dropped.encoding"] += 1
    return as_utf8(body, charset).decode()


def _css(
    body: bytes, media_type: str, uri: str, counters: Counter[str]
) -> Iterator[BasedReference]:
    text = _text(body, media_type, counters) if may_hold_links(body.lower()) else ""
    for reference in css_references(text):
        yield uri, (reference, "E", "url()")


def _feed(
    body: bytes, media_type: str, uri: str, counters: Counter[str]
) -> Iterator[BasedReference]:
    text = _text(body, media_type, counters)
    if text.lstrip(_BLANKS).startswith("{"):
        from crawlrank.jobs.kernel.links.json_feeds import json_feed_references

        return ((uri, reference) for reference in json_feed_references(text, counters))
    return xml_references(text, "feed", uri)


def _sitemap(
    body: bytes, media_type: str, uri: str, counters: Counter[str]
) -> Iterator[BasedReference]:
    text = _text(body, media_type, counters)
    if text.lstrip(_BLANKS).startswith("<"):
        return xml_references(text, "sitemap", uri)
    return ((uri, (line, "L", "sitemap.txt")) for line in _text_sitemap(text, counters))


def _text_sitemap(text: str, counters: Counter[str]) -> Iterator[str]:
    """A whole URI a line, as sitemaps.org says. Other lines are counted and left out, as they would
    resolve to pages that do not exist."""
    for line in _lines(text):
        if line.lower().startswith(HTTP_PREFIXES):
            yield line
        elif line:
            counters["dropped.no-uri"] += 1


def _lines(text: str) -> Iterator[str]:
    """Without blanks around them. A line ends at CR, LF or both: Unicode knows other ends, which
    may be in a URI."""
    yield from (line.strip(_BLANKS) for line in re.split("\r\n?|\n", text))


def _robots(body: bytes, _: str, uri: str, __: Counter[str]) -> Iterator[BasedReference]:
    for reference in robots_references(as_text(body.removeprefix(BOM))):
        yield uri, (reference, "X", "Sitemap:")


def _pdf(body: bytes, _: str, uri: str, counters: Counter[str]) -> Iterator[BasedReference]:
    from crawlrank.jobs.kernel.links.pdf_links import pdf_references

    for base, reference in pdf_references(body, uri, counters):
        yield base, (reference, "L", "Annot/URI")


# By document: its reader, and how many bytes that reads.
_READERS: dict[str, tuple[Read, int]] = {
    "css": (_css, LONGEST_PAGE),
    "feed": (_feed, LONGEST_PAGE),
    "sitemap": (_sitemap, LONGEST_PAGE),
    "robots": (_robots, LONGEST_ROBOTS),
    "pdf": (_pdf, sys.maxsize),
}
