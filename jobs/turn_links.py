"""turn_links: graph lines to the lines that passes of HITS work on (jobs/kernel/rank/hits.py).

Each page gets the sources of the links to it, beside the targets of its own. The shuffle has each
line once, and a short line for each distinct target of a map task, or of COMBINED links.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_graph_line
from crawlrank.jobs.kernel.rank.hits import first_line, format_hits_line
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.page_rank import ContributionsJob


class TurnLinks(ContributionsJob):
    """The value that a page sends is its id."""

    DATASET = "turned"

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        row = parse_graph_line(line)
        if row.id != DUMMY:
            targets = [] if row.targets == [DUMMY] else row.targets
            yield from self.sent(row.id, b",".join(targets), targets, row.id)

    def with_received(self, node: bytes, line: bytes, received: list[bytes]) -> bytes:
        return format_hits_line(first_line(node, received, line))

    def joined(self, values: list[bytes]) -> bytes:
        return b",".join(values)

    def parted(self, text: bytes) -> list[bytes]:
        return text.split(b",")

    def combined(self, values: list[bytes]) -> list[bytes]:
        return values


if __name__ == "__main__":
    main(TurnLinks)
