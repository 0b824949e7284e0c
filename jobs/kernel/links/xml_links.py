"""Links of feeds (RSS, Atom, RDF, OPML) and of sitemaps, from a scan that is safe for any input.

It is a scan for tags, not an XML parser. Entities are never declared or expanded, nothing is
loaded, time is linear, and memory is that of the text. Feeds that are no well-formed XML, which are
frequent, are read too. Names are matched with their usual prefixes. The base of a reference is the
`xml:base` of the element that holds it, or of the next one around that has any.

| document | element | hop |
|---|---|---|
| feed | link (text, or href by rel), guid that is a permalink, comments, content src | L |
| feed | enclosure, media:content, media:thumbnail, url and logo and icon of an image | E |
| feed | link of another rel (self, next, hub…), source url | X |
| feed | outline htmlUrl, xmlUrl, url (OPML) | L |
| sitemap, sitemap index | loc | L |
| sitemap | image:loc, video:*_loc | E |
| sitemap | xhtml:link (the page in other languages) | X |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crawlrank.jobs.kernel.keys.uris import HTTP_PREFIXES, LONGEST, base_uri
from crawlrank.jobs.kernel.links.link_rules import BLANKS, Reference

FEED_ROOTS = frozenset({"rss", "feed", "rdf:rdf", "opml"})
SITEMAP_ROOTS = frozenset({"urlset", "sitemapindex"})

# The number of attributes of a tag that are read has a bound, as an expression remembers every
# repetition.
MANY = 999
_VALUES = r"[^<>\"']*(?:(?:\"[^\"<]*\"|'[^'<]*')[^<>\"']*)"
_TAG = (
    r"<(?P<end>/?)(?P<name>[A-Za-z_][\w.:\-]*)(?![\w.:\-])"
    rf"(?:(?P<rest>{_VALUES}{{0,{MANY}}})>|(?P<first>{_VALUES}{{{MANY}}})[^<]*)"
)
# Every alternative that begins to match also ends, at the end of the text at the latest; a tag ends
# at the next `<`, which XML does not allow in it. So no beginning is tried twice.
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

XmlAttributes = dict[str, str]
BasedReference = tuple[str, Reference]  # with its base


class XmlRule(NamedTuple):
    """A link in an element's attribute, or in its text where attribute is ''.

    keep: whether it is a link, by its value and the element's attributes. hop_of: its hop, by the
    element's attributes.
    """

    element: str
    attribute: str
    hop: str
    keep: Callable[[str, XmlAttributes], bool] | None = None
    hop_of: Callable[[XmlAttributes], str] | None = None

    @property
    def context(self) -> str:
        return f"{self.element}/@{self.attribute}" if self.attribute else f"{self.element}/text()"


def _is_permalink(value: str, attributes: XmlAttributes) -> bool:
    """By default a guid is a permalink, but many without the attribute are numbers or names."""
    is_permalink = attributes.get("ispermalink", "true").strip().lower()
    return is_permalink != "false" and value.lower().startswith(HTTP_PREFIXES)


def _atom_hop(attributes: XmlAttributes) -> str:
    relation = attributes.get("rel", "alternate").strip().lower()
    return {"alternate": "L", "related": "L", "via": "L", "enclosure": "E"}.get(relation, "X")


FEED_RULES = (
    XmlRule("link", "", "L"),
    *(
        XmlRule(element, "href", "L", hop_of=_atom_hop)
        for element in ("link", "atom:link", "a10:link")
    ),
    XmlRule("guid", "", "L", keep=_is_permalink),
    XmlRule("comments", "", "L"),
    XmlRule("content", "src", "L"),
    *(XmlRule(element, "url", "E") for element in ("enclosure", "media:content")),
    XmlRule("media:thumbnail", "url", "E"),
    *(XmlRule(element, "", "E") for element in ("url", "logo", "icon")),
    XmlRule("source", "url", "X"),
    *(XmlRule("outline", attribute, "L") for attribute in ("htmlurl", "xmlurl", "url")),
)
SITEMAP_RULES = (
    XmlRule("loc", "", "L"),
    XmlRule("image:loc", "", "E"),
    *(XmlRule(f"video:{name}_loc", "", "E") for name in ("thumbnail", "content", "player")),
    XmlRule("xhtml:link", "href", "X"),
)
RulesByElement = dict[str, list[XmlRule]]


def _by_element(rules: tuple[XmlRule, ...]) -> RulesByElement:
    table: RulesByElement = {}
    for rule in rules:
        table.setdefault(rule.element, []).append(rule)
    return table


_RULES = {"feed": _by_element(FEED_RULES), "sitemap": _by_element(SITEMAP_RULES)}


def root_of(text: str) -> str:
    """The name of the first element in lower case, '' if something else comes first."""
    position = 0
    while True:
        while text[position : position + 1].isspace() or text[position : position + 1] == "\ufeff":
            position += 1
        token = _TOKEN.match(text, position)
        if not token or token["cdata"] is not None or token["end"]:
            return ""
        if token["name"]:
            return token["name"].lower()
        position = token.end()


def document_of(text: str) -> str:
    """`feed`, `sitemap`, `svg`, `html` by the root element, or ''."""
    root = root_of(text)
    local = root.rpartition(":")[2]
    if root in FEED_ROOTS or local in ("feed", "rss", "opml"):
        return "feed"
    if local in SITEMAP_ROOTS:
        return "sitemap"
    return local if local in ("html", "svg") else ""


class _OpenElement:
    """An open element whose text may be a link."""

    def __init__(self, element: str, rule: XmlRule, attributes: XmlAttributes) -> None:
        self.element, self.rule, self.attributes = element, rule, attributes
        self._parts: list[str] = []
        self._size = 0

    def add(self, part: str) -> None:
        """A text that is too long is cut after the longest reference, so that it is still none."""
        part = part[: _LONGEST_TEXT + 1] if self._size else part.lstrip(BLANKS)[: _LONGEST_TEXT + 1]
        if self._size <= _LONGEST_TEXT:
            self._size += len(part)
            self._parts.append(part)

    def reference(self) -> Iterator[Reference]:
        yield from _kept(self.rule, "".join(self._parts).strip(BLANKS), self.attributes)


class _Bases:
    """The base at a place of a document. An element with `xml:base` counts the open elements of its
    name, so that its own end is known; what is never closed lasts until the end."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._open: list[tuple[str, str]] = []  # element, base
        self._inside = [0]  # of each of them, elements of its name that are open in it

    @property
    def base(self) -> str:
        return self._open[-1][1] if self._open else self._uri

    def begin(self, element: str, attributes: XmlAttributes) -> None:
        if stated := attributes.get("xml:base", "").strip(BLANKS):
            if len(self._open) < MANY:
                base = base_uri(stated, self.base)
                self._open.append((element, base if len(base) <= LONGEST else ""))
                self._inside.append(0)
        elif self._open and self._open[-1][0] == element:
            self._inside[-1] += 1

    def end(self, element: str) -> None:
        if not self._open or self._open[-1][0] != element:
            return
        if self._inside[-1]:
            self._inside[-1] -= 1
        else:
            self._open.pop()
            self._inside.pop()


