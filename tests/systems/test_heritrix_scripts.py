"""What the crawls by a real Heritrix are made of, as far as it needs no Heritrix."""

from __future__ import annotations

import xml.etree.ElementTree as ET
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from fetching import Unavailable, program
from heritrix import distribution
from heritrix.distribution import heritrix_home
from heritrix.job import NAMESPACES, PROFILE, Plan, write_job
from heritrix.made_site import Site
from heritrix.running import HeritrixFails, java
from heritrix.serving import serving
from heritrix.site_parts import make_site

from crawlrank.pipeline.precedence.beans import beans_fragment

HOSTS = ["http://127.0.0.1:8001", "http://127.0.0.2:8002", "http://127.0.0.3:8003"]


class Anchors(HTMLParser):
    """The links of a page, as Python's own parser and resolver see them."""

    def __init__(self, uri: str) -> None:
        super().__init__()
        self.base, self.targets = uri, set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "base":
            self.base = urljoin(self.base, href or "")
        elif tag in ("a", "area") and href and not href.startswith(("mailto:", "javascript:")):
            target = urljoin(self.base, href.strip("\t\n ").replace("\n", "").replace("\t", ""))
            self.targets.add(target.partition("#")[0])


def test_the_noted_links_are_those_of_the_pages() -> None:
    site = make_site(HOSTS)
    odd = ("/odd/spellings.html", "/odd/traps.html")  # escapes; a textarea
    pages = [uri for uri in site.answers if uri.endswith((".html", "/")) and not uri.endswith(odd)]
    assert len(pages) > 280
    noted = {(link.source, link.target) for link in site.links if link.hop == "L"}
    for uri in pages:
        anchors = Anchors(uri)
        anchors.feed(site.answers[uri].body.decode())
        assert {(uri, target) for target in anchors.targets} == {p for p in noted if p[0] == uri}
    assert {link.how for link in site.links} >= {
        "relative", "rooted", "schemeless", "with_dots", "above_root", "capitals", "fragment",
        "broken", "blanks", "nofollow", "base", "odd path", "odd host", "Location", "meta refresh",
    }  # fmt: skip


def test_a_seed_makes_one_site_and_a_later_crawl_finds_little_changed() -> None:
    site, same, other = make_site(HOSTS), make_site(HOSTS), make_site(HOSTS, seed=2)
    assert (site.answers, site.links) == (same.answers, same.links)
    assert site.links != other.links
    later = make_site(HOSTS, crawl=2)
    changed = {uri for uri in later.answers if later.answers[uri] != site.answers.get(uri)}
    assert changed == {f"{host}/{path}" for host in HOSTS for path in ("news.html", "news/2.html")}


def test_servers_answer_on_loopback_and_end() -> None:
    with serving(Site) as served:
        assert [host.rpartition(":")[0] for host in served.site.hosts] == [
            "http://127.0.0.1", "http://127.0.0.2", "http://127.0.0.3",
        ]  # fmt: skip
        odd = f"{served.site.hosts[1]}//a//b?"
        served.site.text(odd, "there", "text/plain")
        with urlopen(odd, timeout=600) as answer:
            assert answer.read() == b"there"
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{served.site.hosts[0]}//a//b", timeout=600)
    with pytest.raises(OSError, match="refused"):
        urlopen(odd, timeout=600)


PROFILE_TEXT = f"""<?xml version="1.0"?>\r
<beans xmlns="{NAMESPACES[""]}">
<bean id="simpleOverrides"><property name="properties"><value># text</value></property></bean>
<bean id="longerOverrides"><property name="properties"><props><prop key="seeds"/></props></property>
</bean><bean id="acceptSurts"/><bean id="frontier"/>
<bean id="last"><property name="processors"><list><ref bean="a"/></list></property></bean></beans>
"""


def test_a_job_is_the_profile_with_what_a_plan_says(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    with zipfile.ZipFile(tmp_path / "lib" / "heritrix-engine-1.jar", "w") as jar:
        jar.writestr(PROFILE, PROFILE_TEXT)
    fragment = tmp_path / "beans.xml"
    fragment.write_text(beans_fragment(unlisted=6))
    seeds, scope = ["http://h/?a&b", "http://h/<"], ["+http://h/"]
    plan = Plan(seeds, scope, {"a.b": "7"}, fragment, '<bean id="more"/>', {"last": ["more"]})
    job = write_job(tmp_path, tmp_path / "jobs" / "one", plan)
    root = ET.parse(job.folder / "crawler-beans.cxml").getroot()
    names = [bean.get("id") for bean in root]
    assert names[-2:] == ["uriPrecedencePolicy", "more"]
    assert names.count("frontier") == 1
    (prop,) = root.findall(".//prop", NAMESPACES)
    assert (prop.text or "").split() == seeds
    settings, surts = (value.text or "" for value in root.findall(".//value", NAMESPACES))
    assert {"a.b=7", "crawlController.maxToeThreads=1", "#"} <= set(settings.split())
    assert surts.split() == scope
    (queues,) = root.findall("bean[@id='frontier']/property", NAMESPACES)
    assert queues.get("name") == "queuePrecedencePolicy"
    chain = root.findall("bean[@id='last']//ref", NAMESPACES)
    assert [ref.get("bean") for ref in chain] == ["a", "more"]


def test_other_bytes_are_no_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.zip"
    other.write_bytes(b"PK")
    monkeypatch.setenv("CRAWLRANK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CRAWLRANK_HERITRIX_ZIP", str(other))
    with pytest.raises(Unavailable, match=f"expected {distribution.SHA256}: fetch it again"):
        heritrix_home()
    assert list((tmp_path / "cache").iterdir()) == []


def test_what_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match=r"no java on this machine.*apt-get install"):
        program("java")


@pytest.mark.parametrize(
    ("script", "words"), [("sleep 60", "not at its end after 0.2 s"), ("exit 3", "exit code 3")]
)
def test_programs_that_do_not_end_well_are_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    (tmp_path / "java").write_text(f"#!/bin/sh\nexec /bin/sh -c '{script}'\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(HeritrixFails, match=words):
        java(tmp_path, "Main", limit=0.2 if "sleep" in script else 600)
