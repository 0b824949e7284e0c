"""The loop with a real Heritrix: crawl, rank, load, and crawl again in the order of the ranking."""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import scipy
from heritrix.job import Job, Plan, write_job
from heritrix.log import pages, read_log
from heritrix.made_site import Document, Site
from heritrix.recrawl import first_crawl, rank, read_precedences, recrawl
from heritrix.running import look_into, run_job
from heritrix.serving import Served, serving
from heritrix.site_parts import TEXTAREA_TRAP, make_site
from support.crawls import crawlrank, ok
from support.systems.heritrix_crawls import home, noted, served, site

from crawlrank.jobs.kernel.keys.heritrix_form import heritrix_form
from crawlrank.pipeline.precedence.heritrix_loader import load

__all__ = ["home", "served", "site"]
pytestmark = pytest.mark.heritrix
BINS = 20
UNLISTED = BINS + 1

#: listed, and no pages that are fetched: of spellings that Heritrix takes for one URI it fetches
#: the first that it meets, and robots.txt is read first and forbids the third
OMITTED = ("/mixed/case.html", "/caf%c3%a9.html", "/private/secret.html", "/robots.txt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("loop")


@pytest.fixture(scope="module")
def first(home: Path, folder: Path, site: Site) -> Job:
    return first_crawl(home, folder / "first", site)


@pytest.fixture(scope="module")
def precedence(first: Job, folder: Path) -> Path:
    return rank(first.archives, folder / "work", "--bins", str(BINS))


@pytest.fixture(scope="module")
def later(served: Served, site: Site, precedence: Path) -> Site:
    """The site as the second crawl finds it, now served in place of the first."""
    served.site = make_site(site.hosts, crawl=2)
    return served.site


@pytest.fixture(scope="module")
def seeds(precedence: Path, site: Site, later: Site) -> list[str]:
    """All of the site that is in the file, and pages that are new; in an order of no meaning."""
    listed = {uri for uri in read_precedences(precedence) if uri.startswith(tuple(site.hosts))}
    new = later.answers.keys() - site.answers.keys()
    assert not new & listed
    assert len(new) == len(site.hosts)
    return random.Random(1).sample(sorted(listed | new), len(listed | new))


@pytest.fixture(scope="module")
def second(home: Path, folder: Path, later: Site, seeds: list[str], precedence: Path) -> Job:
    return recrawl(home, folder / "second", later, seeds, precedence)


def order(job: Job, precedence: Path, uris: Sequence[str] | None = None) -> list[int]:
    """The precedences of what was fetched, in the order of fetching."""
    listed = read_precedences(precedence)
    fetched = [fetch.uri for fetch in pages(job.crawl_log)]
    return [listed.get(uri, UNLISTED) for uri in fetched if uris is None or uri in uris]


def tau(precedences: Sequence[int]) -> float:
    """Kendall's tau-b of place in the crawl and precedence."""
    return float(scipy.stats.kendalltau(range(len(precedences)), precedences).statistic)


# ---- the order -------------------------------------------------------------------------------


@pytest.mark.smoke
def test_the_first_crawl_has_the_whole_site(first: Job, site: Site) -> None:
    status = {fetch.uri: fetch.status for fetch in pages(first.crawl_log)}
    there = {uri for uri in site.answers if not uri.endswith("/robots.txt")}
    omitted = {uri for uri in there if uri.endswith(OMITTED)}
    assert len(there) > 340
    assert there - status.keys() == omitted
    assert all(status[uri] == site.answers[uri].status for uri in there - omitted)
    assert {301, 302, 404, 500} < set(status.values())
    assert not [uri for uri in status if "/private/" in uri]


@pytest.mark.smoke
def test_seeds_are_fetched_in_the_order_of_the_file(
    second: Job, precedence: Path, seeds: list[str], site: Site
) -> None:
    """Over all hosts, and what is not listed after all that is."""
    precedences = order(second, precedence, seeds)
    assert len(precedences) == len(seeds) - len(OMITTED) * len(site.hosts)
    assert precedences == sorted(precedences)
    assert set(precedences) == set(range(1, UNLISTED + 1))
    hosts = [fetch.uri.split("/")[2] for fetch in pages(second.crawl_log) if fetch.uri in seeds]
    changes = sum(a != b for a, b in pairwise(hosts))
    assert changes >= BINS  # not host by host: a class has pages of several


def test_without_the_file_the_order_is_another(
    home: Path, folder: Path, later: Site, seeds: list[str], precedence: Path
) -> None:
    without = recrawl(home, folder / "without", later, seeds, None)
    precedences = order(without, precedence, seeds)
    assert len(precedences) == len(seeds) - len(OMITTED) * 3
    assert abs(tau(precedences)) < 0.2
    assert {noted(fetch) for fetch in pages(without.crawl_log)} == {1}


def test_discovery_from_one_seed_keeps_the_order_roughly(
    home: Path, folder: Path, later: Site, precedence: Path, first: Job
) -> None:
    """Heritrix cannot fetch what it has not found: better than the first crawl, not perfect."""
    seed = [f"{later.hosts[0]}/"]
    found = recrawl(home, folder / "found", later, seed, precedence)
    ordered, before = tau(order(found, precedence)), tau(order(first, precedence))
    assert before + 0.1 < ordered < 1


def test_seeds_go_before_links_that_are_found(
    home: Path, folder: Path, later: Site, precedence: Path
) -> None:
    """A limit of Heritrix: the best pages wait when they alone are no seeds."""
    listed = read_precedences(precedence)
    host = later.hosts[0]
    seeds = [uri for uri, value in listed.items() if uri.startswith(host) and value > 1]
    job = recrawl(home, folder / "behind", later, seeds, precedence)
    fetched = [fetch for fetch in pages(job.crawl_log) if fetch.uri.startswith(host)]
    found = [fetch for fetch in fetched if fetch.hops.endswith("L")]
    assert 1 in {listed.get(fetch.uri) for fetch in found}
    last_seed = max(n for n, fetch in enumerate(fetched) if fetch.hops == "-")
    assert all(fetched.index(fetch) > last_seed for fetch in found)


# ---- the keys --------------------------------------------------------------------------------


def test_heritrix_finds_every_captured_uri(
    home: Path, second: Job, first: Job, precedence: Path
) -> None:
    """In its own store, by its own keys; and nothing else is in there."""
    listed = read_precedences(precedence)
    captured = [fetch.uri for fetch in pages(first.crawl_log)]
    (count,), *rows = look_into(home, "LookUp.java", str(second.state), text="\n".join(captured))
    assert {uri: value for uri, _, value in rows} == {uri: str(listed[uri]) for uri in captured}
    stored = load(precedence)
    assert int(count) == len(stored) == len(listed)
    assert {key: int(value) for _, key, value in rows}.items() <= stored.items()


def test_the_frontier_used_what_is_stored(second: Job, precedence: Path, site: Site) -> None:
    """Heritrix adds 1 to what is listed; the default policy gives the rest."""
    listed = read_precedences(precedence)
    fetched = pages(second.crawl_log)
    assert len(fetched) > 340
    assert {f.uri: noted(f) for f in fetched} == {
        f.uri: listed.get(f.uri, UNLISTED) + 1 for f in fetched
    }


# ---- the links -------------------------------------------------------------------------------


@pytest.mark.parametrize("outlinks", ["html", "metadata", "both", "auto"])
@pytest.mark.parametrize("links", ["nav", "all"])
def test_all_true_links_and_no_others(
    first: Job, site: Site, tmp_path: Path, outlinks: str, links: str
) -> None:
    """The links are those of the pages that were captured. A `textarea` is text: its markup is no
    link in a browser, and Heritrix lists it as one like any other, so that metadata alone cannot
    tell."""
    output = partial(Path, tmp_path)
    options = ("--outlinks", outlinks, "--links", links, "--runner", "inline")
    paths = ("--output", output("links.txt"), "--captures", output("captures.txt"))
    assert crawlrank("step", "extract-links", *first.archives, *paths, *options).code == 0
    lines = [line.split() for line in output("links.txt").read_text().splitlines()]
    found = {(source, heritrix_form(target), hop) for target, source, hop in lines}
    fetched = {f.uri for f in pages(first.crawl_log) if 200 <= f.status < 400}
    true = {(link.source, link.target, link.hop) for link in site.links if link.source in fetched}
    assert len(true) > 900
    if links == "nav":
        true = {link for link in true if link[2] != "E"}
    assert true - found == set()
    false = found - true
    assert {target for _, target, _ in false} <= site.traps
    taken = {target for _, target, hop in false if hop != "X"}  # X: guessed, never with nav
    assert links == "all" or not [hop for _, _, hop in false if hop == "X"]
    texts = {uri for uri in site.traps if uri.endswith(f"/{TEXTAREA_TRAP}.html")}
    assert taken == (texts if outlinks in ("metadata", "both") else set())


# ---- what is missed --------------------------------------------------------------------------

REASONS = {-9998: "robots", -5001: "scope"}  # by hand, as documented; others below 0 are errors


def much_linked(hosts: Sequence[str], dead: str) -> Site:
    """Pages that all link to what a crawl cannot have. dead: a host where nothing listens."""
    site, (host, _, elsewhere) = Site(hosts), hosts
    site.text(f"{host}/robots.txt", "User-agent: *\nDisallow: /private/\n", "text/plain")
    paths = ["/", *(f"/p/{number}.html" for number in range(40))]
    for path in paths:
        page = Document(site, host + path)
        for uri in ("/private/a.html", "/private/b.html", "/blocked/a.html", *paths):
            page.link(host + uri)
        for uri in (f"{dead}/", f"{dead}/a.html", f"{elsewhere}/", f"{host}{path}?none"):
            page.link(uri)
        page.done()
    return site


def crawled_without(home: Path, folder: Path, seeds: Sequence[str]) -> Job:
    """A crawl that tries each page twice, and none below /blocked/."""
    settings = {"preselector.blockByRegex": ".*/blocked/.*", "frontier.maxRetries": "2"}
    job = write_job(home, folder, Plan(seeds, settings=settings))
    run_job(home, job)
    return job


def test_reasons_of_missed_pages_are_those_of_the_log(home: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # so that nobody else listens there
        dead = f"http://127.0.0.1:{taken.getsockname()[1]}"
        make = partial(much_linked, dead=dead)
        with serving(make) as now:
            host, _, elsewhere = now.site.hosts
            job = crawled_without(home, tmp_path / "job", [f"{host}/", f"{dead}/"])
    work = rank(job.archives, tmp_path / "work").parent
    report = ok("report", work, "--crawl-log", job.crawl_log, "--json", "-", "--top", 200).out
    missed = json.loads(report)["missed"]
    latest = {fetch.uri: fetch.status for fetch in read_log(job.crawl_log)}
    expected = {uri: latest.get(uri) for uri in (
        f"{host}/private/a.html", f"{host}/private/b.html", f"{host}/blocked/a.html", f"{dead}/",
        f"{dead}/a.html", f"{elsewhere}/",
    )}  # fmt: skip
    assert {row["uri"]: row["status"] for row in missed["best"]} == expected
    for row in missed["best"]:
        default = "never" if row["status"] is None else "error"
        assert row["reason"] == REASONS.get(row["status"], default)
    best = {row["reason"] for row in missed["best"]}
    assert best == {"robots", "scope", "error", "never"}
    important = [row for row in missed["best"] if row["class"] == 1]
    assert missed["important"] == len(important) > 0
    counts = Counter(row["reason"] for row in important)
    assert {row["reason"]: row["count"] for row in missed["by_reason"]} == counts
