"""Counters of several archives together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from crawlrank.jobs.kernel.captures.counters import MAX_TYPES, TYPES

_OTHER = TYPES + "other"


def add_counters(total: Counter[str], counters: Mapping[str, int]) -> None:
    """Add those of one archive. Of media types, which are input, the MAX_TYPES that are most common
    so far keep their names, so that a million archives cannot fill a manifest either."""
    total.update(counters)
    names = [name for name in total if name.startswith(TYPES) and name != _OTHER]
    names.sort(key=lambda name: (-total[name], name))
    for name in names[MAX_TYPES:]:
        total[_OTHER] += total.pop(name)
