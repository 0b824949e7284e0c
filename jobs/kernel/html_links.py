"""The links of an HTML page: a table of elements and attributes, read from the parsed page.

| element | hop | why |
|---|---|---|
| a, area | L | a reader follows it |
| meta refresh | R | the browser goes there |
| link rel=stylesheet, icon, preload… | E | the page needs it |
| other link (canonical, next, alternate…) | X | told to machines; no reader sees or follows it |
| frame, iframe, img, script, media, objects, backgrounds | E | the page shows it |

Contexts are in Heritrix's style (`a/@href`). The page is parsed as the HTML standard says, with
scripting off: nothing from comments, scripts or templates is a link; noscript is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from jobs.kernel.charsets import as_utf8, charset_of
from jobs.kernel.html_pieces import LONGEST_PAGE, pieces
from jobs.kernel.uris import resolve

HTML_TYPES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "html")
# What servers and crawlers write when they do not know: the body is looked at instead. So it is
# for a type without a slash (`text`, `no-type`, `-`, nothing).
UNKNOWN_TYPES = (
    *("*/*", "unknown/unknown", "application/unknown", "application/x-unknown"),
    *("application/octet-stream", "application/x-unknown-content-type"),
)
_SNIFFED = 2**14
_HTML_START = re.compile(
    rb"<(?:!doctype\s+html|(?:html|head|body|title|script|style|iframe|frameset|h1|div|font|table"
    rb"|meta|a|b|br|p)[\s/>])",
    re.IGNORECASE,
)
_BINARY_STARTS = (
    b"%PDF-",
    b"GIF8",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"RIFF",
    b"\x00\x00",
)


class Found(NamedTuple):
    """A link: target as in the links dataset, hop as there, context such as `a/@href`."""

    target: bytes
    hop: str
    context: str


class Rule(NamedTuple):
    """Links in an attribute of an element. read: its references, from all its attributes."""

    element: str
    attribute: str
    hop: str
    read: Callable[[str, dict[str, str | None]], Iterator[tuple[str, str]]] | None = None


def is_html(media_type: str, body: bytes) -> bool:
    """Whether a body is a page: by its type, by its beginning where the type tells nothing.

    `text/plain` stays text. An HTML type on a file that begins like a PDF or an image is wrong.
    """
    name = media_type.partition(";")[0].strip().lower()
    if name in HTML_TYPES:
        return bool(body) and not body.startswith(_BINARY_STARTS)
    return ("/" not in name or name in UNKNOWN_TYPES) and _begins_like_html(body[:_SNIFFED])


def _begins_like_html(head: bytes) -> bool:
    """Whether a tag of HTML comes first, apart from blanks, comments and an XML declaration."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    while head.startswith((b"<!--", b"<?xml")):
        head = head.partition(b"-->" if head.startswith(b"<!--") else b">")[2].lstrip()
    return bool(_HTML_START.match(head))


