"""The tokens of an HTML page, as the tokenizer of the HTML standard cuts it, found by expressions.

A tag ends at the first `>` outside its quoted values, and a quote means something only where a
value begins. What does not end, ends with the page. Each function reads the bytes from its position
on once, so every page takes linear time.

Where the head of a page ends, as the tree construction of the HTML standard has it: at the first
text, or tag that is none of a head's. What is between `</head>` and `<body>` belongs to it, too.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Container, Iterator
from functools import lru_cache

SPACE = b"\t\n\f\r "
NAME_END = rb"[\t\n\f\r />]"  # after the name of a tag
_W = rb"[\t\n\f\r ]"
# A name may begin with `=` and hold quotes. The look-ahead after each part makes it as long as
# possible, so that a tag that does not end is not tried with parts of all sizes.
_NAME = rb"[^\t\n\f\r />][^\t\n\f\r />=]*(?![^\t\n\f\r />=])"
_BARE = rb"[^\t\n\f\r \"'>][^\t\n\f\r >]*(?![^\t\n\f\r >])"
_VALUE = rb"(?:\"[^\"]*\"|'[^']*'|" + _BARE + rb"|(?=>))"
_ATTRIBUTE = _NAME + rb"(?:" + _W + rb"*=" + _W + rb"*" + _VALUE + rb"|(?!" + _W + rb"*=))"
_GAP = rb"[\t\n\f\r /]*"
# An expression remembers every repetition, so it takes at most 40 attributes, or tags, at once.
# Tags with more attributes are read one attribute at a time.
_REST = rb"(?:" + _GAP + _ATTRIBUTE + rb"){0,40}" + _GAP
_TAG_NAME = rb"[A-Za-z][^\t\n\f\r />]*(?![^\t\n\f\r />])"
_TAG = re.compile(rb"<(/?)(" + _TAG_NAME + rb")(" + _REST + rb")>").match
_MARKUP = re.compile(rb"<[A-Za-z/!?]").search
_TAG_BEGIN = re.compile(rb"<(/?)(" + _TAG_NAME + rb")").match
_NEXT_ATTRIBUTE = re.compile(_GAP + rb"(" + _ATTRIBUTE + rb")").match
_NEXT_END = re.compile(_GAP + rb">").match
_NAME_OF = re.compile(_NAME).match

_COMMENT_AT_ONCE = re.compile(rb"<!---?>").match
_COMMENT_END = re.compile(rb"--!?>").search
# Elements whose contents hold no tags.
RAW = frozenset(
    (b"iframe", b"noembed", b"noframes", b"script", b"style", b"textarea", b"title", b"xmp")
)

# Names of elements by their effect on open elements.
FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
TABLE_PARTS = frozenset(b"caption col colgroup tbody td tfoot th thead tr".split())
BREAKOUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li"
    b" listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
    b"".split()
)
HEAD = frozenset(
    b"base basefont bgsound head html link meta noframes noscript script style template title"
    b"".split()
)


def _in_any_case(name: str) -> bytes:
    """An expression for a tag name; IGNORECASE would keep `re` from searching for the literal
    before it first."""
    return "".join(f"[{c}{c.upper()}]" for c in name).encode() + rb"(?=" + NAME_END + rb")"


_RAW_ENDS = {name: re.compile(rb"</" + _in_any_case(name.decode())).search for name in RAW}
_IN_SCRIPT = re.compile(rb"<!--|-->|<(/?)" + _in_any_case("script")).search

Tag = tuple[bool, bytes, bytes, int]  # is it an end tag, name, attributes, position after the tag


def next_markup(page: bytes, position: int) -> int:
    """The position of the next `<` that is no text, from this position on; -1 if there is none."""
    match = _MARKUP(page, position)
    return match.start() if match else -1


def is_tag(page: bytes, position: int) -> bool:
    """Whether a tag begins at this markup; it may lack its end."""
    return _TAG_BEGIN(page, position) is not None


def tag_at(page: bytes, position: int) -> Tag | None:
    """The tag that begins at this `<`; None if it is no tag or does not end."""
    match = _TAG(page, position)
    if match:
        return bool(match[1]), match[2].lower(), match[3], match.end()
    begin = _TAG_BEGIN(page, position)
    if not begin:
        return None
    position = begin.end()
    while attribute := _NEXT_ATTRIBUTE(page, position):
        position = attribute.end()
    end = _NEXT_END(page, position)
    if not end:
        return None
    return bool(begin[1]), begin[2].lower(), page[begin.end() : position], end.end()


@lru_cache(100)
def tags_but(
    starts: frozenset[bytes], ends: frozenset[bytes]
) -> Callable[..., re.Match[bytes] | None]:
    """A match function for several tags and the text between them, up to the first start tag with
    a name in starts or end tag with a name in ends. Its arguments: a page, the position of a `<`
    and, optionally, the end. It takes a fifth of the time that `tag_at` takes for these tags."""
    others = rb"<(?!(?i:%b)%b)(?!/(?i:%b)%b)/?" % (
        rb"|".join(sorted(starts)),
        NAME_END,
        rb"|".join(sorted(ends)),
        NAME_END,
    )
    return re.compile(rb"(?:[^<]*" + others + _TAG_NAME + _REST + rb">){1,40}").match


def start_tags(page: bytes, name: bytes) -> Iterator[bytes]:
    """The attributes of each start tag with this name outside comments and the contents of RAW
    elements, up to the first tag that does not end."""
    names = frozenset((name,))
    others = tags_but(names | RAW, names)
    position = next_markup(page, 0)
    while position >= 0:
        if match := others(page, position):
            position = match.end()
        elif tag := tag_at(page, position):
            is_end, tag_name, rest, position = tag
            if tag_name in RAW:
                position = raw_end(page, position, tag_name)
            elif tag_name == name and not is_end:
                yield rest
        elif is_tag(page, position):
            return
        else:
            position = markup_end(page, position, False)
        position = next_markup(page, position)


def attributes_of(rest: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name in lower case, name and value as written) of each attribute of a tag."""
    rest += b">"
    position = 0
    while attribute := _NEXT_ATTRIBUTE(rest, position):
        position = attribute.end()
        name = _NAME_OF(attribute[1])
        yield name[0].lower() if name else b"", attribute[1]


