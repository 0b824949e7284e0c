"""Which captures of each key count, and the fold candidates of keys."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.captures.choosing import Named, choose
from crawlrank.jobs.kernel.formats.hops import FOLD_HOPS
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from crawlrank.jobs.kernel.formats.side_lines import FOLDS
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.select_links.captures import (
    FIRST,
    NOTHING,
    SECOND,
    TAKE,
    CapturesJob,
    joined,
)

FOLDING = FOLD_HOPS.encode()
#: counters of links and captures with and without timestamps
DATED, UNDATED, DATED_CAPTURES = TIMES = ("links.dated", "links.undated", "captures.dated")
_SENT = (
    "uri", "timestamp", "status", "digest", "kind", "id", "refers_to", "refers_to_uri",
    "refers_to_timestamp",
)  # fmt: skip


class SelectLinksDecide(CapturesJob):
    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        self.counts[DATED_CAPTURES] += capture.timestamp != UNKNOWN
        yield key, joined(FIRST, *[getattr(capture, name) for name in _SENT])

    def map_link(self, link: Link) -> Iterator[KeyValue]:
        self.counts[UNDATED if link.timestamp == UNKNOWN else DATED] += 1
        source_key = self.key_of(link.source)
        if source_key and link.hop in FOLDING and (target_key := self.key_of(link.target)):
            yield source_key, joined(SECOND, link.hop, link.source, link.timestamp, target_key)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        captures, named = list[Capture](), list[Named]()
        for order, *fields in (value.split(b"\t") for value in values):
            if order == FIRST:
                captures.append(NOTHING._replace(**dict(zip(_SENT, fields, strict=True))))
            else:
                named.append(Named(*fields))
        chosen = choose(key, captures, named, self.rules)
        for kind, target in chosen.folds:
            yield FOLDS + b"\t" + joined(key, kind, target)
        if not self.rules.latest:
            return
        self.counts["revisits"] += chosen.revisits + len(chosen.searches)
        self.counts["revisits.original"] += chosen.revisits
        for uri, timestamp in sorted(set(chosen.captures)):
            yield joined(TAKE, key, uri, timestamp, UNKNOWN)
        for search in chosen.searches:
            yield from self.search(key, search)


if __name__ == "__main__":
    SelectLinksDecide.run()
