"""assign_ids: every key that gets an id, its rank in byte order over the whole data.

Reads canonical links (`target_key source_key`, any order) and, with `--nodes all`, also uris.
Writes input links, `id target_key source_key`, and the side dataset `map`, `id target_key`.
`--nodes linked` (the notes' rule): keys with at least one incoming link, a self-link included;
`--nodes all`: every captured or linked key.

Three small jobs, because a rank needs the counts of all ranges before it:

  sample   a uniform sample of the keys gives split points of equal ranges. Shuffle: at most
           SAMPLE_SIZE keys a map task.
  rank     each range goes to one reducer, sorted by (label, canonical link), which numbers its
           keys from 0 and counts them. Shuffle: every link once, as long as its line.
  offset   adds to each number the keys of the ranges before it. No shuffle.

At a URL, where a job takes long to start, one job does it where the links are few:

  whole    one reducer numbers all keys. Shuffle: as rank.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jobs.kernel.formats.lines import (
    URI_ROW,
    CanonicalLink,
    UriRow,
    parse_canonical_link,
    parse_else,
    parse_uri_row,
)
from jobs.kernel.formats.ranges import Sample, labels, range_of, split_points
from jobs.kernel.formats.side_lines import MAP, PLAN, to_json
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Job, Pair
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome

WHOLE = b"0"  # the label of the only range
SEEN = 200_000  # keys of sources that a map task remembers, to send each but once


class AssignIds(Job):
    DATASET = "input_links"
    SIDE_DATASETS = ("map",)

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--nodes", choices=("linked", "all"), default="linked")
        self.add_passthru_arg(
            "--stage", choices=("sample", "rank", "offset", "whole"), default="sample",
            help="set by run()",
        )  # fmt: skip
        self.add_file_arg("--plan", help="what earlier stages found; set by run()")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._all = self.options.nodes == "all"
        self._sample = Sample()
        self._seen: set[bytes] = set()

    def _plan(self) -> dict[str, Any]:
        """Read when the first line needs it: in the driver the file has another path."""
        if not hasattr(self, "_plan_read"):
            self._plan_read = json.loads(Path(self.options.plan).read_text())
            self._points = [point.encode() for point in self._plan_read["points"]]
            self._labels = labels(len(self._points) + 1, self.options.reducers or 1)
        return self._plan_read  # type: ignore[no-any-return]

    def _has_reducer(self) -> bool:
        return bool(self.options.stage != "offset")

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if self.options.stage == "offset":
            yield from self._map_offset(line)
            return
        row: UriRow | CanonicalLink
        if line.count(b"\t") == 4:
            row = parse_uri_row(line)
        else:
            row = parse_else(parse_canonical_link, line, URI_ROW)
        if self.options.stage == "sample":
            for key in self._node_keys(row):
                self._sample.add(key)
        else:
            yield from self._map_rank(row)

    def _node_keys(self, row: Any) -> tuple[bytes, ...]:
        """The keys that this row makes nodes."""
        if isinstance(row, UriRow):
            return (row.key,) if self._all else ()
        return tuple(row) if self._all else (row.target_key,)

    def map_end(self) -> Iterator[Pair]:
        if self.options.stage == "sample":
            for key in self._sample.keys():  # noqa: SIM118 (not a dict)
                yield b"sample", key

    def _map_rank(self, row: Any) -> Iterator[Pair]:
        if not isinstance(row, UriRow):
            yield self._label(row.target_key), b"%s %s" % (row.target_key, row.source_key)
        for key in self._node_keys(row)[0 if isinstance(row, UriRow) else 1 :]:
            if key not in self._seen:
                if len(self._seen) >= SEEN:
                    self._seen.clear()
                self._seen.add(key)
                yield self._label(key), key

    def _label(self, key: bytes) -> bytes:
        if self.options.stage == "whole":
            return WHOLE
        self._plan()
        return self._labels[range_of(key, self._points)]

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if self.options.stage == "sample":
            for value in values:
                self._sample.add(value)
            points = split_points(self._sample.keys(), self.options.reducers or 1)
            yield PLAN + b"\t" + to_json([point.decode() for point in points])
        elif self.options.stage == "whole":
            for line in self._reduce_rank(key, values):
                if not line.startswith(PLAN):
                    yield self._with_id(*line.split(b"\t")[1:], before=0)
        else:
            yield from self._reduce_rank(key, values)

    def _reduce_rank(self, label: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        """`label number key`, which makes a map line, and `label number key source`.

        A blank sorts before what keys are made of: values come by key, then by source.
        """
        number, previous, previous_source = -1, b"", b""
        for value in values:
            key, _, source = value.partition(b" ")
            if key != previous:
                number, previous, previous_source = number + 1, key, b""
                yield b"%s\t%d\t%s" % (label, number, key)
            if source != previous_source:
                previous_source = source
                yield b"%s\t%d\t%s\t%s" % (label, number, key, source)
        yield PLAN + b"\t" + to_json([label.decode(), number + 1])

    def _map_offset(self, line: bytes) -> Iterator[Pair]:
        label, *fields = line.split(b"\t")
        row = self._with_id(*fields, before=self._plan()["offsets"][label.decode()])
        name, tab, rest = row.partition(b"\t")
        yield (name, rest) if tab else (b"", row)

    def _with_id(self, number: bytes, key: bytes, *source: bytes, before: int) -> bytes:
        """An input link, or a side line of the map; before: keys of the ranges before this one."""
        identity = int(number) + before
        if source:
            self.counts["input_links"] += 1
            return b"%d %s %s" % (identity, key, source[0])
        self.counts["nodes"] += 1
        return MAP + b"\t%d %s" % (identity, key)

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        return run(inputs, output, output / "_map", launcher, nodes=self.options.nodes)


def run(
    inputs: Sequence[Place], output: Place, map_output: Place, launcher: Launcher, *, nodes: str
) -> Outcome:
    """Assign ids to the keys in `inputs` (canonical links; uris too for nodes="all").

    Writes the folders `output` (input links) and `map_output`; the outcome counts `nodes` and
    `input_links`.
    """
    if launcher.is_small(inputs):
        args = ["--nodes", nodes, "--reducers", "1", "--stage", "whole"]
        return launch(AssignIds, inputs, output, launcher, args, {"map": map_output})
    own = ["--nodes", nodes, "--reducers", str(launcher.ranges)]
    with launcher.workplace("assign_ids") as tmp, launcher.scratch("plan") as near:
        return _run(inputs, output, map_output, launcher, own, tmp, near / "plan.json")


def _run(
    inputs: Sequence[Place],
    output: Place,
    map_output: Place,
    launcher: Launcher,
    own: list[str],
    tmp: Place,
    plan: Path,
) -> Outcome:
    sampled, ranked = join(tmp, "sample"), join(tmp, "ranked")
    outcome = launch(AssignIds, inputs, sampled, launcher, [*own, "--stage", "sample"])
    points = json.loads(outcome.notes["plan"][0].value) if "plan" in outcome.notes else []
    plan.write_text(json.dumps({"points": points}))

    planned = [*own, "--plan", str(plan)]
    outcome = launch(AssignIds, inputs, ranked, launcher, [*planned, "--stage", "rank"])
    counted = sorted(json.loads(note.value) for note in outcome.notes.get("plan", ()))
    offsets, nodes_before = {}, 0
    for label, count in counted:
        offsets[label] = nodes_before
        nodes_before += count
    plan.write_text(json.dumps({"points": points, "offsets": offsets}))

    args = [*planned, "--stage", "offset"]
    return launch(AssignIds, [ranked], output, launcher, args, {"map": map_output})


if __name__ == "__main__":
    main(AssignIds)
