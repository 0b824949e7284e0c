"""Links with the ends of their targets, and spellings with those of their keys."""

from __future__ import annotations

from jobs.mapreduce.job import Pair
from jobs.stages.fold_keys.ends import EndsJob
from jobs.stages.merging import SPELLING, sent


class FoldKeysTarget(EndsJob):
    def map_row(self, line: bytes) -> Pair:
        return sent(line)

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s%s%s" % (end, b"\t" if value[:1] == SPELLING else b" ", value[1:])


if __name__ == "__main__":
    FoldKeysTarget.run()
