"""Edits of an XML file that keep all bytes but those of the elements that change."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from crawlrank.pipeline.heritrix.spans import Element, parse

SPACE = "http://www.springframework.org/schema/beans"


class _Edit(NamedTuple):
    start: int
    end: int
    text: bytes


class Edits:
    """Edits of one file, each of other bytes. made: what each does, for people."""

    def __init__(self, data: bytes) -> None:
        self.data, self.made, self._edits = data, list[str](), list[_Edit]()
        self._line_end = "\r\n" if b"\r\n" in data else "\n"

    def replace(self, element: Element, text: str, what: str) -> None:
        """Another element in its place, unless it means the same."""
        if element.shape() != shape_of(text):
            indent = self._indent(element.start)
            lines = textwrap.indent(text, indent).strip()
            self._add(element.start, element.end, lines, what)

    def prepend(self, parent: Element, text: str, what: str) -> None:
        """Another element before its children."""
        if not parent.children:
            self.append(parent, text, what)
            return
        first = parent.children[0].start
        indent = self._indent(first)
        line = self.data.rfind(b"\n", 0, first) + 1
        if self.data[line:first].strip():  # not alone on its line
            self._add(first, first, text, what)
        else:
            self._add(line, line, textwrap.indent(text, indent), what)

    def append(self, parent: Element, text: str, what: str) -> None:
        """Another element behind its children."""
        indent = self._indent(parent.start)
        if parent.is_one_tag:
            name = self.data[parent.start + 1 :].split(None, 1)[0].decode()
            lines = f">\n{textwrap.indent(text, indent + ' ')}{indent}</{name}>"
            self._add(parent.end - 2, parent.end, lines, what)
            return
        inside = self._indent(parent.children[-1].start) if parent.children else indent + " "
        lines = textwrap.indent(text, inside)
        line = self.data.rfind(b"\n", 0, parent.close) + 1
        if self.data[line : parent.close].strip():  # the end tag is not alone on its line
            self._add(parent.close, parent.close, f"\n{lines}{indent}", what)
        else:
            self._add(line, line, lines, what)

    def remove(self, element: Element, what: str) -> None:
        """With the line, where there is nothing else on it."""
        self.remove_range(element.start, element.end, what)

    def remove_range(self, start: int, end: int, what: str) -> None:
        line = self.data.rfind(b"\n", 0, start) + 1
        after = self.data.find(b"\n", end) + 1 or len(self.data)
        if not self.data[line:start].strip() and not self.data[end:after].strip():
            start, end = line, after
        self._add(start, end, "", what)

    def done(self) -> bytes:
        """The file with all edits."""
        data = self.data
        for edit in sorted(self._edits, reverse=True):
            data = data[: edit.start] + edit.text + data[edit.end :]
        return data

    def _add(self, start: int, end: int, text: str, what: str) -> None:
        self.made.append(what)
        self._edits.append(_Edit(start, end, text.replace("\n", self._line_end).encode()))

    def _indent(self, at: int) -> str:
        """The white space before what stands at this byte, if there is nothing else."""
        line = self.data[self.data.rfind(b"\n", 0, at) + 1 : at]
        return "" if line.strip() else line.decode()


def shape_of(text: str) -> object:
    """What an element in text means."""
    return parse(f'<beans xmlns="{SPACE}">{text}</beans>'.encode()).children[0].shape()
