"""Large or strange pages, reduced to the tags that may hold links, in pieces that an HTML parser
reads in bounded time and memory.

The HTML standard's algorithm takes time in proportion to tags times depth, to open formatting
elements times paragraphs (memory too), and to the square of a tag's attributes. So the parser does
not get a page with more than MANY_TAGS tags, with more than LONG_TAG bytes between two `<`, or with
more than SIMPLE_BYTES bytes. Instead it gets the start tags that it would have made elements of
(jobs/kernel/markup/html_tags.py), each alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from crawlrank.jobs.kernel.markup.html_names import FORMATTING
from crawlrank.jobs.kernel.markup.html_tags import Tags
from crawlrank.jobs.kernel.markup.html_tokens import NAME_END

# Bytes of a page; the bytes behind them are not parsed. Google reads 2 MB of a page, or 15 MB;
# Common Crawl keeps 5 MiB. Hostile pages take up to 1 s a MB.
LONGEST_PAGE = 2**23
MANY_TAGS = 10_000  # nested, they take 0.13 s
PIECE_TAGS, PIECE_BYTES = 1000, 2**17
SIMPLE_BYTES = 2**21  # attributes take 30 times their size in memory
LONG_TAG = 2**14
_MANY_OPENED = 300_000  # elements that a parser may open again; they take 90 MB
_FEW_TAGS = 1000
_SHORTEST_TAG = len("<p>")

# Whole tags of formatting elements (but `a`) if their attributes are simple, else their beginnings.
_FORMATTING = re.compile(
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
    while end - position > LONG_TAG:  # from each `<` to the last one within LONG_TAG behind it
        position = page.rfind(b"<", position, position + LONG_TAG + 1) + 1
        if not position:
            return False
    return True


def _opened(page: bytes) -> int:
    """How many formatting elements may be open at once; a parser keeps three equal ones."""
    alike = Counter(_FORMATTING(page))
    return sum(min(3, count) if tag.endswith(b">") else count for tag, count in alike.items())


def pieces(
    page: bytes,
    elements: Iterable[str],
    attributes: frozenset[str],
    on_cut: Callable[[], None] = lambda: None,
) -> Iterator[bytes]:
    """The tags of these elements, in order, in documents for a parser. attributes: those that are
    read; `style` among them adds the tags of all elements with that attribute, and the contents of
    style elements. on_cut: called at the end where the page has more tags than are read."""
    tags = Tags(
        page,
        frozenset(name.encode() for name in elements),
        frozenset(name.encode() for name in attributes),
    )
    piece: list[bytes] = []
    size = 0
    for documents in tags:
        piece += documents
        size += sum(map(len, documents))
        if size > PIECE_BYTES or len(piece) >= PIECE_TAGS:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)
    if tags.is_cut:
        on_cut()
