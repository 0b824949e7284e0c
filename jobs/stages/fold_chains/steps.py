"""What the stages of fold_chains share: the only step of a key, and the line of a fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from crawlrank.jobs.kernel.captures.choosing import CIRCLE, folded
from crawlrank.jobs.kernel.formats.lines import format_fold
from crawlrank.jobs.kernel.formats.rows import Fold
from crawlrank.jobs.mapreduce.job import Job

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