def value_of(attribute: bytes) -> bytes:
    """The value of an attribute as written, without quotes around it."""
    return attribute.partition(b"=")[2].strip(SPACE + b"\"'")


def written_values(rest: bytes, names: Container[bytes]) -> dict[bytes, bytes]:
    """The value of the first attribute of each of these names, as written between its quotes."""
    values: dict[bytes, bytes] = {}
    for name, attribute in attributes_of(rest):
        if name in names and name not in values:
            value = attribute[len(name) :].lstrip(SPACE).removeprefix(b"=").strip(SPACE)
            values[name] = value[1:-1] if value[:1] in (b'"', b"'") else value
    return values


def markup_end(page: bytes, position: int, cdata: bool) -> int:
    """The end of markup that is no tag: a comment, a declaration or what the standard reads as a
    comment. cdata: whether a CDATA section may stand here."""
    if page.startswith(b"<!--", position):
        if at_once := _COMMENT_AT_ONCE(page, position):
            return at_once.end()
        end = _COMMENT_END(page, position + 4)
        return end.end() if end else len(page)
    if cdata and page.startswith(b"<![CDATA[", position):
        return page.find(b"]]>", position) + 3 if page.find(b"]]>", position) >= 0 else len(page)
    end_at = page.find(b">", position + 2)
    return end_at + 1 if end_at >= 0 else len(page)


def raw_end(page: bytes, position: int, name: bytes) -> int:
    """Where the end tag of a RAW element begins; position: of its contents."""
    if name == b"script":
        return _script_end(page, position)
    end = _RAW_ENDS[name](page, position)
    return end.start() if end else len(page)


def _script_end(page: bytes, position: int) -> int:
    """After `<!--` and `<script`, the next `</script>` does not end the script, unless `-->` comes
    first."""
    escaped = twice = False
    while match := _IN_SCRIPT(page, position):
        position = match.end()
        if match[0] == b"<!--":
            escaped, position = True, match.start() + 2
        elif match[0] == b"-->":
            escaped = twice = False
        elif not match[1]:
            twice = escaped
        elif twice:
            twice = False
        else:
            return match.start()
    return len(page)


_BEGIN_BODY = frozenset((b"body", b"html"))  # as end tags, but for those in a noscript
# What may stand in a noscript; other tags of a head end it.
_IN_NOSCRIPT = frozenset(b"basefont bgsound head html link meta noframes noscript style".split())


def head_end(page: bytes) -> int:
    """The position of the first markup after the head."""
    return max((end for _, end in _markup(page)), default=0)


def head_tags(page: bytes, name: bytes) -> Iterator[bytes]:
    """The attributes of each start tag with this name in the head, but not in its templates."""
    for tag, _ in _markup(page):
        if tag and tag[1] == name and not tag[0]:
            yield tag[2]


class _Head:
    """What is open in a head. templates: one in the other, in which any tag is allowed."""

    def __init__(self) -> None:
        self.templates = 0
        self._in_noscript = self._has_ended = False

    def takes(self, tag: Tag) -> bool:
        """Whether a tag leaves the head open, and what it opens or closes there."""
        is_end, name, _, _ = tag
        if name == b"template":
            self._in_noscript = self._in_noscript and is_end
            self.templates = max(0, self.templates + (-1 if is_end else 1))
        elif self.templates:
            return True
        elif is_end:
            if name == b"br" or (name in _BEGIN_BODY and not self._in_noscript):
                return False
            self._has_ended |= name == b"head" and not self._in_noscript
            self._in_noscript = self._in_noscript and name != b"noscript"
        elif name not in HEAD or (self._has_ended and name == b"noscript"):
            return False
        else:
            self._in_noscript = name in _IN_NOSCRIPT and (self._in_noscript or name == b"noscript")
        return True


def _markup(page: bytes) -> Iterator[tuple[Tag | None, int]]:
    """Each tag of the head outside templates, None for other markup; and where it ends."""
    last, head = len(BOM_UTF8) * page.startswith(BOM_UTF8), _Head()
    position = next_markup(page, last)
    while position >= 0 and (head.templates or not page[last:position].strip(SPACE)):
        tag = tag_at(page, position)
        if tag is None:
            if is_tag(page, position):
                return  # it does not end
            last = markup_end(page, position, False)
        elif not head.takes(tag):
            return
        else:
            is_end, name, _, last = tag
            if name in RAW and not is_end:
                last = raw_end(page, last, name)
        yield (None if head.templates else tag), last
        position = next_markup(page, last)
