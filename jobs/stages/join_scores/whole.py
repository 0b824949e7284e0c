"""All stages of join_scores in one job, for few nodes.

One reducer gets all lines. Those of ids come first, and their nodes are kept by key; then the
spellings of each key. Rows are sorted at the end. Memory: one line a node, some 300 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from operator import itemgetter

from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.join_scores.nodes import NodesAtIds
from crawlrank.jobs.stages.join_scores.rows import RowsJob, in_order, sent

WHOLE = b"0"  # the key of all pairs
BY_ID, BY_KEY = b"0", b"1"  # before ids and keys, so that ids come first


class JoinScoresWhole(RowsJob):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._at_ids = NodesAtIds(self)
        self._nodes: dict[bytes, bytes] = {}
        self._rows_joined: list[bytes] = []

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") == 4:
            yield _together(BY_KEY, *sent(line))
        else:
            for pair in self._at_ids.sent(line):
                yield _together(BY_ID, *pair)

    def map_end(self) -> Iterator[KeyValue]:
        for pair in self._at_ids.rest():
            yield _together(BY_ID, *pair)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.partition(b"\t") for value in values)
        for named, group in groupby(rows, itemgetter(0)):
            join, keep = (
                (self._at_ids.joined, self._keep_node)
                if named[:1] == BY_ID
                else (self._at_key, self._rows_joined.append)
            )
            for line in join(named[1:], (row[2] for row in group)):
                if side_name(line):
                    yield line
                else:
                    keep(line)

    def _keep_node(self, line: bytes) -> None:
        key, _, node = line.partition(b"\t")
        self._nodes[key] = node

    def _at_key(self, key: bytes, spellings: Iterator[bytes]) -> Iterator[bytes]:
        node = self._nodes.pop(key, None)
        if node is not None:
            yield from self.joined(key, chain([node], spellings))

    def reduce_end(self) -> Iterator[bytes]:
        for key, node in self._nodes.items():
            yield from self.unspelled(key, node.split(b"\t")[1])
        self._rows_joined.sort()  # by their positions, which no two have in common
        yield from in_order(iter(self._rows_joined), self.counts)
        yield self._at_ids.sums()


def _together(kind: bytes, key: bytes, value: bytes) -> KeyValue:
    """A pair for the only group, whose values are sorted by their kind and key."""
    return WHOLE, kind + key + b"\t" + value


if __name__ == "__main__":
    JoinScoresWhole.run()
