"""Links with the ends of their sources."""

from __future__ import annotations

from jobs.kernel.formats.lines import URI_ROW, parse_canonical_link, parse_else
from jobs.mapreduce.job import Pair
from jobs.stages.fold_keys.ends import EndsJob
from jobs.stages.merging import LINK


class FoldKeysSource(EndsJob):
    def map_row(self, line: bytes) -> Pair:
        target, source = parse_else(parse_canonical_link, line, URI_ROW)
        return source, LINK + target

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s %s" % (value[1:], end)


if __name__ == "__main__":
    FoldKeysSource.run()
