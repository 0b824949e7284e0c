"""Large pages, cut into pieces that an HTML parser reads in bounded time and memory.

The HTML standard's algorithm takes time in proportion to tags times depth, to open formatting
elements times paragraphs (memory too), and to the square of a tag's attributes. So the parser does
not get a page with more than MANY_TAGS tags, with more than LONG_TAG bytes between two `<`, or with
more than SIMPLE_BYTES bytes. It gets such a page in pieces, each as a document of its own, and long
tags with the attributes alone that are read.

A piece ends between two tags, and if it can outside of links, whose words would be in two pieces.
A template is not cut: what is too long of it is left out, as it gives no links. The next piece
begins in a table or in an `svg` if one is open. What else is open does not matter for links, except
a `select`, in which a parser drops tags, and a frameset.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from crawlrank.jobs.kernel.markup.html_tokens import (
    BREAKOUT,
    FORMATTING,
    NAME_END,
    RAW,
    Tag,
    attributes_of,
    is_tag,
    markup_end,
    next_markup,
    raw_end,
    tag_at,
)

# Bytes of a page; later bytes are not parsed. Google reads 2 MB of a page, or 15 MB; Common Crawl
# keeps 5 MiB.
LONGEST_PAGE = 2**23
MANY_TAGS = 10_000  # nested, they take 0.13 s
SIMPLE_BYTES = 2**21  # attributes take 30 times their size in memory
LONG_TAG = 2**14
MOST_TAGS = 2**19  # of a page that is read in pieces; cutting takes some 4 µs for each
PIECE_TAGS, PIECE_BYTES = 1000, 2**17
_MORE_TAGS, _MORE_BYTES = 100, 2**14  # of a piece that would end in a link
_PIECE_FORMATS = 100  # formatting elements that are open in a piece
_MANY_OPENED = 300_000  # elements that a parser may open again; they take 90 MB
_FEW_TAGS = 1000
_SHORTEST_TAG = len("<p>")
# The text before a piece keeps a frameset in it from taking the place of a body.
_IN_BODY, _IN_TABLE, _IN_SVG = b"x", b"x<table><tr><td>", b"x<svg>"
_SHADOW = re.compile(rb"shadowrootmode", re.IGNORECASE).search

# Whole tags of formatting elements (but `a`) if their attributes are simple, else their beginnings.
_FORMATTING_TAGS = re.compile(
    rb"<(?=[bcefinstu])(?:" + rb"|".join(sorted(FORMATTING - {b"a"})) + rb")(?=" + NAME_END + rb")"
    rb"(?:(?:[\t\n\f\r ]+[a-z-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[\w#%.+-]+(?=[\t\n\f\r >])))?){0,9}"
    rb"[\t\n\f\r ]*>)?",
    re.IGNORECASE,
).findall


def is_simple(page: bytes) -> bool:
    """Whether a parser may read the page as it is: it is small and has at most MANY_TAGS `<`, none
    more than LONG_TAG bytes apart, and few formatting elements that would be opened again."""
    position, end = 0, len(page)
    if end > SIMPLE_BYTES:
        return False
    if end > _FEW_TAGS * _SHORTEST_TAG:
        tags = page.count(b"<")
        if tags > MANY_TAGS or (tags > _FEW_TAGS and _opened(page) * tags > _MANY_OPENED):
            return False
    while end - position > LONG_TAG:  # from each `<` to the last one within LONG_TAG after it
        position = page.rfind(b"<", position, position + LONG_TAG + 1) + 1
        if not position:
            return False
    return True


def _opened(page: bytes) -> int:
    """How many formatting elements may be open at once; a parser keeps three equal ones."""
    alike = Counter(_FORMATTING_TAGS(page))
    return sum(min(3, count) if tag.endswith(b">") else count for tag, count in alike.items())


def pieces(
    page: bytes, attributes: frozenset[bytes], on_cut: Callable[[], None] = lambda: None
) -> Iterator[bytes]:
    """The page in pieces, in order.

    attributes: the names of those that are read. on_cut: called at the end if the page has more
    than MOST_TAGS tags, of which the others are left out.
    """
    piece, position = _Piece(page, attributes), next_markup(page, 0)
    for _ in range(MOST_TAGS):
        if position < 0:
            yield piece.ended(len(page))
            return
        tag = tag_at(page, position)
        if tag:
            end = piece.add(tag, position)
        elif is_tag(page, position):  # it does not end, so it is none
            yield piece.ended(position)
            return
        else:
            end = markup_end(page, position, piece.svgs > 0)
        if piece.is_full(end):
            yield piece.ended(end)
            piece.begin(end)
        position = next_markup(page, end)
    yield piece.ended(len(page) if position < 0 else position)
    if position >= 0:
        on_cut()


class _Piece:
    """The piece that is being made, and what is open at its end.

    tables, svgs, templates: open elements. Pieces of a template that is too long are empty.
    in_link: whether an `a` is open.
    """

    def __init__(self, page: bytes, attributes: frozenset[bytes]) -> None:
        self._page, self._attributes = page, attributes
        self._parts: list[bytes] = []
        self._begin = self._tags = self._size = 0
        self._formats: Counter[bytes] = Counter()
        self._is_left_out = False
        self.tables = self.svgs = self.templates = 0
        self.in_link = False

    def begin(self, position: int) -> None:
        """Begin the next piece at that position."""
        self._is_left_out = self.templates > 0
        before = _IN_SVG if self.svgs else _IN_TABLE if self.tables else _IN_BODY
        self._parts, self._begin, self._tags, self._size = [before], position, 0, 0
        self._formats.clear()

    def ended(self, position: int) -> bytes:
        """The piece up to that position."""
        if self._is_left_out:
            return b""
        return b"".join([*self._parts, self._page[self._begin : position]])

    def is_full(self, end: int) -> bool:
        """Whether the piece ends at that position."""
        if self._is_left_out:
            return not self.templates
        more_tags, more_bytes = (_MORE_TAGS, _MORE_BYTES) if self.in_link else (0, 0)
        return (
            self._tags >= PIECE_TAGS + more_tags
            or self._size + end - self._begin >= PIECE_BYTES + more_bytes
            or self._formats.total() > _PIECE_FORMATS + more_tags
        )

    def add(self, tag: Tag, begin: int) -> int:
        """The position after the tag at begin, and after its raw contents."""
        is_end, name, rest, end = tag
        self._tags += 1
        if end - begin > LONG_TAG and not self._is_left_out:
            self._shorten(tag, begin)
        if name == b"a":
            self.in_link = not is_end
        elif name in FORMATTING:
            self._formats[name] = max(0, self._formats[name] + (-1 if is_end else 1))
        elif name == b"table":
            self.tables = max(0, self.tables + (-1 if is_end else 1))
        elif name == b"svg" and not rest.endswith(b"/"):
            self.svgs = max(0, self.svgs + (-1 if is_end else 1))
        elif name == b"template" and not self.svgs:
            self._template(is_end, rest)
        if self.svgs and not is_end and name in BREAKOUT:
            self.svgs = 0
        if is_end or self.svgs:
            return end
        if name == b"plaintext":
            return len(self._page)
        return raw_end(self._page, end, name) if name in RAW else end

    def _template(self, is_end: bool, rest: bytes) -> None:
        """A shadow root is content, and is cut like the rest of the page."""
        if is_end:
            self.templates = max(0, self.templates - 1)
        elif self.templates or not _SHADOW(rest):
            self.templates += 1

    def _shorten(self, tag: Tag, begin: int) -> None:
        """Replace a tag by one with the first of each attribute that is read."""
        is_end, name, rest, end = tag
        first: dict[bytes, bytes] = {}
        for key, attribute in () if is_end else attributes_of(rest):
            if key in self._attributes:
                first.setdefault(key, attribute)
        short = b" ".join([b"</" + name if is_end else b"<" + name, *first.values()]) + b">"
        self._parts += [self._page[self._begin : begin], short]
        self._size += begin - self._begin + len(short)
        self._begin = end
