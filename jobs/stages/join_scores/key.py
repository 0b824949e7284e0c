"""Rows: nodes meet spellings at their key; a sample of the rows' positions goes out as notes."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.kernel.formats.ranges import Sample
from jobs.kernel.formats.side_lines import PLAN, side_name
from jobs.mapreduce.job import Pair
from jobs.stages.join_scores.nodes import SCORE
from jobs.stages.join_scores.rows import RowsJob, sent


class JoinScoresKey(RowsJob):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._sample = Sample()

    def map_line(self, line: bytes) -> Iterator[Pair]:
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
