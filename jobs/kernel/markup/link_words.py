"""The words of links: the text of an `a`, and the `alt` of images in it.

Words are separated by one blank, and so are texts with a tag or comment between them. Characters
that are not printable count as blanks. Contents that browsers do not show, as those of scripts and
iframes, are no words; those of `noscript` are, as scripting is off.

The links of a page that was scanned are read by machine code (scan_words.py), and those in a tree
node by node. Both give the same but for a few links in a million on real pages. In a tree, tags
that make no element leave the text around them whole: end tags without a start, and tags of tables
elsewhere, with which a scanned link ends. A link that holds links, in cells or in SVG, has their
words, too. A parser opens an `a` again after some tags, and each has words of its own. In a scan,
references in an `alt` are read as those in text.

The words around a link are read in trees alone, where they are asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawlrank.jobs.kernel.machine.native import Native, NativeFunction, OfThread, of_python
from crawlrank.jobs.kernel.markup.page_text import PageText, unescaped_text
from crawlrank.jobs.kernel.markup.scanner import ROW_BYTES

_HERE = "crawlrank.jobs.kernel.markup"
WORDS = Native(
    f"{_HERE}.scan_words",
    "words_at",
    ("bytes", "int64", "int32*", "int64", "int64*", "int64*", "uint8*"),
    tuple(f"{_HERE}.scan_{name}" for name in ("words", "tokens", "names")),
)
LONGEST_WORDS = 200  # characters of the words of a link
AROUND = 100  # characters before a link, and after it, of which the words around it are
# as scan_words.py has them
_NEXT, _LONG, _WORDED, _NUMBERS, _SPANS, _ROOM = 0, 1, 4, 5, 4, 2**16
_MARK = b"\1"  # in place of the `&` of a reference


@of_python
class WordedReference(str):
    """The `href` of an `a`, with the words of the link, and those around it."""

    __slots__ = ("around", "words")
    words: str
    around: str

    def __new__(cls, reference: str, words: str, around: str = "") -> WordedReference:
        made = str.__new__(cls, reference)  # mypyc has no super().__new__
        made.words, made.around = words, around
        return made


class LinkWords(NamedTuple):
    """The words of some links. text: in UTF-8, a line for each link, ended by a line feed.
    worded: how many links have words."""

    text: bytes
    worded: int

    @classmethod
    def of(cls, lines: Iterable[str]) -> LinkWords:
        """lines: without line feeds, '' for a link without words."""
        each = [*lines]
        text = "\n".join([*each, ""]).encode()
        return cls(text, len(each) - each.count(""))

    @classmethod
    def joined(cls, some: Iterable[LinkWords]) -> LinkWords:
        texts, counts = zip(*some, strict=True)
        return cls(b"".join(texts), sum(counts))

    @property
    def lines(self) -> list[str]:
        """The words of each link."""
        return self.text.decode().split("\n")[:-1]


class _Reading:
    """The machine code, and the room that it writes to."""

    def __init__(self) -> None:
        rooms = array("q", bytes(8 * _NUMBERS)), array("q", bytes(8 * _SPANS))
        lines = array("B", bytes(_ROOM))
        self._addresses = [room.buffer_info()[0] for room in (*rooms, lines)]
        self._numbers, self._spans = rooms
        self._lines = memoryview(lines)
        self._function: NativeFunction | None = None

    def lines(self, page: bytes, rows: bytes) -> tuple[bytes, int, bool]:
        """A line for each row, as bytes of the page; how many have words; and whether one may be
        too long."""
        function = self._function = self._function or WORDS.ready()
        numbers, count = self._numbers, len(rows) // ROW_BYTES
        numbers[_NEXT] = 0
        end = function(page, len(page), rows, count, *self._addresses)
        lines = self._lines[:end].tobytes()
        if numbers[_NEXT] < count:
            written = [lines]
            while numbers[_NEXT] < count:
                end = function(page, len(page), rows, count, *self._addresses)
                written.append(self._lines[:end].tobytes())
            lines = b"".join(written)
        return lines, numbers[_WORDED], bool(numbers[_LONG])


_reading = OfThread(_Reading)


def words_of_links(page: PageText, rows: bytes) -> LinkWords:
    """The words of each link, in the order of the rows. page: that is read by parts. rows: of its
    scan (scanner.py), of elements `a`. Of a row, the position of the tag counts, and where an
    attribute's value is in it, to read the tag in less time; 0 and 0 will do, too."""
    raw, worded, is_long = _reading().lines(page.markup, rows)
    if raw.isascii():
        if is_long:
            return _line_by_line(raw)
        return LinkWords(raw, worded) if raw.find(_MARK) < 0 else _with_characters(raw, worded)
    text = page.text(raw)
    lines = text.split("\n")
    lines.pop()
    if not is_long and text.replace("\n", "").isprintable():  # a mark is not printable
        return LinkWords(text.encode(), len(lines) - lines.count(""))
    shown = (
        line if line.isprintable() and len(line) <= LONGEST_WORDS else _shown_line(line)
        for line in lines
    )  # fmt: skip
    return LinkWords.of(shown)