def _refresh(value: str, attributes: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """`5; url=x`; without a URL the page reloads itself, which is no link."""
    if (attributes.get("http-equiv") or "").strip().lower() != "refresh":
        return
    match = _REFRESH.match(value)
    if match and (target := match[1].strip()):
        quote = target[0]
        yield (target[1:].partition(quote)[0] if quote in "\"'" else target), "R"


def _srcset(value: str, attributes: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """The URLs of `a.jpg 1x, b.jpg 2x`; a comma inside a URL is part of it."""
    expected = True  # a URL, not a descriptor
    for word in value.split():
        if not expected:
            _, comma, word = word.partition(",")
            expected = bool(comma)
        if expected and word.strip(","):
            yield word.strip(","), "E"
            expected = word.endswith(",")


def _link(value: str, attributes: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    """By rel; preconnect and dns-prefetch name a host, not a resource."""
    relations = (attributes.get("rel") or "").lower().split()
    if not _HOST_ONLY.issuperset(relations) or not relations:
        yield value, "E" if any(name in _EMBEDDING for name in relations) else "X"


def _image_button(value: str, attributes: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    if (attributes.get("type") or "").strip().lower() == "image":
        yield value, "E"


_REFRESH = re.compile(r"\s*[0-9.]*[\s;,]+(?:url\s*=\s*)?(.*)", re.IGNORECASE | re.DOTALL)
_HOST_ONLY = frozenset({"preconnect", "dns-prefetch"})
_EMBEDDING = frozenset(
    {
        *("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed"),
        *("apple-touch-startup-image", "mask-icon", "fluid-icon", "image_src", "manifest"),
        *("preload", "modulepreload", "prefetch", "prerender"),
    }
)

RULES = (
    Rule("a", "href", "L"),
    Rule("area", "href", "L"),
    Rule("frame", "src", "E"),
    Rule("iframe", "src", "E"),
    Rule("meta", "content", "R", _refresh),
    Rule("link", "href", "E", _link),
    Rule("img", "src", "E"),
    Rule("img", "srcset", "E", _srcset),
    Rule("source", "src", "E"),
    Rule("source", "srcset", "E", _srcset),
    Rule("script", "src", "E"),
    Rule("video", "src", "E"),
    Rule("video", "poster", "E"),
    Rule("audio", "src", "E"),
    Rule("track", "src", "E"),
    Rule("embed", "src", "E"),
    Rule("object", "data", "E"),
    Rule("input", "src", "E", _image_button),
    Rule("body", "background", "E"),
)
_BY_ELEMENT: dict[str, list[Rule]] = {}
for _rule in RULES:
    _BY_ELEMENT.setdefault(_rule.element, []).append(_rule)
_SELECTOR = "base[href]," + ",".join(
    f"{element}[{rules[0].attribute}]" if len(rules) == 1 else element
    for element, rules in _BY_ELEMENT.items()
)


def html_links(
    body: bytes, page: str, content_type: str = "", counters: Counter[str] | None = None
) -> Iterator[Found]:
    """The links of a page in the order of the page, repeated as often as they stand there.

    page: its URI; content_type: the HTTP header, for its charset. What is no link of this
    dataset is counted in counters: `dropped.` and the reasons of jobs/kernel/uris.py.
    """
    counters = Counter() if counters is None else counters
    if len(body) > LONGEST_PAGE:
        counters["dropped.html-tail"] += 1
    charset = charset_of(body, content_type)
    base, references = _references(as_utf8(body, charset))
    resolved = resolve(base, page) if base else page
    base = resolved.decode() if isinstance(resolved, bytes) else page
    codec = "utf-8" if charset.startswith("utf-16") else charset  # of queries, as WHATWG says
    for reference, hop, context in references:
        target = resolve(reference, base, codec)
        if isinstance(target, bytes):
            yield Found(target, hop, context)
        else:
            counters[f"dropped.{target}"] += 1


def _references(page: bytes) -> tuple[str, list[tuple[str, str, str]]]:
    """(the first base, the references with hop and context): the base holds for all of them."""
    base = ""
    references: list[tuple[str, str, str]] = []
    for piece in pieces(page):
        for node in LexborHTMLParser(piece).css(_SELECTOR):
            element, attributes = node.tag or "", node.attributes
            if element == "base":
                base = base or attributes["href"] or ""
                continue
            for rule in _BY_ELEMENT[element]:
                if rule.attribute in attributes:
                    references += _read(rule, attributes[rule.attribute] or "", attributes)
    return base, references


def _read(
    rule: Rule, value: str, attributes: dict[str, str | None]
) -> Iterator[tuple[str, str, str]]:
    context = f"{rule.element}/@{rule.attribute}"
    for reference, hop in rule.read(value, attributes) if rule.read else ((value, rule.hop),):
        if reference.strip() or hop == "L":  # an empty href is a link to the page itself
            yield reference, hop, context
