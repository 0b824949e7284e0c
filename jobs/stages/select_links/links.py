"""The links of the captures that count, and their canonical addresses as fold candidates."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.captures.choosing import CANONICAL
from crawlrank.jobs.kernel.formats.lines import format_link
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from crawlrank.jobs.kernel.formats.side_lines import FOLDS
from crawlrank.jobs.kernel.links.reference_kinds import links_at
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.select_links.captures import (
    FIRST,
    SECOND,
    TAKE,
    THIRD,
    CapturesJob,
    joined,
)


class SelectLinksLinks(CapturesJob):
    WORD = TAKE

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        yield key, joined(FIRST, capture.uri, capture.timestamp)

    def map_link(self, link: Link) -> Iterator[KeyValue]:
        """A source without a key has no captures; canonicalize counts it."""
        key = self.key_of(link.source) or b"!" + link.source
        yield key, joined(THIRD, link.source, link.timestamp, link.hop, link.target, link.reference)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        known = set[tuple[bytes, bytes]]()
        taken: dict[tuple[bytes, bytes], set[bytes]] = {}
        for order, uri, timestamp, *fields in (value.split(b"\t") for value in values):
            capture = (uri, timestamp)
            if order == FIRST:
                known.add(capture)
            elif order == SECOND:
                taken.setdefault(capture, set()).add(fields[0])
            else:
                hop, target, reference = fields
                link = Link(target, uri, hop)
                for source in sorted(taken.get(capture, ())):
                    if source == UNKNOWN:
                        yield from self._selected(key, link)
                        continue
                    for one in links_at(source, link, reference, self.counts):
                        yield from self._selected(self.key_of(source), one)
                if capture not in taken and hop != b"C":
                    if capture in known:
                        self.counts["links.superseded"] += 1
                    else:  # its capture is not there, so nothing shows that it is old
                        self.counts["links.without-capture"] += 1
                        yield format_link(link)

    def _selected(self, key: bytes | None, link: Link) -> Iterator[bytes]:
        """A link of a page that has this key, or a fold candidate."""
        if link.hop != b"C":
            yield format_link(link)
        elif self.rules.canonical and key and (to := self.key_of(link.target)):
            yield FOLDS + b"\t" + joined(key, CANONICAL, to)


if __name__ == "__main__":
    SelectLinksLinks.run()
