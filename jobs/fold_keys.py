"""fold_keys: in canonical links and uris, keys that fold become the keys that they fold into.

Reads canonical links, uris and folds (`key<TAB>target_key<TAB>kind<TAB>hops`). Writes canonical
links and uris as jobs/canonicalize.py does, distinct and sorted again.

  source  links are joined with the folds of their sources. Shuffle: one line a link and a fold.
  target  links and uris are joined with the folds of their targets and keys. Shuffle: one line a
          link, a fold and a URI.
  merge   links and URIs of the same key become one. Shuffle: one line a link and a URI.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.stages.fold_keys.merge import FoldKeysMerge
from crawlrank.jobs.stages.fold_keys.source import FoldKeysSource
from crawlrank.jobs.stages.fold_keys.target import FoldKeysTarget


class FoldKeys(Job):
    DATASET = FoldKeysMerge.DATASET

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """inputs: canonical links, uris and folds."""
        if len(inputs) != 3:
            raise BadInput("the inputs", f"{len(inputs)} of them", "canonical links, uris, folds")
        links, uris, folds = map(Path, inputs)
        return run(links, uris, [folds], output, output / "_uris", launcher)


def run(
    canonical_links: PathOrUrl, uris: PathOrUrl, folds: Sequence[PathOrUrl],
    output: PathOrUrl, uris_output: PathOrUrl, launcher: Launcher,
) -> Outcome:  # fmt: skip
    """Writes the folders `output` and `uris_output`."""
    with launcher.workplace("fold_keys") as tmp:
        sources, targets = join(tmp, "sources"), join(tmp, "targets")
        launch(FoldKeysSource, [canonical_links, *folds], sources, launcher)
        launch(FoldKeysTarget, [sources, uris, *folds], targets, launcher)
        return launch(FoldKeysMerge, [targets], output, launcher, side={"uris": uris_output})


if __name__ == "__main__":
    main(FoldKeys)
