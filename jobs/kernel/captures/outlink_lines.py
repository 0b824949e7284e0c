"""The `outlink:` lines of a metadata record as links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crawlrank.jobs.kernel.archive.metadata import Junk, Outlink, read_metadata
from crawlrank.jobs.kernel.formats.hops import HOPS, MANIFEST_HOP
from crawlrank.jobs.kernel.keys.uris import as_crawled
from crawlrank.jobs.kernel.links.documents import is_robots_txt
from crawlrank.jobs.kernel.links.dropped import Examples, count_dropped
from crawlrank.jobs.kernel.links.html_links import LinkGroup

BASE = "base/@href"  # Heritrix lists it like a link


def outlink_groups(
    body: bytes, source: bytes, junk: list[str], counters: Counter[str], examples: Examples
) -> Iterator[LinkGroup]:
    """The links of the body of a metadata record. source: the URI of the page. The first line that
    is none goes to junk."""
    page = source.decode()
    for line in read_metadata(body):
        if isinstance(line, Outlink):
            if line.context.lower() == BASE:
                counters["dropped.base"] += 1
                continue
            target = as_crawled(line.uri)
            if isinstance(target, bytes):
                yield [target], counted_hop(line.hop, page), line.context, False, None
            else:
                count_dropped(target, line.uri, counters, examples)
        elif isinstance(line, Junk) and not junk:
            junk.append(line.beginning)


def counted_hop(letter: str, source: str) -> str:
    """The hop under which an `outlink:` line of Heritrix counts; a letter that is never an edge, or
    is unknown, stays. source: the URI of its page. A manifest counts as when it is read itself: an
    entry of a sitemap is L, and a `Sitemap:` line of robots.txt is X."""
    if letter == MANIFEST_HOP and is_robots_txt(source):
        return "X"
    hop = HOPS.get(letter)
    return hop.counts_as or letter if hop else letter
