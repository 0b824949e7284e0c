"""Several jobs of Heritrix from one ranking, and hosts with budgets.

What was fetched is read from crawl.log by a parser that shares nothing with the audit.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from heritrix.job import Job, Plan, write_job
from heritrix.log import read_log
from heritrix.made_site import Site
from heritrix.recrawl import NOTED, first_crawl, rank, scope
from support.systems.heritrix_crawls import fetched, home, recrawled, served, site

from crawlrank.pipeline.precedence.beans import ANNOTATOR

__all__ = ["home", "served", "site"]
pytestmark = pytest.mark.heritrix

BLOCKED = -5003  # by a quota
PARTS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shares")


@pytest.fixture(scope="module")
def first(home: Path, folder: Path, site: Site) -> Job:
    """A whole crawl."""
    return first_crawl(home, folder / "jobs" / "first", site)


@pytest.fixture(scope="module")
def work(folder: Path, first: Job) -> Path:
    return rank(first.archives, folder / "work", "--bins", "20").parent


def new_job(home: Path, folder: Path, site: Site, name: str) -> Job:
    plan = Plan([f"{site.hosts[0]}/"], scope(site), beans=ANNOTATOR, chains=NOTED)
    return write_job(home, folder / "jobs" / name, plan)


def test_the_parts_are_the_whole(
    home: Path, folder: Path, site: Site, work: Path, first: Job
) -> None:
    parts, logs = list[list[str]](), list[str]()
    for number in range(1, PARTS + 1):
        job = new_job(home, folder, site, f"part-{number}")
        said = recrawled(home, job, work, "--part", f"{number}/{PARTS}")
        assert f"part {number} of {PARTS} of the sites" in said
        parts.append(fetched(job))
        logs.append((job.crawl_log.parent / "crawlrank-pages.log").read_text())
    assert sorted(uri for part in parts for uri in part) == sorted(fetched(first))
    hosts = [{uri.split("/")[2] for uri in part} for part in parts]
    there = set.union(*hosts)
    assert len(there) == sum(map(len, hosts))
    for log, own in zip(logs, hosts, strict=True):
        left = set(re.findall("^of-another-part http://([^/]+)", log, re.MULTILINE))
        assert left & there == there - own  # further hosts are out of scope
        assert "other-precedence" not in log


def test_hosts_keep_to_their_budgets(
    home: Path, folder: Path, site: Site, work: Path, first: Job
) -> None:
    """Each host gets its best pages, and what is beyond its budget has a line of its own."""
    job = new_job(home, folder, site, "budget")
    said = recrawled(home, job, work, "--budget", "100")
    quotas = {host: int(n) for host, n in re.findall(r"^([\d.]+) +(\d+)$", said, re.MULTILINE)}
    assert 90 <= sum(quotas.values()) <= 110
    answers, there = answers_of(job), answers_of(first)
    assert there.keys() <= quotas.keys()
    assert answers == {host: min(quotas[host], count) for host, count in there.items()}
    assert sum(fetch.status == BLOCKED for fetch in read_log(job.crawl_log)) > 100


def answers_of(job: Job) -> Counter[str]:
    """By host: pages, robots.txt, redirects and errors."""
    return Counter(
        fetch.uri.split("/")[2].partition(":")[0]
        for fetch in read_log(job.crawl_log)
        if fetch.uri.startswith("http") and fetch.status > 0
    )
