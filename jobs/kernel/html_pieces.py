"""Large or strange pages cut into pieces that an HTML parser gets through in bounded time.

The parser's time grows with tags times depth, with open formatting elements times paragraphs (as
does its memory) and with the square of a tag's attributes, as the HTML standard's algorithm does.
So a page of more tags than MANY_TAGS, with a longer stretch without `<` than LONG_TAG, or that is
larger than SIMPLE_BYTES, loses its comments and the contents of elements that hold no tags, its
formatting elements become others of no meaning, and it is cut between tags. A piece is parsed
alone: links stand in start tags, which the cut leaves whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Bytes of a page; what is behind them is not parsed. Google reads 2 MB of a page, or 15 MB, Common
# Crawl keeps 5 MiB; hostile ones take up to 0.4 s a MB.
LONGEST_PAGE = 2**23
MANY_TAGS = 2000
PIECE_TAGS = 1000
SIMPLE_BYTES = 2**21  # attributes take 30 times their size in memory
LONG_TAG = 2**14
_SHORTEST_TAG = len("<p>")

# Of what holds no tags: its beginning, and by name its end, written so that each is looked for by
# the bytes that it begins with. An end that never comes is at the end of the page, as in the
# standard: so each page is passed over once, however many beginnings are in it.
_NO_TAGS = (
    *("script", "style", "template", "textarea", "title"),
    *("xmp", "iframe", "noembed", "noframes"),
)
_BEGINNING = re.compile(
    rb"<(?:!--|((?i:%b))\b[^>]{0,4000}>)" % "|".join(_NO_TAGS).encode(), re.DOTALL
).search
_COMMENT_END = re.compile(rb"--!?>").search
_ENDS = {
    name.encode(): re.compile(
        "</{}(?=[\\s/>])".format("".join(f"[{c}{c.upper()}]" for c in name)).encode()
    ).search
    for name in _NO_TAGS
}
_TAG = re.compile(rb"<[A-Za-z/]").search
# They hold no links, and a parser opens all that are open again in each paragraph or cell. `a` is
# one too, but there is never more than one of it open. As `<wbr>` they are empty elements, and
# their end tags, which are none of its, mean nothing. The first letter is looked at before names
# are tried one after the other.
_FORMATTING = re.compile(
    rb"<(?=[bcefinstu])(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])",
    re.IGNORECASE,
).sub


def pieces(page: bytes) -> Iterator[bytes]:
    """The page itself, nearly always; else its pieces in order."""
    page = page[:LONGEST_PAGE]
    if not _is_simple(page):
        page = b"".join(_tags(page))
        if not _is_simple(page):
            yield from _cut(_FORMATTING(b"<wbr", page))
            return
    yield page


def _is_simple(page: bytes) -> bool:
    """Whether it is small and has at most MANY_TAGS `<`, none more than LONG_TAG bytes apart."""
    place, end = 0, len(page)
    if end > SIMPLE_BYTES or (end > MANY_TAGS * _SHORTEST_TAG and page.count(b"<") > MANY_TAGS):
        return False
    while end - place > LONG_TAG:  # from the last `<` within reach to the next: few bytes are seen
        place = page.rfind(b"<", place, place + LONG_TAG + 1) + 1
        if not place:
            return False
    return True


def _tags(page: bytes) -> Iterator[bytes]:
    """The page in parts, without comments and contents that hold no tags; start tags stay, as
    scripts and iframes have links in theirs, and each gets an end tag."""
    place = 0
    while beginning := _BEGINNING(page, place):
        yield page[place : beginning.start()]
        name = beginning[1]
        if name:
            yield beginning[0] + b"</" + name
        end = (
            _ENDS[name.lower()](page, beginning.end())
            if name
            else _COMMENT_END(page, beginning.end())
        )
        if not end:
            return
        place = end.end()
    yield page[place:]


def _cut(page: bytes) -> Iterator[bytes]:
    """Pieces of some LONG_TAG bytes, fewer where they hold more than PIECE_TAGS `<`, each up to the
    next tag; a tag or text longer than LONG_TAG ends its piece, cut short."""
    begin = 0
    while begin < len(page):
        size = LONG_TAG
        while page.count(b"<", begin, begin + size) > PIECE_TAGS:
            size //= 2
        tag = _TAG(page, begin + size)
        end = tag.start() if tag else len(page)
        last = page.rfind(b"<", begin, begin + size)
        yield page[begin : min(end, max(begin, last) + LONG_TAG)]
        begin = end
