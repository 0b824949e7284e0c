"""Large or strange pages reduced to their tags that may hold links, in pieces that an HTML parser
gets through in bounded time and memory.

The parser's time grows with tags times depth, with open formatting elements times paragraphs (as
does its memory) and with the square of a tag's attributes, as the HTML standard's algorithm does.
So a page of more tags than MANY_TAGS, with a longer stretch without `<` than LONG_TAG, or that is
larger than SIMPLE_BYTES, is not given to it. It is given the start tags that it would have made
elements of (jobs/kernel/markup/html_tags.py), each alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from jobs.kernel.markup.html_tags import Tags

# Bytes of a page; what is behind them is not parsed. Google reads 2 MB of a page, or 15 MB, Common
# Crawl keeps 5 MiB; hostile ones take up to 1 s a MB.
LONGEST_PAGE = 2**23
MANY_TAGS = 10_000  # so many that are nested take 0.13 s
PIECE_TAGS, PIECE_BYTES = 1000, 2**17
SIMPLE_BYTES = 2**21  # attributes take 30 times their size in memory
LONG_TAG = 2**14
_MANY_OPENED = 300_000  # elements that a parser may make of those that it opens again; 90 MB
_FEW_TAGS = 1000
_SHORTEST_TAG = len("<p>")

# Those with simple attributes to their end, of the others their beginning.
_FORMATTING = re.compile(
    rb"<(?=[bcefinstu])(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\t\n\f\r />])"
    rb"(?:(?:[\t\n\f\r ]+[a-z-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[\w#%.+-]+(?=[\t\n\f\r >])))?){0,9}"
    rb"[\t\n\f\r ]*>)?",
    re.IGNORECASE,
).findall


def is_simple(page: bytes) -> bool:
    """Whether a parser may be given the page as it is: it is small and has at most MANY_TAGS `<`,
    none more than LONG_TAG bytes apart, and few formatting elements to be opened again."""
    place, end = 0, len(page)
    if end > SIMPLE_BYTES:
        return False
    if end > _FEW_TAGS * _SHORTEST_TAG:
        tags = page.count(b"<")
        if tags > MANY_TAGS or (tags > _FEW_TAGS and _opened(page) * tags > _MANY_OPENED):
            return False
    while end - place > LONG_TAG:  # from the last `<` within reach to the next: few bytes are seen
        place = page.rfind(b"<", place, place + LONG_TAG + 1) + 1
        if not place:
            return False
    return True


def _opened(page: bytes) -> int:
    """How many formatting elements may be open at once: of the same ones a parser keeps three."""
    alike = Counter(_FORMATTING(page))
    return sum(min(3, count) if tag.endswith(b">") else count for tag, count in alike.items())


def pieces(page: bytes, elements: Iterable[str], attributes: frozenset[str]) -> Iterator[bytes]:
    """The tags of these elements, in order, in documents for a parser. attributes: what is read of
    them; with `style` among them, also the tags of all elements with that attribute, and the
    contents of style elements."""
    tags = Tags(
        page,
        frozenset(name.encode() for name in elements),
        frozenset(name.encode() for name in attributes),
    )
    piece: list[bytes] = []
    size = 0
    for some in tags:
        piece += some
        size += sum(map(len, some))
        if size > PIECE_BYTES or len(piece) >= PIECE_TAGS:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)
