"""One file of beans: its elements, and what they and its lists of overrides say.

The elements of an XML file with their places in its bytes, so that all other bytes can be kept.

Only what files of Heritrix are is read: bytes that extend ASCII, no DOCTYPE, elements without
prefix.

Edits of an XML file that keep all bytes but those of the elements that change.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from crawlrank.jobs.kernel.errors import BadInput

ENCODINGS = ("", "utf-8", "us-ascii", "iso-8859-1")
_START_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")


class NotReadable(ValueError):
    """Not XML, or of a kind that is not read; the message says what."""


@dataclass
class Element:
    """One element. attributes: a name with a namespace has it in front, after it a blank. start,
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
        """Add an element after its children."""
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
        """Remove the span, and its line if the line becomes empty."""
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


PROPERTIES = "http://www.springframework.org/schema/p "
CONFIGURER = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
BY_HAND = (
    "The file was left alone. Edit it by hand, as docs/heritrix.md says:"
    " crawler-beans-fragment.xml beside the precedence file has the beans."
)


class BeanFile:
    """name: of the file, for messages. Raises BadInput where it is not understood."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        try:
            self.root = parse(data)
        except NotReadable as error:
            raise self.refusal(str(error)) from error
        if self.root.tag != "beans":
            raise self.refusal(f"the element {self.root.tag} at the top, where beans is expected")
        for tag in ("beans", "alias"):
            if self.root.named(tag):
                raise self.refusal(f"an element {tag} at the top level, which may define beans")

    def beans(self, name: str) -> list[Element]:
        """None or one. Raises BadInput for several."""
        beans = [
            bean
            for bean in self.root.named("bean")
            if name in re.split("[,; ]+", bean.attributes.get("name", ""))
            or bean.attributes.get("id") == name
        ]
        if len(beans) > 1:
            raise self.refusal(f"{len(beans)} beans {name}")
        return beans

    def bean(self, name: str) -> Element:
        beans = self.beans(name)
        if not beans:
            raise self.refusal(f"no bean {name}")
        return beans[0]

    def properties(self, bean: str, name: str) -> list[Element]:
        """None or one. Raises BadInput for several, and for one in another form."""
        beans = self.beans(bean)
        for each in beans:
            if any(attribute.startswith(PROPERTIES + name) for attribute in each.attributes):
                raise self.refusal(f"{name} as an attribute of the bean {bean}")
        properties = [each for own in beans for each in own.named("property", name=name)]
        if len(properties) > 1:
            raise self.refusal(f"{len(properties)} properties {name} in the bean {bean}")
        return properties

    def configurers(self) -> Iterator[Element]:
        for bean in self.root.named("bean"):
            if bean.attributes.get("class") == CONFIGURER:
                yield from bean.named("property", name="properties")

    def props(self) -> list[Element]:
        return [e for each in self.configurers() for e in each.all() if e.tag == "prop"]

    def values(self) -> list[Element]:
        return [value for each in self.configurers() for value in each.named("value")]

    def lines(self, value: Element) -> Iterator[tuple[int, int, str, str]]:
        """Start, end, key and value of each property in a list of text."""
        for start, end, key, content in java_properties(self.data[value.inner : value.close]):
            yield value.inner + start, value.inner + end, key, content

    def overrides(self) -> Iterator[tuple[str, str]]:
        """Keys and values, of all lists in the file."""
        for prop in self.props():
            yield prop.attributes.get("key", "").strip(), prop.text
        for value in self.values():
            for _, _, key, text in self.lines(value):
                yield key, text

    def refusal(self, reason: str, cure: str = BY_HAND) -> BadInput:
        return BadInput(
            self.name, reason, "the beans of a job as Heritrix's profile has them", cure
        )


#: a line of Java's properties, with the lines that continue after a backslash; no comment
_LINE = re.compile(
    rb"^[ \t\f]*(?P<key>[^\s#!=:][^\s=:]*)[ \t\f]*[=: \t][ \t\f]*"
    rb"(?P<value>(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*)",
    re.MULTILINE,
)


def java_properties(data: bytes) -> Iterator[tuple[int, int, str, str]]:
    """Start, end, key and value of each property in a text of properties."""
    for line in _LINE.finditer(data):
        key, content = (line[name].decode("utf-8", "replace") for name in ("key", "value"))
        yield *line.span(), key, content
