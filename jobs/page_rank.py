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

from collections.abc import Iterator
from functools import cached_property

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


class PageRank(Job):
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

        self.add_file_arg("--teleport", help="weights of pages; set by the driver")
        self.add_passthru_arg(
            "--from-teleport", action="store_true", help="the scores that enter are these weights"
        )

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._contributions: dict[bytes, list[float]] = {}
        self._held = 0
        self._equation = Equation(self.options.damping)
        self._tally = RoundTally(self.options.shift, self._equation)

    @cached_property
    def _teleport(self) -> Teleport | None:
        """Read when the first line needs it, as in the driver the file has another path."""
        return Teleport(self.options.teleport) if self.options.teleport else None

    def _entering(self, line: bytes) -> GraphLine:
        """The line, with the score that enters the round."""
        row = parse_graph_line(line)
        if self.options.from_teleport and self._teleport:
            row = row._replace(score=self._teleport.of(row.id))
        return row

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        node, score, targets = self._entering(line)
        yield ascending_id(node), STRUCTURE + line
        contribution = score / len(targets)
        for target in targets:
            self._contributions.setdefault(target, []).append(contribution)
        self._held += len(targets)
        if self._held >= self.COMBINED:
            yield from self.map_end()

    def map_end(self) -> Iterator[KeyValue]:
        for target, values in self._contributions.items():
            numbers = values if len(values) == 1 else exact_parts(values)
            sent = b" ".join(repr(number).encode() for number in numbers)
            yield ascending_id(target), CONTRIBUTION + sent
        self._contributions.clear()
        self._held = 0

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        contributions: list[float] = []
        lines: list[bytes] = []
        for value in values:
            if value[:1] == STRUCTURE:
                lines.append(value[1:])
            else:
                contributions.extend(map(float, value[1:].split(b" ")))
                if len(contributions) >= self.COMBINED:
                    contributions = exact_parts(contributions)
        if len(lines) == 1:
            yield self._scored(self._entering(lines[0]), contributions)
        else:
            node = key if key == DUMMY else key[1:]
            yield from bad_node(self, node, len(lines))

    def _scored(self, line: GraphLine, contributions: list[float]) -> bytes:
        weight = self._teleport.of(line.id) if self._teleport else 1.0
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
