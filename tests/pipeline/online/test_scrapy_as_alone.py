"""What works under Scrapy alone works with the scheduler: the same spiders both ways, and parts."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from heritrix.made_site import Answer
from heritrix.serving import NOT_FOUND, server
from online.compare_scrapy import DEFAULT, spider_command
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.http import Response
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler
from support.drawing import examples
from support.systems.scrapy_forks import scrapy_commands

from crawlrank.pipeline.online.scrapy_scheduler import ImportanceMiddleware, ImportanceScheduler

SCHEDULER = "crawlrank.pipeline.online.scrapy_scheduler.ImportanceScheduler"


class OddSpider(Spider):
    """Callbacks that come and go."""

    name = "odd"

    def parse(self, response: Response) -> None: ...
    def parse_old(self, response: Response) -> None: ...


class LengthFilter(BaseDupeFilter):
    """Two URLs of one length are the same."""

    def __init__(self) -> None:
        self.lengths: set[int] = set()

    def request_seen(self, request: Request) -> bool:
        is_seen = len(request.url) in self.lengths
        self.lengths.add(len(request.url))
        return is_seen

    def log(self, request: Request, spider: Spider) -> None: ...


def crawler_of(**settings: Any) -> Crawler:
    crawler = get_crawler(OddSpider, {"SCHEDULER": SCHEDULER, **settings})
    crawler.request_fingerprinter = RequestFingerprinter()
    crawler.spider, crawler.engine = OddSpider.from_crawler(crawler), Mock(downloader=None)
    return crawler


@contextmanager
def opened(crawler: Crawler) -> Iterator[ImportanceScheduler]:
    scheduler = ImportanceScheduler.from_crawler(crawler)
    scheduler.open(crawler.spider)
    yield scheduler
    scheduler.close("finished")


def taken(scheduler: ImportanceScheduler) -> list[Request]:
    return [*iter(scheduler.next_request, None)]


def request(path: str, **options: Any) -> Request:
    return Request(f"http://a.example/{path}", **options)


def deep() -> list[Any]:
    kept: list[Any] = []
    for _ in range(5000):
        kept = [kept]
    return kept


def test_without_a_file_requests_stay_themselves() -> None:
    shared: list[str] = []
    with opened(crawler_of()) as scheduler:
        given = [request(name, cb_kwargs={"shared": shared}) for name in "abc"]
        assert all(map(scheduler.enqueue_request, given))
        assert len(scheduler) == 3
        assert sorted(map(id, taken(scheduler))) == sorted(map(id, given))
        assert scheduler._crawler.stats.get_value("crawlrank/unwritable") is None


class Unwritable:
    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __reduce__(self) -> Any:
        raise self.error("not to be written")


@pytest.mark.parametrize("error", [RecursionError, KeyError, OSError, MemoryError, RuntimeError])
def test_what_cannot_be_written_stays_in_memory(tmp_path: Path, error: type[Exception]) -> None:
    crawler = crawler_of(JOBDIR=str(tmp_path))
    with opened(crawler) as scheduler:
        odd = request("odd", meta={"odd": Unwritable(error)})
        assert all(map(scheduler.enqueue_request, [request("a"), odd, request("b")]))
        assert odd in taken(scheduler)
    assert crawler.stats.get_value("crawlrank/unwritable") == 1


def test_an_object_too_deep_to_be_written_stays_in_memory(tmp_path: Path) -> None:
    with opened(crawler_of(JOBDIR=str(tmp_path))) as scheduler:
        assert scheduler.enqueue_request(request("deep", meta={"soup": deep()}))
        assert len(taken(scheduler)) == 1


def test_a_request_whose_callback_is_gone_is_left_and_comes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    crawler = crawler_of(JOBDIR=str(tmp_path))
    with opened(crawler) as scheduler:
        spider: Any = crawler.spider
        for name in "ab":
            old = request(name, callback=spider.parse_old, priority=1)
            assert scheduler.enqueue_request(old)
        assert scheduler.enqueue_request(request("c", callback=spider.parse))
    with monkeypatch.context() as patch:
        patch.delattr(OddSpider, "parse_old")
        for expected in (["http://a.example/c"], []):  # at each run, none is lost
            crawler = crawler_of(JOBDIR=str(tmp_path))
            with opened(crawler) as scheduler:
                assert [one.url for one in taken(scheduler)] == expected
                assert not scheduler.has_pending_requests()
            assert crawler.stats.get_value("crawlrank/left") == 2
    assert "http://a.example/a: ValueError" in caplog.text
    with opened(crawler_of(JOBDIR=str(tmp_path))) as scheduler:
        assert len(taken(scheduler)) == 2


def test_duplicates_are_those_of_the_settings_filter() -> None:
    filter_name = f"{__name__}.LengthFilter"
    with opened(crawler_of(DUPEFILTER_CLASS=filter_name)) as scheduler:
        wanted = [*map(scheduler.enqueue_request, map(request, ("a", "b", "aa", "bb")))]
    assert wanted == [True, False, True, False]
    name = "scrapy.dupefilters.BaseDupeFilter"
    with opened(crawler_of(DUPEFILTER_CLASS=name)) as scheduler:
        assert all(scheduler.enqueue_request(request("a")) for _ in range(3))
        assert len(taken(scheduler)) == 3


def test_requests_without_the_filter_make_no_duplicates() -> None:
    with opened(crawler_of()) as scheduler:
        options = [True, True, False, False, True]
        wanted = [scheduler.enqueue_request(request("a", dont_filter=each)) for each in options]
        assert wanted == [True, True, True, False, True]
        assert len(taken(scheduler)) == 4


def test_priorities_of_any_size_are_kept_in_order() -> None:
    with opened(crawler_of()) as scheduler:
        for name, priority in (("a", -(10**30)), ("b", 10**30), ("c", 0)):
            assert scheduler.enqueue_request(request(name, priority=priority))
        assert [one.url[-1] for one in taken(scheduler)] == ["b", "c", "a"]


def test_what_a_spider_starts_with_is_fetched_in_one_run_only(tmp_path: Path) -> None:
    for expected in (3, 0):  # the same page twice, as in the list of the spider
        with opened(crawler_of(JOBDIR=str(tmp_path))) as scheduler:
            for name in "aab":
                start = request(name, dont_filter=True, meta={"is_start_request": True})
                scheduler.begin_with(start)
                assert scheduler.enqueue_request(start) == bool(expected)
            assert len(taken(scheduler)) == expected


def test_what_comes_out_of_no_response_passes() -> None:
    crawler = crawler_of()
    middleware = ImportanceMiddleware.from_crawler(crawler)

    async def out() -> AsyncIterator[Any]:
        for entry in (request("a"), ("a", "tuple"), None):
            yield entry

    async def through() -> list[Any]:
        nothing: Any = None
        return [entry async for entry in middleware.process_spider_output(nothing, out())]

    with opened(crawler):
        assert len(asyncio.run(through())) == 3


#: pages link to others by what a draw of their number says
ODD = """
import random
from scrapy import Request, Spider

