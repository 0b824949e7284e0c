"""fold_chains: where each key that folds goes in the end.

Reads fold candidates (`key<TAB>kind<TAB>target_key`, of jobs/select_links.py). Writes folds,
`key<TAB>target_key<TAB>kind<TAB>hops`, sorted by key within a part: the end of the chain that
begins with the key, by which kind of step, and how many steps. A key with several targets stays
(`unfolded.ambiguous`); so do the members of a loop and whatever leads into it (`unfolded.loop`).

  edges  one target for each key. Shuffle: one line a candidate.
  jump   every key takes its target's target, so that a round doubles what is known of a chain: one
         of n steps takes log2(n) + 1 rounds. After a round in which no chain came to its end none
         is left, as chains of all shorter lengths come with each; what is left is in loops or
         leads there. Shuffle: two lines a key.
  end    the keys that came to an end. Shuffle: one line a key.

At a URL, where a job takes long to start, one job does it where the candidates are few:

  whole  one reducer holds the target of each key and follows it. Shuffle: one line a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Job
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from jobs.stages.fold_chains.edges import FoldChainsEdges
from jobs.stages.fold_chains.end import FoldChainsEnd
from jobs.stages.fold_chains.jump import FoldChainsJump
from jobs.stages.fold_chains.whole import FoldChainsWhole

IN_MEMORY = 1 << 25  # bytes of folds or their candidates, of which a task holds some 300,000


class FoldChains(Job):
    DATASET = "folds"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        return run(inputs, output, launcher)


def run(candidates: Sequence[Place], output: Place, launcher: Launcher) -> Outcome:
    """Folds of the candidates, into the new folder `output`."""
    if launcher.is_small(candidates, IN_MEMORY):
        return launch(FoldChainsWhole, candidates, output, launcher, ["--reducers", "1"])
    with launcher.workplace("fold_chains") as tmp:
        edges = join(tmp, "round-0")
        outcome = launch(FoldChainsEdges, candidates, edges, launcher)
        counters = outcome.counters
        number, ended = 0, outcome.rows["main"]
        while ended:
            number += 1
            jumped = join(tmp, f"round-{number}")
            done = launch(FoldChainsJump, [edges], jumped, launcher)
            ended, edges = done.counters["ended"], jumped
        outcome = launch(FoldChainsEnd, [edges], output, launcher)
        outcome.counters += counters
    return outcome


if __name__ == "__main__":
    main(FoldChains)
