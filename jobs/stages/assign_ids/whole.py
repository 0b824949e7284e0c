"""All stages of assign_ids in one job, whose only reducer numbers all keys."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.stages.assign_ids.numbering import NumberingJob, numbered, with_id


class AssignIdsWhole(NumberingJob):
    def label_of(self, key: bytes) -> bytes:
        return b"0"

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for row in numbered(values):
            yield with_id(*row, self.counts)


if __name__ == "__main__":
    AssignIdsWhole.run()
