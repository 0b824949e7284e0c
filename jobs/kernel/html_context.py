"""The open elements of a page, as far as they tell what its next tag means.

Behind `<svg>` or `<math>` a title may hold tags and a comment may be a CDATA section, until an
element of HTML ends that; nothing in a template is of the page; some tags mean nothing outside a
table or a set of frames. The standard's algorithm is followed as far as that takes: no formatting
element is opened again, and nothing is looked for deeper than DEEPEST elements.
"""

from __future__ import annotations

from jobs.kernel.html_tokens import attributes_of, closes_itself

DEEPEST = 512  # as deep as browsers nest elements

# Before the name of an element that is not of HTML; no name holds a blank.
HTML, SVG, MATH = b"", b"svg ", b"math "

VOID = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param"
    b" source track wbr".split()
)
_FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_HEADINGS = frozenset(b"h1 h2 h3 h4 h5 h6".split())
_CLOSES_P = _HEADINGS | frozenset(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure"
    b" footer form header hgroup hr li dd dt listing main menu nav ol p plaintext pre search"
    b" section summary table ul xmp".split()
)
_BLOCK_ENDS = (_CLOSES_P - frozenset(b"hr plaintext table xmp".split())) | frozenset(
    b"applet button marquee object select".split()
)
TABLE_PARTS = frozenset(b"caption col colgroup tbody td tfoot th thead tr".split())
_CELLS = frozenset(b"caption td th".split())
_ROWS = frozenset(b"tbody tfoot thead".split())
_POINTS = frozenset(
    (
        *(MATH + name for name in b"mi mo mn ms mtext annotation-xml annotation-xml+html".split()),
        *(SVG + name for name in b"foreignobject desc title".split()),
    )
)
_TEXT_POINTS = frozenset(MATH + name for name in b"mi mo mn ms mtext".split())
_HTML_POINTS = frozenset(SVG + name for name in b"foreignobject desc title".split()) | {
    MATH + b"annotation-xml+html"
}
_SCOPE = _POINTS | frozenset(
    b"applet caption html marquee object select table td template th".split()
)
_BUTTON_SCOPE = _SCOPE | {b"button"}
_TABLE_SCOPE = frozenset((b"table", b"template"))
_SPECIAL = (
    _SCOPE
    | (_CLOSES_P - {b"dialog"})
    | TABLE_PARTS
    | frozenset(b"body button colgroup frameset iframe noembed noframes noscript".split())
    | frozenset(b"script select style textarea title".split())
)
_LI_STOPS = _SPECIAL - frozenset((b"address", b"div", b"p"))
_TERMS = frozenset((b"dd", b"dt"))
_BREAKOUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
    b" listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
    b"".split()
)
_FONT = frozenset((b"color", b"face", b"size"))
_QUOTES = b"\t\n\f\r \"'"
_HTML_TYPES = (b"text/html", b"application/xhtml+xml")


