"""The keys of each range, numbered from 0 and counted.

Writes `label number key`, which becomes a map line, and `label number key source`. The number of
keys of each range is a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.side_lines import PLAN, to_json
from crawlrank.jobs.mapreduce.planned_jobs import RangedJob
from crawlrank.jobs.stages.assign_ids.numbering import NumberingJob, numbered


class AssignIdsRank(RangedJob, NumberingJob):
    def reduce_key(self, label: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        count = 0
        for number, key, source in numbered(values):
            count = number + 1
            row = b"%s\t%d\t%s" % (label, number, key)
            yield b"%s\t%s" % (row, source) if source else row
        yield PLAN + b"\t" + to_json([label.decode(), count])


if __name__ == "__main__":
    AssignIdsRank.run()
