"""One file of beans: its elements, and what they and its lists of overrides say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.heritrix.spans import Element, NotReadable, parse

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


#: a line of Java's properties, with the lines that go on behind a backslash; no comment
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
