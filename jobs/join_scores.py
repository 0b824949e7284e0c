"""join_scores: ids back to URIs, best score first.

Reads ranks (graph lines), map rows (`id key`) and uris (5 columns). Writes
`score<TAB>URI<TAB>key`, best rounded score first, then by key. The URI is the best spelling of the
key (kernel/formats/order.py). `--columns all` adds id, inlinks, outlinks, captures and last
timestamp.

Three small jobs:

  id       scores are joined with keys at their id, inlinks are counted. Shuffle: one line a node
           from ranks, one from map, and one for each distinct target of a map task.
  key      nodes are joined with spellings at their key; each task samples its rows for split
           points. Shuffle: one line a node and one a spelling.
  sort     range-partitioned by (score, key). Shuffle: one line a node, as long as its output line.

At a URL, where a job takes long to start, few nodes take one job:

  whole    one reducer joins and sorts all. Shuffle: as id and key together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.datasets import MAP
from crawlrank.jobs.kernel.formats.lines import (
    DUMMY,
    parse_else,
    parse_graph_line,
    parse_map_row,
    parse_uri_row,
)
from crawlrank.jobs.kernel.formats.order import (
    DIGITS,
    KeySample,
    ascending_id,
    descending,
    spelling_order,
    split_points,
)
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.formats.side_lines import PLAN, SUMS, side_name, to_json
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue, RangedJob, write_points

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.jobs.mapreduce.outcome import Outcome

INLINKS, KEY, SCORE = b"C", b"K", b"S"


class NodesAtIds:
    """Joins map and ranks, in a task of `job`, to nodes: `key SCOREscore id inlinks outlinks`."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._inlinks: Counter[bytes] = Counter()
        self._sum = 0.0

    def sent(self, line: bytes) -> Iterator[KeyValue]:
        """Raises BadLine."""
        if line.count(b"\t") + line.count(b" ") == 1:
            identity, key = parse_map_row(line)
            yield ascending_id(identity), KEY + key
            return
        node, score, targets = parse_else(parse_graph_line, line, MAP)
        if node == DUMMY:
            return
        outlinks = 0 if targets == [DUMMY] else len(targets)
        yield ascending_id(node), b"%s%s\t%d" % (SCORE, repr(score).encode(), outlinks)
        if outlinks:
            self._inlinks.update(targets)
        if len(self._inlinks) >= self._job.COMBINED:
            yield from self.rest()

    def rest(self) -> Iterator[KeyValue]:
        """The inlinks that are still in memory."""
        for target, count in self._inlinks.items():
            yield ascending_id(target), b"%s%d" % (INLINKS, count)
        self._inlinks.clear()

    def joined(self, identity: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        keys: list[bytes] = []
        scores: list[bytes] = []
        inlinks = 0
        for value in values:
            if value[:1] == INLINKS:
                inlinks += int(value[1:])
            else:
                (keys if value[:1] == KEY else scores).append(value[1:])
        if len(keys) == len(scores) == 1:
            score, outlinks = scores[0].split(b"\t")
            self._sum += float(score)
            fields = (keys[0], SCORE + score, identity[1:], b"%d" % inlinks, outlinks)
            yield b"\t".join(fields)
            return
        yield from self._unjoined(identity, len(keys), len(scores))

    def _unjoined(self, identity: bytes, keys: int, scores: int) -> Iterator[bytes]:
        kind, count = (SCORE, scores) if scores > 1 or not keys else (KEY, keys)
        yield from self._job.bad_group(
            identity,
            [kind] * min(count, 2) or [INLINKS],
            found=f"id {identity[1:].decode()}: {count_of(keys, 'key')} in map and"
            f" {count_of(scores, 'line')} in ranks",
            expected="one of each",
            cure="Join ranks with the map of the same assign-ids run.",
        )

    def sums(self) -> bytes:
        """The sum of scores, as a side line."""
        return SUMS + b"\t" + to_json({"scores": self._sum})


class JoinScoresId(Job):
    """Joins scores with keys at their id, and counts inlinks."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._nodes = NodesAtIds(self)

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        return self._nodes.sent(line)

    def map_end(self) -> Iterator[KeyValue]:
        return self._nodes.rest()

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        return self._nodes.joined(key, values)

    def reduce_end(self) -> Iterator[bytes]:
        yield self._nodes.sums()


SPELLING = b"U"


class RowsJob(Job):
    """A stage that gives each key its spelling and its row."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--columns", choices=("three", "all"), default="three")
        self.add_passthru_arg("--digits", type=int, default=DIGITS, help="digits that scores share")

    def joined(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        """The row of a key, after its position in the order and a tab. values: SCORE with the node
        first, then spellings."""
        best: tuple[int, int, bytes] | None = None
        captures, last, node = 0, UNKNOWN, b""
        for value in values:
            if value[:1] == SCORE:
                node = value[1:]
                continue
            seen, links, timestamp, uri = value[1:].split(b"\t")
            entry = spelling_order(int(seen), int(links), uri)
            best = entry if best is None else min(best, entry)
            captures, last = captures + int(seen), max(last, timestamp)
        if not node:
            return  # a spelling of a key that has no id
        score, identity, inlinks, outlinks = node.split(b"\t")
        if best is None:
            yield from self.unspelled(key, identity)
            return
        fields = [score, best[2], key]
        if self.options.columns == "all":
            fields += [identity, inlinks, outlinks, b"%d" % captures, last]
        position = descending(float(score), self.options.digits) + key
        yield position + b"\t" + b"\t".join(fields)

    def unspelled(self, key: bytes, identity: bytes) -> Iterator[bytes]:
        yield from self.bad_group(
            ascending_id(identity),
            [KEY + key],
            found=f"key {key.decode()}: no spelling in uris",
            expected="at least one URI for every key of map",
            cure="Join with the uris of the same canonicalize run.",
        )


def sent(line: bytes) -> KeyValue:
    """A spelling under its key. Raises BadLine."""
    row = parse_uri_row(line)
    counts = b"%d\t%d\t%s" % (row.captures, row.links, row.last)
    return row.key, b"%s%s\t%s" % (SPELLING, counts, row.uri)


def in_order(rows: Iterator[bytes], counts: Counter[str]) -> Iterator[bytes]:
    """Sorted rows without their positions."""
    for row in rows:
        counts["scores"] += 1
        yield row.partition(b"\t")[2]


class JoinScoresKey(RowsJob):
    """Joins nodes with spellings at their key. Notes have a sample of the positions."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._sample = KeySample()

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, _, node = line.partition(b"\t")
        if node[:1] == SCORE and node.count(b"\t") == 3:
            yield key, node
        else:
            yield sent(line)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for line in self.joined(key, values):
            if not side_name(line):
                self._sample.add(line.partition(b"\t")[0])
            yield line

    def reduce_end(self) -> Iterator[bytes]:
        for position in self._sample.keys():  # noqa: SIM118 (not a dict)
            yield PLAN + b"\t" + position


class JoinScoresSort(RangedJob):
    """Sorts rows by their positions, and drops these."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield self.label_of(line.partition(b"\t")[0]), line

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        return in_order(values, self.counts)


WHOLE = b"0"  # the key of all pairs
BY_ID, BY_KEY = b"0", b"1"  # before ids and keys, so that ids come first


class JoinScoresWhole(RowsJob):
    """All stages in one job, for few nodes.

    One reducer gets all lines: first those of ids, whose nodes it keeps by key, then the spellings
    of each key. Rows are sorted at the end. Memory: some 300 bytes a node.
    """

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._at_ids = NodesAtIds(self)
        self._nodes: dict[bytes, bytes] = {}
        self._rows_joined: list[bytes] = []

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") == 4:
            yield _together(BY_KEY, *sent(line))
        else:
            for pair in self._at_ids.sent(line):
                yield _together(BY_ID, *pair)

    def map_end(self) -> Iterator[KeyValue]:
        for pair in self._at_ids.rest():
            yield _together(BY_ID, *pair)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.partition(b"\t") for value in values)
        for named, group in groupby(rows, itemgetter(0)):
            join, keep = (
                (self._at_ids.joined, self._keep_node)
                if named[:1] == BY_ID
                else (self._at_key, self._rows_joined.append)
            )
            for line in join(named[1:], (row[2] for row in group)):
                if side_name(line):
                    yield line
                else:
                    keep(line)

    def _keep_node(self, line: bytes) -> None:
        key, _, node = line.partition(b"\t")
        self._nodes[key] = node

    def _at_key(self, key: bytes, spellings: Iterator[bytes]) -> Iterator[bytes]:
        node = self._nodes.pop(key, None)
        if node is not None:
            yield from self.joined(key, chain([node], spellings))

    def reduce_end(self) -> Iterator[bytes]:
        for key, node in self._nodes.items():
            yield from self.unspelled(key, node.split(b"\t")[1])
        self._rows_joined.sort()  # by their positions, which no two have in common
        yield from in_order(iter(self._rows_joined), self.counts)
        yield self._at_ids.sums()


