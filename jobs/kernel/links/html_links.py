"""The links of an HTML page, by the rules in jobs/kernel/links/link_rules.py and its style sheets.

Contexts are in Heritrix's style (`a/@href`). The page is parsed as the HTML standard says, with
scripting off: comments, scripts and templates give no links; noscript is read; noframes is not, as
a browser shows frames. The document in an iframe's `srcdoc` belongs to the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborCSSSelector, LexborHTMLParser, LexborNode

from jobs.kernel.formats.hops import NOFOLLOW_HOPS
from jobs.kernel.keys.idna2003 import as_idna_2003
from jobs.kernel.keys.uris import base_uri
from jobs.kernel.links.css_links import css_references
from jobs.kernel.links.dropped import Examples
from jobs.kernel.links.html_selection import (
    DEFAULT_OPTIONS,
    SPECIAL,
    AttributeRule,
    HtmlOptions,
    Selection,
    selection_for,
)
from jobs.kernel.links.joining import Base
from jobs.kernel.links.link_rules import Attributes, asks_nofollow, robots_nofollow
from jobs.kernel.markup.charsets import as_utf8, charset_of
from jobs.kernel.markup.html_pieces import LONGEST_PAGE, is_simple, pieces
from jobs.kernel.markup.html_tags import MARK
from jobs.kernel.markup.html_tokens import RAW

# Hop, context such as `a/@href`, and nofollow: whether the page asks not to count the link (`rel`,
# robots meta, X-Robots-Tag).
Kind = tuple[str, str, bool]
ReferenceGroup = tuple[list[str], Kind]  # neighbours of one kind, as written
LinkGroup = tuple[list[bytes], str, str, bool]  # neighbours of one kind: targets, and the kind
_ANCHOR: Kind = ("L", "a/@href", False)
_DEEPEST_SRCDOC = 3
_MOST_REFERENCES = 2**18  # of a page, with repetitions; they take some 50 MB
_DEEPEST_SVG = 512
_OF_SVG = frozenset({"image", "use"})
_HTML_IN_SVG = frozenset({"foreignObject", "foreignobject", "desc", "title"})
_FOLLOWED = frozenset({"a", "area", "form"})
# Making it takes longer than parsing a small page, so all pages share it.
_find = LexborCSSSelector().find  # type: ignore[no-untyped-call]
# In XHTML such an element may be empty; in HTML it would hold the rest of the page.
_XHTML_EMPTY = re.compile(
    rb"<(" + rb"|".join(sorted(RAW | {b"template"})) + rb")(?=[\s/])"
    rb"([^<>\"']*(?:(?:\"[^<\"]*\"|'[^<']*')[^<>\"']*)*)/>",
    re.IGNORECASE,
)


def html_links(
    body: bytes,
    page: str,
    content_type: str = "",
    counters: Counter[str] | None = None,
    *,
    forms: bool = False,
    nav: bool = False,
) -> Iterator[tuple[bytes, str, str, bool]]:
    """The links of `html_link_groups` one by one."""
    counters = Counter() if counters is None else counters
    options = HtmlOptions(forms, nav)
    groups = html_link_groups(body, page, content_type, counters, options=options)
    for targets, hop, context, nofollow in groups:
        for target in targets:
            yield target, hop, context, nofollow


def html_link_groups(
    body: bytes,
    page: str,
    content_type: str,
    counters: Counter[str],
    examples: Examples | None = None,
    options: HtmlOptions = DEFAULT_OPTIONS,
    most: int = _MOST_REFERENCES,
) -> Iterator[LinkGroup]:
    """The links of a page in its order, with repetitions.

    page: its URI. content_type: the HTTP header, for the charset. counters: references that are no
    links are counted as `dropped.` and the reason of jobs/kernel/keys/uris.py. examples: gets the
    first of these by reason. most: on a page with more references each one is a group, so that the
    others are not joined once there are enough links.
    """
    is_long = len(body) > LONGEST_PAGE
    if is_long:
        body = body[:LONGEST_PAGE]
    charset = charset_of(body, content_type)
    codec = query_codec(charset, as_heritrix=options.as_heritrix)
    document = read_page(body, content_type, charset, options)
    if is_long or document.is_cut:
        counters["dropped.html-tail"] += 1
    if document.left_out:
        counters["dropped.srcdoc"] += document.left_out
    return _resolved(document, page, codec, counters, {} if examples is None else examples, most)


def query_codec(charset: str, *, as_heritrix: bool) -> str:
    """The charset of queries, as WHATWG says, or as Heritrix has it."""
    return "utf-8" if as_heritrix or charset.startswith("utf-16") else charset


def read_page(
    body: bytes, content_type: str, charset: str, options: HtmlOptions = DEFAULT_OPTIONS
) -> Document:
    text = as_utf8(body, charset)
    if "xml" in content_type[:40].lower():
        text = _XHTML_EMPTY.sub(rb"<\1\2></\1>", text)
    return Document(text, options)


class Document:
    """The references of a page as written; they can be resolved at the end only, as the base of the
    page may come last.

    size: the number of references. left_out: documents in srcdoc that are too deep, or cut.
    """

    def __init__(self, text: bytes, options: HtmlOptions, depth: int = 0) -> None:
        self.base: str | None = None
        self.references: list[ReferenceGroup] = []
        self.size = 0
        self.framed: list[Document] = []
        self.left_out = 0
        self.nofollow = False
        self.options, self._depth = options, depth
        selection = selection_for(text, options)
        if is_simple(text):
            self._read(text, selection, selection.selector)
            return
        for piece in pieces(text, selection.rules, selection.attributes):
            if self.is_cut:
                break
            self._read(piece, selection, selection.marked)

    @property
    def is_cut(self) -> bool:
        """Whether no more references are read, as there are too many."""
        return self.size >= _MOST_REFERENCES

    def _read(self, piece: bytes, selection: Selection, selector: str) -> None:
        rules, styled = selection.rules, selection.styled
        kind, add = None, list[str]().append
        self._begin = len(self.references)
        root = LexborHTMLParser(piece).root
        for node in _find(selector, root) if root is not None else ():
            element, attributes = node.tag or "", node.attributes
            if selector is selection.marked:
                element = element.removeprefix(MARK)
            if "xlink:href" in attributes and ("href" in attributes or not _is_of_svg(node)):
                del attributes["xlink:href"]  # as SVG 2 says
            if element == "a" and not (styled or "rel" in attributes or "xlink:href" in attributes):
                if (
                    "href" in attributes
                ):  # nearly all elements; by rules it takes three times as long
                    if kind is not _ANCHOR:
                        kind, add = _ANCHOR, self._group(_ANCHOR).append
                    add(attributes["href"] or "")
                continue
            kind = None
            if element in rules and (element not in _OF_SVG or _is_of_svg(node)):
                self._add(element, attributes, rules[element])
                if element in SPECIAL:
                    self._special(element, node, attributes)
            if styled and (style := attributes.get("style")):
                self._add_style(style, f"{element}/@style")
        self.size += sum([len(group) for group, _ in self.references[self._begin :]])

    def _group(self, kind: Kind) -> list[str]:
        """The group of this piece that the next reference of this kind joins."""
        if len(self.references) == self._begin or self.references[-1][1] != kind:
            self.references.append(([], kind))
        return self.references[-1][0]

    def _add(self, element: str, attributes: Attributes, rules: list[AttributeRule]) -> None:
        relations = attributes.get("rel")
        flag = bool(relations) and element in _FOLLOWED and asks_nofollow(relations or "")
        for attribute, context, hop, read in rules:
            if attribute not in attributes:
                continue
            value = attributes[attribute] or ""
            if read is not None:
                for reference, own_hop in islice(read(value, attributes), _MOST_REFERENCES):
                    if _embeds(reference):
                        self._group((own_hop, context, flag)).append(reference)
            elif hop == "L" or _embeds(value):
                self._group((hop, context, flag)).append(value)

    def _special(self, element: str, node: LexborNode, attributes: Attributes) -> None:
        if element == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"] or ""
        elif element == "style":
            self._add_style(node.text(), "style")
        elif element == "meta":
            if (attributes.get("name") or "").strip().lower() == "robots":
                self.nofollow |= robots_nofollow(attributes.get("content") or "")
        elif inner := attributes.get("srcdoc"):
            self._add_framed(inner)

    def _add_framed(self, html: str) -> None:
        if self._depth == _DEEPEST_SRCDOC:
            self.left_out += 1
            return
        text = html.encode("utf-8", "replace")
        framed = Document(text, self.options._replace(canonical=False), self._depth + 1)
        self.framed.append(framed)
        self.left_out += framed.left_out + framed.is_cut

    def _add_style(self, css: str, context: str) -> None:
        if "(" in css or "@" in css:
            for reference in islice(css_references(css), _MOST_REFERENCES):
                self._group(("E", context, False)).append(reference)


def _is_of_svg(node: LexborNode) -> bool:
    """Whether an `svg` holds the node, and no element in between may hold HTML."""
    parent = node.parent
    for _ in range(_DEEPEST_SVG):
        if parent is None or parent.tag in _HTML_IN_SVG:
            return False
        if parent.tag == "svg":
            return True
        parent = parent.parent
    return True


def _embeds(reference: str) -> bool:
    """Whether a reference leads out of the page; only links for readers may name a part of it."""
    text = reference.strip()
    return bool(text) and text[0] != "#"


def _resolved(
    document: Document,
    page: str,
    codec: str,
    counters: Counter[str],
    examples: Examples,
    most: int,
    nofollow: bool = False,
) -> Iterator[LinkGroup]:
    page = base_uri(document.base, page) if document.base else page
    base = Base(page, codec)
    nofollow = nofollow or document.nofollow
    one_by_one = document.size > most
    for references, (hop, context, flag) in document.references:
        if document.options.as_heritrix:
            references = [as_idna_2003(reference) for reference in references]
        flag = flag or (nofollow and hop in NOFOLLOW_HOPS)
        for group in ([reference] for reference in references) if one_by_one else (references,):
            yield base.targets(group, counters, examples), hop, context, flag
    for inner in document.framed:
        yield from _resolved(inner, page, codec, counters, examples, most, nofollow)
