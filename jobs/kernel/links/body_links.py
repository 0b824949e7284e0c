"""The links of a body, by a reader for each kind of document (documents.py).

Links of a JSON Feed, version 1 or 1.1: https://www.jsonfeed.org/version/1.1/.

| member | hop |
|---|---|
| home_page_url, url and external_url of items, url of authors | L |
| image and banner_image of items, url of attachments, icon, favicon, avatar of authors | E |
| feed_url, next_url, url of hubs | X |

A feed that is no JSON, or too large, gives no links and is counted.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from crawlrank.jobs.kernel.encodings.decoding import REPLACED
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.keys.idna2003 import as_idna_2003
from crawlrank.jobs.kernel.keys.uris import HTTP_PREFIXES, as_text
from crawlrank.jobs.kernel.links.css_links import css_references, may_hold_links
from crawlrank.jobs.kernel.links.header_links import LONGEST_ROBOTS, robots_references
from crawlrank.jobs.kernel.links.html_documents import DEFAULT_OPTIONS, HtmlOptions
from crawlrank.jobs.kernel.links.html_links import LinkGroup, html_link_groups
from crawlrank.jobs.kernel.links.joining import Base, Examples
from crawlrank.jobs.kernel.links.link_rules import BLANKS, Reference
from crawlrank.jobs.kernel.links.reference_kinds import elsewhere
from crawlrank.jobs.kernel.links.xml_links import BasedReference, xml_references
from crawlrank.jobs.kernel.markup.charsets import as_utf8, charset_of
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE

# The hop of each member that is a link, by the list that it stands in.
JSON_FEED_RULES = {
    "": {
        **{"home_page_url": "L", "icon": "E", "favicon": "E"},
        **{"feed_url": "X", "next_url": "X"},
    },
    "authors/": {"url": "L", "avatar": "E"},
    "hubs/": {"url": "X"},
    "items/": {"url": "L", "external_url": "L", "image": "E", "banner_image": "E"},
    "attachments/": {"url": "E"},
}
_MOST_VALUES = 2**20  # commas and brackets; each may take 100 bytes of memory


def json_feed_references(text: str, counters: Counter[str]) -> Iterator[Reference]:
    """References as written: the feed's, its authors' and hubs', then each item's. text: begins
    with `{`."""
    if sum(map(text.count, ",{[")) > _MOST_VALUES:
        counters["dropped.json"] += 1
        return
    try:
        feed = json.loads(text.lstrip("\ufeff"), parse_int=float)  # of any number of digits
    except (ValueError, RecursionError):
        counters["dropped.json"] += 1
        return
    yield from _links(feed, "")
    yield from _authors(feed)
    for hub in _dicts(feed, "hubs"):
        yield from _links(hub, "hubs/")
    for item in _dicts(feed, "items"):
        yield from _links(item, "items/")
        yield from _authors(item)
        for attachment in _dicts(item, "attachments"):
            yield from _links(attachment, "attachments/")


def _authors(of: dict[str, Any]) -> Iterator[Reference]:
    """Version 1 has one `author`."""
    for author in _dicts({"authors": [of.get("author")]}, "authors") + _dicts(of, "authors"):
        yield from _links(author, "authors/")


def _links(of: dict[str, Any], prefix: str) -> Iterator[Reference]:
    for name, hop in JSON_FEED_RULES[prefix].items():
        if isinstance(value := of.get(name), str) and value.strip(BLANKS):
            yield value, hop, prefix + name


def _dicts(of: dict[str, Any], name: str) -> list[dict[str, Any]]:
    values = of.get(name)
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


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
        others = _in_form(references_of(body, media_type, elsewhere(uri), Counter()), options)
        return _joined_with_kinds(_in_form(based, options), others, counters, examples)
    return _joined(_in_form(based, options), counters, examples)


def resolved(
    references: Iterable[Reference],
    base: str,
    counters: Counter[str],
    examples: Examples | None = None,
    options: HtmlOptions = DEFAULT_OPTIONS,
) -> Iterator[LinkGroup]:
    """References outside of a body, joined. options: only kinds and as_heritrix matter."""
    examples = {} if examples is None else examples
    based = [*_in_form(((base, reference) for reference in references), options)]
    if options.kinds:
        others = [(elsewhere(base), reference) for _, reference in based]
        return _joined_with_kinds(based, others, counters, examples)
    return _joined(based, counters, examples)


def _in_form(based: Iterable[BasedReference], options: HtmlOptions) -> Iterable[BasedReference]:
    """The references, those of Heritrix's archives with hosts by IDNA 2003."""
    if not options.as_heritrix:
        return based
    return (
        (
            base,
            reference if reference[0].isascii() else (as_idna_2003(reference[0]), *reference[1:]),
        )
        for base, reference in based
    )


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
    """The lines without blanks around them. A line ends at CR, LF or both: Unicode knows other
    ends, which may be in a URI."""
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
