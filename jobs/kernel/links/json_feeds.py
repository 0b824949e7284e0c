"""Links of a JSON Feed, version 1 or 1.1: https://www.jsonfeed.org/version/1.1/.

| member | hop |
|---|---|
| home_page_url, url and external_url of items, url of authors | L |
| image and banner_image of items, url of attachments, icon, favicon, avatar of authors | E |
| feed_url, next_url, url of hubs | X |

A feed that is no JSON, or too large, gives no links and is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from crawlrank.jobs.kernel.links.link_rules import BLANKS, Reference

# The hop of each member that is a link, by the list that it stands in.
JSON_FEED_RULES = {
    "": {
        **{"home_page_url": "L", "icon": "E", "favicon": "E"},
        **{"feed_url": "X", "next_url": "X"},
    },
    "authors/": {"url": "L", "avatar": "E"},
    "hubs/": {"url": "X"},
    "items/": {"url": "L", "external_url": "L", "image": "E", "banner_image": "E"},
    "attachments/": {"url": "E"},
}
_MOST_VALUES = 2**20  # commas and brackets; each may take 100 bytes of memory


def json_feed_references(text: str, counters: Counter[str]) -> Iterator[Reference]:
    """As written: of the feed, its authors and hubs, then of each item. text: begins with `{`."""
    if sum(map(text.count, ",{[")) > _MOST_VALUES:
        counters["dropped.json"] += 1
        return
    try:
        feed = json.loads(text.lstrip("\ufeff"), parse_int=float)  # of any number of digits
    except (ValueError, RecursionError):
        counters["dropped.json"] += 1
        return
    yield from _links(feed, "")
    yield from _authors(feed)
    for hub in _dicts(feed, "hubs"):
        yield from _links(hub, "hubs/")
    for item in _dicts(feed, "items"):
        yield from _links(item, "items/")
        yield from _authors(item)
        for attachment in _dicts(item, "attachments"):
            yield from _links(attachment, "attachments/")


def _authors(of: dict[str, Any]) -> Iterator[Reference]:
    """Version 1 has one `author`."""
    for author in _dicts({"authors": [of.get("author")]}, "authors") + _dicts(of, "authors"):
        yield from _links(author, "authors/")


def _links(of: dict[str, Any], prefix: str) -> Iterator[Reference]:
    for name, hop in JSON_FEED_RULES[prefix].items():
        if isinstance(value := of.get(name), str) and value.strip(BLANKS):
            yield value, hop, prefix + name


def _dicts(of: dict[str, Any], name: str) -> list[dict[str, Any]]:
    values = of.get(name)
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []
