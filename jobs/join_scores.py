"""join_scores: ids back to URIs, best score first.

Reads ranks (graph lines), map rows (`id key`) and uris (5 columns). Writes
`score<TAB>URI<TAB>key`, best rounded score first, then by key. The URI is the spelling of the key
with the most captures, then the most links, then the first in byte order. `--columns all` adds id,
inlinks, outlinks, captures and last timestamp.

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

from collections.abc import Sequence
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.formats.ranges import split_points
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.bad_lines import MappedInputs
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.mapreduce.planned_jobs import write_points
from crawlrank.jobs.stages.join_scores.id import JoinScoresId
from crawlrank.jobs.stages.join_scores.key import JoinScoresKey
from crawlrank.jobs.stages.join_scores.rows import RowsJob
from crawlrank.jobs.stages.join_scores.sort import JoinScoresSort
from crawlrank.jobs.stages.join_scores.whole import JoinScoresWhole

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
    inputs, own = [*ranks_and_map, uris], ["--digits", str(digits), "--columns", columns]
    if launcher.is_small(inputs, IN_MEMORY):
        outcome = launch(JoinScoresWhole, inputs, output, launcher, [*own, "--reducers", "1"])
        _require_nodes(outcome, ranks_and_map)
        return outcome
    args = ["--reducers", str(launcher.ranges)]
    with launcher.workplace("join_scores") as tmp, launcher.scratch("plan") as plan:
        keyed, spelled, points = join(tmp, "keyed"), join(tmp, "spelled"), plan / "points.json"
        summed = launch(JoinScoresId, ranks_and_map, keyed, launcher, args)
        _require_nodes(summed, ranks_and_map)
        origin = MappedInputs(JoinScoresId, args, ranks_and_map)
        sampled = launch(
            JoinScoresKey, [keyed, uris], spelled, launcher, [*args, *own], origin=origin
        )
        positions = (note.value for note in sampled.notes.get("plan", ()))
        write_points(points, split_points(positions, launcher.ranges))
        args = [*args, "--plan", str(points)]
        outcome = launch(JoinScoresSort, [spelled], output, launcher, args)
    outcome.sums = summed.sums
    return outcome


def _require_nodes(outcome: Outcome, ranks_and_map: Sequence[PathOrUrl]) -> None:
    if not outcome.rows["main"]:
        where = ", ".join(map(str, ranks_and_map))
        raise BadInput(where, "no nodes", "a line in ranks and one in map each")


if __name__ == "__main__":
    main(JoinScores)
