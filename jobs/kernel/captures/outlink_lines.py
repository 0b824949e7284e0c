"""The `outlink:` lines of a metadata record as links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from jobs.kernel.archive.metadata import Junk, Outlink, read_metadata
from jobs.kernel.keys.uris import as_crawled
from jobs.kernel.links.dropped import Examples, count_dropped
from jobs.kernel.links.html_links import LinkGroup

BASE = "base/@href"  # Heritrix lists it like a link


def outlink_groups(
    body: bytes, junk: list[str], counters: Counter[str], examples: Examples
) -> Iterator[LinkGroup]:
    """The links of the body of a metadata record. The first line that is none goes to junk."""
    for line in read_metadata(body):
        if isinstance(line, Outlink):
            if line.context.lower() == BASE:
                counters["dropped.base"] += 1
                continue
            target = as_crawled(line.uri)
            if isinstance(target, bytes):
                yield [target], line.hop, line.context, False
            else:
                count_dropped(target, line.uri, counters, examples)
        elif isinstance(line, Junk) and not junk:
            junk.append(line.beginning)
