"""A real Scrapy on loopback: the order, kills, redirects, failures, relevance."""

from __future__ import annotations

import random
import signal
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from heritrix.made_site import Answer
from heritrix.serving import NOT_FOUND, server
from online.compare_scrapy import (
    ORDERS,
    answers,
    fetched,
    importance,
    shares,
    site,
    spider_command,
)
from support.systems.scrapy_forks import Crawl, scrapy_commands

from crawlrank.pipeline.online.opic_hits import OpicHits
from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.hits_cash import SqliteHitsCash
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph, SqliteRelevance
from crawlrank.pipeline.online.stores.requests import CrawlRequest, SqliteRequests

PAGES = 90


def require_earlier(orders: Sequence[list[str]], ranks: Mapping[str, float]) -> None:
    """What is important comes earlier in the first order than in the others."""
    for order in orders:
        assert sorted(order) == sorted(ranks)
    ours, *others = (shares(order, ranks) for order in orders)
    for other in others:
        assert ours[1] > 1.15 * other[1]  # with the first tenth of all pages
        assert sum(ours[:3]) > sum(other[:3])


@pytest.mark.slow
def test_important_pages_come_earlier_than_in_scrapys_own_orders() -> None:
    links = site(250, seed=1)
    require_earlier([fetched(links, given) for given in ORDERS.values()], importance(links))


def found(links: list[list[int]], take: int) -> list[str]:
    """All pages in the order in which they are found. take: the place of the next one among those
    that wait, 0 for the first found and -1 for the last."""
    order, waiting, known = [], [0], {0}
    while waiting:
        page = waiting.pop(take)
        order.append(f"/{page or ''}")
        new = [target for target in dict.fromkeys(links[page]) if target not in known]
        known.update(new)
        waiting += new
    return order


class Web:
    """answers: by path. paths: of all requests that came. most: requests that are answered; the
    next one says so by `reached` and waits, as all later ones do."""

    def __init__(self, known: dict[str, Answer]) -> None:
        self.answers, self.paths, self.most = known, list[str](), sys.maxsize
        self.reached, self.goes_on = threading.Event(), threading.Event()

    def stop_after(self, more: int) -> None:
        self.most = len(self.paths) + more
        self.reached, self.goes_on = threading.Event(), threading.Event()

    def answer(self, uri: str) -> Answer:
        path, goes_on = "/" + uri.split("/", 3)[3], self.goes_on
        self.paths.append(path)
        if len(self.paths) > self.most:
            self.reached.set()
            goes_on.wait(600)
        return self.answers.get(path, NOT_FOUND)


@contextmanager
def crawling(web: Web, folder: Path, **settings: str) -> Iterator[Callable[..., list[str]]]:
    """A function that makes the words of a crawl with stores in the folder."""
    with server("127.0.0.1", web.answer) as url:
        named = {"CRAWLRANK_STORES": str(folder / "crawl.db"), **settings}
        yield lambda *options: spider_command(url, named, *options)[2:]


Start = Callable[[Sequence[str], Path], Crawl]


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with scrapy_commands() as commands:
        yield commands


@pytest.fixture
def run(start: Start, tmp_path: Path) -> Callable[[list[str]], str]:
    """A function that runs a crawl and returns what it says."""

    def ran(words: list[str]) -> str:
        crawl = start(words, tmp_path)
        code, said = crawl.wait(), crawl.log.read_text()
        assert code == 0, said
        return said

    return ran


Run = Callable[[list[str]], str]


