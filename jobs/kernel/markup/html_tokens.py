"""The tokens of an HTML page, as the tokenizer of the HTML standard cuts it, found by expressions.

A tag ends at the first `>` outside its quoted values, and a quote means something only where a
value begins. What does not end, ends with the page. Each function is given a position and goes over
the bytes from there once, so a page takes linear time whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

_W = rb"[\t\n\f\r ]"
# A name may begin with `=` and hold quotes. What stands behind each part makes it the longest one
# possible, so that a tag that does not end is not tried in parts of all sizes.
_NAME = rb"[^\t\n\f\r />][^\t\n\f\r />=]*(?![^\t\n\f\r />=])"
_BARE = rb"[^\t\n\f\r \"'>][^\t\n\f\r >]*(?![^\t\n\f\r >])"
_VALUE = rb"(?:\"[^\"]*\"|'[^']*'|" + _BARE + rb"|(?=>))"
_ATTRIBUTE = _NAME + rb"(?:" + _W + rb"*=" + _W + rb"*" + _VALUE + rb"|(?!" + _W + rb"*=))"
_GAP = rb"[\t\n\f\r /]*"
# Of more attributes, or tags, than that an expression would keep too much; the others are gone over
# one by one.
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
# Contents of these elements hold no tags: by name the beginning of the end tag, written so that it
# is looked for by the bytes that it begins with.
RAW = frozenset(
    (b"iframe", b"noembed", b"noframes", b"script", b"style", b"textarea", b"title", b"xmp")
)
_RAW_ENDS = {
    name: re.compile(
        "</{}(?=[\\t\\n\\f\\r />])".format(
            "".join(f"[{c}{c.upper()}]" for c in name.decode())
        ).encode()
    ).search
    for name in RAW
}
_IN_SCRIPT = re.compile(rb"<!--|-->|<(/?)[Ss][Cc][Rr][Ii][Pp][Tt](?=[\t\n\f\r />])").search

Tag = tuple[bool, bytes, bytes, int]  # whether it is an end tag, name, attributes, place behind it


def next_markup(page: bytes, place: int) -> int:
    """Where the next `<` stands that is no text, at or behind place; -1 if there is none."""
    match = _MARKUP(page, place)
    return match.start() if match else -1


def is_tag(page: bytes, place: int) -> bool:
    """Whether a tag begins at this markup, though it may not end."""
    return _TAG_BEGIN(page, place) is not None


def tag_at(page: bytes, place: int) -> Tag | None:
    """The tag at a `<` that a letter, or `/` and a letter, follows. None: it does not end."""
    match = _TAG(page, place)
    if match:
        return bool(match[1]), match[2].lower(), match[3], match.end()
    begin = _TAG_BEGIN(page, place)
    if not begin:
        return None
    place = begin.end()
    while attribute := _NEXT_ATTRIBUTE(page, place):
        place = attribute.end()
    end = _NEXT_END(page, place)
    if not end:
        return None
    return bool(begin[1]), begin[2].lower(), page[begin.end() : place], end.end()


@lru_cache(100)
def tags_but(
    starts: frozenset[bytes], ends: frozenset[bytes]
) -> Callable[..., re.Match[bytes] | None]:
    """What finds some tags at a `<`, with the text between them, up to the first whose name is in
    starts or, of an end tag, in ends. It takes a fifth of the time of `tag_at` for each. It is
    given a page, a place and, if need be, the place to stop at."""
    others = rb"<(?!(?i:%b)[\t\n\f\r />])(?!/(?i:%b)[\t\n\f\r />])/?" % (
        rb"|".join(sorted(starts)),
        rb"|".join(sorted(ends)),
    )
    return re.compile(rb"(?:[^<]*" + others + _TAG_NAME + _REST + rb">){1,40}").match


def attributes_of(rest: bytes) -> Iterator[tuple[bytes, bytes]]:
    """(name in lower case, name and value as they stand) of each attribute of a tag."""
    rest += b">"
    place = 0
    while attribute := _NEXT_ATTRIBUTE(rest, place):
        place = attribute.end()
        name = _NAME_OF(attribute[1])
        yield name[0].lower() if name else b"", attribute[1]


def closes_itself(rest: bytes) -> bool:
    """Whether a tag with these attributes ends in `/>`; a slash may be the end of a value."""
    if not rest.endswith(b"/"):
        return False
    place = 0
    while attribute := _NEXT_ATTRIBUTE(rest + b">", place):
        place = attribute.end()
    return place < len(rest)


def markup_end(page: bytes, place: int, cdata: bool) -> int:
    """Where a comment, declaration or what the standard reads as a comment ends, which begins at
    place and is no tag; cdata: whether sections may stand here."""
    if page.startswith(b"<!--", place):
        if at_once := _COMMENT_AT_ONCE(page, place):
            return at_once.end()
        end = _COMMENT_END(page, place + 4)
        return end.end() if end else len(page)
    if cdata and page.startswith(b"<![CDATA[", place):
        return page.find(b"]]>", place) + 3 if page.find(b"]]>", place) >= 0 else len(page)
    end_at = page.find(b">", place + 2)
    return end_at + 1 if end_at >= 0 else len(page)


def raw_end(page: bytes, place: int, name: bytes) -> int:
    """Where the end tag of an element of RAW begins whose content begins at place."""
    if name == b"script":
        return _script_end(page, place)
    end = _RAW_ENDS[name](page, place)
    return end.start() if end else len(page)


def _script_end(page: bytes, place: int) -> int:
    """Behind `<!--` and then `<script` its end tag ends no script, up to `-->`."""
    escaped = twice = False
    while match := _IN_SCRIPT(page, place):
        place = match.end()
        if match[0] == b"<!--":
            escaped, place = True, match.start() + 2
        elif match[0] == b"-->":
            escaped = twice = False
        elif not match[1]:
            twice = escaped
        elif twice:
            twice = False
        else:
            return match.start()
    return len(page)
