"""turn_links: graph lines to the lines that passes of HITS work on (jobs/kernel/rank/hits.py).

Each page gets the sources of the links to it, beside the targets of its own. The shuffle has each
line once, and a short line for each distinct target of a map task, or of COMBINED links.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_graph_line
from crawlrank.jobs.kernel.formats.order import ascending_id
from crawlrank.jobs.kernel.rank.hits import first_line, format_hits_line
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.page_rank import CONTRIBUTION, STRUCTURE, bad_node


class TurnLinks(Job):
    DATASET = "turned"

    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self._sources: dict[bytes, list[bytes]] = {}
        self._held = 0

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        row = parse_graph_line(line)
        if row.id == DUMMY:
            return
        targets = [] if row.targets == [DUMMY] else row.targets
        yield ascending_id(row.id), STRUCTURE + b",".join(targets)
        for target in targets:
            self._sources.setdefault(target, []).append(row.id)
        self._held += len(targets)
        if self._held >= self.COMBINED:
            yield from self.map_end()

    def map_end(self) -> Iterator[KeyValue]:
        for target, sources in self._sources.items():
            yield ascending_id(target), CONTRIBUTION + b",".join(sources)
        self._sources.clear()
        self._held = 0

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        sources: list[bytes] = []
        lines: list[bytes] = []
        for value in values:
            if value[:1] == STRUCTURE:
                lines.append(value[1:])
            else:
                sources.extend(value[1:].split(b","))
        if len(lines) == 1:
            yield format_hits_line(first_line(key[1:], sources, lines[0]))
        else:
            yield from bad_node(self, key[1:], len(lines))


if __name__ == "__main__":
    main(TurnLinks)
