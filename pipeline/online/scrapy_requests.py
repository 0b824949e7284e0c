"""Requests of Scrapy in a store: which are new, what is written of each, what stays in memory.

Duplicates are told as DUPEFILTER_CLASS tells them. Scrapy's own filter needs no memory here, as the
store knows all requests. As with Scrapy, a request with `dont_filter` is no duplicate and makes
none; those that a spider starts with are known by their number, so that a crawl that continues does
not start anew.

Requests are pickled, as Scrapy pickles those of JOBDIR. What cannot be pickled, for any reason,
stays in memory; without a file, all requests stay there as they are. A stored request that cannot
be made again is left in the store for a later run: its callback may be gone, or its class.
"""

from __future__ import annotations

import logging
import pickle
from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import request_from_dict

from crawlrank.pipeline.online.stores.requests import CrawlRequest, SqliteRequests

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
