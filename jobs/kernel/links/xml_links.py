"""Links of feeds (RSS, Atom, RDF) and of sitemaps, from a scan that no XML can turn against us.

It is a scan for tags, not an XML parser: entities are never declared or expanded, nothing is
loaded, time is linear and memory that of the text; and feeds that are no well-formed XML, of which
the web is full, give what they hold. Names are matched with the prefixes that everybody writes.

| document | element | hop |
|---|---|---|
| feed | link (text, or href by rel), guid that is a permalink, comments, content src | L |
| feed | enclosure, media:content, media:thumbnail, url and logo and icon of an image | E |
| feed | link of another rel (self, next, hub…), source url | X |
| sitemap, sitemap index | loc | L |
| sitemap | image:loc, video:*_loc | E |
| sitemap | xhtml:link (the page in other languages) | X |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

FEED_ROOTS = frozenset({"rss", "feed", "rdf:rdf"})
SITEMAP_ROOTS = frozenset({"urlset", "sitemapindex"})

# Of a tag of more attributes only so many are read: an expression would keep too much of more.
MANY = 999
_VALUES = r"[^<>\"']*(?:(?:\"[^\"<]*\"|'[^'<]*')[^<>\"']*)"
_TAG = (
    r"<(?P<end>/?)(?P<name>[A-Za-z_][\w.:\-]*)(?![\w.:\-])"
    rf"(?:(?P<rest>{_VALUES}{{0,{MANY}}})>|(?P<first>{_VALUES}{{{MANY}}})[^<]*)"
)
# Each alternative but the last matches to the end of the text if need be; a tag ends at the next
# `<` at the latest, which XML allows nowhere in it: so no beginning is searched twice.
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|\Z)"
    r"|<!DOCTYPE[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z)"
    rf"|{_TAG}",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"(?<![\w.:\-])([\w.:\-]{1,60})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)')")
_LONGEST_TEXT = 2**16

Attributes = dict[str, str]


class XmlRule(NamedTuple):
    """A link in an element's attribute, or in its text where attribute is ''.

    keep: whether it is one, by its value and the element's attributes; hop_of: its hop by these.
    """

    element: str
    attribute: str
    hop: str
    keep: Callable[[str, Attributes], bool] | None = None
    hop_of: Callable[[Attributes], str] | None = None

    @property
    def context(self) -> str:
        return f"{self.element}/@{self.attribute}" if self.attribute else f"{self.element}/text()"


def _is_permalink(value: str, attributes: Attributes) -> bool:
    """A guid says so itself, but many that say nothing are numbers or names."""
    told = attributes.get("ispermalink", "true").strip().lower()
    return told != "false" and value.lower().startswith(("http://", "https://"))


def _atom_hop(attributes: Attributes) -> str:
    relation = attributes.get("rel", "alternate").strip().lower()
    return {"alternate": "L", "related": "L", "via": "L", "enclosure": "E"}.get(relation, "X")


FEED_RULES = (
    XmlRule("link", "", "L"),
    XmlRule("link", "href", "L", hop_of=_atom_hop),
    XmlRule("atom:link", "href", "L", hop_of=_atom_hop),
    XmlRule("a10:link", "href", "L", hop_of=_atom_hop),
    XmlRule("guid", "", "L", keep=_is_permalink),
    XmlRule("comments", "", "L"),
    XmlRule("content", "src", "L"),
    XmlRule("enclosure", "url", "E"),
    XmlRule("media:content", "url", "E"),
    XmlRule("media:thumbnail", "url", "E"),
    XmlRule("url", "", "E"),
    XmlRule("logo", "", "E"),
    XmlRule("icon", "", "E"),
    XmlRule("source", "url", "X"),
)
SITEMAP_RULES = (
    XmlRule("loc", "", "L"),
    XmlRule("image:loc", "", "E"),
    XmlRule("video:thumbnail_loc", "", "E"),
    XmlRule("video:content_loc", "", "E"),
    XmlRule("video:player_loc", "", "E"),
    XmlRule("xhtml:link", "href", "X"),
)
Rules = dict[str, list[XmlRule]]


def _by_element(rules: tuple[XmlRule, ...]) -> Rules:
    table: Rules = {}
    for rule in rules:
        table.setdefault(rule.element, []).append(rule)
    return table


_RULES = {"feed": _by_element(FEED_RULES), "sitemap": _by_element(SITEMAP_RULES)}


def root_of(text: str) -> str:
    """The name of the first element in lower case, '' if something else comes first."""
    place = 0
    while True:
        while text[place : place + 1].isspace() or text[place : place + 1] == "\ufeff":
            place += 1
        token = _TOKEN.match(text, place)
        if not token or token["cdata"] is not None or token["end"]:
            return ""
        if token["name"]:
            return token["name"].lower()
        place = token.end()


def document_of(text: str) -> str:
    """`feed`, `sitemap`, `svg`, `html` by the root element, or ''."""
    root = root_of(text)
    local = root.rpartition(":")[2]
    if root in FEED_ROOTS or local in ("feed", "rss"):
        return "feed"
    if local in SITEMAP_ROOTS:
        return "sitemap"
    return local if local in ("html", "svg") else ""


class _Text:
    """The text of the element that is open and may hold a link."""

    def __init__(self, element: str, rule: XmlRule, attributes: Attributes) -> None:
        self.element, self.rule, self.attributes = element, rule, attributes
        self._parts: list[str] = []
        self._size = 0

    def add(self, part: str) -> None:
        """Of a text that is too long more than a reference may have stays, so that it is none."""
        part = part[: _LONGEST_TEXT + 1] if self._size else part.lstrip()[: _LONGEST_TEXT + 1]
        if self._size <= _LONGEST_TEXT:
            self._size += len(part)
            self._parts.append(part)

    def reference(self) -> Iterator[tuple[str, str, str]]:
        yield from _kept(self.rule, "".join(self._parts).strip(), self.attributes)


def xml_references(text: str, document: str) -> tuple[str, Iterator[tuple[str, str, str]]]:
    """(the root's xml:base, (reference, hop, context) in order) of a `feed` or `sitemap`."""
    root = next((token for token in _TOKEN.finditer(text) if token["name"]), None)
    if not root:
        return "", iter(())
    prefix = root["name"].rpartition(":")[0].lower()
    own = f"{prefix}:" if prefix and prefix != "rdf" else ""
    base = _attributes(root["rest"] or root["first"] or "").get("xml:base", "")
    return base, _references(text, _RULES[document], own)


def _references(text: str, rules: Rules, own: str) -> Iterator[tuple[str, str, str]]:
    """own: the prefix of the document's own names, with its colon."""
    opened: _Text | None = None
    last = 0
    for token in _TOKEN.finditer(text):
        if opened:
            opened.add(_unescaped(text[last : token.start()]))
            opened.add(token["cdata"] or "")
        last = token.end()
        if not token["name"]:
            continue
        element = token["name"].lower().removeprefix(own)
        if token["end"]:
            if opened and opened.element == element:
                yield from opened.reference()
                opened = None
        elif element in rules:
            rest = token["rest"] or token["first"] or ""
            attributes = _attributes(rest)
            for rule in rules[element]:
                if rule.attribute in attributes:
                    yield from _kept(rule, attributes[rule.attribute].strip(), attributes)
                elif not rule.attribute and not rest.endswith("/"):
                    opened = _Text(element, rule, attributes)


def _kept(rule: XmlRule, value: str, attributes: Attributes) -> Iterator[tuple[str, str, str]]:
    if value and (rule.keep is None or rule.keep(value, attributes)):
        yield value, rule.hop_of(attributes) if rule.hop_of else rule.hop, rule.context


def _unescaped(text: str) -> str:
    """As in HTML; its table of names is loaded where there is something to look up."""
    if "&" not in text:
        return text
    import html

    return html.unescape(text)


def _attributes(rest: str) -> Attributes:
    found: Attributes = {}
    for name, double, single in _ATTRIBUTE.findall(rest):
        found.setdefault(name.lower(), _unescaped(double or single))
    return found
