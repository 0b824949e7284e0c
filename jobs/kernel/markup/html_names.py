"""Sets of element names by their effect on open elements, from the HTML standard."""

from __future__ import annotations

# The prefix of an element's name, by its vocabulary; no name holds a blank.
HTML, SVG, MATH = b"", b"svg ", b"math "

VOID = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param"
    b" source track wbr".split()
)
FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
HEADINGS = frozenset(b"h1 h2 h3 h4 h5 h6".split())
CLOSES_P = HEADINGS | frozenset(
    b"address article aside blockquote center details dialog dir div dl fieldset figcaption figure"
    b" footer form header hgroup hr li dd dt listing main menu nav ol p plaintext pre search"
    b" section summary table ul xmp".split()
)
BLOCK_ENDS = (CLOSES_P - frozenset(b"hr plaintext table xmp".split())) | frozenset(
    b"applet button marquee object select".split()
)
TABLE_PARTS = frozenset(b"caption col colgroup tbody td tfoot th thead tr".split())
CELLS = frozenset(b"caption td th".split())
ROWS = frozenset(b"tbody tfoot thead".split())
TEXT_POINTS = frozenset(MATH + name for name in b"mi mo mn ms mtext".split())
HTML_POINTS = frozenset(SVG + name for name in b"foreignobject desc title".split()) | {
    MATH + b"annotation-xml+html"
}
_MATH_XML = frozenset((MATH + b"annotation-xml",))
SHADOW = b"template+shadow"  # a template whose contents are those of a shadow root
TEMPLATES = frozenset((b"template", SHADOW))
SCOPE = (
    _MATH_XML
    | TEXT_POINTS
    | HTML_POINTS
    | TEMPLATES
    | frozenset(b"applet caption html marquee object select table td th".split())
)
BUTTON_SCOPE = SCOPE | {b"button"}
TABLE_SCOPE = TEMPLATES | {b"table"}
SPECIAL = (
    SCOPE
    | (CLOSES_P - {b"dialog"})
    | TABLE_PARTS
    | frozenset(b"body button colgroup frameset iframe noembed noframes noscript".split())
    | frozenset(b"script select style textarea title".split())
)
LI_STOPS = SPECIAL - frozenset((b"address", b"div", b"p"))
LIST_SCOPE = SCOPE | {b"ol", b"ul"}
TERMS = frozenset((b"dd", b"dt"))
BREAKOUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
    b" listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
    b"".split()
)
HEAD = frozenset(
    b"base basefont bgsound head html link meta noframes noscript script style template title"
    b"".split()
)
FONT = frozenset((b"color", b"face", b"size"))
HTML_ENCODINGS = (b"text/html", b"application/xhtml+xml")  # of the element annotation-xml