class Own: pass

class Broken(dict):
    def __getitem__(self, key): raise OSError("no such field")

class Odd(Spider):
    name = "odd"
    def __init__(self, start, **options):
        super().__init__(**options)
        self.start_urls = [start, start]
        self.base, self.leaves = start, []
    def parse(self, response, shared=None):
        if shared is not None:
            shared.append(response.url)
        number = int(response.url.rsplit("/", 1)[1] or 0)
        draw = random.Random(f"{SEED} {number}")
        again = response.meta.get("again", 0)
        mine = []
        for _ in range(6):
            what = draw.randrange(15)
            target = draw.randrange(1, 25)
            to = f"{self.base}{target}"
            if target % 5 == 0:  # by the page, so that it matters not who finds it first
                yield Request(to, callback=self.raises)
                continue
            if what == 0: yield ("a", "tuple")
            elif what == 1: yield "text"
            elif what == 2: yield Own()
            elif what == 3: yield None
            elif what == 4: yield Broken(relevance=1)
            elif what == 5: yield {"relevance": 3}
            elif what == 6: yield Request(to, meta={"held": lambda: 1})
            elif what == 7 and again < 2:
                yield response.request.replace(dont_filter=True, meta={"again": again + 1})
            elif what == 8 and again < 2:
                yield Request(to, dont_filter=True, meta={"again": again + 1}, priority=10**25)
            elif what == 9: yield Request(f"{self.base}gone{number}", errback=self.failed)
            elif what == 10: yield Request("http://127.0.0.1:1/", errback=self.failed)
            elif what == 12: yield Request(to, cb_kwargs={"shared": mine})
            elif what == 13: raise ValueError("a fault of the callback")
            else: yield Request(to)
    def failed(self, failure):
        yield {"failed": failure.request.url}
        yield Request(f"{self.base}{random.Random(failure.request.url).randrange(25, 30)}")
    def raises(self, response):
        raise KeyError("not a generator")
"""


@pytest.mark.slow
@pytest.mark.parametrize("has_folder", [False, True], ids=["memory", "JOBDIR"])
def test_drawn_spiders_fetch_the_same_both_ways(tmp_path: Path, *, has_folder: bool) -> None:
    draw, paths = random.Random(7), list[str]()

    def answer(uri: str) -> Answer:
        path = "/" + uri.split("/", 3)[3]
        paths.append(path)
        return NOT_FOUND if "gone" in path else Answer(200, b"<p>x</p>", "text/html")

    with server("127.0.0.1", answer) as url, scrapy_commands() as start:
        for number in range(examples(20) // 4):
            spider = tmp_path / f"odd{number}.py"
            spider.write_text(f"SEED = {draw.random()}\n{ODD}")
            fetched = []
            for way in (DEFAULT, {"SCHEDULER": SCHEDULER}):
                folder = tmp_path / f"{number}-{len(fetched)}"
                named = {"RETRY_TIMES": "1", "LOG_LEVEL": "INFO", **way}
                if has_folder:
                    named["JOBDIR"] = str(folder)
                if way is not DEFAULT:
                    middleware = ImportanceMiddleware
                    name = f"{middleware.__module__}.{middleware.__name__}"
                    named["SPIDER_MIDDLEWARES"] = f'{{"{name}": 1}}'
                words = spider_command(url, named)[2:]
                crawl = start([word.replace(words[2], str(spider)) for word in words], tmp_path)
                assert crawl.wait() == 0, crawl.log.read_text()
                fetched.append((Counter(paths), items(crawl.log.read_text())))
                paths.clear()
            assert fetched[0] == fetched[1], spider.read_text()[:40]
            if has_folder:  # nothing is left to fetch, and what failed does not come again
                again = start([word.replace(words[2], str(spider)) for word in words], tmp_path)
                assert again.wait() == 0
                assert paths == []
                assert "'downloader/" not in again.log.read_text()


def items(log: str) -> list[str]:
    """The statistics that Scrapy counts with either scheduler."""
    names = ("'item_scraped_count", "'dupefilter/", "'spider_exceptions", "'downloader/")
    lines = (line.strip(" {},") for line in log.splitlines())
    return [line for line in lines if line.startswith(names) and "bytes" not in line]
