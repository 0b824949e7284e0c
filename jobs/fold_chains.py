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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from jobs.base import Job, Pair
from jobs.kernel.choosing import folded
from jobs.kernel.lines import Fold, format_fold
from jobs.kernel.opening import Place
from jobs.launch import launch
from jobs.launcher import Launcher
from jobs.outcome import Outcome
from jobs.stores import join

OPEN, DONE = b"open", b"done"
ANSWER, QUESTION = b"0", b"1"  # of a key, its own target comes before the keys that ask for it


class FoldChains(Job):
    DATASET = "folds"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--stage", choices=("edges", "jump", "end"), default="edges", help="set by run()"
        )

    def map_line(self, line: bytes) -> Iterator[Pair]:
        key, _, rest = line.partition(b"\t")
        if self.options.stage != "jump":
            yield key, rest
            return
        target, _, told = rest.partition(b"\t")
        yield key, b"%s\t%s" % (ANSWER, rest)
        if told.endswith(OPEN):
            yield target, b"%s\t%s\t%s" % (QUESTION, key, told)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.split(b"\t") for value in values)
        if self.options.stage == "edges":
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

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        return run(inputs, output, launcher)


def run(candidates: Sequence[Place], output: Place, launcher: Launcher) -> Outcome:
    """Folds of the candidates, into the new folder `output`."""
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
    FoldChains.run()
