"""What the stages of assign_ids that number keys share.

A reducer gets the keys of a range in order, with the sources of each. A blank sorts before all
characters of keys, so values come by key, then by source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import parse_link_or_uri_row
from crawlrank.jobs.kernel.formats.rows import UriRow
from crawlrank.jobs.kernel.formats.side_lines import MAP
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.assign_ids.nodes import NodesJob


class NumberingJob(NodesJob):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._seen: set[bytes] = set()

    def label_of(self, key: bytes) -> bytes:
        raise NotImplementedError

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        row = parse_link_or_uri_row(line)
        keys = self.node_keys(row)
        if not isinstance(row, UriRow):
            yield self.label_of(row.target_key), b"%s %s" % (row.target_key, row.source_key)
            keys = keys[1:]
        for key in keys:
            if key not in self._seen:
                if len(self._seen) >= self.COMBINED:
                    self._seen.clear()
                self._seen.add(key)
                yield self.label_of(key), key


def numbered(values: Iterator[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """(number, key, source) of each distinct link, numbers from 0. A row without a source comes
    first for each key."""
    number, previous, previous_source = -1, b"", b""
    for value in values:
        key, _, source = value.partition(b" ")
        if key != previous:
            number, previous, previous_source = number + 1, key, b""
            yield number, key, b""
        if source != previous_source:
            previous_source = source
            yield number, key, source


def with_id(identity: int, key: bytes, source: bytes, counts: Counter[str]) -> bytes:
    """An input link; or, without a source, a side line of the map."""
    if source:
        counts["input_links"] += 1
        return b"%d %s %s" % (identity, key, source)
    counts["nodes"] += 1
    return MAP + b"\t%d %s" % (identity, key)
