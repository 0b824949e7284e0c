"""select_links: which captures' links count, and which pages fold into others.

Reads links with timestamps (`target source hop timestamp reference`) and captures (14 columns), as
extract_links writes them with `--timestamps` and `--canonical`. Writes the selected links (`target
source hop`), with `--captures latest` only, and always the fold candidates of keys as the side
dataset `folds` (`key<TAB>kind<TAB>target_key`), which jobs/fold_chains.py makes a table of. The
rules are in jobs/kernel/captures/choosing.py, kinds of references in
jobs/kernel/links/reference_kinds.py.

Up to six small jobs; without `latest` only the first:

  decide     captures and links of hops R and C meet at their key. Shuffle: a line for each of
             them. Memory: all that is known of one key.
  id         revisits whose original has another digest or key meet captures at the id that they
             name.
  timestamp  the rest of them, at URI and time. Shuffle of both: a line for each capture. Both run
             only if there are such revisits. They run once more for 304s that name nothing which is
             here, at what the revisits before these name.
  links      links meet the decisions at their source's key. Shuffle: every link, as its line.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.stages.select_links.captures import CapturesJob
from crawlrank.jobs.stages.select_links.decide import SelectLinksDecide
from crawlrank.jobs.stages.select_links.id import SelectLinksId
from crawlrank.jobs.stages.select_links.links import SelectLinksLinks
from crawlrank.jobs.stages.select_links.timestamp import SelectLinksTimestamp


class SelectLinks(CapturesJob):
    DATASET = "selected"

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """As a program: links first, captures last on the command line."""
        with launcher.scratch("candidates") as tmp:  # the last job needs a new `output`
            candidates = tmp / "folds"
            outcome, _ = run(
                inputs[:-1], inputs[-1:], output, candidates, launcher, self.rules,
                www=self.options.www,
            )  # fmt: skip
            output.mkdir(exist_ok=True)
            shutil.move(candidates, output / "_folds")
        return outcome


def run(
    links: Sequence[PathOrUrl],
    captures: Sequence[PathOrUrl],
    output: PathOrUrl,
    candidates: PathOrUrl,
    launcher: Launcher,
    rules: CaptureRules,
    *,
    www: Www = "strip",
) -> tuple[Outcome, list[PathOrUrl]]:
    """All stages. Writes the folder `output`, with `latest` only, and folders of fold candidates in
    `candidates`, which are returned."""
    args = ["--captures", "latest" if rules.latest else "union"]
    args += ["--redirects"] * rules.redirects + ["--canonical"] * rules.canonical
    args += ["--gone", rules.gone, "--www", www]
    with launcher.workplace("select_links") as tmp:
        stages = _Stages(launcher, args, tmp)
        folds = [join(candidates, "decide")]
        stages.launch(SelectLinksDecide, [*links, *captures], {"folds": folds[0]})
        if rules.latest:
            for before in (False, True):
                for stage in (SelectLinksId, SelectLinksTimestamp):
                    if stages.has_searches():
                        stages.launch(stage, [*captures, *stages.outputs], before=before)
            folds.append(join(candidates, "links"))
            inputs = [*links, *captures, *stages.outputs]
            stages.launch(SelectLinksLinks, inputs, {"folds": folds[1]}, output)
    return stages.outcome, folds


class _Stages:
    """Stages one after the other. outcome: counters of all of them, rows of the last one."""

    def __init__(self, launcher: Launcher, args: Sequence[str], tmp: PathOrUrl) -> None:
        self._launcher, self._args, self._tmp = launcher, args, tmp
        self.outputs: list[PathOrUrl] = []
        self.outcome = Outcome()

    def launch(
        self,
        stage: type[CapturesJob],
        inputs: Sequence[PathOrUrl],
        side: Mapping[str, PathOrUrl] | None = None,
        output: PathOrUrl | None = None,
        *,
        before: bool = False,
    ) -> None:
        output = output or join(self._tmp, stage.__name__ + "Before" * before)
        args = [*self._args, *["--before"] * before]
        outcome = launch(stage, inputs, output, self._launcher, args, side)
        outcome.counters += self.outcome.counters
        self.outcome, self.outputs = outcome, [*self.outputs, output]

    def has_searches(self) -> bool:
        counters = self.outcome.counters
        solved = counters["revisits.original"] + counters["revisits.own-outlinks"]
        return solved < counters["revisits"]


if __name__ == "__main__":
    main(SelectLinks)
