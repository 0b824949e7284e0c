"""join_scores: ids back to URIs, best score first.

Reads ranks (graph lines), map rows (`id key`) and uris (5 columns). Writes, in the order of the
rounded scores, best first, then of the keys, `score<TAB>URI<TAB>key`; the URI is the spelling of
the key captured most, else linked most, then first in byte order. With `--columns all` also id,
inlinks, outlinks, captures and last timestamp.

Three small jobs:

  id       scores meet keys at their id, inlinks are counted. Shuffle: one line a node from ranks,
           one from map, and one for each distinct target of a map task.
  key      they meet the spellings at their key; each task samples its rows for split points.
           Shuffle: one line a node and one a spelling.
  sort     range-partitioned by (score, key). Shuffle: one line a node, as long as its output line.

At a URL, where a job takes long to start, jobs/join_scores_whole.py does it where nodes are few.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import (
    DUMMY,
    MAP_ROW,
    UNKNOWN,
    parse_else,
    parse_graph_line,
    parse_map_row,
    parse_uri_row,
)
from jobs.kernel.formats.order import DIGITS, ascending_id, descending
from jobs.kernel.formats.ranges import Sample, labels, range_of, split_points
from jobs.kernel.formats.side_lines import PLAN, SUMS, to_json
from jobs.kernel.storage.opening import Place, is_url
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.bad_lines import Source
from jobs.mapreduce.job import Job, Pair
from jobs.mapreduce.launch import input_paths, launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome

COMBINED = 200_000
IN_MEMORY = 1 << 27  # bytes of ranks, map and uris that one task holds: some 500,000 nodes
INLINKS, KEY, SCORE, SPELLING = b"C", b"K", b"S", b"U"


class JoinScores(Job):
    DATASET = "scores"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--columns", choices=("three", "all"), default="three")
        self.add_passthru_arg("--digits", type=int, default=DIGITS, help="digits that scores share")
        self.add_passthru_arg(
            "--stage", choices=("id", "key", "sort"), default="id", help="set by run()"
        )
        self.add_file_arg("--plan", help="what earlier stages found; set by run()")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._inlinks: Counter[bytes] = Counter()
        self._sample = Sample()
        self._labels: list[bytes] = []
        self._points: list[bytes] = []
        self._sum = 0.0

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if self.options.stage == "id":
            yield from self._map_id(line)
        elif self.options.stage == "key":
            yield from self._map_key(line)
        else:
            yield from self._map_sort(line)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if self.options.stage == "id":
            yield from self._reduce_id(key, values)
        elif self.options.stage == "key":
            yield from self._reduce_key(key, values)
        else:
            yield from self._reduce_sort(values)

    # id: score, outlinks and inlinks to their key

    def _map_id(self, line: bytes) -> Iterator[Pair]:
        if line.count(b"\t") + line.count(b" ") == 1:
            identity, key = parse_map_row(line)
            yield ascending_id(identity), KEY + key
            return
        node, score, targets = parse_else(parse_graph_line, line, MAP_ROW)
        if node == DUMMY:
            return
        outlinks = 0 if targets == [DUMMY] else len(targets)
        yield ascending_id(node), b"%s%s\t%d" % (SCORE, repr(score).encode(), outlinks)
        if outlinks:
            self._inlinks.update(targets)
        if len(self._inlinks) >= COMBINED:
            yield from self._flush()

    def map_end(self) -> Iterator[Pair]:
        yield from self._flush()

    def _flush(self) -> Iterator[Pair]:
        for target, count in self._inlinks.items():
            yield ascending_id(target), b"%s%d" % (INLINKS, count)
        self._inlinks.clear()

    def _reduce_id(self, identity: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
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
        yield from self._bad_id(identity, len(keys), len(scores))

    def _bad_id(self, identity: bytes, keys: int, scores: int) -> Iterator[bytes]:
        kind, count = (SCORE, scores) if scores > 1 or not keys else (KEY, keys)
        yield from self.bad_group(
            identity,
            [kind] * min(count, 2) or [INLINKS],
            found=f"id {identity[1:].decode()}: {keys} keys in map and {scores} lines in ranks",
            expected="one of each",
            cure="Join ranks with the map of the same assign-ids run.",
        )

    # key: a spelling to each key

    def _map_key(self, line: bytes) -> Iterator[Pair]:
        key, _, rest = line.partition(b"\t")
        if rest[:1] == SCORE and rest.count(b"\t") == 3:
            yield key, rest
            return
        row = parse_uri_row(line)
        yield row.key, b"%s%d\t%d\t%s\t%s" % (
            SPELLING, row.captures, row.links, row.last, row.uri,
        )  # fmt: skip

    def _reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        best: tuple[int, int, bytes] | None = None
        captures, last, node = 0, UNKNOWN, b""
        for value in values:
            if value[:1] == SCORE:
                node = value[1:]
                continue
            seen, links, timestamp, uri = value[1:].split(b"\t")
            entry = (-int(seen), -int(links), uri)
            best = entry if best is None else min(best, entry)
            captures, last = captures + int(seen), max(last, timestamp)
        if not node:
            return  # a spelling of a key that has no id
        if best is None:
            yield from self._no_spelling(key, node.split(b"\t")[1])
            return
        score, identity, inlinks, outlinks = node.split(b"\t")
        fields = [score, best[2], key]
        if self.options.columns == "all":
            fields += [identity, inlinks, outlinks, b"%d" % captures, last]
        place = descending(float(score), self.options.digits) + key
        self._sample.add(place)
        yield place + b"\t" + b"\t".join(fields)

    def _no_spelling(self, key: bytes, identity: bytes) -> Iterator[bytes]:
        yield from self.bad_group(
            ascending_id(identity),
            [KEY + key],
            found=f"key {key.decode()}: no spelling in uris",
            expected="at least one URI for every key of map",
            cure="Join with the uris of the same canonicalize run.",
        )

    # sort: rows in order

    def _map_sort(self, line: bytes) -> Iterator[Pair]:
        if not self._labels:
            self._points = [p.encode() for p in json.loads(Path(self.options.plan).read_text())]
            self._labels = labels(len(self._points) + 1, self.options.reducers or 1)
        place = line.partition(b"\t")[0]
        yield self._labels[range_of(place, self._points)], line

    def _reduce_sort(self, values: Iterator[bytes]) -> Iterator[bytes]:
        for value in values:
            self.counts["scores"] += 1
            yield value.partition(b"\t")[2]

    def reduce_end(self) -> Iterator[bytes]:
        if self.options.stage == "id":
            yield SUMS + b"\t" + to_json({"scores": self._sum})
        for place in self._sample.keys():  # noqa: SIM118 (not a dict)
            yield PLAN + b"\t" + place

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """Alone: ranks and map first, uris last on the command line."""
        return run(
            inputs[:-1],
            inputs[-1],
            output,
            launcher,
            digits=self.options.digits,
            columns=self.options.columns,
        )


def run(
    ranks_and_map: Sequence[Place],
    uris: Place,
    output: Place,
    launcher: Launcher,
    *,
    digits: int = DIGITS,
    columns: str = "three",
) -> Outcome:
    """Join and sort; writes the folder `output`. The outcome's `sums` hold the sum of scores."""
    own = ["--digits", str(digits), "--columns", columns]
    if launcher.is_small([*ranks_and_map, uris], IN_MEMORY):
        from jobs.join_scores_whole import JoinScoresWhole

        inputs = [*ranks_and_map, uris]
        args = [*own, "--reducers", "1"]
        outcome = launch(JoinScoresWhole, inputs, output, launcher, args)
        _require_nodes(outcome, ranks_and_map)
        return outcome
    own += ["--reducers", str(launcher.ranges)]
    with launcher.workplace("join_scores") as tmp, launcher.scratch("plan") as near:
        return _run(ranks_and_map, uris, output, launcher, own, tmp, near / "plan.json")


