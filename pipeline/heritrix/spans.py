"""The elements of an XML file with their places in its bytes, so that all other bytes can be kept.

Only what files of Heritrix are is read: bytes that extend ASCII, no DOCTYPE, elements without
prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

ENCODINGS = ("", "utf-8", "us-ascii", "iso-8859-1")
_START_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")


class NotReadable(ValueError):
    """Not XML, or of a kind that is not read; the message says what."""


@dataclass
class Element:
    """One element. attributes: a name with a namespace has it in front, behind it a blank. start,
    end: its bytes, with both tags; inner, close: those between its tags, which are equal, at its
    end, where it has one tag only. text: its own, in pieces joined."""

    tag: str
    attributes: dict[str, str]
    start: int
    inner: int
    close: int = 0
    end: int = 0
    text: str = ""
    children: list[Element] = field(default_factory=list)

    @property
    def is_one_tag(self) -> bool:
        return self.inner == self.end

    def named(self, tag: str, **attributes: str) -> list[Element]:
        """The children of this tag and these attributes."""
        wanted = attributes.items()
        return [
            child
            for child in self.children
            if child.tag == tag and wanted <= child.attributes.items()
        ]

    def all(self) -> Iterator[Element]:
        """Itself and all below it."""
        yield self
        for child in self.children:
            yield from child.all()

    def shape(self) -> object:
        """What is equal for elements that mean the same: no comments, no white space."""
        children = [child.shape() for child in self.children]
        return self.tag, self.attributes, self.text.strip(), children


def parse(data: bytes) -> Element:
    """The root. Raises NotReadable."""
    return _Reader(data).root()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.open = data, list[Element]()
        self.top: Element | None = None
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.XmlDeclHandler = self._declared
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def root(self) -> Element:
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise NotReadable("UTF-16, where UTF-8 is expected")
        try:
            self.parser.Parse(self.data, True)
        except expat.ExpatError as error:
            raise NotReadable(f"no well-formed XML ({error})") from error
        assert self.top is not None  # or the parser would have failed
        return self.top

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if (encoding or "").lower() not in ENCODINGS:
            raise NotReadable(f"encoding {encoding}, where UTF-8 is expected")

    def _doctype(self, *_: object) -> None:
        raise NotReadable("a DOCTYPE, whose entities may stand for elements")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        at = self.parser.CurrentByteIndex
        tag = _START_TAG.match(self.data, at)
        if not tag:
            raise NotReadable(f"an element that is no tag, at byte {at}")
        if b":" in tag[0].split(None, 1)[0]:
            local = tag[0].split(None, 1)[0].strip(b"<>/").decode("ascii", "replace")
        else:
            local = name.rpartition(" ")[2]
        element = Element(local, attributes, at, tag.end())
        if self.open:
            self.open[-1].children.append(element)
        self.open.append(element)
        self.top = self.top or element

    def _end(self, name: str) -> None:
        element = self.open.pop()
        if self.data[element.inner - 2 : element.inner] == b"/>":
            element.close = element.end = element.inner
            return
        element.close = self.parser.CurrentByteIndex
        element.end = self.data.index(b">", element.close) + 1

    def _text(self, text: str) -> None:
        self.open[-1].text += text
