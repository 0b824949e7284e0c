"""The order of a Scrapy crawl by importance: a scheduler and a spider middleware, which belong
together.

    SCHEDULER = "pipeline.online.scrapy_scheduler.ImportanceScheduler"
    SPIDER_MIDDLEWARES = {"pipeline.online.scrapy_scheduler.ImportanceMiddleware": 1}

The middleware is the nearest one to the engine, so that it sees what all others leave. When a
callback has ended it writes in one transaction: the page with its links, the requests that came out
of it, and that its own request is done. A crawl that was killed goes on from there: what had been
given out and was not done is fetched again.

Of the requests that wait, the one of the highest priority comes first, and among these the one
whose page has the highest authority by OPIC-HITS (opic_hits.py). Requests of a host that has as
many under way as Scrapy allows it are passed over; delays stay Scrapy's.

Settings: CRAWLRANK_STORES, a file (default: crawlrank.db in JOBDIR, or in memory without one);
CRAWLRANK_UPDATES, how many pages OPIC-HITS reads for each page fetched, itself first (default 1);
CRAWLRANK_RELEVANCE, the path of a function of a response that says how relevant it is, from 0 to 1.
Items may say the same by a field `relevance`.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.misc import load_object
from scrapy.utils.request import request_from_dict

from jobs.kernel.errors import BadInput
from pipeline.online.opic_hits import OpicHits
from pipeline.online.stores.changes import SqlitePageChanges
from pipeline.online.stores.database import MEMORY, Database
from pipeline.online.stores.hits_cash import SqliteHitsCash
from pipeline.online.stores.page_graph import SqliteGraph
from pipeline.online.stores.relevance import SqliteRelevance
from pipeline.online.stores.requests import CrawlRequest, SqliteRequests

logger = logging.getLogger(__name__)
ROW = "crawlrank_row"  # in the meta of a request that was given out
UPDATES = 1


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
        self._most = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._unwritable: dict[int, Request] = {}  # by row
        self._written: set[bytes] = set()  # fingerprints of what the engine has yet to bring

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ImportanceScheduler:
        scheduler = _schedulers[crawler] = cls(crawler)
        return scheduler

    def open(self, spider: Any) -> None:
        self._spider = spider
        self._database = database = Database(self._path)
        self.changes = SqlitePageChanges(database)
        self._requests = SqliteRequests(database)
        self._scores = SqliteHitsCash(database)
        self.opic = OpicHits(SqliteGraph(database), self._scores, SqliteRelevance(database))
        if done := self._requests.done():
            logger.info("Goes on behind %d requests that are done", done)

    def close(self, reason: str) -> None:
        self._database.close()

    def has_pending_requests(self) -> bool:
        return self._requests.waiting() > 0

    def enqueue_request(self, request: Request) -> bool:
        fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
        if fingerprint in self._written:
            self._written.discard(fingerprint)
            return True
        with self._database.transaction():
            is_taken = self._enter(request, fingerprint, request.meta.pop(ROW, None))
        if not is_taken:
            self._crawler.stats.inc_value("dupefilter/filtered")
        return is_taken

    def _enter(self, request: Request, fingerprint: bytes, row: int | None) -> bool:
        """row: of the request that this one comes from, by a redirect or by a further attempt."""
        known = self._requests.number_of(fingerprint)
        if row is not None and known != row:  # where a redirect leads
            self._requests.end(row)
        if known is None:
            return self._add(request, fingerprint)
        if row == known or self._is_repeated(request):
            self._requests.again(known, self._data(request, known))
            return True
        return False

    def next_request(self) -> Request | None:
        taken = self._requests.take(self._is_busy)
        if taken is None:
            return None
        row, data = taken
        request = self._unwritable.pop(row) if data is None else self._from(data)
        request.meta[ROW] = row
        return request

    def record(self, response: Response, requests: list[Request], relevance: float | None) -> None:
        """What came out of a page: all of it, or nothing if the crawl is killed meanwhile."""
        page, row = response.url.encode(), response.meta.get(ROW)
        links = [request.url.encode() for request in requests]
        with self._database.transaction():
            self.opic.add_page(page, links, relevance)
            for request in requests:
                request.meta.pop(ROW, None)
                fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
                if self._enter(request, fingerprint, None):
                    self._written.add(fingerprint)
            if row is not None:
                self._requests.end(row)
            change = self.changes.visit(page, hashlib.sha1(response.body).digest())
            self.opic.mark_update(page)
            read = self.opic.update(self._updates)
            for touched in dict.fromkeys([*links, *read]):
                self._requests.set_value(touched, self._value(touched))
        self._crawler.stats.inc_value(f"crawlrank/{change}")

    def _add(self, request: Request, fingerprint: bytes) -> bool:
        page, host = request.url.encode(), self._slot(request)
        value, data = self._value(page), self._data(request, None)
        entry = CrawlRequest(fingerprint, page, host, request.priority, value, data)
        row = self._requests.add(entry)
        if row is not None and data is None:
            self._unwritable[row] = request
        return row is not None

    def _is_repeated(self, request: Request) -> bool:
        """Whether a known request is wanted once more; those that a crawl starts with come anew
        each time that it goes on."""
        return bool(request.dont_filter and not request.meta.get("is_start_request"))

    def _value(self, page: bytes) -> float:
        flow = self.opic.flow(page)
        return flow.authority if flow else 0.0

    def _data(self, request: Request, row: int | None) -> bytes | None:
        """None where a request holds what cannot be written: it is kept, and lost by a kill."""
        try:
            return pickle.dumps(request.to_dict(spider=self._spider), protocol=4)
        except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
            logger.warning("A request is kept in memory only: %s: %s", request, error)
            self._crawler.stats.inc_value("crawlrank/unwritable")
            if row is not None:
                self._unwritable[row] = request
            return None

    def _from(self, data: bytes) -> Request:
        return request_from_dict(pickle.loads(data), spider=self._spider)

    def _slot(self, request: Request) -> str:
        downloader = self._crawler.engine.downloader if self._crawler.engine else None
        return str(downloader.get_slot_key(request) if downloader else "")

    def _is_busy(self, host: str) -> bool:
        downloader = self._crawler.engine.downloader if self._crawler.engine else None
        slot = downloader.slots.get(host) if downloader else None
        return bool(slot and len(slot.active) >= min(self._most, slot.concurrency))


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

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        scheduler = self._scheduler()
        requests: list[Request] = []
        relevance = self._relevance(response) if self._relevance else None
        try:
            async for entry in result:
                if isinstance(entry, Request):
                    requests.append(entry)
                    continue
                if relevance is None:
                    relevance = ItemAdapter(entry).get("relevance")
                yield entry
        except Exception:  # of the callback: what came before counts
            scheduler.record(response, requests, self._checked(relevance, response))
            raise
        scheduler.record(response, requests, self._checked(relevance, response))
        for request in requests:
            yield request

    def _scheduler(self) -> ImportanceScheduler:
        if scheduler := _schedulers.get(self._crawler):
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
