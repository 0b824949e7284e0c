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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from crawlrank.jobs.kernel.captures.choosing import CIRCLE, folded
from crawlrank.jobs.kernel.formats.lines import format_fold
from crawlrank.jobs.kernel.formats.rows import Fold
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.jobs.mapreduce.outcome import Outcome

OPEN, DONE = b"open", b"done"
ANSWER, QUESTION = b"0", b"1"  # of a key: its own target sorts before the keys that ask for it


class FoldChainsJump(Job):
    """Gives each key the target of its target, so that chains of twice the length end."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, target, rest = line.split(b"\t", 2)
        yield key, b"%s\t%s\t%s" % (ANSWER, target, rest)
        if rest.endswith(OPEN):
            yield target, b"%s\t%s\t%s" % (QUESTION, key, rest)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        end, more, state = key, 0, DONE  # unless the key has a line
        for order, named, kind, hops, named_state in (value.split(b"\t") for value in values):
            if order == ANSWER:
                end, more, state = named, int(hops), named_state
                if state == DONE:
                    yield b"\t".join((key, named, kind, hops, state))
                continue
            self.counts["ended"] += state == DONE
            yield b"\t".join((named, end, kind, b"%d" % (int(hops) + more), state))


FoldStep = tuple[bytes, bytes]  # kind, target


def only_step(key: bytes, rows: Iterable[Sequence[bytes]], counts: Counter[str]) -> FoldStep | None:
    """The only one of a key's candidates (kind, target); None where there are several or none.
    Keys with several targets are counted."""
    steps = list(folded(key, ((kind, target) for kind, target in rows)))
    if len(steps) == 1:
        return steps[0]
    if steps:
        counts["unfolded.ambiguous"] += 1
    return None


class CirclesJob(Job):
    """A stage that knows what becomes of keys in loops, or before one."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--circle-target", help="what members of a loop fold into")

    def circle(self, key: bytes) -> Iterator[bytes]:
        """The line of a key that is in a loop or leads into one, if it has any."""
        if target := self.options.circle_target:
            yield fold_line(Fold(key, target.encode(), CIRCLE, 0), self.counts)
        else:
            self.counts["unfolded.loop"] += 1


def fold_line(fold: Fold, counts: Counter[str]) -> bytes:
    """The line of a key whose chain came to an end."""
    counts[f"folds.{fold.kind.decode()}"] += 1
    return format_fold(fold)


class FoldChainsEdges(Job):
    """Writes the target of each key that has only one."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, _, rest = line.partition(b"\t")
        yield key, rest

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if step := only_step(key, (value.split(b"\t") for value in values), self.counts):
            kind, target = step
            yield b"\t".join((key, target, kind, b"1", OPEN))


class FoldChainsEnd(CirclesJob):
    """Writes the folds of keys whose chains ended. The other keys are in loops, or lead there."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        key, _, rest = line.partition(b"\t")
        yield key, rest

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for target, kind, hops, state in (value.split(b"\t") for value in values):
            if state == DONE:
                yield fold_line(Fold(key, target, kind, int(hops)), self.counts)
            else:
                yield from self.circle(key)


WHOLE = b"0"  # the key of all candidates
End = tuple[bytes, int] | None  # of a chain: its last key and the steps to it; None of a loop


class FoldChainsWhole(CirclesJob):
    """All stages in one job, whose only reducer holds the target of each key."""

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._steps: dict[bytes, FoldStep] = {}

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield WHOLE, line

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.split(b"\t") for value in values)
        for name, group in groupby(rows, itemgetter(0)):
            if step := only_step(name, (row[1:] for row in group), self.counts):
                self._steps[name] = step
        yield from ()

    def reduce_end(self) -> Iterator[bytes]:
        ends: dict[bytes, End] = {}
        for key, (kind, _) in self._steps.items():
            follow(key, self._steps, ends)
            if end := ends[key]:
                yield fold_line(Fold(key, end[0], kind, end[1]), self.counts)
            else:
                yield from self.circle(key)


def follow(key: bytes, steps: Mapping[bytes, FoldStep], ends: dict[bytes, End]) -> None:
    """Put into `ends` the end of the chain of this key and of all keys on it."""
    passed: dict[bytes, None] = {}
    while key in steps and key not in ends and key not in passed:
        passed[key] = None
        _, key = steps[key]
    end = None if key in passed else ends.get(key, (key, 0))
    for before in reversed(passed):
        end = ends[before] = end and (end[0], end[1] + 1)


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
    from crawlrank.jobs.mapreduce.launch import launch  # tasks start sooner without it

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
    main(FoldChains, FoldChainsEdges, FoldChainsJump, FoldChainsEnd, FoldChainsWhole)
