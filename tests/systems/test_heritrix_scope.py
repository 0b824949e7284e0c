"""A recrawl keeps the scope of its job, and its order after a crawl that was cut short.

What was fetched is read from crawl.log by a parser that shares nothing with the audit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest
from heritrix.job import Job, Plan, write_job
from heritrix.log import pages, read_log
from heritrix.made_site import Site
from heritrix.recrawl import NOTED, first_crawl, rank, read_precedences, scope
from heritrix.recrawl import recrawl as crawl_by_hand
from heritrix.running import console, run_job
from heritrix.trap_site import trap_site
from support.crawls import crawlrank
from support.systems.heritrix_crawls import fetched, home, recrawled, served, site

from crawlrank.pipeline.heritrix.rest import LOGIN
from crawlrank.pipeline.precedence.beans import ANNOTATOR, PAGES

__all__ = ["home", "served", "site"]
pytestmark = pytest.mark.heritrix


# ---- scope -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def traps() -> Iterator[tuple[str, str]]:
    with trap_site() as hosts:
        yield hosts


@pytest.fixture(scope="module")
def trapped(home: Path, traps: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Job:
    """The first crawl, from the front page."""
    folder = tmp_path_factory.mktemp("trap") / "jobs" / "trap"
    job = write_job(home, folder, Plan([f"{traps[0]}/"], beans=ANNOTATOR, chains=NOTED))
    run_job(home, job)
    return job


def test_three_recrawls_keep_to_the_scope_of_the_first_crawl(
    home: Path, traps: tuple[str, str], trapped: Job
) -> None:
    """They keep to its hosts and its hops: the next crawl is ranked from the archives of the one
    before."""
    site, videos = traps
    before = set(fetched(trapped))
    days = [uri for uri in before if "/cal/" in uri]
    assert 15 < len(days) < 25
    assert {uri for uri in before if uri.startswith(videos)} == {
        f"{videos}/embed/{n}" for n in range(6)
    }
    job, archives = trapped, trapped.archives
    for number in range(3):
        file = rank(archives, job.folder.parents[1] / f"work-{number}", "--links", "all")
        said = recrawled(home, job, file.parent)
        assert order_of(job, read_precedences(file)) == (1.0, 1.0)  # with one thread
        assert "Seeds and scope stay those" in said
        now = fetched(job)
        assert len(now) == len(set(now))
        assert set(now) == before
        archives = job.archives
    assert {uri.split("/")[2] for uri in before} == {site[7:], videos[7:]}


def test_a_wider_scope_on_request(home: Path, traps: tuple[str, str], trapped: Job) -> None:
    """The calendar continues, and the videos are seeds."""
    work = rank(trapped.archives, trapped.folder.parents[1] / "work-grow", "--links", "all").parent
    job = job_of(home, trapped.folder.with_name("grow"), [f"{traps[0]}/"], (), 120)
    said = recrawled(home, job, work, "--grow")
    assert re.search(rf"^{traps[1][7:]} +6$", said, re.MULTILINE)
    before, now = set(fetched(trapped)), set(fetched(job))
    assert len({uri for uri in now - before if "/cal/" in uri}) >= 10
    hops = {fetch.hops for fetch in pages(job.crawl_log) if fetch.uri.startswith(traps[1])}
    assert "-" in hops


@pytest.mark.parametrize(
    ("line", "outcome", "least", "options"),
    [
        ("uriPrecedencePolicy.basePrecedence=5", "other-precedence", 50, ""),
        ("uriPrecedencePolicy.basePrecedence=5", "other-precedence", 2, "--seeds-only"),
        ("preparer.preferenceDepthHops=1", "other-level", 1, ""),
        ("frontier.queuePrecedencePolicy.basePrecedence=252", "never-fetched", 10, ""),
    ],
)
def test_what_something_overrides_ends_the_crawl(
    line: str, outcome: str, least: int, options: str,
    home: Path, traps: tuple[str, str], trapped: Job, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """By a file of overrides that only the running Heritrix finds."""
    folder = trapped.folder.with_name(f"{outcome}{options}")
    configurer = (
        '<bean class="org.springframework.beans.factory.config.PropertyOverrideConfigurer">'
        '<property name="location" value="overrides.properties"/></bean>'
    )
    plan = Plan([f"{traps[0]}/"], beans=ANNOTATOR + configurer, chains=NOTED)
    job = write_job(home, folder, plan)
    place = folder.parents[1] / "console"  # where Heritrix is started
    place.mkdir(exist_ok=True)
    (place / "overrides.properties").write_text(f"{line}\n")
    ranked = folder.parents[1] / f"work-{folder.name}"
    work = rank(trapped.archives, ranked, "--links", "all").parent
    with console(home, folder.parent) as (url, login):
        monkeypatch.setenv(LOGIN, login)
        said = crawlrank(
            "recrawl", "--job", job.folder, "--work", work, "--heritrix", home, "--rest", url,
            "--insecure", *options.split(),
        )  # fmt: skip
    assert said.code == 4
    assert "ended the crawl at its beginning" in said.err
    assert len(fetched(job)) <= 1
    assert (
        "would not be fetched in the order of the precedence file"
        in (job.folder / "job.log").read_text()
    )
    told = (job.crawl_log.parent / "crawlrank-pages.log").read_text()
    assert told.count(f"{outcome} http") >= least


# ---- order -----------------------------------------------------------------------------------


class Order(NamedTuple):
    """Shares of pairs of listed URIs of different classes that were fetched in order."""

    within: float
    across: float


def order_of(job: Job, precedences: Mapping[str, int]) -> Order:
    rows = [(precedences[uri], uri.split("/")[2]) for uri in fetched(job) if uri in precedences]
    right, all_pairs = [0, 0], [0, 0]
    for (first, a), (second, b) in combinations(rows, 2):
        if first != second:
            all_pairs[a != b] += 1
            right[a != b] += first < second
    return Order(right[0] / all_pairs[0], right[1] / all_pairs[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cut")


@pytest.fixture(scope="module")
def whole(home: Path, folder: Path, site: Site) -> Job:
    return first_crawl(home, folder / "jobs" / "whole", site)


STOPPER = """
<bean id="stopper" class="org.archive.modules.ScriptedProcessor">
  <property name="scriptSource"><bean class="org.archive.spring.ConfigString">
    <property name="value"><value>
