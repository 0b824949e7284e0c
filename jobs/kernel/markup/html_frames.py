"""Whether a page is a frameset, which replaces a body that is as good as empty."""

from __future__ import annotations

from crawlrank.jobs.kernel.markup.html_names import HEAD

# Behind these elements, and behind text, a frameset means nothing.
_FILLS_BODY = frozenset(
    b"applet area body br button dd dt embed hr iframe img input keygen li listing marquee object"
    b" pre select table textarea wbr xmp".split()
)


class Frameset:
    """may_begin: whether a frameset tag would count here. has_begun: whether one counted; then no
    other content means anything. in_head: whether all elements so far belong to the head. depth: of
    nested framesets."""

    def __init__(self) -> None:
        self.may_begin, self.has_begun, self.in_head, self.depth = True, False, True, 0

    def start(self, name: bytes, rest: bytes) -> None:
        """Take note of an element of HTML before the frameset."""
        if name in _FILLS_BODY and not (name == b"input" and b"hidden" in rest.lower()):
            self.may_begin = False
        self.in_head = self.in_head and name in HEAD

    def begin(self) -> None:
        self.may_begin, self.has_begun, self.depth = False, True, 1
