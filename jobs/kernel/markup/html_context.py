"""The open elements of a page, as far as the meaning of its next tag depends on them.

In `<svg>` and `<math>` a title may hold tags and a comment may be a CDATA section, until an element
of HTML ends that. Contents of templates do not belong to the page, but for those of shadow roots.
Some tags mean nothing outside a table or a frameset. The algorithm is the HTML standard's, with two
exceptions: formatting elements are not opened again, and only the DEEPEST innermost elements are
searched.
"""

from __future__ import annotations

from crawlrank.jobs.kernel.markup.html_hosts import ShadowHosts, declares_shadow_root, may_be_host
from crawlrank.jobs.kernel.markup.html_names import (
    BLOCK_ENDS,
    BREAKOUT,
    BUTTON_SCOPE,
    CELLS,
    CLOSES_P,
    FORMATTING,
    HEADINGS,
    HTML,
    HTML_POINTS,
    LI_STOPS,
    LIST_SCOPE,
    MATH,
    ROWS,
    SCOPE,
    SHADOW,
    SPECIAL,
    SVG,
    TABLE_PARTS,
    TABLE_SCOPE,
    TEMPLATES,
    TERMS,
    TEXT_POINTS,
    VOID,
)
from crawlrank.jobs.kernel.markup.html_tokens import closes_itself, holds_html, is_of_html

DEEPEST = 512  # as deep as browsers nest elements
_SHALLOW, _MOST_STEPS = 8, 2**22  # after so many elements looked at, only so many are searched


