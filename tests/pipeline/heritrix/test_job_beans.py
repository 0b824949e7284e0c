"""The beans of a job: Heritrix's own profile, and profiles as people change them.

What a patch means is read by ElementTree, which shares nothing with the reader that is tested.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.samples import needs_reference
from support.paths import DATA, REFERENCE

from jobs.kernel.errors import BadInput
from pipeline.heritrix.job_beans import JobBeans, Wanted

PROFILE = (DATA / "heritrix" / "profile-crawler-beans.cxml").read_bytes()
WANTED = Wanted(6, "seeds.txt")
BEANS = "{http://www.springframework.org/schema/beans}"
POLICIES = "org.archive.crawler.frontier.precedence."
#: what a patch may touch: ids of beans, and keys of overrides
TOUCHED = {
    "uriPrecedencePolicy", "frontier", "seeds", "candidates", "dispositionProcessors",
    "precedenceAnnotator", "longerOverrides", "simpleOverrides",
}  # fmt: skip


def patched(data: bytes, wanted: Wanted = WANTED) -> bytes:
    return JobBeans(data, "crawler-beans.cxml").patched(wanted).done()


def swapped(old: str, new: str, data: bytes = PROFILE) -> bytes:
    assert data.count(old.encode()) == 1, old
    return data.replace(old.encode(), new.encode())


def bean(root: ET.Element, name: str) -> ET.Element:
    (only,) = [each for each in root.findall(f"{BEANS}bean") if each.get("id") == name]
    return only


def prop(element: ET.Element, name: str) -> ET.Element:
    (only,) = element.findall(f"{BEANS}property[@name='{name}']")
    return only


def require_wanted(data: bytes, unlisted: int = 6) -> None:
    root = ET.fromstring(data)
    policy = bean(root, "uriPrecedencePolicy")
    assert policy.get("class") == POLICIES + "PreloadedUriPrecedencePolicy"
    assert prop(policy, "basePrecedence").get("value") == "1"
    default = prop(policy, "defaultUriPrecedencePolicy")[0]
    assert default.get("class") == POLICIES + "BaseUriPrecedencePolicy"
    assert prop(default, "basePrecedence").get("value") == str(unlisted + 1)
    (queues,) = prop(bean(root, "frontier"), "queuePrecedencePolicy")
    assert queues.get("class") == POLICIES + "HighestUriQueuePrecedencePolicy"
    (source,) = prop(bean(root, "seeds"), "textSource")
    assert source.get("class") == "org.archive.spring.ConfigFile"
    assert prop(source, "path").get("value") == "seeds.txt"
    assert prop(bean(root, "candidates"), "seedsRedirectNewSeeds").get("value") == "false"
    references = prop(bean(root, "dispositionProcessors"), "processors")[0]
    assert [ref.get("bean") for ref in references][-1] == "precedenceAnnotator"
    assert bean(root, "precedenceAnnotator").get("class") == "org.archive.modules.ScriptedProcessor"
    text = "".join(root.itertext())
    keys = {each.get("key") for each in root.iter(f"{BEANS}prop")}
    assert "seeds.textSource.value" not in keys
    assert not re.search(r"(?m)^\s*(seeds\.textSource|candidates\.seedsRedirect)", text)


def others(data: bytes) -> list[str]:
    """All beans that a patch may not touch, as they are written."""
    root = ET.fromstring(data)
    return [ET.tostring(each, "unicode").strip() for each in root if each.get("id") not in TOUCHED]


def comments(data: bytes) -> list[bytes]:
    return re.findall(rb"<!--.*?-->", data, re.DOTALL)


FOREIGN = f'<bean id="uriPrecedencePolicy" class="{POLICIES}CostUriPrecedencePolicy"/>\r\n</beans>'
QUEUES = (
    f'<property name="queuePrecedencePolicy"><bean class="{POLICIES}BaseQueuePrecedencePolicy"/>'
    "</property>"
)
FRONTIER = 'class="org.archive.crawler.frontier.BdbFrontier">'
MORE = "##..more?..##"

PROFILES: dict[str, bytes] = {
    "shipped": PROFILE,
    "without CR": PROFILE.replace(b"\r\n", b"\n"),
    "patched before": patched(PROFILE),
    "patched for another file": patched(PROFILE, Wanted(21, "seeds.txt")),
    "patched without seeds": patched(PROFILE, Wanted(6, None)),
    "patched without annotations": patched(PROFILE, Wanted(6, "seeds.txt", annotate=False)),
    "foreign policy": swapped("</beans>", FOREIGN),
    "foreign queue policy": swapped(FRONTIER, f"{FRONTIER} {QUEUES}"),
    "overrides of it all": swapped(
        MORE,
        "uriPrecedencePolicy.basePrecedence=7\r\nfrontier.queuePrecedencePolicy.basePrecedence = 9"
        "\r\nseeds.textSource.value: http://a.example/ \\\r\n  http://b.example/"
        "\r\ncandidates.seedsRedirectNewSeeds true\r\nfrontier.maxRetries=6\r\n" + MORE,
    ),
    "frontier in one tag": re.sub(
        rb'(?s)(<bean id="frontier"[^>]*)>.*?</bean>\s*(?=<!-- URI UNIQ)', rb"\1/>\r\n ", PROFILE
    ),
    "no comments": re.sub(rb"(?s)<!--.*?-->", b"", PROFILE),
    "on one line": re.sub(rb">\s+<", b"><", re.sub(rb"(?s)<!--.*?-->", b"", PROFILE)),
    "tabs": PROFILE.replace(b"\n ", b"\n\t"),
    "further names": swapped('<bean id="candidates"', '<bean id="candidates" name="others"'),
    "beans in another order": re.sub(
        rb'(?s)( <bean id="frontier".*?\n </bean>)(.*)(</beans>)', rb"\2\1\r\n\3", PROFILE
    ),
    "seeds from a file": patched(PROFILE).replace(b'value="seeds.txt"', b'value="my-seeds.txt"'),
    "no declaration": PROFILE.split(b"?>", 1)[1].lstrip(),
    "byte order mark": b"\xef\xbb\xbf" + PROFILE,
    "Latin-1": swapped("UTF-8", "ISO-8859-1").replace(b"CRAWL JOB", b"CRAWL J\xd6B"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_crawl_by_the_file_afterwards_and_keep_the_rest(name: str) -> None:
    data = PROFILES[name]
    new = patched(data)
    require_wanted(new)
    assert others(new) == others(data)
    kept = [comment for comment in comments(data) if comment in comments(new)]
    assert len(kept) >= len(comments(data)) - (5 if "patched" in name else 0)
    assert (b"\r\n" in new) == (b"\r\n" in data)
    assert not (b"\r\n" in data and re.search(rb"(?<!\r)\n", new) and name != "tabs")
    assert patched(new) == new
    assert not JobBeans(new, "").patched(WANTED).made


def test_what_is_as_wanted_stays_byte_for_byte() -> None:
    assert patched(PROFILES["patched before"]) == PROFILES["patched before"]


@pytest.mark.parametrize("seeds", [None, "seeds.txt"])
@pytest.mark.parametrize("annotate", [False, True])
def test_only_what_is_wanted_changes(seeds: str | None, annotate: bool) -> None:
    root = ET.fromstring(patched(PROFILE, Wanted(6, seeds, annotate)))
    before = ET.fromstring(PROFILE)
    for name, changed in (("seeds", seeds), ("candidates", seeds), ("longerOverrides", seeds)):
        same = ET.tostring(bean(root, name)) == ET.tostring(bean(before, name))
        assert same == (changed is None)
    ids = {each.get("id") for each in root}
    assert ("precedenceAnnotator" in ids) == annotate


@given(st.randoms(use_true_random=False), st.integers(0, 12))
def test_comments_and_white_space_anywhere_are_kept(random: object, count: int) -> None:
    """Between the tags of the shipped profile, outside comments and lists of text."""
    rng = random
    pieces = re.split(rb"((?s:<!--.*?-->)|>\s+(?=<))", PROFILE)
    gaps = [n for n, piece in enumerate(pieces) if re.fullmatch(rb">\s+", piece)]
    marks = []
    for n in range(count):
        at = rng.choice(gaps)  # type: ignore[attr-defined]
        marks.append(b"<!-- kept %d - > <bean id='x'/> -->" % n)
        pieces[at] = b">\r\n \t" + marks[-1] + b"  " + pieces[at][1:]
    data = b"".join(pieces)
    new = patched(data)
    require_wanted(new)
    inside = re.search(rb'(?s)<property name="textSource">.*?</bean>.*?</property>', data)
    gone = inside[0] if inside else b""
    assert all(mark in new for mark in marks if mark not in gone)
    assert others(new) == others(data)


NOT_UNDERSTOOD: dict[str, tuple[bytes, str]] = {
    "a DOCTYPE": (swapped("<beans xmlns=", "<!DOCTYPE beans []><beans xmlns="), "DOCTYPE"),
    "no XML": (PROFILE[:-9], "no well-formed XML"),
    "empty": (b"", "no well-formed XML"),
    "UTF-16": (PROFILE.decode().encode("utf-16"), "UTF-16"),
    "another encoding": (swapped("UTF-8", "windows-1252"), "encoding windows-1252"),
    "another root": (b"<html/>", "the element html"),
    "an import": (swapped("</beans>", '<import resource="x.xml"/></beans>'), "import"),
    "beans inside": (swapped("</beans>", "<beans/></beans>"), "beans at the top level"),
    "no frontier": (swapped('id="frontier"', 'id="other"'), "no bean frontier"),
    "two frontiers": (swapped("</beans>", '<bean id="frontier"/></beans>'), "2 beans frontier"),
    "other seeds": (
        swapped(
            ' <bean id="acceptSurts"', ' <bean id="acceptSurts" ',
            PROFILE.replace(b"modules.seeds.TextSeedModule", b"modules.seeds.OtherSeedModule"),
        ),
        "another class",
    ),
    "a second policy": (
        swapped("</beans>", f'<bean id="p" class="{POLICIES}BaseUriPrecedencePolicy"/></beans>'),
        "a further policy of precedence, p",
    ),
    "a policy in the preparer": (
        swapped(
            'class="org.archive.crawler.prefetch.FrontierPreparer">',
            'class="org.archive.crawler.prefetch.FrontierPreparer">'
            '<property name="uriPrecedencePolicy" ref="mine"/>',
        ),
        "another policy of precedence",
    ),
    "an attribute of Spring's p": (
        swapped(
            '<bean id="frontier" ',
            '<bean id="frontier" xmlns:p="http://www.springframework.org/schema/p"'
            ' p:queuePrecedencePolicy-ref="mine" ',
        ),
        "as an attribute",
    ),
    "no list of processors": (
        re.sub(rb'(?s)(<bean id="dispositionProcessors"[^>]*)>.*?</bean>', rb"\1/>", PROFILE),
        "without a list",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_UNDERSTOOD)
def test_a_file_that_is_not_understood_is_left_alone(name: str) -> None:
    data, reason = NOT_UNDERSTOOD[name]
    with pytest.raises(BadInput, match=re.escape(reason)) as caught:
        patched(data)
    assert "docs/heritrix.md" in caught.value.cure


@pytest.mark.parametrize(
    ("change", "folder"),
    [
        (lambda data: data, "state"),
        (lambda data: swapped(MORE, "bdb.dir = /fast/state\n" + MORE, data), "/fast/state"),
        (
            lambda data: swapped(
                'class="org.archive.bdb.BdbModule">',
                'class="org.archive.bdb.BdbModule"><property name="dir" value="store"/>',
                data,
            ),
            "store",
        ),
    ],
)
def test_the_folder_of_the_store(change: Callable[[bytes], bytes], folder: str) -> None:
    assert JobBeans(change(PROFILE), "").state_folder() == folder


def test_a_folder_with_a_variable_is_not_known() -> None:
    data = swapped(MORE, "bdb.dir=${launchId}/state\n" + MORE)
    with pytest.raises(BadInput, match="launchId"):
        JobBeans(data, "").state_folder()


@needs_reference
def test_jobs_of_earlier_crawls() -> None:
    """Two that real crawls had, with the beans of a fragment pasted by hand in one."""
    for name in ("first.crawler-beans.cxml", "prec_def120.crawler-beans.cxml"):
        data = (REFERENCE / "heritrix" / name).read_bytes()
        new = patched(data)
        require_wanted(new)
        assert others(new) == others(data)
