"""The order of a Scrapy crawl by importance: a scheduler and a spider middleware, which belong
together.

    SCHEDULER = "crawlrank.pipeline.online.scrapy_scheduler.ImportanceScheduler"
    SPIDER_MIDDLEWARES = {"crawlrank.pipeline.online.scrapy_scheduler.ImportanceMiddleware": 1}

The middleware is the nearest one to the engine, so that it sees what all others leave. A request is
done when the engine has finished with it: when all that came out of its page is in the stores, or
when it failed. A crawl that was killed continues from there: what had been given out and was not
done is fetched again.

Of the requests that wait, the one of the highest priority comes first, and among these the one
whose page has the highest authority by OPIC-HITS (opic_hits.py). Requests of a host that has as
many under way as Scrapy allows it are passed over; delays stay Scrapy's.

DUPEFILTER_CLASS recognizes duplicates. Scrapy's own filter needs no memory here, as the store knows
all requests. As with Scrapy, a request with `dont_filter` is no duplicate and makes none; those
that a spider starts with are known by their number, so that a crawl that continues does not start
anew.

Requests are pickled, as Scrapy pickles those of JOBDIR. What cannot be pickled, for any reason,
stays in memory; without a file, all requests stay there as they are. A stored request that cannot
be made again is left in the store for a later run: its callback may be gone, or its class.

Settings: CRAWLRANK_STORES, a file (default: crawlrank.db in JOBDIR, or in memory without one);
CRAWLRANK_UPDATES, how many pages OPIC-HITS reads for each page fetched, itself first (default 1);
CRAWLRANK_RELEVANCE, the path of a function of a response that says how relevant it is, from 0 to 1.
Items may say the same by a field `relevance`.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import request_from_dict

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.opic_hits import OpicHits
from crawlrank.pipeline.online.stores.database import MEMORY, Database
from crawlrank.pipeline.online.stores.hits_cash import SqliteHitsCash
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph, SqliteRelevance
from crawlrank.pipeline.online.stores.requests import CrawlRequest, SqliteRequests
from crawlrank.pipeline.online.stores.schedule import SqlitePageChanges

logger = logging.getLogger(__name__)
START = b"\0start\0"  # begins the keys of requests that a spider starts with
_MOST = 2**63 - 1  # of a priority in the store


class ScrapyRequests:
    """is_file: whether the store outlives the process."""

    def __init__(
        self,
        crawler: Crawler,
        spider: Any,
        store: SqliteRequests,
        duplicates: BaseDupeFilter,
        *,
        is_file: bool,
    ) -> None:
        self._crawler, self._spider, self._store, self._is_file = crawler, spider, store, is_file
        self._kept: dict[int, Request] = {}  # in memory, by row
        self._starts: WeakSet[Request] = WeakSet()
        self._started: Counter[bytes] = Counter()  # by fingerprint
        self._filter, self._has_own_filter = duplicates, type(duplicates) is RFPDupeFilter

    def begin_with(self, request: Request) -> None:
        """A request that the spider starts with will be added."""
        self._starts.add(request)

    def add(self, request: Request, value: float, host: str) -> bool:
        """Whether it is wanted; the filter says so in the log and in the statistics if it is
        not."""
        fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
        key = self._key(request, fingerprint)
        if key is None:
            return False
        data = self._data(request) if self._is_file else None
        page, priority = page_of(request.url), max(-_MOST, min(request.priority, _MOST))
        row = self._store.add(CrawlRequest(key, page, host, priority, value, data))
        if row is None:
            return False
        if data is None:
            self._kept[row] = request
        self._count("enqueued", data)
        return True

    def take(self, is_busy: Callable[[str], bool]) -> tuple[int, Request] | None:
        """The best request that can be made, and its row."""
        while taken := self._store.take(is_busy):
            row, data = taken
            request = self._kept.pop(row, None) if data is None else self._made(data)
            if request is not None:
                self._count("dequeued", data)
                return row, request
        return None

    def _key(self, request: Request, fingerprint: bytes) -> bytes | None:
        """None for a duplicate."""
        if request in self._starts and request.dont_filter:
            self._starts.discard(request)
            key = START + b"%d\0" % self._started[fingerprint] + fingerprint
            self._started[fingerprint] += 1
            if self._store.is_known(key):  # of an earlier run
                self._crawler.stats.inc_value("dupefilter/filtered")
                return None
            return key
        if request.dont_filter:
            return self._store.another_key(fingerprint)
        is_known = self._store.is_known(fingerprint)
        is_seen = is_known if self._has_own_filter else self._filter.request_seen(request)
        if is_seen:
            self._filter.log(request, self._spider)
            return None
        return self._store.another_key(fingerprint) if is_known else fingerprint

    def _data(self, request: Request) -> bytes | None:
        """None where a request holds what cannot be written: it is kept, and lost by a kill."""
        try:
            return pickle.dumps(request.to_dict(spider=self._spider), protocol=4)
        except Exception as error:  # noqa: BLE001 (what a spider's own classes may raise)
            logger.warning("A request is kept in memory only: %s: %r", request, error)
            self._crawler.stats.inc_value("crawlrank/unwritable")
            self._crawler.stats.inc_value("scheduler/unserializable")
            return None

    def _made(self, data: bytes) -> Request | None:
        """None where the spider has changed so that the request cannot be made."""
        stored: Any = None
        try:
            stored = pickle.loads(data)
            return request_from_dict(stored, spider=self._spider)
        except Exception as error:  # noqa: BLE001 (what a spider's own classes may raise)
            what = (
                stored.get("url") if isinstance(stored, dict) else "a request that cannot be read"
            )
            logger.error("A stored request is left for a later run: %s: %r", what, error)
            self._crawler.stats.inc_value("crawlrank/left")
            return None

    def _count(self, what: str, data: bytes | None) -> None:
        """Count as Scrapy's own scheduler does."""
        self._crawler.stats.inc_value(f"scheduler/{what}")
        self._crawler.stats.inc_value(f"scheduler/{what}/{'memory' if data is None else 'disk'}")


