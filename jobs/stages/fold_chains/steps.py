"""What the stages of fold_chains share: the one step of a key, and a chain's end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from jobs.kernel.captures.choosing import folded
from jobs.kernel.formats.lines import Fold, format_fold

Step = tuple[bytes, bytes]  # kind, target


def only_step(key: bytes, rows: Iterable[Sequence[bytes]], counts: Counter[str]) -> Step | None:
    """Of a key's candidates (kind, target). None where the key stays; a key that stays because it
    has several targets is counted."""
    steps = list(folded(key, ((kind, target) for kind, target in rows)))
    if len(steps) == 1:
        return steps[0]
    if steps:
        counts["unfolded.ambiguous"] += 1
    return None


def ended(fold: Fold, counts: Counter[str]) -> bytes:
    """The line of a key whose chain came to an end."""
    counts[f"folds.{fold.kind.decode()}"] += 1
    return format_fold(fold)
