"""The keys whose chains came to an end; the others are in loops, or lead there."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.rows import Fold
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.fold_chains.jump import DONE
from crawlrank.jobs.stages.fold_chains.steps import CirclesJob, fold_line


class FoldChainsEnd(CirclesJob):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, _, rest = line.partition(b"\t")
        yield key, rest

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for target, kind, hops, state in (value.split(b"\t") for value in values):
            if state == DONE:
                yield fold_line(Fold(key, target, kind, int(hops)), self.counts)
            else:
                yield from self.circle(key)


if __name__ == "__main__":
    FoldChainsEnd.run()
