"""Two crawls by a real Heritrix with its own deduplication: revisits stand for their originals.

It keeps digests of content for one run, so that pages of the same content become revisits of the
first of them, whatever its URI; the second crawl finds one page changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from heritrix.job import Job, Plan, write_job
from heritrix.recrawl import scope
from heritrix.running import run_job
from heritrix.serving import Served
from heritrix.site_parts import CHANGING, make_site
from support.crawls import ok
from support.systems.heritrix_crawls import home, served
from support.work_folders import manifest_of
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.keys.keys import key_of

__all__ = ["home", "served"]
pytestmark = pytest.mark.heritrix

BEANS = """
<bean id="known" class="org.archive.bdb.BdbModule" autowire-candidate="false">
  <property name="dir" value="history"/>
</bean>
<bean id="digests" class="org.archive.modules.recrawl.BdbContentDigestHistory">
  <property name="bdbModule"><ref bean="known"/></property>
</bean>
<bean id="load" class="org.archive.modules.recrawl.ContentDigestHistoryLoader"/>
<bean id="store" class="org.archive.modules.recrawl.ContentDigestHistoryStorer"/>
"""
#: pages of the same content, and what all of them link to
TWINS = [f"/twin/{number}/" for number in range(6)]
TWIN_LINKS = ["/p/0.html", "/p/1.html", "/hub.html"]
WRITER = '<ref bean="warcWriter" />'


def crawl(home: Path, folder: Path, served: Served) -> Job:
    """The whole site; what was written under any URI before is written as a revisit."""
    host = served.site.hosts[0]
    for path in TWINS:
        body = "".join(f'<a href="{to}">x</a>' for to in TWIN_LINKS)
        served.site.text(host + path, body, "text/html")
    seeds = [f"{host}{path}" for path in ("/", *TWINS)]
    job = write_job(home, folder, Plan(seeds, scope(served.site), beans=BEANS))
    beans = folder / "crawler-beans.cxml"
    text = beans.read_text()
    assert WRITER in text
    beans.write_text(text.replace(WRITER, f'<ref bean="load" />{WRITER}<ref bean="store" />'))
    run_job(home, job)
    return job


@pytest.fixture(scope="module")
def crawls(home: Path, served: Served, tmp_path_factory: pytest.TempPathFactory) -> list[Job]:
    folder = tmp_path_factory.mktemp("revisits")
    first = crawl(home, folder / "one", served)
    served.site = make_site(served.site.hosts, crawl=2)
    return [first, crawl(home, folder / "two", served)]


def revisits(job: Job) -> dict[str, str]:
    """URI -> the URI that it refers to, of pages with links."""
    found = {}
    for path in job.archives:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "revisit" and record.http_headers.get_statuscode() == "200":
                    header = record.rec_headers.get_header
                    found[header("WARC-Target-URI")] = header("WARC-Refers-To-Target-URI")
    return found


def links(work: Path) -> dict[bytes, set[bytes]]:
    """Source key -> target keys."""
    ok("export", "--format", "text", "--work", work, "--out", work.with_suffix(".text"))
    found: dict[bytes, set[bytes]] = {}
    for line in (work.with_suffix(".text") / "canonicalized_links.txt").read_bytes().splitlines():
        target, source = line.split()
        found.setdefault(source, set()).add(target)
    return found


def test_revisits_stand_for_their_originals(
    crawls: list[Job], served: Served, tmp_path: Path
) -> None:
    archives = [path.resolve() for job in crawls for path in job.archives]
    work = tmp_path / "work"
    asked = ("--captures", "latest", "--outlinks", "html", "--no-validate", "--quiet")
    ok("run", *archives, "--work", work, *asked)
    told = manifest_of(work)["steps"]["select-links"]["counters"]
    assert told["revisits"] == told["revisits.original"] > 10
    of, host = links(work), served.site.hosts[0]
    second = revisits(crawls[1])
    twins = {f"{host}{path}" for path in TWINS}
    assert len(second.keys() & twins) == len(TWINS) - 1
    true = {key_of(f"{host}{to}".encode()) for to in TWIN_LINKS}
    for uri in twins:
        assert of[key_of(uri.encode()) or b""] == true, uri
    for uri, original in second.items():
        key, original_key = key_of(uri.encode()), key_of(original.encode())
        assert key is not None
        assert original_key is not None
        assert of.get(key) == of.get(original_key), uri


def test_a_page_that_changed_has_its_latest_links(
    crawls: list[Job], served: Served, tmp_path: Path
) -> None:
    archives = [path.resolve() for job in crawls for path in job.archives]
    ok("run", *archives, "--work", tmp_path / "work", "--captures", "latest", "--quiet",
       "--no-validate")  # fmt: skip
    of = links(tmp_path / "work")
    for host in served.site.hosts:
        page = f"{host}{CHANGING}"
        true = {key_of(one.target.encode()) for one in served.site.links
                if one.source == page and one.hop == "L"}  # fmt: skip
        assert of[key_of(page.encode()) or b""] == true