@pytest.mark.slow
def test_important_pages_come_earlier_than_in_the_order_in_which_they_are_found(
    run: Run, tmp_path: Path
) -> None:
    links = site(160, seed=1)
    web = Web(answers(links))
    with crawling(web, tmp_path) as words:
        run(words())
    first = [*dict.fromkeys(web.paths)]  # the start page comes again, as with Scrapy
    require_earlier([first, found(links, 0), found(links, -1)], importance(links))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kills", [1, pytest.param(10, marks=pytest.mark.slow)], ids=lambda kills: f"{kills} kills"
)
def test_a_crawl_that_is_killed_goes_on_where_it_was(
    kills: int, start: Start, run: Run, tmp_path: Path
) -> None:
    draw, links = random.Random(kills), site(PAGES, seed=4)
    web, at_once = Web(answers(links)), 4
    with crawling(web, tmp_path, CONCURRENT_REQUESTS=str(at_once)) as words:
        for _ in range(kills):
            most = PAGES // (kills + 1)
            web.stop_after(draw.randrange(most // 2, most))  # so that it cannot end
            crawl = start(words(), tmp_path)
            assert web.reached.wait(600), crawl.log.read_text()
            crawl.kill()
            assert crawl.wait() == -signal.SIGKILL
            web.goes_on.set()
        web.most = sys.maxsize
        run(words())
        count = len(web.paths)
        run(words())  # nothing is left to fetch
    assert len(web.paths) == count
    assert set(web.paths) == set(answers(links))
    again = len(web.paths) - PAGES - 1  # the start page comes again where it is linked
    assert again <= kills * at_once
    with Database(tmp_path / "crawl.db") as database:
        graph = SqliteGraph(database)
        assert graph.node_count() == PAGES
        own = (len({*targets} - {page}) for page, targets in enumerate(links))
        assert graph.edge_count() == sum(own)


def page_at(*links: str) -> Answer:
    return Answer(200, "".join(f"<a href='{link}'>x</a>" for link in links).encode(), "text/html")


def states(path: Path) -> dict[str, int]:
    """States of requests, by the path of their pages."""
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT page, state FROM requests JOIN pages USING (number)").fetchall()
    return {"/" + page.decode().split("/", 3)[3]: state for page, state in rows}


def test_redirects_errors_and_documents_without_text_are_done(run: Run, tmp_path: Path) -> None:
    web = Web({
        "/": page_at("/moved", "/none", "/picture", "/failing", "/a"),
        "/moved": Answer(302, b"", location="/b"),
        "/picture": Answer(200, b"\x89PNG", "image/png"),
        "/failing": Answer(503, b""),
        "/a": page_at("/b", "/"),
        "/b": page_at("/a"),
    })  # fmt: skip
    with crawling(web, tmp_path, RETRY_TIMES="2") as words:
        run(words())
        counts = Counter(web.paths)
        assert counts.pop("/failing") == 3
        assert counts.pop("/") == 2  # a page to start with is no duplicate's original
        assert set(counts.values()) == {1}
        assert states(tmp_path / "crawl.db") == dict.fromkeys(
            ["/", "/moved", "/none", "/picture", "/failing", "/a", "/b"], 2
        )
        count = len(web.paths)
        run(words())
    assert len(web.paths) == count


SPIDER = """
from scrapy import Request, Spider
class Other(Spider):
    name = "other"
    custom_settings = {
        "SCHEDULER": "crawlrank.pipeline.online.scrapy_scheduler.ImportanceScheduler",
        "SPIDER_MIDDLEWARES": {
            "crawlrank.pipeline.online.scrapy_scheduler.ImportanceMiddleware": 1,
        },
    }
    def __init__(self, start, **options):
        super().__init__(**options)
        self.start_urls = [start]
    def parse(self, response):
        number = len(response.url)
        yield {"relevance": 0.9 if response.url.endswith("a") else 7 if number % 2 else "x"}
        for link in response.css("a::attr(href)").getall():
            held = {"held": lambda: 1} if link == "/held" else {}
            yield response.follow(link, meta={**response.meta, **held}, priority=link == "/first")
        if response.url.endswith("/bad"):
            raise ValueError("a fault of the callback")
"""


def test_a_spider_with_relevance_priorities_faults_and_what_cannot_be_written(
    run: Run, tmp_path: Path
) -> None:
    web = Web({
        "/": page_at("/a", "/bad", "/held", "/first"),
        **{path: page_at() for path in ("/a", "/held", "/first", "/behind")},
        "/bad": page_at("/behind"),
    })  # fmt: skip
    (tmp_path / "other.py").write_text(SPIDER)
    with crawling(web, tmp_path, LOG_LEVEL="INFO", CONCURRENT_REQUESTS="1") as words:
        log = run([word.replace(words()[2], "other.py") for word in words()])
    assert sorted(web.paths) == ["/", "/a", "/bad", "/behind", "/first", "/held"]
    assert web.paths[1] == "/first"
    assert "kept in memory only" in log
    assert "'crawlrank/wrong_relevance'" in log
    assert "'crawlrank/new': 6" in log
    assert "a fault of the callback" in log
    with Database(tmp_path / "crawl.db") as database:
        pages = SqliteRelevance(database).best(9)
        assert [(page.rpartition(b"/")[2], relevance) for page, relevance in pages] == [(b"a", 0.9)]
        opic = OpicHits(SqliteGraph(database), SqliteHitsCash(database), SqliteRelevance(database))
        assert len(list(opic.iscores())) == 6


def test_the_middleware_without_the_scheduler_says_so(run: Run, tmp_path: Path) -> None:
    web = Web({"/": page_at("/a"), "/a": page_at()})
    with crawling(web, tmp_path) as words:
        log = run(words("-s", "SCHEDULER=scrapy.core.scheduler.Scheduler"))
    assert "ImportanceScheduler" in log
    assert "Set it beside the middleware" in log


def test_requests_of_busy_hosts_are_passed_over() -> None:
    with Database() as database:
        requests = SqliteRequests(database)
        for number in range(200):
            host = "a" if number < 150 else f"host{number}"
            name = b"%d" % number
            assert requests.add(CrawlRequest(name, name, host, 0, -number, name)) is not None
        assert requests.add(CrawlRequest(b"3", b"3", "a", 0, 0, b"3")) is None
        assert requests.take(lambda host: False) == (1, b"0")
        assert requests.take(lambda host: host == "a") == (151, b"150")
        assert requests.take(lambda host: True) is None
        requests.set_value(b"170", 5.0)
        assert requests.take(lambda host: False) == (171, b"170")
        requests.end(1)
        assert (requests.waiting(), requests.done()) == (197, 1)
        again = SqliteRequests(database)  # as after a kill
        assert again.waiting() == 199
