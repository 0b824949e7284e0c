"""The beans of a job: Heritrix's own profile, and profiles as people change them.

What a patch means is read by ElementTree, which shares nothing with the reader that is tested.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.samples import needs_reference
from support.paths import DATA, REFERENCE

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.heritrix.job_beans import JobBeans, Wanted, quota_sheets

PROFILE = (DATA / "heritrix" / "profile-crawler-beans.cxml").read_bytes()
WANTED = Wanted(6, "crawlrank/1")
BEANS = "{http://www.springframework.org/schema/beans}"
POLICIES = "org.archive.crawler.frontier.precedence."
#: what a patch may touch: ids of beans, and keys of overrides
TOUCHED = {
    "uriPrecedencePolicy", "frontier", "fetchProcessors", "dispositionProcessors",
    "precedenceAnnotator", "crawlrankPages", "longerOverrides", "simpleOverrides",
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
    scheduler = bean(root, "crawlrankPages")
    assert scheduler.get("class") == "org.archive.modules.ScriptedProcessor"
    assert prop(scheduler, "engineName").get("value") == "groovy"
    assert prop(scheduler, "isolateThreads").get("value") == "false"
    (source,) = prop(scheduler, "scriptSource")
    assert prop(source, "path").get("value") == "crawlrank/1/schedule_pages.groovy"
    fetching = prop(bean(root, "fetchProcessors"), "processors")[0]
    assert [ref.get("bean") for ref in fetching][:2] == ["crawlrankPages", "preselector"]
    references = prop(bean(root, "dispositionProcessors"), "processors")[0]
    assert [ref.get("bean") for ref in references][-1] == "precedenceAnnotator"
    assert bean(root, "precedenceAnnotator").get("class") == "org.archive.modules.ScriptedProcessor"
    overrides = [*"".join(root.itertext()).splitlines()]
    overrides += [each.get("key", "") for each in root.iter(f"{BEANS}prop")]
    policies = re.compile(r"\s*(uriPrecedencePolicy|frontier\.queue)")
    assert [line for line in overrides if policies.match(line)] == []


def others(data: bytes) -> list[str]:
    """All beans that a patch may not touch, as they are written."""
    root = ET.fromstring(data)
    names = [each.get("id") or "" for each in root]
    ours = [name in TOUCHED or name.startswith("crawlrank") for name in names]
    return [
        ET.tostring(each, "unicode").strip()
        for each, is_ours in zip(root, ours, strict=True)
        if not is_ours
    ]


def comments(data: bytes) -> list[bytes]:
    return re.findall(rb"<!--.*?-->", data, re.DOTALL)


FOREIGN = f'<bean id="uriPrecedencePolicy" class="{POLICIES}CostUriPrecedencePolicy"/>\r\n</beans>'
QUEUES = (
    f'<property name="queuePrecedencePolicy"><bean class="{POLICIES}BaseQueuePrecedencePolicy"/>'
    "</property>"
)
FRONTIER = 'class="org.archive.crawler.frontier.BdbFrontier">'
MORE = "##..more?..##"

SHARE = Wanted(6, "crawlrank/1", True, (2, 3), [*quota_sheets({"a.example": 7, "b.example": 7})])
PROFILES: dict[str, bytes] = {
    "shipped": PROFILE,
    "without CR": PROFILE.replace(b"\r\n", b"\n"),
    "patched before": patched(PROFILE),
    "patched for another file": patched(PROFILE, Wanted(21, "crawlrank/2")),
    "patched without pages": patched(PROFILE, Wanted(6, None)),
    "patched without annotations": patched(PROFILE, Wanted(6, "crawlrank/1", annotate=False)),
    "foreign policy": swapped("</beans>", FOREIGN),
    "foreign queue policy": swapped(FRONTIER, f"{FRONTIER} {QUEUES}"),
    "overrides of it all": swapped(
        MORE,
        "uriPrecedencePolicy.basePrecedence=7\r\nfrontier.queuePrecedencePolicy.basePrecedence = 9"
        "\r\nprecedenceAnnotator.engineName: groovy \\\r\n  or another"
        "\r\ncrawlrankPages.enabled false\r\nfrontier.maxRetries=6\r\n" + MORE,
    ),
    "overrides as elements": swapped(
        '<prop key="seeds.textSource.value">',
        '<prop key="uriPrecedencePolicy.basePrecedence">7</prop>'
        '<prop key="frontier.queuePrecedencePolicy">x</prop><prop key="seeds.textSource.value">',
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
    "another script": patched(PROFILE).replace(b"crawlrank/1/schedule", b"mine"),
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


@pytest.mark.parametrize("place", [None, "crawlrank/1"])
@pytest.mark.parametrize("annotate", [False, True])
def test_only_what_is_wanted_changes(place: str | None, annotate: bool) -> None:
    root = ET.fromstring(patched(PROFILE, Wanted(6, place, annotate)))
    before = ET.fromstring(PROFILE)
    for name, changed in (("fetchProcessors", place), ("dispositionProcessors", annotate)):
        same = ET.tostring(bean(root, name)) == ET.tostring(bean(before, name))
        assert same == (not changed)
    for name in ("seeds", "candidates", "longerOverrides", "acceptSurts", "scope"):
        assert ET.tostring(bean(root, name)) == ET.tostring(bean(before, name))
    ids = {each.get("id") for each in root}
    assert ("precedenceAnnotator" in ids) == annotate
    assert ("crawlrankPages" in ids) == (place is not None)


def test_pages_that_are_scheduled_no_more_leave_nothing_behind() -> None:
    without = Wanted(6, None)
    assert patched(patched(PROFILE), without) == patched(PROFILE, without)


def test_a_part_and_quotas() -> None:
    root = ET.fromstring(patched(PROFILE, SHARE))
    candidates = prop(bean(root, "candidateProcessors"), "processors")[0]
    assert [ref.get("bean") for ref in candidates] == [
        "candidateScoper", "preparer", "crawlrankPart",
    ]  # fmt: skip
    part = bean(root, "crawlrankPart")
    assert (prop(part, "localName").get("value"), prop(part, "crawlerCount").get("value")) == (
        "1",
        "3",
    )
    fetching = prop(bean(root, "fetchProcessors"), "processors")[0]
    assert [ref.get("bean") for ref in fetching][:2] == ["crawlrankPages", "crawlrankQuota"]
    (entry,) = bean(root, "crawlrankQuota7").iter(f"{BEANS}entry")
    assert entry.attrib == {"key": "crawlrankQuota.hostMaxFetchSuccesses", "value": "7"}
    association = bean(root, "crawlrankQuotaHosts7")
    assert [value.text for value in association.iter(f"{BEANS}value")] == [
        *(f"http://(example,{host},{end}" for host in ("a", "a,www", "b", "b,www") for end in "):"),
        "crawlrankQuota7",
    ]  # fmt: skip
    for other in (Wanted(6, "crawlrank/1"), Wanted(6, None)):
        assert patched(patched(PROFILE, SHARE), other) == patched(PROFILE, other)


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
    assert all(mark in new for mark in marks)
    assert others(new) == others(data)


def sheet(key: str, value: str = "9") -> bytes:
    """The profile, with a sheet that sets a key for some URIs."""
    entries = f'<map><entry key="preparer.x" value="1"/><entry key="{key}" value="{value}"/></map>'
    text = f'<bean id="slow" class="org.archive.spring.Sheet"><property name="map">{entries}'
    return swapped("</beans>", text + "</property></bean></beans>")


PREPARER = 'class="org.archive.crawler.prefetch.FrontierPreparer">'
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
    "a second policy": (
        swapped("</beans>", f'<bean id="p" class="{POLICIES}BaseUriPrecedencePolicy"/></beans>'),
        "a further policy of precedence, p",
    ),
    "a policy in the preparer": (
        swapped(PREPARER, PREPARER + '<property name="uriPrecedencePolicy" ref="mine"/>'),
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
    "a sheet of the policy of URIs": (sheet("preparer.uriPrecedencePolicy"), "the sheet slow sets"),
    "a sheet of its base": (sheet("uriPrecedencePolicy.basePrecedence"), "the sheet slow sets"),
    "a sheet of queues": (sheet("frontier.queuePrecedencePolicy"), "the sheet slow sets"),
    "depth for some": (sheet("preparer.preferenceDepthHops", "0"), "is 0 in the sheet slow"),
    "depth of some hops": (
        swapped(MORE, "preparer.preferenceDepthHops=2\r\n" + MORE), "is 2 in the overrides"
    ),
    "a floor": (swapped(MORE, "frontier.precedenceFloor=130\r\n" + MORE), "precedenceFloor is 130"),
    "a floor for some": (sheet("frontier.precedenceFloor"), "precedenceFloor is 9 in the sheet"),
    "depth before all": (swapped(MORE, "preparer.preferenceDepthHops=0\r\n" + MORE), "is 0"),
    "depth as a property": (
        swapped(PREPARER, PREPARER + '<property name="preferenceDepthHops" value=" 0"/>'), "is 0"
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
    assert "was left alone" in caught.value.cure


def job_of(tmp_path: Path, main: bytes, **files: bytes) -> JobBeans:
    for name, data in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(data)
    (tmp_path / "crawler-beans.cxml").write_bytes(main)
    return JobBeans(main, str(tmp_path / "crawler-beans.cxml"))


IMPORTING = swapped("</beans>", '<import resource="common.xml"/></beans>')
COMMON = '<beans xmlns="http://www.springframework.org/schema/beans">{}</beans>'


def test_files_that_are_imported_are_read_and_left_alone(tmp_path: Path) -> None:
    bdb = '<bean id="bdb" class="x"><property name="dir" value="/fast/state"/></bean>'
    inner = COMMON.format('<import resource="file:crawler-beans.cxml"/>').encode()  # a circle
    outer = COMMON.format('<import resource="inner.xml"/>' + bdb).encode()
    main = IMPORTING.replace(b'id="bdb"', b'id="other"')
    job = job_of(tmp_path, main, common__xml=outer, inner__xml=inner)
    require_wanted(job.patched(WANTED).done())
    assert job.state_folder() == "/fast/state"
    assert (tmp_path / "common.xml").read_bytes() == outer


CONFIGURER = "org.springframework.beans.factory.config.PropertyOverrideConfigurer"
SET_ELSEWHERE = {
    "the policy": '<bean id="uriPrecedencePolicy" class="x"/>',
    "queues": '<bean id="frontier"><property name="queuePrecedencePolicy" ref="x"/></bean>',
    "the preparer": '<bean id="preparer"><property name="uriPrecedencePolicy" ref="x"/></bean>',
    "an override": f'<bean class="{CONFIGURER}"><property name="properties"><value>\n'
    "frontier.queuePrecedencePolicy.basePrecedence=9\n</value></property></bean>",
    "a sheet": '<bean id="s" class="org.archive.spring.Sheet"><property name="map"><map><entry>'
    "<key><value>preparer.uriPrecedencePolicy</value></key><ref bean='x'/></entry></map>"
    "</property></bean>",
}


@pytest.mark.parametrize("name", SET_ELSEWHERE)
def test_a_policy_that_an_imported_file_sets_is_refused(name: str, tmp_path: Path) -> None:
    job = job_of(tmp_path, IMPORTING, common__xml=COMMON.format(SET_ELSEWHERE[name]).encode())
    with pytest.raises(BadInput, match=r"recedencePolicy") as caught:
        job.patched(WANTED)
    assert caught.value.where == str(tmp_path / "common.xml")


CONTEXT = 'xmlns:context="http://www.springframework.org/schema/context"'
FRONTIER_BEAN = rb'(?s)<bean id="frontier".*?\n </bean>'
CHAIN = rb'(?s)<bean id="fetchProcessors".*?\n </bean>'


@pytest.mark.parametrize("bean", [FRONTIER_BEAN, CHAIN])
@pytest.mark.parametrize("kept", [False, True])
def test_a_bean_to_be_changed_that_is_imported_is_refused(
    bean: bytes, kept: bool, tmp_path: Path
) -> None:
    """Alone, and with one of that name in the job's file: the last one counts."""
    (text,) = re.findall(bean, PROFILE)
    main = IMPORTING if kept else IMPORTING.replace(text, b"")
    imported = COMMON.format("").encode().replace(b"</beans>", text + b"</beans>")
    with pytest.raises(BadInput, match=r"has, too" if kept else r"common\.xml") as caught:
        job_of(tmp_path, main, common__xml=imported).patched(WANTED)
    assert "crawler-beans.cxml" in caught.value.cure


