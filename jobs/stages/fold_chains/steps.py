"""What the stages of fold_chains share: the only step of a key, and the line of a fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from jobs.kernel.captures.choosing import folded
from jobs.kernel.formats.lines import format_fold
from jobs.kernel.formats.rows import Fold

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


def fold_line(fold: Fold, counts: Counter[str]) -> bytes:
    """The line of a key whose chain came to an end."""
    counts[f"folds.{fold.kind.decode()}"] += 1
    return format_fold(fold)