def filter_of(crawler: Crawler) -> BaseDupeFilter:
    """The filter of the settings. Scrapy's own is asked for nothing but its log, as it would keep
    all fingerprints in memory and lose some by a kill."""
    kind = load_object(crawler.settings["DUPEFILTER_CLASS"])
    if kind is RFPDupeFilter:
        debug = crawler.settings.getbool("DUPEFILTER_DEBUG")
        return RFPDupeFilter(debug=debug, fingerprinter=crawler.request_fingerprinter)
    duplicates: BaseDupeFilter = build_from_crawler(kind, crawler)
    return duplicates


def page_of(url: str) -> bytes:
    """What the stores name a page."""
    return url.encode(errors="surrogatepass")


UPDATES = 1


@dataclass(eq=False)
class FetchedPage:
    """links: to where its requests lead. coming: those of them that the engine has yet to bring.
    is_over: whether all have come out of it."""

    request: Request | None
    relevance: Any = None
    links: list[bytes] = field(default_factory=list)
    coming: int = 0
    is_over: bool = False
    is_recorded: bool = False


class ImportanceScheduler(BaseScheduler):
    """All requests of a crawl, in stores of one file."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        folder = settings.get("JOBDIR")
        path = settings.get("CRAWLRANK_STORES") or (folder and Path(folder, "crawlrank.db"))
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._path, self._crawler = path or MEMORY, crawler
        self._updates = settings.getint("CRAWLRANK_UPDATES", UPDATES)
        self.df = filter_of(crawler)  # as Scrapy names it
        self._given: dict[Request, int] = {}  # rows of those under way
        self._pages: WeakKeyDictionary[Response, FetchedPage] = WeakKeyDictionary()
        self._coming: WeakKeyDictionary[Request, list[FetchedPage]] = WeakKeyDictionary()
        self._transaction, self._is_open = ExitStack(), False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ImportanceScheduler:
        scheduler = _schedulers[crawler] = cls(crawler)
        return scheduler

    def open(self, spider: Any) -> Any:
        self._database = database = Database(self._path)
        self.changes = SqlitePageChanges(database)
        self._store = SqliteRequests(database)
        is_file = self._path != MEMORY
        self._requests = ScrapyRequests(
            self._crawler, spider, self._store, self.df, is_file=is_file
        )
        self._scores = SqliteHitsCash(database)
        self.opic = OpicHits(SqliteGraph(database), self._scores, SqliteRelevance(database))
        if done := self._store.done():
            logger.info("Continues after %d requests that are done", done)
        return self.df.open()

    def close(self, reason: str) -> Any:
        with self._database.transaction():
            self._end_finished()
        self._commit()
        self._database.close()
        return self.df.close(reason)

    def has_pending_requests(self) -> bool:
        return self._store.is_any_waiting()

    def __len__(self) -> int:
        return self._store.waiting()

    def begin_with(self, request: Request) -> None:
        """A request that the spider starts with."""
        self._requests.begin_with(request)

    def enqueue_request(self, request: Request) -> bool:
        pages = self._coming.get(request)
        if not pages:
            with self._database.transaction():
                is_taken = self._add(request)
            self._commit()
            return is_taken
        page = pages.pop(0)
        self._begin()
        is_taken = self._add(request)
        page.coming -= 1
        self._end_if_done(page)
        return is_taken

    def next_request(self) -> Request | None:
        with self._database.transaction():
            self._end_finished()
            taken = self._requests.take(self._is_busy)
        self._commit()
        if taken is None:
            return None
        row, request = taken
        self._given[request] = row
        return request

    def page_of(self, response: Response) -> FetchedPage:
        """The page of each part of what comes out of a response."""
        page = self._pages.get(response)
        if page is None:
            page = self._pages[response] = FetchedPage(response.request)
        page.is_over = False
        return page

    def expect(self, page: FetchedPage, request: Request) -> None:
        """A request came out of a page; the engine will bring it, unless others refuse it."""
        page.links.append(page_of(request.url))
        page.coming += 1
        self._coming.setdefault(request, []).append(page)

    def record(self, page: FetchedPage, response: Response, relevance: float | None) -> None:
        """What came out of a page, when all has."""
        name = page_of(response.url)
        with self._database.transaction():
            self.opic.add_page(name, page.links, relevance)
            if not page.is_recorded:
                change = self.changes.visit(name, hashlib.sha1(response.body).digest())
                self._crawler.stats.inc_value(f"crawlrank/{change}")
            self.opic.mark_update(name)
            read = self.opic.update(self._updates)
            for touched in dict.fromkeys([*page.links, *read]):
                self._store.set_value(touched, self._value(touched))
        page.is_over = page.is_recorded = True
        self._end_if_done(page)

    def _begin(self) -> None:
        """Begin a transaction that lasts until a page is done or a request is given out."""
        if not self._is_open:
            self._transaction.enter_context(self._database.transaction())
            self._is_open = True

    def _commit(self) -> None:
        self._is_open = False
        self._transaction.close()

    def _end_if_done(self, page: FetchedPage) -> None:
        if page.is_over and not page.coming:
            if page.request in self._given:
                self._store.end(self._given.pop(page.request))
            self._commit()

    def _end_finished(self) -> None:
        """Requests that the engine has finished with: they failed, or others took them away."""
        slot = getattr(self._crawler.engine, "_slot", None)
        under_way = getattr(slot, "inprogress", ())
        if not isinstance(under_way, Set):  # no engine runs
            under_way = ()
        for request in [request for request in self._given if request not in under_way]:
            self._store.end(self._given.pop(request))

    def _add(self, request: Request) -> bool:
        return self._requests.add(request, self._value(page_of(request.url)), self._slot(request))

    def _value(self, page: bytes) -> float:
        flow = self.opic.flow(page)
        return flow.authority if flow else 0.0

    def _slot(self, request: Request) -> str:
        """A downloader of one's own need not have slots."""
        key_of = getattr(self._downloader(), "get_slot_key", None)
        return str(key_of(request) if key_of else "")

    def _is_busy(self, host: str) -> bool:
        slot = getattr(self._downloader(), "slots", {}).get(host)
        return bool(slot and len(slot.active) >= getattr(slot, "concurrency", sys.maxsize))

    def _downloader(self) -> Any:
        return self._crawler.engine.downloader if self._crawler.engine else None


