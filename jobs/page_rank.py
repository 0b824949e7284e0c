"""page_rank: one plain round of PageRank, the recipe's job.

    x'_i = base_i + damping * sum over edges j->i of x_j / outdegree_j

Reads and writes graph lines, `id<TAB>score<TAB>O:id,id,…`; only the score changes. The driver
iterates. Sums of the round (mass, residuals: plain_round.py) are side lines. base_i is 1 - damping,
or that times the weight of i in a file of equation.py; these weights are the first scores, too.

The shuffle has the structure (each line once) and the contributions, one line for each distinct
target of a map task, or of COMBINED contributions. That is at most one short line an edge, and less
where the lines of a task share targets; `dummy`, to which all dangling nodes point, gets one a
task. A mapper sends contributions to the same target as their exact sum in a few doubles, so that
the new score is the same, bit for bit, however the graph was split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.lines import DUMMY, format_graph_line, parse_graph_line
from crawlrank.jobs.kernel.formats.order import ascending_id
from crawlrank.jobs.kernel.formats.rows import GraphLine
from crawlrank.jobs.kernel.formats.side_lines import SUMS, to_json
from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation, Teleport
from crawlrank.jobs.kernel.rank.plain_round import RoundTally, exact_parts, new_score
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue

CONTRIBUTION, STRUCTURE = b"C", b"S"


class TeleportJob(Job):
    """A job that may know how often a reader starts anew at each page."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--teleport", help="weights of pages; set by the driver")

    @cached_property
    def teleport(self) -> Teleport | None:
        """Read when the first line needs it, as in the driver the file has another path."""
        return Teleport(self.options.teleport) if self.options.teleport else None


class ContributionsJob(Job):
    """Each page, which has one line, sends a value along its links; the values that reach a page
    meet its line. A mapper holds the values, at most COMBINED, to send those to the same page
    together."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._sent: dict[bytes, list[Any]] = {}
        self._held = 0

    def sent(self, node: bytes, line: bytes, ends: list[bytes], value: Any) -> Iterator[KeyValue]:
        """The line of a page, which sends a value to these ends."""
        yield ascending_id(node), STRUCTURE + line
        for end in ends:
            self._sent.setdefault(end, []).append(value)
        self._held += len(ends)
        if self._held >= self.COMBINED:
            yield from self.map_end()

    def map_end(self) -> Iterator[KeyValue]:
        for end, values in self._sent.items():
            yield ascending_id(end), CONTRIBUTION + self.joined(values)
        self._sent.clear()
        self._held = 0

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        received: list[Any] = []
        lines: list[bytes] = []
        for value in values:
            if value[:1] == STRUCTURE:
                lines.append(value[1:])
            else:
                received.extend(self.parted(value[1:]))
                if len(received) >= self.COMBINED:
                    received = self.combined(received)
        node = key if key == DUMMY else key[1:]
        if len(lines) == 1:
            yield self.with_received(node, lines[0], received)
        else:
            yield from bad_node(self, node, len(lines))

    def with_received(self, node: bytes, line: bytes, received: list[Any]) -> bytes:
        """The new line of a page, of its line and the values that reached it."""
        raise NotImplementedError

    # values are numbers, unless a subclass has others

    def joined(self, values: list[Any]) -> bytes:
        numbers = values if len(values) == 1 else exact_parts(values)
        return b" ".join(repr(number).encode() for number in numbers)

    def parted(self, text: bytes) -> Iterable[Any]:
        return map(float, text.split(b" "))

    def combined(self, values: list[Any]) -> list[Any]:
        """Fewer values that stand for these."""
        return exact_parts(values)


class PageRank(ContributionsJob, TeleportJob):
    DATASET = "ranks"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--shift",
            type=float,
            default=0.0,
            help="mean residual of this round if known; sharpens the bound for probabilities",
        )
        self.add_passthru_arg(
            "--damping",
            type=float,
            default=RECIPE.damping,
            help="the share of a page's score that its links pass on",
        )
        self.add_passthru_arg(
            "--from-teleport", action="store_true", help="the scores that enter are these weights"
        )

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._equation = Equation(self.options.damping)
        self._tally = RoundTally(self.options.shift, self._equation)

    def _entering(self, line: bytes) -> GraphLine:
        """The line, with the score that enters the round."""
        row = parse_graph_line(line)
        if self.options.from_teleport and self.teleport:
            row = row._replace(score=self.teleport.of(row.id))
        return row

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        node, score, targets = self._entering(line)
        yield from self.sent(node, line, targets, score / len(targets))

    def with_received(self, node: bytes, line: bytes, received: list[float]) -> bytes:
        return self._scored(self._entering(line), received)

    def _scored(self, line: GraphLine, contributions: list[float]) -> bytes:
        weight = self.teleport.of(line.id) if self.teleport else 1.0
        score = new_score(contributions, self._equation, weight)
        if line.id == DUMMY:
            self._tally.add_dummy(line.score, score)
        else:
            outdegree = 0 if line.targets == [DUMMY] else len(line.targets)
            self._tally.add(line.score, score, outdegree, weight)
        return format_graph_line(line._replace(score=score))

    def reduce_end(self) -> Iterator[bytes]:
        yield SUMS + b"\t" + to_json(self._tally.sums().as_dict())


def bad_node(job: Job, node: bytes, lines: int) -> Iterator[bytes]:
    """Report a node without exactly one line, by the pairs that PageRank maps lines to."""
    fault = (
        f"has {count_of(lines, 'line')}" if lines else "is pointed to, but has no line of its own"
    )
    yield from job.bad_group(
        ascending_id(node),
        [STRUCTURE] * 2 if lines else [CONTRIBUTION],
        found=f"id {node.decode()}: {fault}",
        expected="one line for every id and for dummy",
        cure="Make the graph with gen-graph.",
    )


if __name__ == "__main__":
    main(PageRank)
