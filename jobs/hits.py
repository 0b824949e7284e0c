"""hits: the stages of a round of HITS, on lines that have the links of a page in both directions.

  turn     graph lines to these lines (jobs/kernel/rank/hits.py): each page gets the sources of the
           links to it, beside the targets of its own. Shuffle: each line once, and a short line for
           each distinct target of a map task, or of COMBINED links.
  half     half of a pass: the hubs from the authorities, or the reverse. Shuffle: each line once,
           and one short line for each distinct end of a map task's links.
  ranks    the last pass as graph lines with authorities, and the side dataset `hubs`.

The halves of a pass:

    --half hubs         h_i = sum over edges i->j of r_j a_j
    --half authorities  a_i = sum over edges j->i of h_j

The numbers that enter are divided by --authority-length or --hub-length; those that leave are sums
as they came. r is the relevance of pages, in a file of equation.py; 1 for all without one. Each sum
is correctly rounded, so that it is the same, bit for bit, however the lines were split. Sums over
all pages (jobs/kernel/rank/hits.py) are side lines.

With --probe the probes v take the place of the hubs: the half of the authorities sends (v_i -
--along h_i) / --probe-length, with h of length 1, and the half of the hubs writes new probes.

A score is an authority divided by --authority-length. A row of hubs is `id<TAB>hub<TAB>gives`: what
a link gives to its target is the hub divided by that length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

from crawlrank.jobs.kernel.formats.lines import DUMMY, format_graph_line, parse_graph_line
from crawlrank.jobs.kernel.formats.order import ascending_id
from crawlrank.jobs.kernel.formats.rows import GraphLine
from crawlrank.jobs.kernel.formats.side_lines import HUBS as HUBS_ASIDE
from crawlrank.jobs.kernel.formats.side_lines import SUMS, to_json
from crawlrank.jobs.kernel.rank.equation import Teleport
from crawlrank.jobs.kernel.rank.hits import (
    HitsLine,
    Tally,
    first_line,
    format_hits_line,
    parse_hits_line,
)
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.page_rank import STRUCTURE, ContributionsJob, bad_node


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


HUBS, AUTHORITIES = "hubs", "authorities"


class HitsHalf(ContributionsJob):
    DATASET = "turned"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--half", choices=(HUBS, AUTHORITIES), default=HUBS)
        self.add_passthru_arg("--probe", action="store_true", help="of probes rather than hubs")
        for name, what in (
            ("authority-length", "of the authorities that enter"),
            ("hub-length", "of the hubs that enter"),
            ("probe-length", "of the probes that enter"),
        ):
            self.add_passthru_arg(f"--{name}", type=float, default=1.0, help=what)
        self.add_passthru_arg(
            "--along", type=float, default=0.0, help="the part of the probes along the hubs"
        )
        self.add_passthru_arg(
            "--grows", type=float, default=0.0, help="what hubs are expected to grow by"
        )
        self.add_file_arg("--relevance", help="relevance of pages; set by the driver")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._tally = Tally()

    @cached_property
    def _relevance(self) -> Teleport | None:
        """Read when the first line needs it, as in the driver the file has another path."""
        return Teleport(self.options.relevance) if self.options.relevance else None

    def _relevance_of(self, line: HitsLine) -> float:
        return self._relevance.of(line.id) if self._relevance else 1.0

    def _hub(self, line: HitsLine) -> float:
        return line.hub / float(self.options.hub_length)

    def _probe(self, line: HitsLine) -> float:
        away = line.probe - float(self.options.along) * self._hub(line)
        return away / float(self.options.probe_length)

    def _entering(self, line: HitsLine) -> tuple[float, list[bytes]]:
        """What a page gives, and to which pages."""
        if self.options.half == HUBS:
            authority = line.authority / self.options.authority_length
            return self._relevance_of(line) * authority, line.links_in
        return self._probe(line) if self.options.probe else self._hub(line), line.links_out

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        row = parse_hits_line(line)
        value, ends = self._entering(row)
        yield from self.sent(row.id, line, ends if value else [], value)

    def with_received(self, node: bytes, line: bytes, received: list[float]) -> bytes:
        return format_hits_line(self._summed(parse_hits_line(line), math.fsum(received)))

    def _summed(self, line: HitsLine, new: float) -> HitsLine:
        tally = self._tally
        tally.count(line)
        if self.options.half == AUTHORITIES:
            tally.add(squares=new * new, total=new, weighed=self._relevance_of(line) * new * new)
            return line._replace(authority=new)
        if self.options.probe:
            before = self._probe(line)
            along = self._hub(line) * new
            tally.add(squares=new * new, old=before * new, along=along, probes=before * before)
            return line._replace(probe=new)
        away = new - self.options.grows * self._hub(line)
        probes, along = line.probe * line.probe, line.probe * new
        tally.add(squares=new * new, total=new, away=away * away, along=along, probes=probes)
        return line._replace(hub=new)

    def reduce_end(self) -> Iterator[bytes]:
        yield SUMS + b"\t" + to_json(vars(self._tally.sums()))


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
        yield HUBS_ASIDE + b"\t%s\t%s\t%s" % (
            row.id,
            repr(hub).encode(),
            repr(hub / length).encode(),
        )


if __name__ == "__main__":
    main(HitsHalf, TurnLinks, HitsRanks)
