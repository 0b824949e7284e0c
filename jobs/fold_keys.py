"""fold_keys: canonical links and uris with the keys that others stand for replaced by those.

Reads canonical links, uris and folds (`key<TAB>target_key<TAB>kind<TAB>hops`). Writes canonical
links and uris as jobs/canonicalize.py does, distinct and sorted again.

  source  links meet the folds of their sources. Shuffle: one line a link and one a fold.
  target  links and uris meet the folds of their targets and keys. Shuffle: likewise, and one a URI.
  merge   what now has the same key is one. Shuffle: one line a link and one a URI.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Job
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from jobs.stages.fold_keys.merge import FoldKeysMerge
from jobs.stages.fold_keys.source import FoldKeysSource
from jobs.stages.fold_keys.target import FoldKeysTarget


class FoldKeys(Job):
    DATASET = FoldKeysMerge.DATASET

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """Alone: canonical links, uris and folds on the command line."""
        if len(inputs) != 3:
            raise BadInput("the inputs", f"{len(inputs)} of them", "canonical links, uris, folds")
        links, uris, folds = map(Path, inputs)
        return run(links, uris, [folds], output, output / "_uris", launcher)


def run(
    canonical_links: Place, uris: Place, folds: Sequence[Place], output: Place, uris_output: Place,
    launcher: Launcher,
) -> Outcome:  # fmt: skip
    """Writes the folders `output` and `uris_output`."""
    with launcher.workplace("fold_keys") as tmp:
        sources, targets = join(tmp, "sources"), join(tmp, "targets")
        launch(FoldKeysSource, [canonical_links, *folds], sources, launcher)
        launch(FoldKeysTarget, [sources, uris, *folds], targets, launcher)
        return launch(FoldKeysMerge, [targets], output, launcher, side={"uris": uris_output})


if __name__ == "__main__":
    main(FoldKeys)
