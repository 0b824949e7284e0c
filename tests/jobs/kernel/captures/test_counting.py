"""Counters of many archives: sums, and no more names of media types than one archive may have."""

from __future__ import annotations

from collections import Counter

from crawlrank.jobs.kernel.captures.counters import MAX_TYPES
from crawlrank.pipeline.workfolder.archives import add_counters


def test_sums_and_bounds() -> None:
    total: Counter[str] = Counter()
    for archive in range(50):
        counters = {f"captures.type.x/{archive}-{n}": 1 for n in range(90)}
        add_counters(total, {**counters, "captures.type.text/html": 5, "links": 7})
    types = {name: count for name, count in total.items() if name.startswith("captures.type.")}
    assert total["links"] == 350
    assert types["captures.type.text/html"] == 250
    assert sum(types.values()) == 50 * 95
    assert len(types) == MAX_TYPES + 1
