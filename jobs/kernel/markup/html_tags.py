"""The tags of a page that may hold links, without a parser's tree: by the tokens of the page
(html_tokens.py) and what is open where they stand (html_context.py).

Time and memory are linear in the page. What the tree of the HTML standard has beside it: elements
that are opened again, which are links again; and where in the tree an element stands, which may
put one before a table that stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.kernel.markup.html_context import Context
from jobs.kernel.markup.html_frames import Frames
from jobs.kernel.markup.html_names import HTML, TABLE_PARTS
from jobs.kernel.markup.html_tokens import (
    RAW,
    Tag,
    attributes_of,
    is_tag,
    markup_end,
    next_markup,
    raw_end,
    tag_at,
    tags_but,
)

# Before the name of an element of HTML, so that it means nothing to a parser. One of SVG or MathML
# keeps its name, inside an `svg` or `math`.
MARK = "l-"
_MARK = MARK.encode()
_LONG_REST = 2**9  # bytes of attributes; of more, only those that are read are given to the parser

_FOREIGN = re.compile(rb"<(?:svg|math)[\t\n\f\r />]", re.IGNORECASE).search
_FRAMESET = re.compile(rb"<frameset[\t\n\f\r />]", re.IGNORECASE).search
_ANYWHERE = re.compile(rb"style|background", re.IGNORECASE).search  # of any element, or of many
_STYLE = re.compile(rb"style", re.IGNORECASE).search
_TABLE = frozenset((b"table",))
_STRUCTURE = RAW | frozenset(b"body head html image plaintext template".split())
_FORM = frozenset((b"form",))
_MANY, _HELD = 100, 2**16  # tags that are given together; and that a set of frames may replace
_SELECT = frozenset((b"select", b"input", b"keygen"))
_ONLY_ONCE = frozenset((b"html", b"body"))  # a second tag adds the attributes that it lacks
_BLANK = b"\t\n\f\r \0"


class Tags:
    """Each tag that makes an element of those in wanted, as a document of its own. attributes: what
    is read of them; with `style` among them, also the tags of all elements with that attribute, and
    style elements with what is in them."""

    def __init__(self, page: bytes, wanted: frozenset[bytes], attributes: frozenset[bytes]) -> None:
        self._page, self._wanted, self._attributes = page, wanted, attributes
        self._styled = b"style" in attributes
        self._frames = Frames() if _FRAMESET(page) else None
        self._sheet = _Sheet()
        # Any tag may close what is open, but nearly always few matter.
        self._follows_all = self._frames is not None or _FOREIGN(page) is not None
        self._context = Context(self._follows_all)
        structure = _STRUCTURE | (wanted & _FORM) | (_SELECT if self._styled else frozenset())
        self._structure = structure | (_TABLE if self._styled or wanted & _TABLE else frozenset())
        passed_not = self._structure | wanted - TABLE_PARTS - {b"frame"}
        self._passed = tags_but(passed_not, self._structure)
        self._looks = self._styled or bool(wanted & TABLE_PARTS)
        self._headless = True
        self._careful = 0  # up to here a tag may have such an attribute
        self._seen: dict[bytes, frozenset[bytes]] = {}
        self._made: list[tuple[bool, bytes]] = []  # whether it is in the head, document

    def __iter__(self) -> Iterator[list[bytes]]:
        """In lists, in order."""
        page, last = self._page, 0
        place = next_markup(page, 0)
        while place >= 0:
            if self._follows_all:
                self._text(page[last:place])
            else:
                place = self._pass(place)
                if place < 0:
                    break
            tag = tag_at(page, place)
            if tag:
                last = self._tag(tag, place)
            elif is_tag(page, place):
                break  # it does not end
            else:
                sections = self._context.is_foreign
                last = markup_end(page, place, sections)
                if sections and page.startswith(b"<![CDATA[", place):
                    self._text(page[place:last])
            if len(self._made) >= (_HELD if self._frames and self._frames.may_begin else _MANY):
                yield self._taken()
            place = next_markup(page, last)
        if self._follows_all:
            self._text(page[last:] if place < 0 else b"")
        self._end_sheet()
        yield self._taken()

    def _pass(self, place: int) -> int:
        """Where the next markup that may matter begins, at or behind place; -1 at the end."""
        page = self._page
        while place >= self._careful and (passed := self._passed(page, place)):
            if self._looks and (attribute := _ANYWHERE(page, place, passed.end())):
                self._careful = attribute.end()
                before = page.rfind(b"<", place, attribute.start())
                sure = self._passed(page, place, before)
                return next_markup(page, sure.end()) if sure else place
            place = next_markup(page, passed.end())
            if place < 0:
                return place
        return place

    def _taken(self) -> list[bytes]:
        made = [document for _, document in self._made]
        self._made.clear()
        return made

    def _text(self, text: bytes) -> None:
        if self._frames and not self._context.templates and text.strip(_BLANK):
            self._frames.may_begin = False
        self._sheet.add(text)

    def _tag(self, tag: Tag, begin: int) -> int:
        """Where the page goes on behind a tag that stands at begin, and behind what it holds."""
        is_end, name, rest, place = tag
        context = self._context
        if not self._follows_all and name not in self._structure:
            if not (is_end or name == b"frame" or (name in TABLE_PARTS and not context.in_table)):
                self._make(HTML, name, rest)
        elif self._frames and self._frames.has_begun:
            return self._in_frames(is_end, name, rest, place)
        elif is_end:
            if self._frames and name == b"br":
                self._frames.may_begin = False
            context.end(name)
        else:
            place = self._start(name, rest, begin, place)
        if self._sheet.parts and not context.holds(self._sheet.depth, self._sheet.entry):
            self._end_sheet()
        return place

    def _start(self, name: bytes, rest: bytes, begin: int, place: int) -> int:
        context = self._context
        space = context.start(name, rest)
        if space is None:
            return self._begin_frames(rest, place) if name == b"frameset" else place
        if space:
            self._make(space, name, rest)
            if self._frames:
                self._frames.in_head = False
            if self._styled and not context.templates and context.current == space + b"style":
                self._sheet.begin(context.depth - 1, context.current)
            return place
        if name == b"head":
            may_be, self._headless = self._headless and self._may_be_head(begin), False
            if not may_be:
                return place
        return self._start_html(b"img" if name == b"image" else name, rest, place)

    def _start_html(self, name: bytes, rest: bytes, place: int) -> int:
        if self._frames:
            self._frames.start(name, rest)
        if name == b"plaintext":
            self._make(HTML, name, rest)
            return len(self._page)
        end = raw_end(self._page, place, name) if name in RAW else place
        if name == b"style" and self._styled and not self._context.templates:
            sheet = b"<style" + self._few(rest) + b">" + self._page[place:end] + b"</style>"
            self._add(sheet)
        else:
            self._make(HTML, name, rest)
        return end

    def _may_be_head(self, place: int) -> bool:
        """Whether there is none yet: nothing stands before place but comments, the html tag and
        end tags of nothing."""
        last = 0
        while (begin := next_markup(self._page, last)) < place:
            tag = tag_at(self._page, begin)
            if self._page[last:begin].strip(_BLANK) or (tag and _makes_head(tag)):
                return False
            last = tag[3] if tag else markup_end(self._page, begin, False)
        return not self._page[last:place].strip(_BLANK)

    def _begin_frames(self, rest: bytes, place: int) -> int:
        """They replace a body that is as good as empty, and what it holds."""
        if self._frames and self._frames.may_begin and not self._context.templates:
            self._frames.begin()
            self._made = [made for made in self._made if made[0]]
            self._make(HTML, b"frameset", rest)
        return place

    def _in_frames(self, is_end: bool, name: bytes, rest: bytes, place: int) -> int:
        frames = self._frames
        if frames and name == b"frameset":
            if frames.depth and not is_end:
                self._make(HTML, name, rest)
            frames.depth = max(0, frames.depth + (-1 if is_end else 1) * bool(frames.depth))
        elif not is_end and (name == b"html" or (frames and name == b"frame" and frames.depth)):
            self._make(HTML, name, rest)
        elif name == b"noframes" and not is_end:
            self._make(HTML, name, rest)
            return raw_end(self._page, place, name)
        return place

    def _make(self, space: bytes, name: bytes, rest: bytes) -> None:
        if self._context.templates > (name == b"template" and space == HTML):
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
        self._made.append((self._frames is not None and self._frames.in_head, document))

    def _few(self, rest: bytes) -> bytes:
        """A parser takes the square of the number of attributes."""
        if len(rest) <= _LONG_REST:
            return rest
        few: dict[bytes, bytes] = {}
        for name, text in attributes_of(rest):
            if name in self._attributes:
                few.setdefault(name, text)
        return b"".join([b" " + text for text in few.values()])

    def _new(self, name: bytes, rest: bytes) -> bytes:
        seen = self._seen.get(name, frozenset())
        new: dict[bytes, bytes] = {}
        for attribute, text in attributes_of(rest):
            if attribute in self._attributes and attribute not in seen:
                new.setdefault(attribute, text)
        self._seen[name] = seen.union(new)
        return b"".join([b" " + text for text in new.values()])

    def _end_sheet(self) -> None:
        if self._sheet.parts:
            self._add(b"<svg>" + b"".join(self._sheet.parts) + b"</svg>")
            self._sheet.parts.clear()


def _makes_head(tag: Tag) -> bool:
    is_end, name, _, _ = tag
    return name in (b"br", b"body", b"head", b"html") if is_end else name != b"html"


class _Sheet:
    """The text of a style element of SVG or MathML, which may hold tags, while it is open in the
    context as this entry at that depth."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.depth, self.entry = 0, b""

    def begin(self, depth: int, entry: bytes) -> None:
        if not self.parts:
            self.parts, self.depth, self.entry = [b"<style>"], depth, entry

    def add(self, text: bytes) -> None:
        if self.parts:
            self.parts.append(text)