def xml_references(text: str, document: str, uri: str) -> Iterator[BasedReference]:
    """The references, in order, of a `feed` or `sitemap`, each with its base. uri: of the
    document."""
    root = next((token for token in _TOKEN.finditer(text) if token["name"]), None)
    if not root:
        return
    prefix = root["name"].rpartition(":")[0].lower()
    own = f"{prefix}:" if prefix and prefix != "rdf" else ""
    rules, bases = _RULES[document], _Bases(uri)
    opened: _OpenElement | None = None
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
                yield from ((bases.base, reference) for reference in opened.reference())
                opened = None
            bases.end(element)
            continue
        rest = token["rest"] or token["first"] or ""
        is_empty = rest.endswith("/")
        attributes = _attributes(rest) if element in rules or "xml:base" in rest else {}
        bases.begin(element, attributes)
        for rule in rules.get(element, ()):
            if rule.attribute in attributes:
                value = attributes[rule.attribute].strip(BLANKS)
                yield from ((bases.base, kept) for kept in _kept(rule, value, attributes))
            elif not rule.attribute and not is_empty:
                opened = _OpenElement(element, rule, attributes)
        if is_empty:
            bases.end(element)


def _kept(rule: XmlRule, value: str, attributes: XmlAttributes) -> Iterator[Reference]:
    if value and (rule.keep is None or rule.keep(value, attributes)):
        yield value, rule.hop_of(attributes) if rule.hop_of else rule.hop, rule.context


def _unescaped(text: str) -> str:
    """Entities are undone as in HTML, whose table of names is loaded only when it is needed."""
    if "&" not in text:
        return text
    import html

    return html.unescape(text)


def _attributes(rest: str) -> XmlAttributes:
    attributes: XmlAttributes = {}
    for name, double, single in _ATTRIBUTE.findall(rest):
        attributes.setdefault(name.lower(), _unescaped(double or single))
    return attributes
