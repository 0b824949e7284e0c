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
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Note, Outcome
from crawlrank.jobs.mapreduce.planned_jobs import write_points
from crawlrank.jobs.stages.assign_ids.nodes import NodesJob
from crawlrank.jobs.stages.assign_ids.offset import AssignIdsOffset
from crawlrank.jobs.stages.assign_ids.rank import AssignIdsRank
from crawlrank.jobs.stages.assign_ids.sample import AssignIdsSample
from crawlrank.jobs.stages.assign_ids.whole import AssignIdsWhole


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
    args, side = ["--nodes", nodes], {"map": map_output}
    if launcher.is_small(inputs):
        return launch(AssignIdsWhole, inputs, output, launcher, [*args, "--reducers", "1"], side)
    args += ["--reducers", str(launcher.ranges)]
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
    main(AssignIds)
