"""select_links: of several captures of a page, whose links count, and which pages are one.

Reads links with timestamps (`target source hop timestamp`) and captures (14 columns), as
extract_links writes them with `--timestamps` and `--canonical`. Writes the selected links (`target
source hop`), with `--captures latest` only, and always the fold candidates of keys as the side
dataset `folds` (`key<TAB>kind<TAB>target_key`), which jobs/fold_chains.py makes a table of. What is
chosen, and why, is in jobs/kernel/captures/choosing.py.

Up to four small jobs; without `latest` the first is all:

  decide     captures and links of hops R and C meet at their key, which is decided. Shuffle: one
             line a capture and one such link. Memory: what is known of one key.
  id         revisits whose original has another digest or key meet captures at the id that they
             name.
  timestamp  then at URI and time. Shuffle of both: one line a capture; only where there are such.
  links      links meet what was decided at their source's key. Shuffle: every link, as its line.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from jobs.kernel.captures.choosing import Rules
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from jobs.stages.select_links.captures import CapturesJob
from jobs.stages.select_links.decide import SelectLinksDecide
from jobs.stages.select_links.id import SelectLinksId
from jobs.stages.select_links.links import SelectLinksLinks
from jobs.stages.select_links.timestamp import SelectLinksTimestamp


class SelectLinks(CapturesJob):
    DATASET = "selected"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """Alone: links first, captures last on the command line."""
        with launcher.scratch("candidates") as tmp:  # `output` is to be new when the last one runs
            candidates = tmp / "folds"
            outcome, _ = run(
                inputs[:-1], inputs[-1:], output, candidates, launcher, self.rules,
                keep_www=self.options.keep_www,
            )  # fmt: skip
            output.mkdir(exist_ok=True)
            shutil.move(candidates, output / "_folds")
        return outcome


Places = Sequence[Place]


def run(
    links: Places,
    captures: Places,
    output: Place,
    candidates: Place,
    launcher: Launcher,
    rules: Rules,
    *,
    keep_www: bool = False,
) -> tuple[Outcome, list[Place]]:
    """All stages. Writes the folder `output`, with `latest` only, and in `candidates` the folders
    of fold candidates that are returned."""
    args = ["--captures", "latest" if rules.latest else "union"]
    args += ["--redirects"] * rules.redirects + ["--canonical"] * rules.canonical
    args += ["--keep-www"] * keep_www
    with launcher.workplace("select_links") as tmp:
        stages = _Stages(launcher, args, tmp)
        found = [join(candidates, "decide")]
        stages.launch(SelectLinksDecide, [*links, *captures], {"folds": found[0]})
        if rules.latest:
            for stage in (SelectLinksId, SelectLinksTimestamp):
                if stages.has_lost_revisits():
                    stages.launch(stage, [*captures, *stages.outputs])
            found.append(join(candidates, "links"))
            inputs = [*links, *captures, *stages.outputs]
            stages.launch(SelectLinksLinks, inputs, {"folds": found[1]}, output)
    return stages.outcome, found


class _Stages:
    """Stages one after the other; what all of them told, but the rows, which are the last one's."""

    def __init__(self, launcher: Launcher, args: Sequence[str], tmp: Place) -> None:
        self._launcher, self._args, self._tmp = launcher, args, tmp
        self.outputs: list[Place] = []
        self.outcome = Outcome()

    def launch(
        self,
        stage: type[CapturesJob],
        inputs: Places,
        side: Mapping[str, Place] | None = None,
        output: Place | None = None,
    ) -> None:
        output = output or join(self._tmp, stage.__name__)
        done = launch(stage, inputs, output, self._launcher, self._args, side)
        done.counters += self.outcome.counters
        self.outcome, self.outputs = done, [*self.outputs, output]

    def has_lost_revisits(self) -> bool:
        counters = self.outcome.counters
        found = counters["revisits.original"] + counters["revisits.own-outlinks"]
        return found < counters["revisits"]


if __name__ == "__main__":
    main(SelectLinks)
