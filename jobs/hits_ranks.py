"""hits_ranks: the last pass of HITS as graph lines with authorities, and the side dataset `hubs`.

Reads lines of hits_half; no sums. A score is an authority divided by --authority-length. A row of
hubs is `id<TAB>hub<TAB>gives`: what a link gives to its target is the hub divided by that length.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import DUMMY, format_graph_line
from crawlrank.jobs.kernel.formats.order import ascending_id
from crawlrank.jobs.kernel.formats.rows import GraphLine
from crawlrank.jobs.kernel.formats.side_lines import HUBS
from crawlrank.jobs.kernel.rank.hits import parse_hits_line
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.page_rank import STRUCTURE, bad_node


class HitsRanks(Job):
    DATASET = "ranks"
    SIDE_DATASETS = ("hubs",)

    def configure_args(self) -> None:
        super().configure_args()
        for name in ("authority-length", "hub-length"):
            self.add_passthru_arg(f"--{name}", type=float, default=1.0, help="of the last pass")

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield ascending_id(line.partition(b"\t")[0]), STRUCTURE + line

    def map_end(self) -> Iterator[KeyValue]:
        yield ascending_id(DUMMY), STRUCTURE

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if key == DUMMY:
            yield format_graph_line(GraphLine(DUMMY, 0.0, [DUMMY]))
            return
        lines = [value[1:] for value in values]
        if len(lines) != 1:
            yield from bad_node(self, key[1:], len(lines))
            return
        row = parse_hits_line(lines[0])
        length = self.options.authority_length
        hub, targets = row.hub / self.options.hub_length, row.links_out or [DUMMY]
        yield format_graph_line(GraphLine(row.id, row.authority / length, targets))
        yield HUBS + b"\t%s\t%s\t%s" % (row.id, repr(hub).encode(), repr(hub / length).encode())


if __name__ == "__main__":
    main(HitsRanks)
