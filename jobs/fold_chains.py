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

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from jobs.kernel.captures.choosing import folded
from jobs.kernel.formats.lines import Fold, format_fold
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Job, Pair
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome

IN_MEMORY = 1 << 25  # bytes of folds or their candidates, of which a task holds some 300,000
WHOLE = b"0"  # the key of all candidates
OPEN, DONE = b"open", b"done"
ANSWER, QUESTION = b"0", b"1"  # of a key, its own target comes before the keys that ask for it


class FoldChains(Job):
    DATASET = "folds"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--stage", choices=("edges", "jump", "end", "whole"), default="edges",
            help="set by run()",
        )  # fmt: skip

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._steps: dict[bytes, tuple[bytes, bytes]] = {}  # of a key: where to, by which kind

    def map_line(self, line: bytes) -> Iterator[Pair]:
        key, _, rest = line.partition(b"\t")
        if self.options.stage == "whole":
            yield WHOLE, line
            return
        if self.options.stage != "jump":
            yield key, rest
            return
        target, _, told = rest.partition(b"\t")
        yield key, b"%s\t%s" % (ANSWER, rest)
        if told.endswith(OPEN):
            yield target, b"%s\t%s\t%s" % (QUESTION, key, told)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.split(b"\t") for value in values)
        if self.options.stage == "whole":
            for name, group in groupby(rows, itemgetter(0)):
                self._hold(name, (row[1:] for row in group))
        elif self.options.stage == "edges":
            yield from self._edge(key, rows)
        elif self.options.stage == "jump":
            yield from self._jump(key, rows)
        else:
            yield from self._end(key, rows)

    def _edge(self, key: bytes, rows: Iterator[list[bytes]]) -> Iterator[bytes]:
        found = list(folded(key, ((kind, target) for kind, target in rows)))
        if len(found) == 1:
            ((kind, target),) = found
            yield b"\t".join((key, target, kind, b"1", OPEN))
        elif found:
            self.counts["unfolded.ambiguous"] += 1

    def _jump(self, key: bytes, rows: Iterator[list[bytes]]) -> Iterator[bytes]:
        own: tuple[bytes, int, bytes] | None = None  # target, hops, state
        for order, *fields in rows:
            if order == ANSWER:
                target, kind, hops, state = fields
                own = (target, int(hops), state)
                if state == DONE:
                    yield b"\t".join((key, *fields))
                continue
            asking, kind, hops, _ = fields
            target, more, state = own or (key, 0, DONE)
            self.counts["ended"] += state == DONE
            yield b"\t".join((asking, target, kind, b"%d" % (int(hops) + more), state))

    def _end(self, key: bytes, rows: Iterator[list[bytes]]) -> Iterator[bytes]:
        for target, kind, hops, state in rows:
            if state == DONE:
                self.counts[f"folds.{kind.decode()}"] += 1
                yield format_fold(Fold(key, target, kind, int(hops)))
            else:
                self.counts["unfolded.loop"] += 1

    # whole: all in memory

    def _hold(self, key: bytes, rows: Iterator[list[bytes]]) -> None:
        for line in self._edge(key, rows):
            _, target, kind, *_ = line.split(b"\t")
            self._steps[key] = (target, kind)

    def reduce_end(self) -> Iterator[bytes]:
        ends: dict[bytes, tuple[bytes, int] | None] = {}  # where a chain ends, and steps to there
        for key in self._steps:
            self._follow(key, ends)
        for key, (_, kind) in self._steps.items():
            if end := ends[key]:
                self.counts[f"folds.{kind.decode()}"] += 1
                yield format_fold(Fold(key, end[0], kind, end[1]))
            else:
                self.counts["unfolded.loop"] += 1

    def _follow(self, key: bytes, ends: dict[bytes, tuple[bytes, int] | None]) -> None:
        """The end of this key's chain and of all that are on it; none of a loop."""
        passed: dict[bytes, None] = {}
        while key in self._steps and key not in ends and key not in passed:
            passed[key] = None
            key = self._steps[key][0]
        end = None if key in passed else ends.get(key, (key, 0))
        for before in reversed(passed):
            end = ends[before] = end and (end[0], end[1] + 1)

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        return run(inputs, output, launcher)


def run(candidates: Sequence[Place], output: Place, launcher: Launcher) -> Outcome:
    """Folds of the candidates, into the new folder `output`."""
    if launcher.is_small(candidates, IN_MEMORY):
        args = ["--stage", "whole", "--reducers", "1"]
        return launch(FoldChains, candidates, output, launcher, args)
    with launcher.workplace("fold_chains") as tmp:
        edges = join(tmp, "round-0")
        outcome = launch(FoldChains, candidates, edges, launcher, ["--stage", "edges"])
        counters = outcome.counters
        number, ended = 0, outcome.rows["main"]
        while ended:
            number += 1
            jumped = join(tmp, f"round-{number}")
            done = launch(FoldChains, [edges], jumped, launcher, ["--stage", "jump"])
            ended, edges = done.counters["ended"], jumped
        outcome = launch(FoldChains, [edges], output, launcher, ["--stage", "end"])
        outcome.counters += counters
    return outcome


if __name__ == "__main__":
    main(FoldChains)
