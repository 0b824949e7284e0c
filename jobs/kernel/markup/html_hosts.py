"""Elements that may have a shadow root, which `<template shadowrootmode=open>` or `closed` in them
declares (HTML standard, 4.12.3 and 4.13.3; DOM standard, attachShadow). The first in an element
counts.
"""

from __future__ import annotations

import re

from crawlrank.jobs.kernel.markup.character_references import unescaped
from crawlrank.jobs.kernel.markup.html_names import HEADINGS
from crawlrank.jobs.kernel.markup.html_tokens import written_values

_HOSTS = HEADINGS | frozenset(
    b"article aside blockquote body div footer header main nav p section span".split()
)
_NO_CUSTOM_NAMES = frozenset(
    b"annotation-xml color-profile font-face font-face-src font-face-uri font-face-format"
    b" font-face-name missing-glyph".split()
)
_MODE = b"shadowrootmode"
_MODES = ("open", "closed")
may_hold_shadow_roots = re.compile(_MODE, re.IGNORECASE).search


def may_be_host(name: bytes) -> bool:
    """Whether an element of this name may have a shadow root; those of SVG and MathML have a blank
    in their names here."""
    if name in _HOSTS:
        return True
    return b"-" in name and name[:1].islower() and b" " not in name and name not in _NO_CUSTOM_NAMES


def declares_shadow_root(rest: bytes) -> bool:
    """Whether a template with these attributes declares a shadow root."""
    value = written_values(rest, (_MODE,)).get(_MODE, b"")
    return unescaped(value.decode("latin-1")).lower() in _MODES


class ShadowHosts:
    """The open elements that have a shadow root, by how many elements are open with each."""

    def __init__(self) -> None:
        self._depths: list[int] = []

    def add(self, depth: int) -> bool:
        """Whether the element at this depth had none."""
        if self._depths and self._depths[-1] == depth:
            return False
        self._depths.append(depth)
        return True

    def cut(self, depth: int) -> None:
        """Only so many elements are open."""
        while self._depths and self._depths[-1] > depth:
            self._depths.pop()

    def leave_out(self, depth: int) -> None:
        """An element that is none is no longer open, while others within it are."""
        if self._depths and self._depths[-1] > depth:
            self._depths = [each - (each > depth) for each in self._depths]
