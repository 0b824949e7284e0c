"""The beans for Heritrix: well-formed, with the values that make its order that of the file."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.precedence.beans import beans_fragment

BEANS = "{http://www.springframework.org/schema/beans}"
POLICIES = "org.archive.crawler.frontier.precedence."


def bean_at(root: ET.Element, path: str) -> ET.Element:
    found = root.findall(path.replace("/", f"/{BEANS}"))
    assert len(found) == 1
    return found[0]


def base_of(bean: ET.Element) -> int:
    return int(bean_at(bean, "./property[@name='basePrecedence']").attrib["value"])


@pytest.mark.parametrize("unlisted", [1, 6, 125, 126])
def test_values_and_places(unlisted: int) -> None:
    root = ET.fromstring(beans_fragment(unlisted=unlisted).encode())
    assert root.tag == f"{BEANS}beans"
    policy = bean_at(root, "./bean[@id='uriPrecedencePolicy']")
    assert policy.attrib["class"] == POLICIES + "PreloadedUriPrecedencePolicy"
    assert base_of(policy) == 1
    default = bean_at(policy, "./property[@name='defaultUriPrecedencePolicy']/bean")
    assert default.attrib["class"] == POLICIES + "BaseUriPrecedencePolicy"
    assert base_of(default) == unlisted + 1
    queues = bean_at(root, "./bean[@id='frontier']/property[@name='queuePrecedencePolicy']/bean")
    assert queues.attrib["class"] == POLICIES + "HighestUriQueuePrecedencePolicy"
    assert base_of(queues) == 3


def test_the_annotator_is_the_last_of_the_processors() -> None:
    root = ET.fromstring(beans_fragment(unlisted=6).encode())
    annotator = bean_at(root, "./bean[@id='precedenceAnnotator']")
    assert annotator.attrib["class"] == "org.archive.modules.ScriptedProcessor"
    script = "".join(annotator.itertext()).split(maxsplit=1)
    assert script[0] == "void"
    assert 'add("precedence:" + curi.getPrecedence())' in script[1]
    chain = bean_at(root, "./bean[@id='dispositionProcessors']/property/list/ref")
    assert chain.attrib == {"bean": "precedenceAnnotator"}


def test_tells_what_to_paste_and_how_to_load() -> None:
    text = beans_fragment(unlisted=6)
    for words in ("crawler-beans.cxml", "PrecedenceLoader", "JOB/state", "precedence 6"):
        assert words in text


@pytest.mark.parametrize("unlisted", [0, -1, 127, 300])
def test_values_that_heritrix_cannot_tell_apart_are_refused(unlisted: int) -> None:
    with pytest.raises(BadInput, match="from 1 to 126"):
        beans_fragment(unlisted=unlisted)