def _line_by_line(text: bytes) -> LinkWords:
    """Lines of ASCII, of which some may be too long."""
    lines = [
        line if len(line) <= LONGEST_WORDS and line.find(_MARK) < 0 else _shown_bytes(line)
        for line in text.split(b"\n")
    ]
    return LinkWords(b"\n".join(lines), len(lines) - lines.count(b""))


def _with_characters(text: bytes, worded: int) -> LinkWords:
    """Lines of ASCII with characters in place of references, which few of them have. worded: how
    many have words."""
    parts: list[bytes] = []
    begin = 0
    while (position := text.find(_MARK, begin)) >= 0:
        first, last = text.rfind(b"\n", begin, position) + 1 or begin, text.index(b"\n", position)
        shown = _shown_bytes(text[first:last])
        worded -= not shown
        parts += text[begin:first], shown
        begin = last
    parts.append(text[begin:])
    return LinkWords(b"".join(parts), worded)


@lru_cache(2**12)  # pages of a site have the same menus
def _shown_bytes(line: bytes) -> bytes:
    return _shown(_with_references(line.decode())).encode()


@lru_cache(2**12)
def _shown_line(line: str) -> str:
    return _shown(_with_references(line))


def _with_references(line: str) -> str:
    """A line with characters in place of the references that are marked."""
    mark = _MARK.decode()
    return unescaped_text(line.replace("&", "&amp;").replace(mark, "&")) if mark in line else line


def _shown(text: str) -> str:
    """The words of a text, as far as they are read."""
    return _spaced(text)[:LONGEST_WORDS].strip()


def _spaced(text: str) -> str:
    """The words of a text, separated by one blank."""
    if not text.isprintable() and not (text := text.replace("\xa0", " ")).isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def worded_row(reference: str, page: PageText, row: bytes) -> WordedReference:
    """The `href` of an `a` of a scan, whose row this is."""
    return WordedReference(reference, *words_of_links(page, row).lines)


Around = Mapping[int, tuple[str, str]]  # by `mem_id`: the words of a link, and those around it
_NO_WORDS = frozenset({"iframe", "noembed", "noframes", "script", "style"})
_MOST_NODES = 100  # in a link; text after them is left out


def words_in(node: LexborNode) -> str:
    """The words of an `a` in a tree."""
    words, size = list[str](), 0
    for number, inner in enumerate(node.traverse(include_text=True)):
        if number >= _MOST_NODES or size > LONGEST_WORDS:
            break
        new = _text_of(inner).split()
        words += new
        size += sum(map(len, new)) + len(new)
    return _shown(" ".join(words))


def _text_of(node: LexborNode) -> str:
    """What is shown of this node alone."""
    if node.tag == "-text":
        hidden = node.parent is not None and node.parent.tag in _NO_WORDS
        return "" if hidden else node.text() or ""
    return (node.attributes.get("alt") or "") if node.tag == "img" else ""


def worded_node(reference: str, node: LexborNode, around: Around) -> WordedReference:
    """The `href` of an `a` in a tree. around: as of `words_around`."""
    if texts := around.get(node.mem_id):
        return WordedReference(reference, *texts)
    words = words_in(node)
    return WordedReference(reference, words, words)


def words_around(root: LexborNode, number: int = 0) -> Around:
    """The words of each `a` in a tree, alone and with those before and after it: of 100 characters
    on each side, of the text of the page without its title. number: of the piece of a page, whose
    text begins with a character that is not the page's, but in the first (html_pieces.py)."""
    pieces, size, links = list[str](), 0, list[tuple[int, int, str]]()
    for node in root.traverse(include_text=True):
        if node.tag == "a":
            links.append((node.mem_id, size, words_in(node)))
            continue
        shown = _text_of(node)
        if number and shown:
            shown, number = shown[1:], 0
        if shown and not shown.isspace() and (piece := _spaced(shown)) and not _is_title(node):
            pieces.append(piece)
            size += len(piece) + 1
    text = " ".join(pieces)
    return {link: (words, _with_neighbours(text, begin, words)) for link, begin, words in links}


def _with_neighbours(text: str, begin: int, words: str) -> str:
    """The words that begin here in a text, with the whole words of AROUND characters before them,
    and after them."""
    first, last = max(0, begin - 1 - AROUND), begin + len(words)
    if words and text[last : last + 1].strip():  # a long link, whose words were cut
        last = max(last, text.find(" ", last, last + AROUND))
    last += bool(words) and text[last : last + 1] == " "
    before, after = text[first : max(0, begin - 1)], text[last : last + AROUND]
    if first and text[first - 1] != " ":
        before = before.partition(" ")[2] or before
    if text[last + AROUND : last + AROUND + 1].strip():
        after = after.rpartition(" ")[0] or after
    return " ".join(f"{before} {words} {after}".split())


def _is_title(node: LexborNode) -> bool:
    title = node.parent
    if title is None or title.tag != "title" or title.parent is None:
        return False
    return title.parent.tag == "head"
