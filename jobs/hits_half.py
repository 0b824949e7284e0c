"""hits_half: half of a pass of HITS, on the lines of turn_links.

    --half hubs         h_i = sum over edges i->j of r_j a_j
    --half authorities  a_i = sum over edges j->i of h_j

The numbers that enter are divided by --authority-length or --hub-length; those that leave are sums
as they came. r is the relevance of pages, in a file of equation.py; 1 for all without one. Each sum
is correctly rounded, so that it is the same, bit for bit, however the lines were split. Sums over
all pages (jobs/kernel/rank/hits.py) are side lines.

With --probe the probes v take the place of the hubs: the half of the authorities sends (v_i -
--along h_i) / --probe-length, with h of length 1, and the half of the hubs writes new probes. The
shuffle has each line once, and one short line for each distinct end of a map task's links.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

from crawlrank.jobs.kernel.formats.side_lines import SUMS, to_json
from crawlrank.jobs.kernel.rank.equation import Teleport
from crawlrank.jobs.kernel.rank.hits import HitsLine, Tally, format_hits_line, parse_hits_line
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.page_rank import ContributionsJob

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


if __name__ == "__main__":
    main(HitsHalf)
