"""Nodes: scores are joined with keys at their id, and inlinks counted."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.stages.join_scores.nodes import NodesAtIds


class JoinScoresId(Job):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._nodes = NodesAtIds(self)

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        return self._nodes.sent(line)

    def map_end(self) -> Iterator[KeyValue]:
        return self._nodes.rest()

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        return self._nodes.joined(key, values)

    def reduce_end(self) -> Iterator[bytes]:
        yield self._nodes.sums()


if __name__ == "__main__":
    JoinScoresId.run()
