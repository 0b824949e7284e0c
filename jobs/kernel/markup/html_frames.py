"""Whether a page is a set of frames: then all else in it means nothing.

A frameset takes the place of a body that is as good as empty, with what that holds.
"""

from __future__ import annotations

_HEAD = frozenset(
    b"base basefont bgsound head html link meta noframes noscript script style template title"
    b"".split()
)
# Behind them, and behind text, a set of frames means nothing.
_FILLS_BODY = frozenset(
    b"applet area body br button dd dt embed hr iframe img input keygen li listing marquee object"
    b" pre select table textarea wbr xmp".split()
)


class Frames:
    """Whether a page is a set of frames: all else in it means nothing then."""

    def __init__(self) -> None:
        self.may_begin, self.has_begun, self.in_head, self.depth = True, False, True, 0

    def start(self, name: bytes, rest: bytes) -> None:
        """Of an element of HTML before it."""
        if name in _FILLS_BODY and not (name == b"input" and b"hidden" in rest.lower()):
            self.may_begin = False
        self.in_head = self.in_head and name in _HEAD

    def begin(self) -> None:
        self.may_begin, self.has_begun, self.depth = False, True, 1
