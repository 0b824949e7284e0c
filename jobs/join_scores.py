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

At a URL, where a job takes long to start, one job does it where the nodes are few:

  whole    one reducer joins and sorts all. Shuffle: as id and key together.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.formats.ranges import split_points
from jobs.kernel.storage.opening import Place, is_url
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.bad_lines import Source
from jobs.mapreduce.launch import input_paths, launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from jobs.mapreduce.ranged_job import write_points
from jobs.stages.join_scores.id import JoinScoresId
from jobs.stages.join_scores.key import JoinScoresKey
from jobs.stages.join_scores.rows import RowsJob
from jobs.stages.join_scores.sort import JoinScoresSort
from jobs.stages.join_scores.whole import JoinScoresWhole

IN_MEMORY = 1 << 27  # bytes of ranks, map and uris that one task holds: some 500,000 nodes


class JoinScores(RowsJob):
    DATASET = "scores"

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
    inputs, own = [*ranks_and_map, uris], ["--digits", str(digits), "--columns", columns]
    if launcher.is_small(inputs, IN_MEMORY):
        outcome = launch(JoinScoresWhole, inputs, output, launcher, [*own, "--reducers", "1"])
        _require_nodes(outcome, ranks_and_map)
        return outcome
    with launcher.workplace("join_scores") as tmp, launcher.scratch("plan") as near:
        return _run(ranks_and_map, uris, output, launcher, own, tmp, near / "points.json")


def _run(
    ranks_and_map: Sequence[Place],
    uris: Place,
    output: Place,
    launcher: Launcher,
    own: list[str],
    tmp: Place,
    points: Path,
) -> Outcome:
    keyed, spelled = join(tmp, "keyed"), join(tmp, "spelled")
    args = ["--reducers", str(launcher.ranges)]
    summed = launch(JoinScoresId, ranks_and_map, keyed, launcher, args)
    _require_nodes(summed, ranks_and_map)
    origin = None
    if not is_url(output):
        origin = Source(JoinScoresId, args, input_paths(JoinScoresId, ranks_and_map))
    sampled = launch(JoinScoresKey, [keyed, uris], spelled, launcher, [*args, *own], origin=origin)
    positions = (note.value for note in sampled.notes.get("plan", ()))
    write_points(points, split_points(positions, launcher.ranges))
    args = [*args, "--plan", str(points)]
    outcome = launch(JoinScoresSort, [spelled], output, launcher, args)
    outcome.sums = summed.sums
    return outcome


def _require_nodes(outcome: Outcome, ranks_and_map: Sequence[Place]) -> None:
    if not outcome.rows["main"]:
        named = ", ".join(map(str, ranks_and_map))
        raise BadInput(named, "no nodes", "a line in ranks and one in map each")


if __name__ == "__main__":
    main(JoinScores)
