"""What the stages of fold_keys that look keys up share: the end of a key, if it folds."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.kernel.formats.lines import parse_fold
from jobs.mapreduce.job import Job, Pair

FOLD = b"F"  # of a key, this comes before its links and spellings


class EndsJob(Job):
    """Folds meet other rows at their keys; map_row says under which key a row goes, and
    with_end(end, value) what becomes of it."""

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if line.count(b"\t") == 3:
            fold = parse_fold(line)
            yield fold.key, FOLD + fold.target_key
        else:
            yield self.map_row(line)

    def map_row(self, line: bytes) -> Pair:
        raise NotImplementedError

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        end = key
        for value in values:
            if value[:1] == FOLD:
                end = value[1:]
            else:
                yield self.with_end(end, value)

    def with_end(self, end: bytes, value: bytes) -> bytes:
        raise NotImplementedError