class Context:
    """Names are in lower case, with the prefix SVG or MATH where they are not of HTML."""

    def __init__(self, sees_all_tags: bool) -> None:
        """sees_all_tags: else any table in a table is taken for one in a cell. Later, templates:
        open ones whose contents do not belong to the page; shadows: those of shadow roots; in_body:
        whether the next tag is behind the head."""
        self._sees_all_tags = sees_all_tags
        self._open: list[bytes] = []
        self._steps = 0
        self._hosts = ShadowHosts()
        self.templates = self.shadows = 0
        self.in_body = False
        self._form = False

    @property
    def is_foreign(self) -> bool:
        """Whether the current element is not of HTML; only then CDATA sections are possible."""
        return bool(self._open) and b" " in self._open[-1]

    @property
    def current(self) -> bytes:
        return self._open[-1] if self._open else b""

    @property
    def depth(self) -> int:
        return len(self._open)

    @property
    def in_template(self) -> bool:
        return bool(self.templates or self.shadows)

    @property
    def in_table(self) -> bool:
        """Whether a part of a table may begin here."""
        return self._find(b"table", TABLE_SCOPE) >= 0 or self.in_template

    def holds(self, depth: int, entry: bytes) -> bool:
        """Whether the entry is still open at this depth."""
        return len(self._open) > depth and self._open[depth] == entry

    def start(self, name: bytes, rest: bytes) -> bytes | None:
        """The vocabulary (HTML, SVG or MATH) of the element that a start tag makes; None if it
        makes none. rest: its attributes."""
        space = self._space_of(name)
        if space and (name in BREAKOUT or (name == b"font" and is_of_html(rest))):
            self._leave()
            space = HTML
        if not space and name in (b"svg", b"math"):
            space = name + b" "
        if space:
            if not closes_itself(rest):
                html = name == b"annotation-xml" and holds_html(rest)
                self._open.append(space + name + (b"+html" if html else b""))
            return space
        if name == b"template" and self._begins_shadow(rest):
            self._open.append(SHADOW)
            self.shadows += 1
            return None
        return HTML if self._start_html(name) else None

    def _begins_shadow(self, rest: bytes) -> bool:
        """Whether a template with these attributes makes its parent the host of a shadow root."""
        depth = len(self._open)
        host = self.current or (b"body" if self.in_body else b"")
        if self.templates or depth > DEEPEST or not may_be_host(host):
            return False
        return declares_shadow_root(rest) and self._hosts.add(depth)

    def _space_of(self, name: bytes) -> bytes:
        """The vocabulary of a start tag with this name, by the current element."""
        current = self.current
        space = _space(current)
        if not space or current in HTML_POINTS:
            return HTML
        if current in TEXT_POINTS and name not in (b"mglyph", b"malignmark"):
            return HTML
        if current == MATH + b"annotation-xml" and name == b"svg":
            return HTML
        return space

    def _leave(self) -> None:
        while _space(self.current) and not (
            self.current in HTML_POINTS or self.current in TEXT_POINTS
        ):
            self._open.pop()

    def end(self, name: bytes) -> None:
        if self.is_foreign:
            if name in (b"br", b"p"):
                self._leave()
            elif self._end_foreign(name):
                return
        self._end_html(name)

    def _end_foreign(self, name: bytes) -> bool:
        """Close a foreign element; False if the innermost ones do not include it."""
        for index in self._inmost_first():
            self._steps += 1
            space = _space(self._open[index])
            if not space:
                return False
            if self._open[index].removesuffix(b"+html") == space + name:
                self._cut(index)
                return True
        return False

    def _start_html(self, name: bytes) -> bool:
        if name in TABLE_PARTS:
            return self._start_part(name)
        if name in (b"frame", b"frameset"):
            return False
        if name in (b"html", b"head", b"body"):
            return True
        if name == b"form" and not self.in_template:
            if self._form:
                return False
            self._form = True
        self._close_before(name)
        if name == b"select" and self._close(name, SCOPE):
            return False
        if name == b"template":
            self.templates += 1
        if name not in VOID:
            self._open.append(name)
        return True

    def _close_before(self, name: bytes) -> None:
        """Close the elements that a start tag with this name ends."""
        if name == b"li":
            self._close(name, LI_STOPS)
        elif name in TERMS and not self._close(b"dd", LI_STOPS):
            self._close(b"dt", LI_STOPS)
        if name in CLOSES_P:
            self._close(b"p", BUTTON_SCOPE)
        if name in HEADINGS and self.current in HEADINGS:
            self._cut(len(self._open) - 1)
        elif name == b"table" and self._sees_all_tags and self._nearest_table() == b"table":
            self._close(b"table", TABLE_SCOPE)
        elif name == b"button":
            self._close(name, SCOPE)
        elif name in (b"a", b"nobr"):
            self._end_formatting(name)
        elif name in (b"input", b"keygen"):
            self._close(b"select", SCOPE)
        elif name == b"option" and self.current == b"option":
            self._open.pop()

    def _nearest_table(self) -> bytes:
        for index in self._inmost_first():
            self._steps += 1
            if self._open[index] in TABLE_SCOPE or self._open[index] in CELLS:
                return self._open[index]
        return b""

    def _start_part(self, name: bytes) -> bool:
        """Open a part of a table; close the parts that cannot hold it."""
        table = self._find(b"table", TABLE_SCOPE)
        if table < 0:
            return self.in_template
        keep = {b"tr": ROWS, b"td": ROWS | {b"tr"}, b"th": ROWS | {b"tr"}}.get(name, frozenset())
        index = table
        while index + 1 < len(self._open) and self._open[index + 1] in keep:
            index += 1
        self._cut(index + 1)
        if name not in (b"col", b"colgroup"):
            self._open.append(name)
        return True

    def _end_html(self, name: bytes) -> None:
        if name == b"template":
            if self.in_template:
                index = len(self._open) - 1
                while self._open[index] not in TEMPLATES:
                    index -= 1
                self._cut(index)
        elif name == b"form":
            self._end_form()
        elif name == b"p":
            self._close(name, BUTTON_SCOPE)
        elif name in HEADINGS:
            self._end_heading()
        elif name in FORMATTING:
            self._end_formatting(name)
        elif name == b"table" or name in TABLE_PARTS:
            self._close(name, TABLE_SCOPE)
        elif name == b"li":
            self._close(name, LIST_SCOPE)
        else:
            self._close(name, SCOPE if name in BLOCK_ENDS else SPECIAL)

    def _end_form(self) -> None:
        if self.in_template:
            self._close(b"form", SCOPE)
            return
        self._form = False
        if (index := self._find(b"form", SCOPE)) >= 0:
            self._leave_out(index)

    def _end_heading(self) -> None:
        for index in self._inmost_first():
            self._steps += 1
            if self._open[index] in HEADINGS:
                self._cut(index)
                return
            if self._open[index] in SCOPE:
                return

    def _end_formatting(self, name: bytes) -> None:
        """Close a formatting element; blocks in it stay open."""
        index = self._find(name, SCOPE)
        if index < 0:
            return
        if any(entry in SPECIAL for entry in self._open[index + 1 :]):
            self._leave_out(index)
        else:
            self._cut(index)

    def _close(self, name: bytes, stops: frozenset[bytes]) -> bool:
        index = self._find(name, stops)
        if index >= 0:
            self._cut(index)
        return index >= 0

    def _find(self, name: bytes, stops: frozenset[bytes]) -> int:
        """The index of the innermost open element with this name; -1 if a stop comes first."""
        for index in self._inmost_first():
            self._steps += 1
            entry = self._open[index]
            if entry == name:
                return index
            if entry in stops:
                return -1
        return -1

    def _inmost_first(self) -> range:
        last = len(self._open) - 1
        deepest = DEEPEST if self._steps < _MOST_STEPS else _SHALLOW
        return range(last, max(-1, last - deepest), -1)

    def _cut(self, index: int) -> None:
        if self.templates:
            self.templates -= self._open[index:].count(b"template")
        if self.shadows:
            self.shadows -= self._open[index:].count(SHADOW)
        self._hosts.cut(index)
        del self._open[index:]

    def _leave_out(self, index: int) -> None:
        self._hosts.leave_out(index)
        del self._open[index]


def _space(entry: bytes) -> bytes:
    if b" " not in entry:
        return HTML
    return SVG if entry.startswith(SVG) else MATH
