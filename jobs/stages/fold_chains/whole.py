"""All stages of fold_chains in one job, whose only reducer holds the target of each key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

from crawlrank.jobs.kernel.formats.rows import Fold
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.fold_chains.steps import CirclesJob, FoldStep, fold_line, only_step

WHOLE = b"0"  # the key of all candidates
End = tuple[bytes, int] | None  # of a chain: its last key and the steps to it; None of a loop


class FoldChainsWhole(CirclesJob):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._steps: dict[bytes, FoldStep] = {}

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield WHOLE, line

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.split(b"\t") for value in values)
        for name, group in groupby(rows, itemgetter(0)):
            if step := only_step(name, (row[1:] for row in group), self.counts):
                self._steps[name] = step
        yield from ()

    def reduce_end(self) -> Iterator[bytes]:
        ends: dict[bytes, End] = {}
        for key, (kind, _) in self._steps.items():
            follow(key, self._steps, ends)
            if end := ends[key]:
                yield fold_line(Fold(key, end[0], kind, end[1]), self.counts)
            else:
                yield from self.circle(key)


def follow(key: bytes, steps: Mapping[bytes, FoldStep], ends: dict[bytes, End]) -> None:
    """Put into `ends` the end of the chain of this key and of all keys on it."""
    passed: dict[bytes, None] = {}
    while key in steps and key not in ends and key not in passed:
        passed[key] = None
        _, key = steps[key]
    end = None if key in passed else ends.get(key, (key, 0))
    for before in reversed(passed):
        end = ends[before] = end and (end[0], end[1] + 1)


if __name__ == "__main__":
    FoldChainsWhole.run()
