"""The crawler-beans.cxml of a job, made to crawl in the order of a precedence file.

Beans are compared by what they mean. What is as wanted already stays as it is, and so do comments
and all other bytes. A file that could mean something else than its beans say is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.kernel.errors import BadInput
from pipeline.heritrix.edits import Edits
from pipeline.heritrix.spans import Element, NotReadable, parse
from pipeline.precedence.beans import ANNOTATING, ANNOTATOR, QUEUES, policy_bean

PROPERTIES = "http://www.springframework.org/schema/p "
CONFIGURER = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
SEED_MODULE = "org.archive.modules.seeds.TextSeedModule"
POLICIES = "org.archive.crawler.frontier.precedence."
BY_HAND = (
    "The file was left alone. Edit it by hand, as docs/heritrix.md says:"
    " crawler-beans-fragment.xml beside the precedence file has the beans."
)
SEEDS = """\
<property name="textSource">
  <bean class="org.archive.spring.ConfigFile">
    <property name="path" value="{path}"/>
  </bean>
</property>
"""
NO_NEW_SEEDS = '<property name="seedsRedirectNewSeeds" value="false"/>\n'


@dataclass(frozen=True)
class Wanted:
    """unlisted: precedence of URIs that are not in the file. seeds: the file of seeds in the job's
    folder; None leaves seeds as they are. annotate: log the precedence of each fetch."""

    unlisted: int
    seeds: str | None
    annotate: bool = True


class JobBeans:
    """The beans of a job. name: of the file, for messages. Raises BadInput where the file is not
    understood."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name
        try:
            self.root = parse(data)
        except NotReadable as error:
            raise self._refusal(str(error)) from error
        if self.root.tag != "beans":
            raise self._refusal(f"the element {self.root.tag} at the top, where beans is expected")
        for tag in ("import", "beans", "alias"):
            if self.root.named(tag):
                raise self._refusal(f"an element {tag} at the top level, which may define beans")

    def patched(self, wanted: Wanted) -> Edits:
        """The edits after which the job does what is wanted; none where it does already."""
        edits = Edits(self.data)
        self._set_policy(edits, wanted)
        self._set_property(edits, "frontier", "queuePrecedencePolicy", QUEUES)
        if wanted.seeds:
            seeds = self._bean("seeds")
            if seeds.attributes.get("class") != SEED_MODULE:
                raise self._refusal(f"a bean seeds of another class than {SEED_MODULE}")
            self._set_property(edits, "seeds", "textSource", SEEDS.format(path=wanted.seeds))
            self._set_property(edits, "candidates", "seedsRedirectNewSeeds", NO_NEW_SEEDS)
        if wanted.annotate:
            self._annotate(edits)
        self._remove_overrides(edits, wanted)
        return edits

    def state_folder(self) -> str:
        """The name of the folder of the job's store, in the job's folder. Raises BadInput."""
        values = [text for key, text in self._overrides() if key == "bdb.dir"]
        for bean in self._beans("bdb"):
            values += [
                each.attributes.get("value", "") for each in bean.named("property", name="dir")
            ]
        folder = values[0].strip() if values else "state"
        if not folder or "$" in folder:
            raise self._refusal(f"the folder of the store is {folder!r}, of the bean bdb")
        return folder

    # ---- edits -------------------------------------------------------------------------------

    def _set_policy(self, edits: Edits, wanted: Wanted) -> None:
        text, own = policy_bean(unlisted=wanted.unlisted), self._beans("uriPrecedencePolicy")
        for bean in self.root.named("bean"):
            name = bean.attributes.get("class", "")
            if (
                name.startswith(POLICIES)
                and name.endswith("UriPrecedencePolicy")
                and bean not in own
            ):
                raise self._refusal(f"a further policy of precedence, {bean.attributes.get('id')}")
        for each in self._properties("preparer", "uriPrecedencePolicy"):
            references = [ref.attributes.get("bean") for ref in each.named("ref")]
            if (references or [each.attributes.get("ref")]) != ["uriPrecedencePolicy"]:
                raise self._refusal("another policy of precedence in the bean preparer")
        if own:
            edits.replace(own[0], text, self._instead(own[0]))
        else:
            edits.append(self.root, text, "bean uriPrecedencePolicy: added")

    def _set_property(self, edits: Edits, bean: str, name: str, text: str) -> None:
        if properties := self._properties(bean, name):
            edits.replace(properties[0], text, f"property {name} of bean {bean}: replaced")
        else:
            edits.append(self._bean(bean), text, f"property {name} of bean {bean}: added")

    def _annotate(self, edits: Edits) -> None:
        if own := self._beans("precedenceAnnotator"):
            edits.replace(own[0], ANNOTATOR, "bean precedenceAnnotator: replaced")
        else:
            edits.append(self.root, ANNOTATOR, "bean precedenceAnnotator: added")
        lists = [
            each
            for processors in self._properties("dispositionProcessors", "processors")
            for each in processors.named("list")
        ]
        if len(lists) != 1:
            raise self._refusal("a bean dispositionProcessors without a list of processors")
        if not lists[0].named("ref", bean="precedenceAnnotator"):
            what = "list of bean dispositionProcessors: precedenceAnnotator added"
            edits.append(lists[0], ANNOTATING, what)

    def _remove_overrides(self, edits: Edits, wanted: Wanted) -> None:
        """Those of what is set now: an override would set it again, or fail."""
        keys = [
            "uriPrecedencePolicy",
            "frontier.queuePrecedencePolicy",
            "preparer.uriPrecedencePolicy",
        ]
        if wanted.seeds:
            keys += ["seeds.textSource", "candidates.seedsRedirectNewSeeds"]
        if wanted.annotate:
            keys.append("precedenceAnnotator")
        names = re.compile(rf"(?:{'|'.join(map(re.escape, keys))})(?:[.\[].*)?\Z", re.DOTALL)
        for prop in self._props():
            if names.match(key := prop.attributes.get("key", "").strip()):
                edits.remove(prop, f"override of {key}: removed")
        for value in self._values():
            for start, end, key, _ in self._lines(value):
                if names.match(key):
                    edits.remove_range(start, end, f"override of {key}: removed")

    # ---- what is in the file -----------------------------------------------------------------

    def _beans(self, name: str) -> list[Element]:
        """None or one. Raises BadInput for several."""
        beans = [
            bean
            for bean in self.root.named("bean")
            if name in re.split("[,; ]+", bean.attributes.get("name", ""))
            or bean.attributes.get("id") == name
        ]
        if len(beans) > 1:
            raise self._refusal(f"{len(beans)} beans {name}")
        return beans

    def _bean(self, name: str) -> Element:
        beans = self._beans(name)
        if not beans:
            raise self._refusal(f"no bean {name}")
        return beans[0]

    def _properties(self, bean: str, name: str) -> list[Element]:
        """None or one. Raises BadInput for several, and for one in another form."""
        beans = self._beans(bean)
        for each in beans:
            if any(attribute.startswith(PROPERTIES + name) for attribute in each.attributes):
                raise self._refusal(f"{name} as an attribute of the bean {bean}")
        properties = [each for own in beans for each in own.named("property", name=name)]
        if len(properties) > 1:
            raise self._refusal(f"{len(properties)} properties {name} in the bean {bean}")
        return properties

    def _configurers(self) -> Iterator[Element]:
        for bean in self.root.named("bean"):
            if bean.attributes.get("class") == CONFIGURER:
                yield from bean.named("property", name="properties")

    def _props(self) -> list[Element]:
        return [e for each in self._configurers() for e in each.all() if e.tag == "prop"]

    def _values(self) -> list[Element]:
        return [value for each in self._configurers() for value in each.named("value")]

    def _lines(self, value: Element) -> Iterator[tuple[int, int, str, str]]:
        """Start, end, key and value of each property in a list of text."""
        text = self.data[value.inner : value.close]
        for line in _LINE.finditer(text):
            key, content = line["key"].decode("utf-8", "replace"), line["value"]
            start, end = (value.inner + at for at in line.span())
            yield start, end, key, content.decode("utf-8", "replace")

    def _overrides(self) -> Iterator[tuple[str, str]]:
        for prop in self._props():
            yield prop.attributes.get("key", "").strip(), prop.text
        for value in self._values():
            for _, _, key, text in self._lines(value):
                yield key, text

    def _instead(self, bean: Element) -> str:
        name = bean.attributes.get("class", "").removeprefix(POLICIES)
        return f"bean uriPrecedencePolicy: replaced, a {name}"

    def _refusal(self, reason: str) -> BadInput:
        return BadInput(
            self.name, reason, "the beans of a job as Heritrix's profile has them", BY_HAND
        )


#: a line of Java's properties, with the lines that go on behind a backslash; no comment
_LINE = re.compile(
    rb"^[ \t\f]*(?P<key>[^\s#!=:][^\s=:]*)[ \t\f]*[=: \t][ \t\f]*"
    rb"(?P<value>(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*)",
    re.MULTILINE,
)