void process(curi) {{
  if (appCtx.getBean("frontier").succeededFetchCount() >= {count})
    appCtx.getBean("crawlController").requestCrawlStop();
}}
    </value></property>
  </bean></property>
</bean>
"""


def job_of(home: Path, folder: Path, seeds: Sequence[str], surts: Sequence[str], stop: int) -> Job:
    """stop: the fetches after which it stops; 0: at its end."""
    beans, chains = ANNOTATOR, {**NOTED}
    if stop:
        beans += STOPPER.format(count=stop)
        chains["dispositionProcessors"] = [*NOTED["dispositionProcessors"], "stopper"]
    return write_job(home, folder, Plan(seeds, surts, beans=beans, chains=chains))


@pytest.mark.parametrize("share", [10, 40, 80, 100])
def test_the_order_is_kept_after_a_crawl_that_was_cut_short(
    home: Path, folder: Path, site: Site, whole: Job, share: int
) -> None:
    """The order is as in a crawl with all lines of the file for seeds, and without what the whole
    crawl of the job would not fetch."""
    there = set(fetched(whole))
    name = folder / "jobs" / f"cut-{share}"
    seeds, surts = [f"{site.hosts[0]}/"], scope(site)
    cut = job_of(home, name, seeds, surts, len(there) * share // 100 if share < 100 else 0)
    run_job(home, cut)
    assert abs(len(fetched(cut)) - len(there) * share / 100) < 12
    file = rank(cut.archives, folder / f"work-{share}", "--bins", "20")
    precedences = read_precedences(file)
    again = job_of(home, name.with_name(f"again-{share}"), seeds, surts, 0)
    said = recrawled(home, again, file.parent)
    assert share > 40 or "With the pages that it did not capture, expect some" in said
    ours = order_of(again, precedences)
    seeded = crawl_by_hand(home, folder / "jobs" / f"seeded-{share}", site, [*precedences], file)
    best = order_of(seeded, precedences)
    assert ours.within >= 0.9999, (ours, best)
    assert ours.across >= 0.95 * best.across, (ours, best)
    now = set(fetched(again))
    assert set(fetched(cut)) <= now
    assert len(now - there) <= 0.05 * len(there)
    report = (again.crawl_log.parent / "crawlrank-pages.log").read_text()
    left = re.findall(r"^out-of-scope (\S+)$", report, re.MULTILINE)
    assert not now & set(left)
    require_tried(again, precedences, left)


def require_tried(job: Job, precedences: Mapping[str, int], left: list[str]) -> None:
    """Every page that was scheduled was fetched, or tried."""
    lines = (job.folder / "crawlrank" / "1" / PAGES).read_text().splitlines()
    scheduled = {line.split("\t")[1] for line in lines} - set(left)
    assert scheduled <= set(precedences)
    tried = {fetch.uri.lower() for fetch in read_log(job.crawl_log)}
    assert {uri for uri in scheduled if uri.lower() not in tried} == set()
