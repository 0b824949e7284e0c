"""Which attributes of which elements hold links, and with what hop: a table, and its readers.

| element | hop | why |
|---|---|---|
| a, area | L | a reader follows it |
| meta refresh | R | the browser goes there; the first one of a page counts |
| link rel=stylesheet, icon, preload… | E | the page needs it |
| other link (canonical, next, alternate…) | X | told to machines; no reader sees or follows it |
| frame, iframe, img, script, media, objects, backgrounds, svg images | E | the page shows it |
| cite of quotations and edits, longdesc of images and frames | X | no browser shows it |
| form with method GET, if asked for | X | its address before anything is filled in |

Old attributes that no browser of today reads (`applet`, `codebase`, `lowsrc`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crawlrank.jobs.kernel.formats.rows import NAV_HOPS

Reference = tuple[str, str, str]  # as written, hop, context
Attributes = dict[str, str | None]
Reader = Callable[[str, Attributes], Iterable[tuple[str, str]]]


class Rule(NamedTuple):
    """Links in an attribute of an element. read: gives (reference, hop) from the attribute's value
    and all attributes of the element."""

    element: str
    attribute: str
    hop: str
    read: Reader | None = None

    @property
    def context(self) -> str:
        """The context as Heritrix writes it."""
        return f"{self.element}/@{self.attribute}"


def refresh(value: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    if (attributes.get("http-equiv") or "").lower() == "refresh":
        yield from refresh_target(value)


def reloads(value: str, attributes: Attributes) -> bool:
    """Whether a meta element of this content is a refresh of the page itself, or to a part of
    it."""
    if (attributes.get("http-equiv") or "").lower() != "refresh" or not _REFRESH.match(value):
        return False
    return all(target.strip(BLANKS)[:1] in ("", "#") for target, _ in refresh_target(value))


def refresh_target(value: str) -> Iterator[tuple[str, str]]:
    """The target of `5; url=x`, as the HTML standard reads it (shared declarative refresh steps);
    without a URL the page reloads itself, which is no link."""
    match = _REFRESH.match(value)
    if match and (target := (match[1] or "").strip(BLANKS)):
        quote = target[0]
        yield (target[1:].partition(quote)[0] if quote in "\"'" else target), "R"


def _srcset(value: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    """The URLs of `a.jpg 1x, b.jpg 2x`; a comma inside a URL is part of it."""
    position = 0
    while image := _image_at(value, position):
        yield image[1].rstrip(","), "E"
        position = image.end()
        if not image[1].endswith(","):
            position = _after_descriptors(value, position)


def _after_descriptors(value: str, position: int) -> int:
    """The position of the comma that ends the descriptors of an image; one in parentheses ends
    none."""
    while (match := _comma_or_parenthesis(value, position)) and match[0] == "(":
        position = value.find(")", match.end()) + 1 or len(value)
    return match.start() if match else len(value)


def embeds(reference: str) -> bool:
    """Whether a reference leads out of the page; only links for readers may name a part of it."""
    text = reference.strip()
    return bool(text) and text[0] != "#"


def _link(value: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    if hop := relation_hop(attributes.get("rel") or ""):
        yield value, hop


def relation_hop(relations: str) -> str:
    """The hop of a link with these relations; '' if the link names only a host."""
    names = _words(relations.lower())
    if names and _HOST_ONLY.issuperset(names):
        return ""
    return "E" if any(name in _EMBEDDING for name in names) else "X"


def names_canonical(relations: str) -> bool:
    """Whether a link with these relations names the canonical address of its page."""
    return "canonical" in _words(relations.lower())


def _image_button(value: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    if (attributes.get("type") or "").strip().lower() == "image":
        yield value, "E"


def _get_form(value: str, attributes: Attributes) -> Iterator[tuple[str, str]]:
    if (attributes.get("method") or "get").strip().lower() not in ("post", "dialog"):
        yield value, "X"


def asks_nofollow(relations: str) -> bool:
    """Whether the `rel` of a link says that its page does not vouch for the target. Commas separate
    its words, too, as search engines and Heritrix read it."""
    return not _NOFOLLOW.isdisjoint(_relations(relations.lower()))


REFRESH = ("R", "meta/@content")  # hop and context
BLANKS = " \t\n\f\r"  # of HTML; Unicode has more, which may be in a URI
_words = re.compile(f"[^{BLANKS}]+").findall
_image_at = re.compile(f"[{BLANKS},]*([^{BLANKS},][^{BLANKS}]*)").match
_comma_or_parenthesis = re.compile("[,(]").search
_relations = re.compile(f"[^{BLANKS},;]+").findall
_REFRESH = re.compile(  # a time, then the end or a separator
    r"\s*(?:[0-9]|(?=\.))[0-9.]*(?:\Z|(?=[\s;,])\s*[;,]?\s*(?:url\s*=\s*)?(.*))",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
_NOFOLLOW = frozenset({"nofollow", "ugc", "sponsored"})
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
    Rule("a", "xlink:href", "L"),
    Rule("area", "href", "L"),
    Rule("meta", "content", REFRESH[0], refresh),
    Rule("link", "href", "E", _link),
    Rule("link", "imagesrcset", "E", _srcset),
    *(Rule(element, "src", "E") for element in ("frame", "iframe", "img", "source", "script")),
    *(Rule(element, "src", "E") for element in ("video", "audio", "track", "embed")),
    *(Rule(element, "srcset", "E", _srcset) for element in ("img", "source")),
    Rule("video", "poster", "E"),
    Rule("object", "data", "E"),
    Rule("input", "src", "E", _image_button),
    *(Rule(element, "cite", "X") for element in ("blockquote", "q", "ins", "del")),
    *(Rule(element, "longdesc", "X") for element in ("img", "frame", "iframe")),
    *(
        Rule(element, attribute, "E")
        for element in ("image", "use")
        for attribute in ("href", "xlink:href")
    ),
    *(
        Rule(element, "background", "E")
        for element in ("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th")
    ),
)
FORM_RULES = (Rule("form", "action", "X", _get_form),)
# What `--links nav` reads. It includes frames, as the pages of a frameset have no other links.
NAV_CONTEXTS = frozenset({"frame/@src"})
NAV_RULES = tuple(rule for rule in RULES if rule.hop in NAV_HOPS or rule.context in NAV_CONTEXTS)
