"""Where the head of a page ends, as the tree construction of the HTML standard has it: at the first
text, or tag that is none of a head's. What is between `</head>` and `<body>` belongs to it, too.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator

from crawlrank.jobs.kernel.markup.html_names import HEAD
from crawlrank.jobs.kernel.markup.html_tokens import (
    RAW,
    SPACE,
    Tag,
    is_tag,
    markup_end,
    next_markup,
    raw_end,
    tag_at,
)

_BEGIN_BODY = frozenset((b"body", b"html"))  # as end tags, but for those in a noscript
# What may stand in a noscript; other tags of a head end it.
_IN_NOSCRIPT = frozenset(b"basefont bgsound head html link meta noframes noscript style".split())


def head_end(page: bytes) -> int:
    """The position of the first markup behind the head."""
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