FILES_OF_OVERRIDES = (
    f'<bean class="{CONFIGURER}"><property name="location" value="file:over.properties"/></bean>',
    f'<bean class="{CONFIGURER}"><property name="locations"><list><value>none.properties</value>'
    "<value> over.properties </value></list></property></bean>",
    f'<context:property-override {CONTEXT} location="file:none.properties, over.properties"/>',
)


@pytest.mark.parametrize("element", FILES_OF_OVERRIDES)
def test_a_file_of_overrides_that_sets_a_policy_is_refused(element: str, tmp_path: Path) -> None:
    main = swapped("</beans>", f"{element}</beans>")
    kept = b"frontier.maxRetries=6\nfrontier.precedenceFloor=255\npreparer.preferenceDepthHops -1\n"
    require_wanted(job_of(tmp_path, main, over__properties=kept).patched(WANTED).done())
    for line, message in (
        (b"uriPrecedencePolicy.basePrecedence = 2", "sets uriPrecedencePolicy.basePrecedence"),
        (b"preparer.preferenceDepthHops: 0", "preparer.preferenceDepthHops is 0 in the file"),
    ):
        job = job_of(tmp_path, main, over__properties=kept + line)
        with pytest.raises(BadInput, match=re.escape(message)) as caught:
            job.patched(WANTED)
        assert "over.properties" in caught.value.found + caught.value.cure


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("", []),
        ("# one\nhttp://a.example/ # more\n  b.example/x\n+http://c.example\n",
         ["http://a.example/", "http://b.example/x"]),
        ("\ufeffhttp://a.example/\r\nwww.b.example:8080/x\r\ndns:a.example\r\n",
         ["http://a.example/", "http://www.b.example:8080/x", "dns:a.example"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ['name="path" value="s.txt"/>', """name="path">
    <value>s.txt</value></property>"""], ids=["attribute", "element"])  # fmt: skip
def test_the_seeds_of_a_job(text: str, seeds: list[str], path: str, tmp_path: Path) -> None:
    shipped = JobBeans(PROFILE, "").seeds(tmp_path)
    assert shipped == ["http://example.example/example"]
    source = f'<bean class="org.archive.spring.ConfigFile"><property {path}</bean>'
    own = f'<property name="textSource">{source}</property>'
    old = rb'(?s)<property name="textSource">.*?</bean>.*?</property>'
    data = re.sub(old, own.encode(), PROFILE, count=1)
    data = data.replace(b"seeds.textSource.value", b"unused")
    (tmp_path / "s.txt").write_text(text)
    assert JobBeans(data, "").seeds(tmp_path) == seeds
    (tmp_path / "s.txt").unlink()
    os.mkfifo(tmp_path / "s.txt")  # which would wait for who writes
    assert JobBeans(data, "").seeds(tmp_path) == []


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
