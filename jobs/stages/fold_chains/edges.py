"""Edges: the target of each key that has only one."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.stages.fold_chains.jump import OPEN
from crawlrank.jobs.stages.fold_chains.steps import only_step


class FoldChainsEdges(Job):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, _, rest = line.partition(b"\t")
        yield key, rest

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if step := only_step(key, (value.split(b"\t") for value in values), self.counts):
            kind, target = step
            yield b"\t".join((key, target, kind, b"1", OPEN))


if __name__ == "__main__":
    FoldChainsEdges.run()