def _together(kind: bytes, key: bytes, value: bytes) -> KeyValue:
    """A pair for the only group, whose values are sorted by their kind and key."""
    return WHOLE, kind + key + b"\t" + value


IN_MEMORY = 1 << 27  # bytes of ranks, map and uris that one task holds: some 500,000 nodes


class JoinScores(RowsJob):
    DATASET = "scores"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """inputs: ranks and map first, uris last."""
        options = self.options
        ranks_and_map, uris = inputs[:-1], inputs[-1]
        return run(
            ranks_and_map, uris, output, launcher, digits=options.digits, columns=options.columns
        )


def run(
    ranks_and_map: Sequence[PathOrUrl],
    uris: PathOrUrl,
    output: PathOrUrl,
    launcher: Launcher,
    *,
    digits: int = DIGITS,
    columns: str = "three",
) -> Outcome:
    """Join and sort; writes the folder `output`. The outcome's `sums` hold the sum of scores."""
    from crawlrank.jobs.mapreduce.launch import launch  # tasks start sooner without it
    from crawlrank.jobs.mapreduce.outcome import MappedInputs

    inputs, own = [*ranks_and_map, uris], ["--digits", str(digits), "--columns", columns]
    if launcher.is_small(inputs, IN_MEMORY):
        outcome = launch(JoinScoresWhole, inputs, output, launcher, [*own, "--reducers", "1"])
        _require_nodes(outcome, ranks_and_map)
        return outcome
    reducers = launcher.reducers(inputs)
    args = ["--reducers", str(reducers)]
    with launcher.workplace("join_scores") as tmp, launcher.scratch("plan") as plan:
        keyed, spelled, points = join(tmp, "keyed"), join(tmp, "spelled"), plan / "points.json"
        summed = launch(JoinScoresId, ranks_and_map, keyed, launcher, args)
        _require_nodes(summed, ranks_and_map)
        origin = MappedInputs(JoinScoresId, args, ranks_and_map)
        sampled = launch(
            JoinScoresKey, [keyed, uris], spelled, launcher, [*args, *own], origin=origin
        )
        positions = (note.value for note in sampled.notes.get("plan", ()))
        write_points(points, split_points(positions, reducers))
        args = [*args, "--plan", str(points)]
        outcome = launch(JoinScoresSort, [spelled], output, launcher, args)
    outcome.sums = summed.sums
    return outcome


def _require_nodes(outcome: Outcome, ranks_and_map: Sequence[PathOrUrl]) -> None:
    if not outcome.rows["main"]:
        where = ", ".join(map(str, ranks_and_map))
        raise BadInput(where, "no nodes", "a line in ranks and one in map each")


if __name__ == "__main__":
    main(JoinScores, JoinScoresId, JoinScoresKey, JoinScoresSort, JoinScoresWhole)
