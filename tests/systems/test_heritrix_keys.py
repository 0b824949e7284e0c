"""Odd spellings, crawled by a real Heritrix: each line of the file is found under its key.

What can be asked over http of the URIs that Heritrix takes in tests/data/heritrix/uuri.tsv.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from heritrix.job import Job, write_job
from heritrix.log import pages
from heritrix.odd_site import java_options, leaf, odd_answers, odd_plan, odd_rows
from heritrix.recrawl import rank, read_precedences
from heritrix.running import load_precedences, look_into, run_job
from heritrix.serving import server
from support.paths import HERITRIX
from support.systems.heritrix_crawls import home, noted

from crawlrank.pipeline.precedence.heritrix_loader import load

__all__ = ["home"]
pytestmark = pytest.mark.heritrix
ROWS = odd_rows(HERITRIX / "uuri.tsv")
FORMS = {form for _, form in ROWS}
#: no host, or an address that is none: Heritrix does not ask for them
NOT_ASKED = {"http:/", "http://0.0.0.0/", "http://0.0.0.0/a/b", "http://256.256.256.256/"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    answers = odd_answers([uri for uri, _ in ROWS])
    with server("127.0.0.1", lambda uri: answers.get(uri) or leaf(uri)) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def first(home: Path, folder: Path, proxy: str) -> Job:
    job = write_job(home, folder / "first", odd_plan(proxy))
    run_job(home, job, options=java_options(sorted(FORMS), folder))
    return job


@pytest.fixture(scope="module")
def precedence(first: Job, folder: Path) -> Path:
    """All are linked to, by two or three pages: the scores do not matter here, the lines do."""
    return rank(first.archives, folder / "work")


@pytest.fixture(scope="module")
def second(home: Path, folder: Path, proxy: str, precedence: Path) -> Job:
    fragment = precedence.with_name("crawler-beans-fragment.xml")
    job = write_job(home, folder / "second", odd_plan(proxy, fragment))
    load_precedences(home, precedence, job)
    run_job(home, job, options=java_options(sorted(FORMS), folder))
    return job


def test_all_that_can_be_asked_for_is_captured(first: Job) -> None:
    captured = {fetch.uri for fetch in pages(first.crawl_log)}
    assert len(FORMS) > 900
    assert FORMS - captured == NOT_ASKED & FORMS


def test_every_captured_uri_is_found_under_its_key(
    home: Path, first: Job, second: Job, precedence: Path
) -> None:
    listed = read_precedences(precedence)
    captured = sorted({fetch.uri for fetch in pages(first.crawl_log)})
    (count,), *rows = look_into(home, "LookUp.java", str(second.state), text="\n".join(captured))
    assert [uri for uri, _, _ in rows] == captured
    assert [uri for uri, _, value in rows if value == "-"] == []
    stored = load(precedence)
    assert {key: int(value) for _, key, value in rows}.items() <= stored.items()
    assert {uri: int(value) for uri, _, value in rows}.items() <= dict(listed).items()
    assert int(count) == len(stored) == len(listed)


def test_the_frontier_found_every_one(first: Job, second: Job, precedence: Path) -> None:
    """In a crawl that finds the URIs in pages, as it finds them in the wild."""
    listed = read_precedences(precedence)
    found = {fetch.uri: noted(fetch) for fetch in pages(second.crawl_log)}
    captured = {fetch.uri for fetch in pages(first.crawl_log)}
    assert captured <= found.keys()
    assert [uri for uri in captured if found[uri] != listed[uri] + 1] == []
