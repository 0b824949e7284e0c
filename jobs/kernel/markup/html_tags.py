"""The tags of a page that may hold links, without a parser's tree: from the tokens of the page
(html_tokens.py) and the open elements around them (html_context.py).

Time and memory are linear in the page. Two things differ from the tree of the HTML standard:
elements that it opens again are links again there, and it moves some elements out of a table to the
position before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlrank.jobs.kernel.markup.html_context import Context
from crawlrank.jobs.kernel.markup.html_frames import Frameset
from crawlrank.jobs.kernel.markup.html_head import head_end
from crawlrank.jobs.kernel.markup.html_hosts import may_hold_shadow_roots
from crawlrank.jobs.kernel.markup.html_names import HTML, TABLE_PARTS
from crawlrank.jobs.kernel.markup.html_tokens import (
    NAME_END,
    RAW,
    SPACE,
    Tag,
    attributes_of,
    is_tag,
    markup_end,
    next_markup,
    raw_end,
    tag_at,
    tags_but,
)

# A prefix of element names of HTML, with which they mean nothing to a parser. Elements of SVG and
# MathML keep their names, inside an `svg` or `math`.
MARK = "l-"
_MARK = MARK.encode()
_LONG_REST = 2**9  # bytes of attributes; of longer ones the parser gets only those that are read

_FOREIGN = re.compile(rb"<(?:svg|math)" + NAME_END, re.IGNORECASE).search
_FRAMESET = re.compile(rb"<frameset" + NAME_END, re.IGNORECASE).search
_ANYWHERE = re.compile(rb"style|background", re.IGNORECASE).search  # of any element, or of many
_STYLE = re.compile(rb"style", re.IGNORECASE).search
_TABLE = frozenset((b"table",))
_STRUCTURE = RAW | frozenset(b"body head html image plaintext template".split())
_FORM = frozenset((b"form",))
_AT_ONCE, _HELD = 100, 2**16  # documents in a list; as long as a frameset may replace them
_SELECT = frozenset((b"select", b"input", b"keygen"))
_ONLY_ONCE = frozenset((b"html", b"body"))  # a second tag only adds attributes to the first
_OF_DOCUMENT = frozenset((b"base", b"meta"))  # which mean nothing in a shadow root
_BLANK = SPACE + b"\0"
MOST_TAGS = 2**19  # that are looked at, each for some 4 µs


class Tags:
    """Each tag that makes an element of those in wanted, as a document of its own. attributes:
    those that are read; `style` among them adds the tags of all elements with that attribute, and
    style elements with their contents. is_cut: whether the page has more than MOST_TAGS."""

    def __init__(self, page: bytes, wanted: frozenset[bytes], attributes: frozenset[bytes]) -> None:
        self._page, self._wanted, self._attributes = page, wanted, attributes
        self._styled = b"style" in attributes
        self._frames = Frameset() if _FRAMESET(page) else None
        self._sheet = _Sheet()
        # Any tag may close an open element; on most pages only few tags matter.
        self._body = head_end(page) if may_hold_shadow_roots(page) else None
        follows = self._frames is not None or _FOREIGN(page) is not None
        self._follows_all = follows or self._body is not None
        self._context = Context(self._follows_all)
        structure = _STRUCTURE | (wanted & _FORM) | (_SELECT if self._styled else frozenset())
        self._structure = structure | (_TABLE if self._styled or wanted & _TABLE else frozenset())
        starts = self._structure | wanted - TABLE_PARTS - {b"frame"}
        self._passed = tags_but(starts, self._structure)
        self._looks = self._styled or bool(wanted & TABLE_PARTS)
        self._headless, self.is_cut = True, False
        self._careful = 0  # up to this position a tag may have an attribute of _ANYWHERE
        self._seen: dict[bytes, frozenset[bytes]] = {}
        self._documents: list[tuple[bool, bytes]] = []  # is it in the head, document

    def __iter__(self) -> Iterator[list[bytes]]:
        """Lists of documents, in the order of the page."""
        page, last, left = self._page, 0, MOST_TAGS
        position = next_markup(page, 0)
        while position >= 0:
            if not left:
                self.is_cut = True
                break
            left -= 1
            if self._follows_all:
                self._text(page[last:position])
            else:
                position = self._pass(position)
                if position < 0:
                    break
            tag = tag_at(page, position)
            if tag:
                last = self._tag(tag, position)
            elif is_tag(page, position):
                break  # it does not end
            else:
                sections = self._context.is_foreign
                last = markup_end(page, position, sections)
                if sections and page.startswith(b"<![CDATA[", position):
                    self._text(page[position:last])
            held = self._frames and self._frames.may_begin
            if len(self._documents) >= (_HELD if held else _AT_ONCE):
                yield self._taken()
            position = next_markup(page, last)
        if self._follows_all:
            self._text(page[last:] if position < 0 else b"")
        self._end_sheet()
        yield self._taken()

    def _pass(self, position: int) -> int:
        """The position of the next markup that may matter, from this one on; -1 at the end."""
        page = self._page
        while position >= self._careful and (passed := self._passed(page, position)):
            if self._looks and (attribute := _ANYWHERE(page, position, passed.end())):
                self._careful = attribute.end()
                before = page.rfind(b"<", position, attribute.start())
                sure = self._passed(page, position, before)
                return next_markup(page, sure.end()) if sure else position
            position = next_markup(page, passed.end())
            if position < 0:
                return position
        return position

    def _taken(self) -> list[bytes]:
        documents = [document for _, document in self._documents]
        self._documents.clear()
        return documents

    def _text(self, text: bytes) -> None:
        if self._frames and not self._context.in_template and text.strip(_BLANK):
            self._frames.may_begin = False
        self._sheet.add(text)

    def _tag(self, tag: Tag, begin: int) -> int:
        """The position to go on from: behind the tag at begin, and behind its raw contents."""
        is_end, name, rest, position = tag
        context = self._context
        if not self._follows_all and name not in self._structure:
            if not (is_end or name == b"frame" or (name in TABLE_PARTS and not context.in_table)):
                self._make(HTML, name, rest)
        elif self._frames and self._frames.has_begun:
            return self._in_frames(is_end, name, rest, position)
        elif is_end:
            if self._frames and name == b"br":
                self._frames.may_begin = False
            context.end(name)
        else:
            position = self._start(name, rest, begin, position)
        if self._sheet.parts and not context.holds(self._sheet.depth, self._sheet.entry):
            self._end_sheet()
        return position

    def _start(self, name: bytes, rest: bytes, begin: int, position: int) -> int:
        context = self._context
        context.in_body = self._body is not None and begin >= self._body
        space = context.start(name, rest)
        if space is None:
            return self._begin_frames(rest, position) if name == b"frameset" else position
        if space:
            self._make(space, name, rest)
            if self._frames:
                self._frames.in_head = False
            if self._styled and not context.templates and context.current == space + b"style":
                self._sheet.begin(context.depth - 1, context.current)
            return position
        if name == b"head":
            may_be, self._headless = self._headless and self._may_be_head(begin), False
            if not may_be:
                return position
        return self._start_html(b"img" if name == b"image" else name, rest, position)

    def _start_html(self, name: bytes, rest: bytes, position: int) -> int:
        if self._frames:
            self._frames.start(name, rest)
        if name == b"plaintext":
            self._make(HTML, name, rest)
            return len(self._page)
        end = raw_end(self._page, position, name) if name in RAW else position
        if name == b"style" and self._styled and not self._context.templates:
            sheet = b"<style" + self._few(rest) + b">" + self._page[position:end] + b"</style>"
            self._add(sheet)
        else:
            self._make(HTML, name, rest)
        return end

    def _may_be_head(self, position: int) -> bool:
        """Whether the head can begin here: before it are only comments, the html tag and end tags
        without meaning."""
        last = 0
        while (begin := next_markup(self._page, last)) < position:
            tag = tag_at(self._page, begin)
            if self._page[last:begin].strip(_BLANK) or (tag and _makes_head(tag)):
                return False
            last = tag[3] if tag else markup_end(self._page, begin, False)
        return not self._page[last:position].strip(_BLANK)

    def _begin_frames(self, rest: bytes, position: int) -> int:
        """Begin a frameset where it replaces the body; drop the documents of the body."""
        if self._frames and self._frames.may_begin and not self._context.in_template:
            self._frames.begin()
            self._documents = [entry for entry in self._documents if entry[0]]
            self._make(HTML, b"frameset", rest)
        return position

    def _in_frames(self, is_end: bool, name: bytes, rest: bytes, position: int) -> int:
        frames = self._frames
        if frames and name == b"frameset":
            if frames.depth and not is_end:
                self._make(HTML, name, rest)
            frames.depth = max(0, frames.depth + (-1 if is_end else 1) * bool(frames.depth))
        elif not is_end and (name == b"html" or (frames and name == b"frame" and frames.depth)):
            self._make(HTML, name, rest)
        elif name == b"noframes" and not is_end:
            self._make(HTML, name, rest)
            return raw_end(self._page, position, name)
        return position

    def _make(self, space: bytes, name: bytes, rest: bytes) -> None:
        if self._context.templates > (name == b"template" and space == HTML):
            return
        if self._context.shadows and not space and name in _OF_DOCUMENT:
            return
        if name not in self._wanted and not (self._styled and _STYLE(rest)):
            return
        rest = self._new(name, rest) if name in _ONLY_ONCE and not space else self._few(rest)
        if space:
            around = space.strip()
            tag = b"<%b><%b%b></%b></%b>" % (around, name, rest, name, around)
        else:
            tag = b"<%b%b%b></%b%b>" % (_MARK, name, rest, _MARK, name)
        self._add(tag)

    def _add(self, document: bytes) -> None:
        self._documents.append((self._frames is not None and self._frames.in_head, document))

    def _few(self, rest: bytes) -> bytes:
        """Long attributes without those that are not read: a parser's time grows with the square of
        their number."""
        if len(rest) <= _LONG_REST:
            return rest
        return b" ".join([b"", *self._first_of_each(rest).values()])

    def _new(self, name: bytes, rest: bytes) -> bytes:
        """The attributes that no tag with this name had before."""
        seen = self._seen.get(name, frozenset())
        first = self._first_of_each(rest)
        self._seen[name] = seen.union(first)
        return b" ".join([b"", *(text for key, text in first.items() if key not in seen)])

    def _first_of_each(self, rest: bytes) -> dict[bytes, bytes]:
        """The attributes that are read, by name; the first of each name counts."""
        first: dict[bytes, bytes] = {}
        for name, attribute in attributes_of(rest):
            if name in self._attributes:
                first.setdefault(name, attribute)
        return first

    def _end_sheet(self) -> None:
        if self._sheet.parts:
            self._add(b"<svg>" + b"".join(self._sheet.parts) + b"</svg>")
            self._sheet.parts.clear()


def _makes_head(tag: Tag) -> bool:
    is_end, name, _, _ = tag
    return name in (b"br", b"body", b"head", b"html") if is_end else name != b"html"


class _Sheet:
    """The text of a style element of SVG or MathML, which may hold tags; collected while the
    context holds this entry at this depth."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.depth, self.entry = 0, b""

    def begin(self, depth: int, entry: bytes) -> None:
        if not self.parts:
            self.parts, self.depth, self.entry = [b"<style>"], depth, entry

    def add(self, text: bytes) -> None:
        if self.parts:
            self.parts.append(text)
