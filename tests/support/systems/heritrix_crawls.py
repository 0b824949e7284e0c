"""Shared by the tests that crawl with a real Heritrix: where it is, what it crawls and
what it noted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fetching import Unavailable
from heritrix.distribution import heritrix_home
from heritrix.job import Job
from heritrix.log import Fetch, pages
from heritrix.made_site import Site
from heritrix.running import run_job
from heritrix.serving import Served, serving
from heritrix.site_parts import make_site

from support.crawls import ok


@pytest.fixture(scope="module")
def home() -> Path:
    """The folder of the distribution, fetched when it is not there."""
    try:
        return heritrix_home()
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A made site on loopback."""
    with serving(make_site) as server:
        yield server


@pytest.fixture(scope="module")
def site(served: Served) -> Site:
    """The site as the first crawl finds it."""
    return served.site


def noted(fetch: Fetch) -> int:
    """The precedence that Heritrix itself had given to the URI."""
    (note,) = [text for text in fetch.annotations if text.startswith("precedence:")]
    return int(note.partition(":")[2])


def fetched(job: Job) -> list[str]:
    """In the order of their fetches, without names of hosts, robots.txt and favicons."""
    return [
        fetch.uri
        for fetch in pages(job.crawl_log)
        if not fetch.uri.endswith("/favicon.ico") and fetch.uri.startswith("http")
    ]


def recrawled(home: Path, job: Job, work: Path, *options: str) -> str:
    said = ok("recrawl", "--job", job.folder, "--work", work, "--heritrix", home, *options).out
    run_job(home, job)
    return said
