"""The open elements of a page, as far as they tell what its next tag means.

Behind `<svg>` or `<math>` a title may hold tags and a comment may be a CDATA section, until an
element of HTML ends that; nothing in a template is of the page; some tags mean nothing outside a
table or a set of frames. The standard's algorithm is followed as far as that takes: no formatting
element is opened again, and nothing is looked for deeper than DEEPEST elements.
"""

from __future__ import annotations

from jobs.kernel.markup.html_names import (
    BLOCK_ENDS,
    BREAKOUT,
    BUTTON_SCOPE,
    CELLS,
    CLOSES_P,
    FONT,
    FORMATTING,
    HEADINGS,
    HTML,
    HTML_POINTS,
    HTML_TYPES,
    LI_STOPS,
    LIST_SCOPE,
    MATH,
    QUOTES,
    ROWS,
    SCOPE,
    SPECIAL,
    SVG,
    TABLE_PARTS,
    TABLE_SCOPE,
    TERMS,
    TEXT_POINTS,
    VOID,
)
from jobs.kernel.markup.html_tokens import attributes_of, closes_itself

DEEPEST = 512  # as deep as browsers nest elements
_SHALLOW, _MOST_STEPS = 8, 2**22  # how deep once that many elements of a page were looked at


class Context:
    """Names in lower case; those that are not of HTML with SVG or MATH before them."""

    def __init__(self, is_told_all: bool) -> None:
        """Without being told of all tags it takes any table in another for one in a cell."""
        self._is_told_all = is_told_all
        self._open: list[bytes] = []
        self._steps = 0
        self.templates = 0
        self._form = False

    @property
    def is_foreign(self) -> bool:
        """Whether the current element is not of HTML: only there are CDATA sections."""
        return bool(self._open) and b" " in self._open[-1]

    @property
    def current(self) -> bytes:
        return self._open[-1] if self._open else b""

    @property
    def depth(self) -> int:
        return len(self._open)

    @property
    def in_table(self) -> bool:
        """Whether parts of a table may stand here."""
        return self._place(b"table", TABLE_SCOPE) >= 0 or bool(self.templates)

    def holds(self, depth: int, entry: bytes) -> bool:
        """Whether it is still open where it was opened."""
        return len(self._open) > depth and self._open[depth] == entry

    def start(self, name: bytes, rest: bytes) -> bytes | None:
        """The vocabulary of the element that a start tag makes, HTML, SVG or MATH, or None if it
        makes none. rest: its attributes."""
        space = self._space_of(name)
        if space and (name in BREAKOUT or (name == b"font" and _is_of_html(rest))):
            self._leave()
            space = HTML
        if not space and name in (b"svg", b"math"):
            space = name + b" "
        if space:
            if not closes_itself(rest):
                html = name == b"annotation-xml" and _holds_html(rest)
                self._open.append(space + name + (b"+html" if html else b""))
            return space
        return HTML if self._start_html(name) else None

    def _space_of(self, name: bytes) -> bytes:
        """Where a start tag of this name belongs by the current element: HTML, SVG or MATH."""
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
        """Whether the element was one of the foreign ones that are open on top."""
        for place in self._inmost_first():
            self._steps += 1
            space = _space(self._open[place])
            if not space:
                return False
            if self._open[place].removesuffix(b"+html") == space + name:
                self._cut(place)
                return True
        return False

    def _start_html(self, name: bytes) -> bool:
        if name in TABLE_PARTS:
            return self._start_part(name)
        if name in (b"frame", b"frameset"):
            return False
        if name in (b"html", b"head", b"body"):
            return True
        if name == b"form" and not self.templates:
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
        """The elements that a start tag of this name ends."""
        if name == b"li":
            self._close(name, LI_STOPS)
        elif name in TERMS and not self._close(b"dd", LI_STOPS):
            self._close(b"dt", LI_STOPS)
        if name in CLOSES_P:
            self._close(b"p", BUTTON_SCOPE)
        if name in HEADINGS and self.current in HEADINGS:
            self._open.pop()
        elif name == b"table" and self._is_told_all and self._nearest_table() == b"table":
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
        for place in self._inmost_first():
            self._steps += 1
            if self._open[place] in TABLE_SCOPE or self._open[place] in CELLS:
                return self._open[place]
        return b""

    def _start_part(self, name: bytes) -> bool:
        """Of a table: it ends the parts that it cannot stand in."""
        table = self._place(b"table", TABLE_SCOPE)
        if table < 0:
            return bool(self.templates)
        keep = {b"tr": ROWS, b"td": ROWS | {b"tr"}, b"th": ROWS | {b"tr"}}.get(name, frozenset())
        place = table
        while place + 1 < len(self._open) and self._open[place + 1] in keep:
            place += 1
        self._cut(place + 1)
        if name not in (b"col", b"colgroup"):
            self._open.append(name)
        return True

    def _end_html(self, name: bytes) -> None:
        if name == b"template":
            if self.templates:
                while self._open[-1] != name:
                    self._open.pop()
                self._cut(len(self._open) - 1)
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
        if self.templates:
            self._close(b"form", SCOPE)
            return
        self._form = False
        place = self._place(b"form", SCOPE)
        if place >= 0:
            del self._open[place]

    def _end_heading(self) -> None:
        for place in self._inmost_first():
            self._steps += 1
            if self._open[place] in HEADINGS:
                self._cut(place)
                return
            if self._open[place] in SCOPE:
                return

    def _end_formatting(self, name: bytes) -> None:
        """Blocks in it stay open."""
        place = self._place(name, SCOPE)
        if place < 0:
            return
        if any(entry in SPECIAL for entry in self._open[place + 1 :]):
            del self._open[place]
        else:
            self._cut(place)

    def _close(self, name: bytes, stops: frozenset[bytes]) -> bool:
        place = self._place(name, stops)
        if place >= 0:
            self._cut(place)
        return place >= 0

    def _place(self, name: bytes, stops: frozenset[bytes]) -> int:
        """Of the innermost open element of this name, -1 if there is none or a stop lies before."""
        for place in self._inmost_first():
            self._steps += 1
            entry = self._open[place]
            if entry == name:
                return place
            if entry in stops:
                return -1
        return -1

    def _inmost_first(self) -> range:
        last = len(self._open) - 1
        deepest = DEEPEST if self._steps < _MOST_STEPS else _SHALLOW
        return range(last, max(-1, last - deepest), -1)

    def _cut(self, place: int) -> None:
        if self.templates:
            self.templates -= self._open[place:].count(b"template")
        del self._open[place:]


def _space(entry: bytes) -> bytes:
    if b" " not in entry:
        return HTML
    return SVG if entry.startswith(SVG) else MATH


def _is_of_html(rest: bytes) -> bool:
    return any(name in FONT for name, _ in attributes_of(rest))


def _holds_html(rest: bytes) -> bool:
    values = [text for name, text in attributes_of(rest) if name == b"encoding"]
    return bool(values) and values[0].partition(b"=")[2].strip(QUOTES).lower() in HTML_TYPES
