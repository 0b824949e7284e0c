"""fold_chains: the key that each key folds into in the end.

Reads fold candidates (`key<TAB>kind<TAB>target_key`, of jobs/select_links.py). Writes folds,
`key<TAB>target_key<TAB>kind<TAB>hops`, sorted by key within a part: the end of the chain that
begins with the key, the kind of its first step, and the number of steps. A key with several targets
stays (`unfolded.ambiguous`), as do members of a loop and keys that lead into it (`unfolded.loop`).
With `--circle-target` these fold into that, over no step (`folds.loop`).

  edges  one target for each key. Shuffle: one line a candidate.
  jump   every key takes its target's target, so that a round doubles the known length of a chain:
         a chain of n steps takes log2(n) + 1 rounds. With a chain come chains of all shorter
         lengths, so after a round in which no chain ended, the remaining keys are in loops or
         lead into them. Shuffle: two lines a key.
  end    the keys whose chains ended. Shuffle: one line a key.

At a URL, where a job takes long to start, few candidates take one job:

  whole  one reducer holds the target of each key and follows it. Shuffle: one line a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.stages.fold_chains.edges import FoldChainsEdges
from crawlrank.jobs.stages.fold_chains.end import FoldChainsEnd
from crawlrank.jobs.stages.fold_chains.jump import FoldChainsJump
from crawlrank.jobs.stages.fold_chains.whole import FoldChainsWhole

IN_MEMORY = 1 << 25  # bytes of folds or their candidates, of which a task holds some 300,000


class FoldChains(Job):
    DATASET = "folds"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        return run(inputs, output, launcher)


def run(
    candidates: Sequence[PathOrUrl],
    output: PathOrUrl,
    launcher: Launcher,
    circle_target: bytes | None = None,
) -> Outcome:
    """Write the folds of the candidates to the new folder `output`."""
    args = [f"--circle-target={circle_target.decode()}"] if circle_target else []
    if launcher.is_small(candidates, IN_MEMORY):
        return launch(FoldChainsWhole, candidates, output, launcher, [*args, "--reducers", "1"])
    with launcher.workplace("fold_chains") as tmp:
        edges = join(tmp, "round-0")
        outcome = launch(FoldChainsEdges, candidates, edges, launcher)
        counters = outcome.counters
        number, ended = 0, outcome.rows["main"]
        while ended:
            number += 1
            jumped = join(tmp, f"round-{number}")
            outcome = launch(FoldChainsJump, [edges], jumped, launcher)
            ended, edges = outcome.counters["ended"], jumped
        outcome = launch(FoldChainsEnd, [edges], output, launcher, args)
        outcome.counters += counters
    return outcome


if __name__ == "__main__":
    main(FoldChains)
