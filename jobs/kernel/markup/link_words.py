"""The words of links: the text of an `a`, and the `alt` of images in it.

Words are separated by one blank, and so are texts with a tag or comment between them. Characters
that are not printable count as blanks. Contents that browsers do not show, as those of scripts and
iframes, are no words; those of `noscript` are, as scripting is off.

The links of a page that is scanned are read in the same pass (scan_words.py), and those in a tree
node by node. Both give the same but for a few links in a million on real pages. In a tree, tags
that make no element leave the text around them whole: end tags without a start, and tags of tables
elsewhere, with which a scanned link ends. A link that holds links, in cells or in SVG, has their
words, too. A parser opens an `a` again after some tags, and each has words of its own. In a scan,
references in an `alt` are read as those in text.

The words around a link are read in trees alone, where they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawlrank.jobs.kernel.machine.native import of_python
from crawlrank.jobs.kernel.markup.page_text import PageText, unescaped_text
from crawlrank.jobs.kernel.markup.scanner import References

LONGEST_WORDS = 200  # characters of the words of a link
AROUND = 100  # characters before a link, and after it, of which the words around it are
# in place of the `&` of a reference, and after a line that may be too long, as of scan_words.py
_MARK = b"\1"
_LONGEST_NAME = 33  # characters of a reference after its `&`


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


def words_of_links(page: PageText, references: References) -> LinkWords:
    """The words of each link, in the order of the page. page: that is read by parts. references: of
    a scan that reads words."""
    return _words_in(page, references.lines, references.worded)


def _words_in(page: PageText, raw: bytes, worded: int) -> LinkWords:
    """raw: a line for each link, as of scan_words.py. worded: how many have words."""
    if raw.isascii():
        return LinkWords(raw, worded) if raw.find(_MARK) < 0 else _with_characters(raw, worded)
    text = page.text(raw)
    lines = text.split("\n")
    lines.pop()
    if text.replace("\n", "").isprintable():  # a mark is not printable
        return LinkWords(text.encode(), len(lines) - lines.count(""))
    return LinkWords.of(line if line.isprintable() else _shown_line(line) for line in lines)


def _with_characters(text: bytes, worded: int) -> LinkWords:
    """Lines of ASCII as they are shown, where few of them are marked. worded: how many have
    words."""
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
    if line.endswith(mark):  # it is long, and may be cut in a reference
        line = line.rstrip(mark)
        before, begins, name = line.rpartition(mark)
        if begins and len(name) < _LONGEST_NAME and ";" not in name:
            line = before
    return unescaped_text(line.replace("&", "&amp;").replace(mark, "&")) if mark in line else line


def _shown(text: str) -> str:
    """The words of a text, as far as they are read."""
    return _spaced(text)[:LONGEST_WORDS].strip()


def _spaced(text: str) -> str:
    """The words of a text, separated by one blank."""
    if not text.isprintable() and not (text := text.replace("\xa0", " ")).isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def worded_tag(reference: str, page: PageText, line: bytes) -> WordedReference:
    """The `href` of an `a` of a scan, which has this line."""
    words = _words_in(page, line + b"\n", 1)
    return WordedReference(reference, *words.lines)


Around = Mapping[int, tuple[str, str]]  # by `mem_id`: the words of a link, and those around it
_NO_WORDS = frozenset({"iframe", "noembed", "noframes", "script", "style"})
_MOST_NODES = 100  # in a link; text after them is left out
_LONGEST_TEXT = 2**11  # characters of a node; a link may be in many others, and so may its text


def words_in(node: LexborNode) -> str:
    """The words of an `a` in a tree."""
    words, size = list[str](), 0
    for number, inner in enumerate(node.traverse(include_text=True)):
        if number >= _MOST_NODES or size > LONGEST_WORDS:
            break
        new = _text_of(inner)[:_LONGEST_TEXT].split()
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