class Context:
    """Names in lower case; those that are not of HTML with SVG or MATH before them."""

    def __init__(self) -> None:
        self._open: list[bytes] = []
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

    def holds(self, depth: int, entry: bytes) -> bool:
        """Whether it is still open where it was opened."""
        return len(self._open) > depth and self._open[depth] == entry

    def start(self, name: bytes, rest: bytes) -> bytes | None:
        """The vocabulary of the element that a start tag makes, HTML, SVG or MATH, or None if it
        makes none. rest: its attributes."""
        space = self._space_of(name)
        if space and (name in _BREAKOUT or (name == b"font" and _is_of_html(rest))):
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
        if not space or current in _HTML_POINTS:
            return HTML
        if current in _TEXT_POINTS and name not in (b"mglyph", b"malignmark"):
            return HTML
        if current == MATH + b"annotation-xml" and name == b"svg":
            return HTML
        return space

    def _leave(self) -> None:
        while _space(self.current) and not (
            self.current in _HTML_POINTS or self.current in _TEXT_POINTS
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
        if name == b"select" and self._place(name, _SCOPE - {name}) >= 0:
            self._close(name, _SCOPE)
            return False
        if name == b"template":
            self.templates += 1
        if name not in VOID:
            self._open.append(name)
        return True

    def _close_before(self, name: bytes) -> None:
        """The elements that a start tag of this name ends."""
        if name == b"li":
            self._close(name, _LI_STOPS)
        elif name in _TERMS and not self._close(b"dd", _LI_STOPS - _TERMS | {b"dt"}):
            self._close(b"dt", _LI_STOPS)
        if name in _CLOSES_P:
            self._close(b"p", _BUTTON_SCOPE)
        if name in _HEADINGS and self.current in _HEADINGS:
            self._open.pop()
        elif name == b"table" and self._nearest_table() == b"table":
            self._close(b"table", _TABLE_SCOPE)
        elif name == b"button":
            self._close(name, _SCOPE)
        elif name in (b"a", b"nobr"):
            self._end_formatting(name)
        elif name in (b"input", b"keygen"):
            self._close(b"select", _SCOPE)
        elif name == b"option" and self.current == b"option":
            self._open.pop()

    def _nearest_table(self) -> bytes:
        for entry in self._open[: -DEEPEST - 1 : -1]:
            if entry in _TABLE_SCOPE or entry in _CELLS:
                return entry
        return b""

    def _start_part(self, name: bytes) -> bool:
        """Of a table: it ends the parts that it cannot stand in."""
        table = self._place(b"table", _TABLE_SCOPE)
        if table < 0:
            return bool(self.templates)
        keep = {b"tr": _ROWS, b"td": _ROWS | {b"tr"}, b"th": _ROWS | {b"tr"}}.get(name, frozenset())
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
                self._cut(len(self._open) - 1 - self._open[::-1].index(name))
        elif name == b"form":
            self._end_form()
        elif name == b"p":
            self._close(name, _BUTTON_SCOPE)
        elif name in _HEADINGS:
            self._end_heading()
        elif name in _FORMATTING:
            self._end_formatting(name)
        elif name == b"table" or name in TABLE_PARTS:
            self._close(name, _TABLE_SCOPE)
        elif name == b"li":
            self._close(name, _SCOPE | {b"ol", b"ul"})
        else:
            self._close(name, _SCOPE if name in _BLOCK_ENDS else _SPECIAL)

    def _end_form(self) -> None:
        if self.templates:
            self._close(b"form", _SCOPE)
            return
        self._form = False
        place = self._place(b"form", _SCOPE)
        if place >= 0:
            del self._open[place]

    def _end_heading(self) -> None:
        for place in self._inmost_first():
            if self._open[place] in _HEADINGS:
                self._cut(place)
                return
            if self._open[place] in _SCOPE:
                return

    def _end_formatting(self, name: bytes) -> None:
        """Blocks in it stay open."""
        place = self._place(name, _SCOPE)
        if place < 0:
            return
        if any(entry in _SPECIAL for entry in self._open[place + 1 :]):
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
            entry = self._open[place]
            if entry == name:
                return place
            if entry in stops:
                return -1
        return -1

    def _inmost_first(self) -> range:
        last = len(self._open) - 1
        return range(last, max(-1, last - DEEPEST), -1)

    def _cut(self, place: int) -> None:
        if self.templates:
            self.templates -= self._open[place:].count(b"template")
        del self._open[place:]


def _space(entry: bytes) -> bytes:
    if b" " not in entry:
        return HTML
    return SVG if entry.startswith(SVG) else MATH


def _is_of_html(rest: bytes) -> bool:
    return any(name in _FONT for name, _ in attributes_of(rest))


def _holds_html(rest: bytes) -> bool:
    values = [text for name, text in attributes_of(rest) if name == b"encoding"]
    return bool(values) and values[0].partition(b"=")[2].strip(_QUOTES).lower() in _HTML_TYPES
