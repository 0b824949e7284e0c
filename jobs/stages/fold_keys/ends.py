"""What the stages of fold_keys share that look up the end of a key, if it folds."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.captures.choosing import NOTHING_LEFT
from crawlrank.jobs.kernel.formats.lines import parse_fold
from crawlrank.jobs.mapreduce.job import Job, KeyValue

FOLD = b"F"  # sorts before the links and spellings of its key


class EndsJob(Job):
    """Joins folds with other rows at their keys. map_row gives the key of a row and its value,
    with_end(end, value) the row with the end in place of the key, without_end(key, end, value) the
    rows of a key that is gone."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") == 3:
            fold = parse_fold(line)
            yield fold.key, FOLD + fold.target_key
        else:
            yield self.map_row(line)

    def map_row(self, line: bytes) -> KeyValue:
        raise NotImplementedError

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        end = key
        for value in values:
            if value[:1] == FOLD:
                end = value[1:]
            elif end in NOTHING_LEFT:
                yield from self.without_end(key, end, value)
            else:
                yield self.with_end(end, value)

    def without_end(self, key: bytes, end: bytes, value: bytes) -> Iterator[bytes]:
        raise NotImplementedError

    def with_end(self, end: bytes, value: bytes) -> bytes:
        raise NotImplementedError
