"""export_precedence: the lines of a precedence file from scores and spellings, by tasks alone.

Reads scores (`score URI key`) and uris (5 columns). Writes `URI precedence`, byte for byte the
lines that pipeline/precedence/export.py writes, and counts what its summary has. The equations are
in jobs/kernel/rank/cutting.py.

Four jobs, which pipeline/engines/text/job_export.py launches. That driver holds some rows for each
class, whatever the number of nodes:

  nodes    scores are joined with spellings at their key. Shuffle: one line a node, two a spelling.
  order    the nodes that classes are cut over, sorted in up to three orders; the driver reads the
           rows at the boundaries of classes. Shuffle: one line a node and order.
  forms    nodes get classes, and spellings the form in which Heritrix looks them up, each once with
           the best place. Shuffle: one line a form, and one a host of a map task.
  lines    sorted by place and form, range-partitioned. Shuffle: one line a form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from crawlrank.jobs.kernel.formats.datasets import URIS
from crawlrank.jobs.kernel.formats.lines import parse_else, parse_score_row, parse_uri_row
from crawlrank.jobs.kernel.formats.order import DIGITS, KeySample, descending
from crawlrank.jobs.kernel.formats.side_lines import PLAN, SUMS, to_json
from crawlrank.jobs.kernel.rank.cutting import (
    LEAST,
    MOST,
    PLACE,
    CutNodes,
    Cuts,
    Cutter,
    NodeRow,
    ScoreErrors,
)
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue, PlannedJob, RangedJob

if TYPE_CHECKING:
    pass

SCORE, COUNTS, SPELLING = b"0", b"1", b"2"  # the values of a key, in their order
NODE = b"N"  # begins rows of nodes; those of spellings begin with SPELLING
UNSCORED = b":"  # after the places of all nodes, which begin with a digit
ORDERS = (MOST, LEAST, PLACE)  # in the order of their letters
AT_ONCE = 4096  # rows that are worked on as columns
EXAMPLES = 10
WEIGHTS, WEIGHT_BYTES = 1 << 64, 16


class ExportNodes(Job):
    """Joins scores with spellings at their key.

    A row of each node, `N score name captured`, and of each spelling that a file may list, `2 score
    name captured URI`, without score where its key has none. name: what orders nodes of equal
    scores: the key, after the preference by links with --weighed. Notes have samples of places.
    """

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--digits", type=int, default=DIGITS)
        self.add_passthru_arg("--weighed", action="store_true")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._samples = {b"0": KeySample(), b"1": KeySample()}  # of nodes, by `captured`

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") < len(URIS.columns) - 1:
            scored = parse_else(parse_score_row, line, URIS)
            yield scored.key, SCORE + repr(scored.score).encode()
            return
        row = parse_uri_row(line)
        yield row.key, b"%s%d %d" % (COUNTS, row.captures, row.links)
        yield row.key, b"%s%d %s" % (SPELLING, row.captures > 0, row.uri)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        score, captures, weight, name, spelled = b"", 0, 0, key, False
        for value in values:
            kind, rest = value[:1], value[1:]
            if kind == SCORE and score:
                yield from self._bad(key, f"two scores for the key {key.decode()}")
            elif kind == SCORE:
                score = rest
            elif kind == COUNTS:
                of_spelling, links = map(int, rest.split(b" "))
                captures, weight = captures + of_spelling, weight + (links << 32) + of_spelling
            else:
                if not spelled:
                    name = self._preference(weight) + key
                    yield from self._node(score, name, captures)
                spelled = True
                yield from self._spelling(score, name, rest)
        if score and not spelled:
            yield from self._bad(key, f"the key {key.decode()} without a spelling in uris")

    def _preference(self, weight: int) -> bytes:
        """As of `preferred_by` in pipeline/ranking/classes.py: the best has the least."""
        if not self.options.weighed:
            return b""
        return b"%0*x" % (WEIGHT_BYTES, ~weight % WEIGHTS)

    def _node(self, score: bytes, name: bytes, captures: int) -> Iterator[bytes]:
        if not score:
            return
        captured = b"%d" % (captures > 0)
        self.counts["nodes"] += 1
        self.counts["nodes_captured"] += captures > 0
        self._samples[captured].add(descending(float(score), self.options.digits) + name)
        yield b"\t".join((NODE, score, name, captured))

    def _spelling(self, score: bytes, name: bytes, rest: bytes) -> Iterator[bytes]:
        captured, _, uri = rest.partition(b" ")
        if captured == b"1":
            self.counts["captured"] += 1
            self.counts["captured_unscored"] += not score
        elif not score:
            return
        yield b"\t".join((SPELLING, score, name, captured, uri))

    def _bad(self, key: bytes, fault: str) -> Iterator[bytes]:
        return self.bad_group(
            key, [SCORE], found=fault, expected="one score, and at least one URI, for every key",
            cure="Give the uris of the same canonicalize run.",
        )  # fmt: skip

    def reduce_end(self) -> Iterator[bytes]:
        for captured, sample in self._samples.items():
            for position in sample.keys():  # noqa: SIM118 (not a dict)
                yield b"\t".join((PLAN, captured, position))


class CutJob(PlannedJob):
    """Works on rows of ExportNodes, many at a time."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--digits", type=int, default=DIGITS)
        self.add_passthru_arg("--eta", type=float, default=0.0)
        self.add_passthru_arg("--absolute", type=float, default=math.inf)

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._nodes: list[NodeRow] = []
        self._spellings: list[tuple[NodeRow, str]] = []

    @property
    def errors(self) -> ScoreErrors:
        return ScoreErrors(self.options.digits, self.options.eta, self.options.absolute)

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        kind, score, name, captured, *uri = line.split(b"\t")
        row = NodeRow(float(score or "nan"), name, captured == b"1")
        if kind == NODE:
            self._nodes.append(row)
        else:
            self._spellings.append((row, uri[0].decode("utf-8", "replace")))
        if len(self._nodes) + len(self._spellings) >= AT_ONCE:
            yield from self.map_end()

    def map_end(self) -> Iterator[KeyValue]:
        nodes, spellings = self._nodes, self._spellings
        self._nodes, self._spellings = [], []
        yield from self.map_nodes(nodes)
        yield from self.map_spellings(spellings)

    def map_nodes(self, rows: list[NodeRow]) -> Iterator[KeyValue]:
        raise NotImplementedError

    def map_spellings(self, rows: list[tuple[NodeRow, str]]) -> Iterator[KeyValue]:
        yield from ()


