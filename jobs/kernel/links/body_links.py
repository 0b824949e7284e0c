"""The links of a body, whatever document it is (documents.py): one reader for each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from jobs.kernel.formats.reading import BOM
from jobs.kernel.keys.uris import as_text, base_uri
from jobs.kernel.links.css_links import css_references, may_hold_links
from jobs.kernel.links.dropped import Examples
from jobs.kernel.links.html_links import Run, html_runs
from jobs.kernel.links.joining import Base
from jobs.kernel.links.pdf_links import pdf_references
from jobs.kernel.links.robots_links import LONGEST as LONGEST_ROBOTS
from jobs.kernel.links.robots_links import robots_references
from jobs.kernel.links.xml_links import xml_references
from jobs.kernel.markup.charsets import as_utf8, charset_of
from jobs.kernel.markup.html_pieces import LONGEST_PAGE

References = Iterable[tuple[str, str, str]]  # reference, hop, context
Read = tuple[str, References]  # the document's own base or '', and its references
OTHERS = ("css", "feed", "sitemap", "robots", "pdf")
_LONGEST = dict.fromkeys(("css", "feed", "sitemap"), LONGEST_PAGE) | {"robots": LONGEST_ROBOTS}


def body_links(
    document: str,
    body: bytes,
    uri: str,
    media_type: str,
    counters: Counter[str],
    examples: Examples | None = None,
    *,
    forms: bool = False,
    nav: bool = False,
    canonical: bool = False,
    most: int = sys.maxsize,
) -> Iterator[Run]:
    """The links of a body in its order; document: one of `html`, `svg` and OTHERS.

    forms, nav, canonical, most: for HTML, as `html_runs` takes them. What is no link of this
    dataset is counted in counters, see there, and the first of each reason go to examples.
    """
    if document in ("html", "svg"):
        return html_runs(
            *(body, uri, media_type, counters, examples),
            forms=forms,
            nav=nav,
            canonical=canonical,
            most=most,
        )
    limit = _LONGEST.get(document, len(body))
    if len(body) > limit:
        counters[f"dropped.{document}-tail"] += 1
        body = body[:limit]
    base, references = _READERS[document](body, media_type, counters)
    return resolved(references, base_uri(base, uri) if base else uri, counters, examples)


def resolved(
    references: References, base: str, counters: Counter[str], examples: Examples | None = None
) -> Iterator[Run]:
    joining, examples = Base(base), {} if examples is None else examples
    for reference, hop, context in references:
        yield joining.targets([reference], counters, examples), hop, context, False


def _text(body: bytes, media_type: str) -> str:
    return as_utf8(body, charset_of(body, media_type)).decode()


def _css(body: bytes, media_type: str, counters: Counter[str]) -> Read:
    text = _text(body, media_type) if may_hold_links(body.lower()) else ""
    return "", ((reference, "E", "url()") for reference in css_references(text))


def _feed(body: bytes, media_type: str, counters: Counter[str]) -> Read:
    return xml_references(_text(body, media_type), "feed")


def _sitemap(body: bytes, media_type: str, counters: Counter[str]) -> Read:
    text = _text(body, media_type)
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return xml_references(text, "sitemap")
    return "", ((line, "L", "sitemap.txt") for line in _text_sitemap(text, counters))


def _text_sitemap(text: str, counters: Counter[str]) -> Iterator[str]:
    """A whole URI a line, as sitemaps.org says; others are counted, as they would resolve to pages
    that are not there."""
    for line in map(str.strip, text.splitlines()):
        if line.lower().startswith(("http://", "https://")):
            yield line
        elif line:
            counters["dropped.no-uri"] += 1


def _robots(body: bytes, media_type: str, counters: Counter[str]) -> Read:
    text = as_text(body.removeprefix(BOM))  # UTF-8; of another, the bytes of URIs are what is known
    return "", ((reference, "X", "Sitemap:") for reference in robots_references(text))


def _pdf(body: bytes, media_type: str, counters: Counter[str]) -> Read:
    return "", ((reference, "L", "Annot/URI") for reference in pdf_references(body, counters))


_READERS: dict[str, Callable[[bytes, str, Counter[str]], Read]] = {
    "css": _css,
    "feed": _feed,
    "sitemap": _sitemap,
    "robots": _robots,
    "pdf": _pdf,
}
