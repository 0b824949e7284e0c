"""The links of an HTML page, by the table of jobs/kernel/link_rules.py and its style sheets.

Contexts are in Heritrix's style (`a/@href`). The page is parsed as the HTML standard says, with
scripting off: nothing from comments, scripts or templates is a link; noscript is read, noframes
is not, as a browser shows frames. The document in an iframe's `srcdoc` belongs to the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobs.kernel.charsets import as_utf8, charset_of
from jobs.kernel.css_links import css_references, may_hold_links
from jobs.kernel.html_pieces import LONGEST_PAGE, pieces
from jobs.kernel.link_rules import (
    FORM_RULES,
    RULES,
    Attributes,
    Reader,
    Rule,
    asks_nofollow,
    robots_nofollow,
)
from jobs.kernel.uris import resolve

Reference = tuple[str, str, str, bool]  # reference, hop, context, nofollow
_DEEPEST_SRCDOC = 3
_FOLLOWED = frozenset({"a", "area", "form"})
# In XHTML such an element may be empty; in HTML it would hold the rest of the page.
_XHTML_EMPTY = re.compile(
    rb"<(script|style|title|textarea|iframe|noframes|noembed|xmp|template)\b([^<>]*)/>",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """A link: target as in the links dataset, hop as there, context such as `a/@href`.

    nofollow: whether its page asks not to count it (`rel`, robots meta, X-Robots-Tag).
    """

    target: bytes
    hop: str
    context: str
    nofollow: bool = False


# By element: for each of its rules the attribute, its context, the hop and the reader.
_Table = dict[str, list[tuple[str, str, str, Reader | None]]]


def _table(rules: tuple[Rule, ...]) -> _Table:
    table: _Table = {element: [] for element in _SPECIAL}
    for rule in rules:
        row = (rule.attribute, rule.context, rule.hop, rule.read)
        table.setdefault(rule.element, []).append(row)
    return table


_SPECIAL = ("base", "iframe", "meta", "style")
_PLAIN = tuple(rule for rule in RULES if rule.attribute != "background")
# By (backgrounds, forms): most pages have neither, and cells of tables are many.
_TABLES = {
    (backgrounds, forms): _table((RULES if backgrounds else _PLAIN) + FORM_RULES * forms)
    for backgrounds in (False, True)
    for forms in (False, True)
}


def html_links(
    body: bytes,
    page: str,
    content_type: str = "",
    counters: Counter[str] | None = None,
    *,
    forms: bool = False,
) -> Iterator[Found]:
    """The links of a page in the order of the page, repeated as often as they stand there.

    page: its URI; content_type: the HTTP header, for its charset. What is no link of this
    dataset is counted in counters: `dropped.` and the reasons of jobs/kernel/uris.py.
    """
    counters = Counter() if counters is None else counters
    if len(body) > LONGEST_PAGE:
        counters["dropped.html-tail"] += 1
    charset = charset_of(body, content_type)
    text = as_utf8(body, charset)
    if "xml" in content_type[:40].lower():
        text = _XHTML_EMPTY.sub(rb"<\1\2></\1>", text)
    codec = "utf-8" if charset.startswith("utf-16") else charset  # of queries, as WHATWG says
    return _resolved(_Document(text, forms), page, codec, counters)


def html_references(body: bytes, content_type: str = "") -> list[Reference]:
    """What stands in the page's attributes, not resolved: for counts and comparisons."""
    return _Document(as_utf8(body, charset_of(body, content_type)), False).references


class _Document:
    """What is read from a page before anything can be resolved: its base may come last."""

    def __init__(self, text: bytes, forms: bool, depth: int = 0) -> None:
        self.base: str | None = None
        self.references: list[Reference] = []
        self.framed: list[_Document] = []
        self.nofollow = False
        self._forms, self._depth = forms, depth
        lower = text.lower()
        self._styled = may_hold_links(lower)
        self._table = _TABLES[b"background" in lower, forms]
        for piece in pieces(text):
            self._read(piece)

    def _read(self, piece: bytes) -> None:
        table, styled = self._table, self._styled
        root = LexborHTMLParser(piece).root
        for node in root.traverse() if root else ():
            element = node.tag or ""
            if element in table:
                self._add(element, node.attributes, table[element])
                if element in _SPECIAL:
                    self._special(element, node)
            if styled and (style := node.attributes.get("style")):
                self._add_style(style, f"{element}/@style")

    def _add(
        self,
        element: str,
        attributes: Attributes,
        rules: list[tuple[str, str, str, Reader | None]],
    ) -> None:
        add = self.references.append
        relations = attributes.get("rel")
        flag = bool(relations) and element in _FOLLOWED and asks_nofollow(relations or "")
        for attribute, context, hop, read in rules:
            if attribute not in attributes:
                continue
            value = attributes[attribute] or ""
            if read is not None:
                for reference, own_hop in read(value, attributes):
                    if _embeds(reference):
                        add((reference, own_hop, context, flag))
            elif hop == "L" or _embeds(value):
                add((value, hop, context, flag))

    def _special(self, element: str, node: LexborNode) -> None:
        attributes: Attributes = node.attributes
        if element == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"] or ""
        elif element == "style":
            self._add_style(node.text(), "style")
        elif element == "meta":
            if (attributes.get("name") or "").strip().lower() == "robots":
                self.nofollow |= robots_nofollow(attributes.get("content") or "")
        elif (inner := attributes.get("srcdoc")) and self._depth < _DEEPEST_SRCDOC:
            text = inner.encode("utf-8", "replace")
            self.framed.append(_Document(text, self._forms, self._depth + 1))

    def _add_style(self, css: str, context: str) -> None:
        if "(" in css or "@" in css:
            self.references += [(text, "E", context, False) for text in css_references(css)]


def _embeds(reference: str) -> bool:
    """Whether it is more than a part of the page itself, which only a reader's link can lead to."""
    text = reference.strip()
    return bool(text) and text[0] != "#"


def _resolved(
    document: _Document, page: str, codec: str, counters: Counter[str], nofollow: bool = False
) -> Iterator[Found]:
    """Each distinct reference is resolved once: pages repeat theirs."""
    base = _base(document, page)
    nofollow = nofollow or document.nofollow
    known: dict[str, bytes | str] = {}
    for reference, hop, context, flag in document.references:
        target = known.get(reference)
        if target is None:
            target = known[reference] = resolve(reference, base, codec)
        if isinstance(target, bytes):
            yield Found(target, hop, context, flag or (nofollow and hop in "LX"))
        else:
            counters[f"dropped.{target}"] += 1
    for inner in document.framed:
        yield from _resolved(inner, base, codec, counters, nofollow)


def _base(document: _Document, page: str) -> str:
    resolved = resolve(document.base, page) if document.base else page
    return resolved.decode() if isinstance(resolved, bytes) else page
