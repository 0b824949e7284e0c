"""Links and captures that are left out: counted by reason, the first URIs kept as examples."""

from __future__ import annotations

from collections import Counter

MAX_EXAMPLES, LONGEST_EXAMPLE = 5, 200  # for each reason; characters
Examples = dict[str, list[str]]  # URIs and references as written in the archive, by reason


def count_dropped(reason: str, uri: str, counters: Counter[str], examples: Examples) -> None:
    counters[f"dropped.{reason}"] += 1
    known = examples.setdefault(reason, [])
    if len(known) < MAX_EXAMPLES:
        known.append(uri[:LONGEST_EXAMPLE])