def _run(
    ranks_and_map: Sequence[Place],
    uris: Place,
    output: Place,
    launcher: Launcher,
    own: list[str],
    tmp: Place,
    plan: Path,
) -> Outcome:
    keyed, spelled = join(tmp, "keyed"), join(tmp, "spelled")
    args = [*own, "--stage", "id"]
    summed = launch(JoinScores, ranks_and_map, keyed, launcher, args)
    _require_nodes(summed, ranks_and_map)
    origin = (
        None if is_url(output) else Source(JoinScores, args, input_paths(JoinScores, ranks_and_map))
    )

    args, inputs = [*own, "--stage", "key"], [keyed, uris]
    sampled = launch(JoinScores, inputs, spelled, launcher, args, origin=origin)
    points = split_points((n.value for n in sampled.notes.get("plan", ())), launcher.ranges)
    plan.write_text(json.dumps([point.decode() for point in points]))

    args = [*own, "--stage", "sort", "--plan", str(plan)]
    outcome = launch(JoinScores, [spelled], output, launcher, args)
    outcome.sums = summed.sums
    return outcome


def _require_nodes(outcome: Outcome, ranks_and_map: Sequence[Place]) -> None:
    if not outcome.rows["main"]:
        named = ", ".join(map(str, ranks_and_map))
        raise BadInput(named, "no nodes", "a line in ranks and one in map each")


if __name__ == "__main__":
    main(JoinScores)