class ExportOrder(CutJob, RangedJob):
    """Sorts the nodes that classes are cut over by their positions in each order, after its letter.
    Notes have the number of rows of a part."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--captured", action="store_true", help="take captured nodes only")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._ordered = 0

    def map_nodes(self, rows: list[NodeRow]) -> Iterator[KeyValue]:
        over = [row for row in rows if row.captured or not self.options.captured]
        for letter, positions in self.errors.positions(over).items():
            for position in positions:
                yield self.label_of(letter + position), letter + position

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for value in values:
            self._ordered += 1
            yield value

    def reduce_end(self) -> Iterator[bytes]:
        yield PLAN + b"\t%d" % self._ordered


FORM, HOST = b"F", b"H"  # begin the keys of the shuffle
REAL, ALIAS = b"0", b"1"  # a line of the form itself is better
HTTP, HTTPS, WWW, BARE = 1, 2, 4, 8  # what a host was met as


class ExportForms(CutJob):
    """Counts nodes by class, and gives each form of a spelling its best place. A row is `place form
    precedence`, separated by blanks. Its plan: `cuts` of Cuts,
    `only_captured` (whether spellings that were not captured are left out), `aliases`."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._examples: list[str] = []
        self._hosts: dict[bytes, int] = {}
        self._sample = KeySample()

    @cached_property
    def _cutter(self) -> Cutter:
        return Cutter(Cuts(**self.plan["cuts"]), self.errors)

    def map_nodes(self, rows: list[NodeRow]) -> Iterator[KeyValue]:
        self._cutter.count(rows)
        yield from ()

    def map_spellings(self, rows: list[tuple[NodeRow, str]]) -> Iterator[KeyValue]:
        import pyarrow as pa  # tasks of the other stages start sooner without

        from crawlrank.jobs.kernel.keys.form_columns import aliases, forms

        rows = [row for row in rows if row[0].captured or not self.plan["only_captured"]]
        formed = forms(pa.array([uri for _, uri in rows], pa.string()))
        self.counts["rewritten"] += int(formed.rewritten.sum())
        places = self._places([node for node, _ in rows])
        columns = [formed.forms, *aliases(formed.forms, self.plan["aliases"])]
        reasons = formed.reasons.to_pylist()
        for number, column in enumerate(columns):
            kind = ALIAS if number else REAL
            for form, position, reason in zip(column.to_pylist(), places, reasons, strict=True):
                if form is not None and reason is None:
                    yield FORM + form.encode(), kind + position
        for (node, uri), form, reason in zip(rows, formed.forms.to_pylist(), reasons, strict=True):
            if reason is not None:
                self._reject(uri, reason)
                continue
            self.counts["formed"] += 1
            if node.captured:
                yield from self._met(form)

    def _places(self, nodes: list[NodeRow]) -> list[bytes]:
        """`place class` of each, that of nodes without score after all others."""
        scored = iter(self._cutter.placed([node for node in nodes if node.score == node.score]))
        last = (UNSCORED, self._cutter.bins)
        every = (next(scored) if node.score == node.score else last for node in nodes)
        return [b"%s %d" % of_node for of_node in every]

    def _reject(self, uri: str, reason: str) -> None:
        self.counts[f"rejected {reason}"] += 1
        self._examples = first_of({*self._examples, uri})

    def _met(self, form: str) -> Iterator[KeyValue]:
        scheme, _, host = form.split("/", 3)[:3]
        met = (HTTP if scheme == "http:" else HTTPS) | (WWW if host.startswith("www.") else BARE)
        name = HOST + host.split(":")[0].removeprefix("www.").encode()
        if self._hosts.get(name, 0) | met != self._hosts.get(name, 0):
            self._hosts[name] = self._hosts.get(name, 0) | met
            yield name, b"%d" % met
        if len(self._hosts) >= self.COMBINED:
            self._hosts.clear()

    def map_end(self) -> Iterator[KeyValue]:
        yield from super().map_end()
        counts = {**self._cutter.counts.to_json(), "examples": self._examples}
        self._cutter.counts, self._examples = CutNodes(), []
        yield SUMS, to_json(counts)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if key[:1] == HOST:
            self._count_host(values)
            return
        best = next(values)
        of_node, _, precedence = best[1:].rpartition(b" ")
        self.counts[f"lines {precedence.decode()}"] += 1
        self.counts["aliases"] += best[:1] == ALIAS
        position = b"%s %s" % (of_node, key[1:])
        self._sample.add(position)
        yield b"%s %s" % (position, precedence)

    def _count_host(self, values: Iterator[bytes]) -> None:
        met = 0
        for value in values:
            met |= int(value)
        self.counts["hosts"] += 1
        self.counts["hosts_one_scheme"] += met & (HTTP | HTTPS) != HTTP | HTTPS
        self.counts["hosts_one_www"] += met & (WWW | BARE) != WWW | BARE

    def reduce_end(self) -> Iterator[bytes]:
        for position in self._sample.keys():  # noqa: SIM118 (not a dict)
            yield PLAN + b"\t" + position


def first_of(uris: set[str]) -> list[str]:
    return sorted(uris, key=str.encode)[:EXAMPLES]


class ExportLines(RangedJob):
    """Sorts lines by their places and forms, and drops the places."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield self.label_of(line.rpartition(b" ")[0]), line

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for value in values:
            yield value.partition(b" ")[2]


if __name__ == "__main__":
    main(ExportNodes, ExportOrder, ExportForms, ExportLines)
