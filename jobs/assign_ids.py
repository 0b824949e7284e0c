"""assign_ids: gives keys their ids, which are their ranks in byte order over the whole data.

Reads canonical links (`target_key source_key`, any order) and, with `--nodes all`, also uris.
Writes input links, `id target_key source_key`, and the side dataset `map`, `id target_key`.
`--nodes linked` (the notes' rule): keys with at least one incoming link, a self-link included;
`--nodes all`: every captured or linked key.

Three small jobs, because a rank needs the counts of all ranges before it:

  sample   a uniform sample of the keys gives split points of equal ranges. Shuffle: at most
           SAMPLE_SIZE keys a map task.
  rank     one reducer gets each range, sorted by (label, canonical link); it numbers the keys
           from 0 and counts them. Shuffle: every link once, as long as its line.
  offset   adds to each number the keys of the ranges before it. No shuffle.

At a URL, where a job takes long to start, few links take one job:

  whole    one reducer numbers all keys. Shuffle: as rank.

A reducer gets the keys of a range in order, with the sources of each. A blank sorts before all
characters of keys, so values come by key, then by source.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from crawlrank.jobs.kernel.captures.choosing import NOTHING_LEFT
from crawlrank.jobs.kernel.formats.lines import parse_link_or_uri_row
from crawlrank.jobs.kernel.formats.order import KeySample, split_points
from crawlrank.jobs.kernel.formats.rows import CanonicalLink, UriRow
from crawlrank.jobs.kernel.formats.side_lines import MAP, PLAN, to_json
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue, PlannedJob, RangedJob, write_points

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.jobs.mapreduce.outcome import Note, Outcome


class NodesJob(Job):
    """A stage that knows which keys of a row become nodes."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--nodes", choices=("linked", "all"), default="linked")

    def node_keys(self, row: CanonicalLink | UriRow) -> tuple[bytes, ...]:
        """The keys that become nodes; of a link, the target first."""
        every = self.options.nodes == "all"
        if isinstance(row, UriRow):
            return (row.key,) if every else ()
        if not every or row.source_key in NOTHING_LEFT:  # what is gone is no page
            return (row.target_key,)
        return tuple(row)


class NumberingJob(NodesJob):
    """A stage whose reducer numbers keys."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._seen: set[bytes] = set()

    def label_of(self, key: bytes) -> bytes:
        raise NotImplementedError

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        row = parse_link_or_uri_row(line)
        keys = self.node_keys(row)
        if not isinstance(row, UriRow):
            yield self.label_of(row.target_key), b"%s %s" % (row.target_key, row.source_key)
            keys = keys[1:]
        for key in keys:
            if key not in self._seen:
                if len(self._seen) >= self.COMBINED:
                    self._seen.clear()
                self._seen.add(key)
                yield self.label_of(key), key


def numbered(values: Iterator[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """(number, key, source) of each distinct link, numbers from 0. A row without a source comes
    first for each key."""
    number, previous, previous_source = -1, b"", b""
    for value in values:
        key, _, source = value.partition(b" ")
        if key != previous:
            number, previous, previous_source = number + 1, key, b""
            yield number, key, b""
        if source != previous_source:
            previous_source = source
            yield number, key, source


def with_id(identity: int, key: bytes, source: bytes, counts: Counter[str]) -> bytes:
    """An input link; or, without a source, a side line of the map."""
    if source:
        counts["input_links"] += 1
        return b"%d %s %s" % (identity, key, source)
    counts["nodes"] += 1
    return MAP + b"\t%d %s" % (identity, key)


class AssignIdsSample(NodesJob):
    """Reports split points of equal ranges as notes, from a uniform sample of the keys."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._sample = KeySample()

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        for key in self.node_keys(parse_link_or_uri_row(line)):
            self._sample.add(key)
        yield from ()

    def map_end(self) -> Iterator[KeyValue]:
        for key in self._sample.keys():  # noqa: SIM118 (not a dict)
            yield b"sample", key

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for value in values:
            self._sample.add(value)
        for point in split_points(self._sample.keys(), self.options.reducers or 1):
            yield PLAN + b"\t" + point


class AssignIdsRank(RangedJob, NumberingJob):
    """Numbers the keys of each range from 0.

    Writes `label number key`, which becomes a map line, and `label number key source`. The number
    of keys of each range is a note.
    """

    def reduce_key(self, label: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        count = 0
        for number, key, source in numbered(values):
            count = number + 1
            row = b"%s\t%d\t%s" % (label, number, key)
            yield b"%s\t%s" % (row, source) if source else row
        yield PLAN + b"\t" + to_json([label.decode(), count])


class AssignIdsOffset(PlannedJob):
    """Makes ids: each number plus the keys of the ranges before its own. The plan has these by
    label."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        label, number, key, *source = line.split(b"\t")
        identity = int(number) + self.plan[label.decode()]
        row = with_id(identity, key, b"".join(source), self.counts)
        name, tab, rest = row.partition(b"\t")
        yield (name, rest) if tab else (b"", row)


class AssignIdsWhole(NumberingJob):
    """All stages in one job, whose only reducer numbers all keys."""

    def label_of(self, key: bytes) -> bytes:
        return b"0"

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for row in numbered(values):
            yield with_id(*row, self.counts)


class AssignIds(NodesJob):
    DATASET = "input_links"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        return run(inputs, output, output / "_map", launcher, nodes=self.options.nodes)


def run(
    inputs: Sequence[PathOrUrl],
    output: PathOrUrl,
    map_output: PathOrUrl,
    launcher: Launcher,
    *,
    nodes: str,
) -> Outcome:
    """Assign ids to the keys in `inputs` (canonical links; uris too for nodes="all").

    Writes the folders `output` (input links) and `map_output`; the outcome counts `nodes` and
    `input_links`.
    """
    from crawlrank.jobs.mapreduce.launch import launch  # tasks start sooner without it

    args, side = ["--nodes", nodes], {"map": map_output}
    if launcher.is_small(inputs):
        return launch(AssignIdsWhole, inputs, output, launcher, [*args, "--reducers", "1"], side)
    args += ["--reducers", str(launcher.reducers(inputs))]
    with launcher.workplace("assign_ids") as tmp, launcher.scratch("plan") as plan:
        points, offsets = plan / "points.json", plan / "offsets.json"
        outcome = launch(AssignIdsSample, inputs, join(tmp, "sample"), launcher, args)
        write_points(points, (note.value for note in _plan_of(outcome)))
        ranked, args = join(tmp, "ranked"), [*args, "--plan", str(points)]
        outcome = launch(AssignIdsRank, inputs, ranked, launcher, args)
        offsets.write_text(json.dumps(_offsets(_plan_of(outcome))))
        args = ["--plan", str(offsets)]
        return launch(AssignIdsOffset, [ranked], output, launcher, args, side)


def _plan_of(outcome: Outcome) -> list[Note]:
    return outcome.notes.get("plan", [])


def _offsets(notes: Sequence[Note]) -> dict[str, int]:
    """label of a range -> number of keys in the ranges before it"""
    counts = dict(sorted(json.loads(note.value) for note in notes))
    return dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))


if __name__ == "__main__":
    main(AssignIds, AssignIdsSample, AssignIdsRank, AssignIdsOffset, AssignIdsWhole)