#: by crawler, as Scrapy gives a middleware no scheduler
_schedulers: WeakKeyDictionary[Crawler, ImportanceScheduler] = WeakKeyDictionary()


class ImportanceMiddleware:
    """Gives the scheduler what came out of each page."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        relevance = crawler.settings.get("CRAWLRANK_RELEVANCE")
        self._relevance = load_object(relevance) if relevance else None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ImportanceMiddleware:
        return cls(crawler)

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        scheduler = self._scheduler()
        async for entry in start:
            if isinstance(entry, Request):
                scheduler.begin_with(entry)
            yield entry

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        scheduler = self._scheduler()
        if not isinstance(response, Response):  # what comes out of no page
            async for entry in result:
                yield entry
            return
        page = scheduler.page_of(response)
        if page.relevance is None and self._relevance:
            page.relevance = self._asked(self._relevance, response)
        try:
            async for entry in result:
                if isinstance(entry, Request):
                    scheduler.expect(page, entry)
                elif page.relevance is None and ItemAdapter.is_item(entry):
                    page.relevance = self._asked(_relevance_of, entry)
                yield entry
        except Exception:  # of the callback: what came before counts
            scheduler.record(page, response, self._checked(page.relevance, response))
            raise
        scheduler.record(page, response, self._checked(page.relevance, response))

    def _asked(self, function: Callable[[Any], Any], about: Any) -> Any:
        """None, and a message, where a function of the user fails: the page's links are kept."""
        try:
            return function(about)
        except Exception:
            logger.exception("No relevance, as a function failed: %r", about)
            self._crawler.stats.inc_value("crawlrank/wrong_relevance")
            return None

    def _scheduler(self) -> ImportanceScheduler:
        scheduler = _schedulers.get(self._crawler)
        if scheduler is not None:
            return scheduler
        name = f"{ImportanceScheduler.__module__}.{ImportanceScheduler.__name__}"
        other = str(self._crawler.settings.get("SCHEDULER"))
        raise BadInput("SCHEDULER", other, name, "Set it beside the middleware.")

    def _checked(self, relevance: Any, response: Response) -> float | None:
        """None, and a warning, for what is no number from 0 to 1."""
        if relevance is None or (isinstance(relevance, int | float) and 0 <= relevance <= 1):
            return relevance
        logger.warning("No relevance from 0 to 1: %r, %s", relevance, response)
        self._crawler.stats.inc_value("crawlrank/wrong_relevance")
        return None


def _relevance_of(item: Any) -> Any:
    return ItemAdapter(item).get("relevance")
