"""What an HTML page refers to, as written, by the rules in link_rules.py and in its style sheets.

The page is read as the HTML standard says, with scripting off: comments, scripts and templates give
no links; noscript is read; noframes is not, as a browser shows frames. Most pages are scanned
(jobs/kernel/markup/scanner.py), and the others are parsed by lexbor: both give the same, but for
links that a parser repeats, where it opens an `a` again, or moves, out of a table. The document in
an iframe's `srcdoc` belongs to the page.

As few elements and attributes as possible are read. They are derived from link_rules.py once for
all pages, as that takes longer than parsing a small page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

from selectolax.lexbor import LexborCSSSelector, LexborHTMLParser, LexborNode

from crawlrank.jobs.kernel.formats.rows import CANONICAL_HOP
from crawlrank.jobs.kernel.links.css_links import css_references, may_hold_links
from crawlrank.jobs.kernel.links.header_links import robots_nofollow
from crawlrank.jobs.kernel.links.joining import RawReference
from crawlrank.jobs.kernel.links.link_rules import (
    FORM_RULES,
    NAV_RULES,
    RULES,
    Attributes,
    Reader,
    Rule,
    asks_nofollow,
    embeds,
    names_canonical,
    refresh,
    reloads,
)
from crawlrank.jobs.kernel.markup import scanner
from crawlrank.jobs.kernel.markup.html_pieces import is_simple, pieces
from crawlrank.jobs.kernel.markup.html_tokens import head_tags, written_values
from crawlrank.jobs.kernel.markup.link_words import Around, worded_node, worded_tag, words_around
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.markup.scanner import CONTENTS, References, ScannedTag, Scanner

_BACKGROUND = re.compile(rb"background[\t\n\f\r ]*=").search
AttributeRule = tuple[str, str, str, Reader | None]  # attribute, context, hop, reader


class HtmlOptions(NamedTuple):
    """Which links of a page are read. forms: also addresses of forms. nav: only those of NAV_RULES,
    which takes a third less time. canonical: also the canonical address that the head names.
    as_heritrix: queries are in UTF-8 whatever the charset of the page, and hosts by IDNA 2003.
    scanned: pages are scanned as far as they can be, not all parsed. kinds: links have the kinds of
    their references. titles: the title is read, too. words: a reference of an `a` that is text has
    the words of the link. around: and those around it; pages are parsed for it.
    """

    forms: bool = False
    nav: bool = False
    canonical: bool = False
    as_heritrix: bool = False
    scanned: bool = True
    kinds: bool = False
    titles: bool = False
    words: bool = False
    around: bool = False


DEFAULT_OPTIONS = HtmlOptions()


class Selection(NamedTuple):
    """rules: by element; names: of these elements. selector: finds these elements by lexbor, in a
    tenth of the time of a loop. attributes: those that are read. styled: whether style sheets are
    read."""

    rules: dict[str, list[AttributeRule]]
    names: tuple[str, ...]
    selector: str
    attributes: frozenset[str]
    styled: bool


def _selection(
    rules: tuple[Rule, ...], special: tuple[str, ...], styled: bool = False
) -> Selection:
    by_element: dict[str, list[AttributeRule]] = {element: [] for element in special}
    for rule in rules:
        attribute_rule = (rule.attribute, rule.context, rule.hop, rule.read)
        by_element.setdefault(rule.element, []).append(attribute_rule)
    attributes = _ALWAYS_READ.union([rule.attribute for rule in rules], ["style"] * styled)
    names = [*by_element, "[style]"] if styled else [*by_element]
    return Selection(by_element, tuple(by_element), _any(names), attributes, styled)


def _any(names: list[str]) -> str:
    return f":is({','.join(names)})"


_ALWAYS_READ = frozenset(
    ("content", "href", "http-equiv", "method", "name", "rel", "srcdoc", "type")
)
_NAV_SPECIAL = ("base", "iframe", "meta")
SPECIAL = (*_NAV_SPECIAL, "style")
_NAV_SELECTION = _selection(NAV_RULES, _NAV_SPECIAL)
# Cells of tables, which may have a background, are many.
_WITHOUT_BACKGROUND = tuple(rule for rule in RULES if rule.attribute != "background")
_SELECTIONS = {
    (background, forms, styled): _selection(
        (RULES if background else _WITHOUT_BACKGROUND) + FORM_RULES * forms, SPECIAL, styled
    )
    for background, forms, styled in product((False, True), repeat=3)
}


def selection_for(page: PageText, options: HtmlOptions) -> Selection:
    """What to read of this page; most pages have neither backgrounds nor style sheets."""
    if options.nav:
        return _NAV_SELECTION
    lower = page.markup.lower()
    background = b"background" in lower and _BACKGROUND(lower) is not None
    return _SELECTIONS[background, options.forms, may_hold_links(lower)]


# Hop, context such as `a/@href`, and nofollow: whether the page asks not to count the link (`rel`,
# robots meta, X-Robots-Tag).
Kind = tuple[str, str, bool]
ReferenceGroup = tuple[list[RawReference] | References, Kind]  # neighbours of one kind
ANCHOR: Kind = ("L", "a/@href", False)
_IN_UTF_8 = "; charset=utf-8"
_DEEPEST_SRCDOC = 3
_DEEPEST_SHADOW = 32  # shadow roots in shadow roots
MOST_FRAMED = 10_000  # documents in srcdoc of a page; each takes 0.1 ms
MOST_REFERENCES = 2**18  # of a page, with repetitions; they take some 50 MB
_DEEPEST_SVG = 512
_OF_SVG = frozenset({"image", "use"})
# elements of HTML that mean nothing as elements of SVG; others, such as `img`, end the SVG
_NOT_OF_SVG = frozenset({
    *("area", "audio", "base", "del", "form", "frame", "iframe", "input", "ins", "link", "object"),
    *("q", "script", "source", "track", "video"),
})  # fmt: skip
_HTML_IN_SVG = frozenset({"foreignObject", "foreignobject", "desc", "title"})
_FOLLOWED = frozenset({"a", "area", "form"})
_OF_DOCUMENT = frozenset({"base", "meta"})  # which mean nothing in a shadow root
_SHADOW_MODE, _SHADOW_MODES = "shadowrootmode", ("open", "closed")
_SHADOW_ROOT = _SHADOW_MODE.encode()
_SHADOW_HOSTS = frozenset({
    *("article", "aside", "blockquote", "body", "div", "footer", "header", "main", "nav", "p"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "section", "span"),
})  # fmt: skip
_NO_CUSTOM_NAMES = frozenset({
    *("annotation-xml", "color-profile", "font-face", "font-face-src", "font-face-uri"),
    *("font-face-format", "font-face-name", "missing-glyph"),
})  # fmt: skip
# Making it takes longer than parsing a small page, so all pages share it.
_find = LexborCSSSelector().find  # type: ignore[no-untyped-call]


class _Undecided(Exception):
    """A page whose tree has to be known."""


class Document:
    """The references of a page as written; they can be resolved at the end only, as the base of the
    page may come last.

    size: the number of references. left_out: documents in srcdoc that are too deep, too many, or
    cut; and shadow roots that are too deep. title: of the first title element of HTML, where asked
    for; '' without one.
    """

    def __init__(
        self, page: PageText, options: HtmlOptions = DEFAULT_OPTIONS, depth: int = 0
    ) -> None:
        self.page, self.options, self._depth = page, options, depth
        self._clear()
        selection = selection_for(page, options)
        if not self._is_taken(page, selection):
            scanner.code.parsed += 1
            self._parse(page.utf8, selection)
        if options.canonical:
            self._add_canonical(page if page.is_read_by_parts else PageText(page.utf8, _IN_UTF_8))

    def _clear(self) -> None:
        self.base: str | None = None
        self.references: list[ReferenceGroup] = []
        self.size = self.left_out = self._begin = 0
        self.framed: list[Document] = []
        self.nofollow = self._reloads = self._has_svg = False
        self.title, self._has_title = "", not self.options.titles

    @property
    def is_cut(self) -> bool:
        """Whether no more references are read, as there are too many."""
        return self.size >= MOST_REFERENCES

    @property
    def anchors(self) -> References | None:
        """The references of a page that has nothing but plain anchors, as most pages do."""
        if len(self.references) != 1 or self.base or self.framed or self.nofollow:
            return None
        references, kind = self.references[0]
        if isinstance(references, References) and kind is ANCHOR and not self.options.kinds:
            return references
        return None

    def written(self) -> Iterator[str]:
        """The references as text."""
        for group, _ in self.references:
            for reference in group:
                yield reference if isinstance(reference, str) else self.page.value(reference)

    # scanned

    def _is_taken(self, page: PageText, selection: Selection) -> bool:
        """Whether the page can be scanned."""
        try:
            scanner_used = _scanner(selection, self.options.words)
            is_scanned = self.options.scanned and not self.options.around
            scanned = scanner_used.scanned(page.markup) if is_scanned else None
            if scanned is None or not page.is_read_by_parts:
                return False
            if self.options.titles:
                self.title = page.title(scanner_used.title(page.markup))
            self._take(scanned, selection)
        except _Undecided:
            self._clear()
            return False
        return True

    def _take(self, scanned: list[References | ScannedTag], selection: Selection) -> None:
        for one in scanned:
            if type(one) is References:
                self.references.append((one, ANCHOR))
            else:
                self._take_tag(one, selection)  # type: ignore[arg-type]
        self._count()

    def _take_tag(self, tag: ScannedTag, selection: Selection) -> None:
        contents = tag.attributes.pop(CONTENTS, None)
        attributes: Attributes = {
            name: self.page.value(raw) for name, raw in tag.attributes.items()
        }
        if not tag.element.isascii() or (tag.foreign and _is_styled(attributes)):
            raise _Undecided  # a name in the charset of the page, or of SVG, which has its own
        if self.options.words and tag.element == "a" and "href" in attributes:
            attributes["href"] = worded_tag(attributes["href"] or "", self.page, tag.line)
        self._add_element(tag.element, attributes, selection, tag.foreign)
        if contents is not None:
            self._add_style(self.page.text(contents), "style")

    # parsed

    def _parse(self, text: bytes, selection: Selection) -> None:
        selector = selection.selector
        lower = text.lower()
        self._has_svg = b"<svg" in lower
        if _SHADOW_ROOT in lower:
            selector = f":is({selector},template)"
        if is_simple(text):
            self._read(text, selection, selector)
            return
        names = {_SHADOW_MODE, "alt"} if self.options.words else {_SHADOW_MODE}
        attributes = frozenset(name.encode() for name in selection.attributes | names)
        for number, piece in enumerate(pieces(text, attributes, self._cut)):
            if self.is_cut:
                break
            self._read(piece, selection, selector, number)

    def _cut(self) -> None:
        """What follows is not read."""
        self.size = MOST_REFERENCES

    def _read(self, piece: bytes, selection: Selection, selector: str, number: int = 0) -> None:
        self._begin = len(self.references)
        root = LexborHTMLParser(piece).root
        if root is not None:
            around = words_around(root, number) if self.options.around else {}
            self._read_tree(root, selection, selector, around)
            if not self._has_title and (title := self.page.title_in(root)) is not None:
                self.title, self._has_title = title, True
        self._count()

    def _read_tree(
        self, root: LexborNode, selection: Selection, selector: str, around: Around,
        shadows: int = 0,
    ) -> None:  # fmt: skip
        """Read a tree. shadows: number of shadow roots around it."""
        kind, add, hosts = None, list[RawReference]().append, set[int]()
        with_words = self.options.words
        for node in _find(selector, root):
            element, attributes = node.tag or "", node.attributes
            if with_words and element == "a" and "href" in attributes:
                attributes["href"] = worded_node(attributes["href"] or "", node, around)
            if (
                element == "a" and "href" in attributes and not selection.styled
                and "rel" not in attributes and "xlink:href" not in attributes
            ):  # nearly all elements; by rules it takes three times as long  # fmt: skip
                if kind is not ANCHOR:
                    kind, add = ANCHOR, self._group(ANCHOR).append
                add("" if (href := attributes["href"]) is None else href)
                continue
            kind = None
            if element == "template":
                if _declares_shadow_root(node, hosts):
                    self._read_shadow_root(node, selection, selector, shadows + 1)
                continue
            if shadows and element in _OF_DOCUMENT:
                continue
            may_be = (
                element in _OF_SVG or "xlink:href" in attributes
                or (self._has_svg and element in _NOT_OF_SVG)
            )  # fmt: skip
            self._add_element(element, attributes, selection, may_be and _is_of_svg(node))
            if element == "style" and element in selection.rules:
                self._add_style(node.text(), "style")

    def _read_shadow_root(
        self, template: LexborNode, selection: Selection, selector: str, shadows: int
    ) -> None:
        if shadows > _DEEPEST_SHADOW:
            self.left_out += 1
            return
        for content in template.template_fragments()[:1]:
            around = words_around(content) if self.options.around else {}
            self._read_tree(content, selection, selector, around, shadows)

    # both

    def _count(self) -> None:
        self.size += sum([len(group) for group, _ in self.references[self._begin :]])

    def _group(self, kind: Kind) -> list[RawReference]:
        """The group of this piece that the next reference of this kind joins."""
        if len(self.references) > self._begin:
            group, latest = self.references[-1]
            if latest == kind and isinstance(group, list):
                return group
        made: list[RawReference] = []
        self.references.append((made, kind))
        return made

    def _add_element(
        self, element: str, attributes: Attributes, selection: Selection, in_svg: bool
    ) -> None:
        if "xlink:href" in attributes and ("href" in attributes or not in_svg):
            del attributes["xlink:href"]  # as SVG 2 says
        if element in selection.rules and element not in (_NOT_OF_SVG if in_svg else _OF_SVG):
            self._add(element, attributes, selection.rules[element])
            if element in SPECIAL:
                self._special(element, attributes)
        if selection.styled and (style := attributes.get("style")):
            self._add_style(style, f"{element}/@style")

    def _add(self, element: str, attributes: Attributes, rules: list[AttributeRule]) -> None:
        relations = attributes.get("rel")
        flag = bool(relations) and element in _FOLLOWED and asks_nofollow(relations or "")
        for attribute, context, hop, read in rules:
            if attribute not in attributes:
                continue
            value = "" if (given := attributes[attribute]) is None else given
            if read is refresh:
                if self._reloads:  # no later refresh counts
                    continue
                self._reloads = reloads(value, attributes)
            if read is not None:
                for reference, own_hop in islice(read(value, attributes), MOST_REFERENCES):
                    if embeds(reference):
                        self._group((own_hop, context, flag)).append(reference)
            elif hop == "L" or embeds(value):
                self._group((hop, context, flag)).append(value)

    def _special(self, element: str, attributes: Attributes) -> None:
        if element == "base":
            if self.base is None and "href" in attributes:
                self.base = attributes["href"] or ""
        elif element == "meta":
            if (attributes.get("name") or "").strip().lower() == "robots":
                self.nofollow |= robots_nofollow(attributes.get("content") or "")
        elif inner := attributes.get("srcdoc"):
            self._add_framed(inner)

    def _add_framed(self, html: str) -> None:
        if self._depth == _DEEPEST_SRCDOC or len(self.framed) >= MOST_FRAMED:
            self.left_out += 1
            return
        text = PageText(html.encode("utf-8", "replace"), _IN_UTF_8)
        framed = Document(
            text, self.options._replace(canonical=False, titles=False), self._depth + 1
        )
        self.framed.append(framed)
        self.left_out += framed.left_out + framed.is_cut

    def _add_canonical(self, page: PageText) -> None:
        """The canonical addresses that the head names: no links, but statements that two pages are
        one. They come first, so that no limit of links leaves them out."""
        named: list[RawReference] = []
        for rest in islice(head_tags(page.markup, b"link"), MOST_REFERENCES):
            values = written_values(rest, (b"rel", b"href"))
            target = page.value(values.get(b"href", b""))
            if names_canonical(page.value(values.get(b"rel", b""))) and embeds(target):
                named.append(target)
        self.references.insert(0, (named, (CANONICAL_HOP, "link/@href", False)))
        self.size += len(named)

    def _add_style(self, css: str, context: str) -> None:
        if "(" in css or "@" in css:
            for reference in islice(css_references(css), MOST_REFERENCES):
                self._group(("E", context, False)).append(reference)


def _declares_shadow_root(template: LexborNode, hosts: set[int]) -> bool:
    """Whether a template is the first to declare a shadow root of its parent, which may have one
    (HTML standard, 4.12.3 and 4.13.3; DOM standard, attachShadow). hosts: parents that have one."""
    host = template.parent
    mode = template.attributes.get(_SHADOW_MODE) or ""
    if host is None or not _may_be_host(host.tag or "") or mode.lower() not in _SHADOW_MODES:
        return False
    if host.mem_id in hosts:
        return False
    hosts.add(host.mem_id)
    return True


def _may_be_host(name: str) -> bool:
    if name in _SHADOW_HOSTS:
        return True
    return "-" in name and name[:1].isascii() and name[0].islower() and name not in _NO_CUSTOM_NAMES


def _scanner(selection: Selection, words: bool) -> Scanner:
    return scanner.scanner_of()(selection.names, selection.attributes, words)


def _is_styled(attributes: Attributes) -> bool:
    return any(css_references(attributes.get("style") or ""))


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
