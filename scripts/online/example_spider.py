"""A spider that follows all links of one host, the most important pages first.

    scrapy runspider scripts/online/example_spider.py -a start=http://127.0.0.1:8000/ \\
        -s CRAWLRANK_STORES=work/crawl.db -s CLOSESPIDER_PAGECOUNT=1000 -O work/pages.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.http import Response, TextResponse


class ImportantFirst(Spider):
    name = "important_first"
    custom_settings = {  # noqa: RUF012 (Scrapy's name and type)
        "SCHEDULER": "crawlrank.pipeline.online.scrapy_scheduler.ImportanceScheduler",
        "SPIDER_MIDDLEWARES": {
            "crawlrank.pipeline.online.scrapy_scheduler.ImportanceMiddleware": 1
        },
    }

    def __init__(self, start: str, **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = [start]
        self.allowed_domains = [urlsplit(start).hostname or ""]

    def parse(self, response: Response) -> Iterator[Any]:
        if not isinstance(response, TextResponse):  # such as an image
            return
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a[href]")
