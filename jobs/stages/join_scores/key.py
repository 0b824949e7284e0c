"""Rows: nodes are joined with spellings at their key. Notes have a sample of the positions."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.ranges import KeySample
from crawlrank.jobs.kernel.formats.side_lines import PLAN, side_name
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.join_scores.nodes import SCORE
from crawlrank.jobs.stages.join_scores.rows import RowsJob, sent


class JoinScoresKey(RowsJob):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._sample = KeySample()

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, _, node = line.partition(b"\t")
        if node[:1] == SCORE and node.count(b"\t") == 3:
            yield key, node
        else:
            yield sent(line)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for line in self.joined(key, values):
            if not side_name(line):
                self._sample.add(line.partition(b"\t")[0])
            yield line

    def reduce_end(self) -> Iterator[bytes]:
        for position in self._sample.keys():  # noqa: SIM118 (not a dict)
            yield PLAN + b"\t" + position


if __name__ == "__main__":
    JoinScoresKey.run()
