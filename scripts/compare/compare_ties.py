"""How many captured pages the key alone places, by what orders pages of equal score before it.

    python scripts/compare/compare_ties.py WORK…      finished work folders of the embedded engine

Rules: nothing; hops from the seed, the least of a page's captures (a capture without is a seed's,
a page without captures comes last); links and captures, as `--ties links` has them; both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

BINS = (5, 20)
NO_HOPS = 99
ROWS = """
    SELECT s.score AS score, u.links AS links, u.captures AS captures,
           coalesce(h.hops, CASE WHEN u.captures > 0 THEN 0 ELSE {last} END) AS hops
    FROM '{work}/scores/scores.parquet' s
    JOIN (SELECT key, sum(links)::BIGINT AS links, sum(captures)::BIGINT AS captures
          FROM '{work}/uris/uris.parquet' GROUP BY key) u USING (key)
    LEFT JOIN (SELECT key, min(length(c.hops)) AS hops FROM '{work}/captures/*.parquet' c
          JOIN '{work}/uris/uris.parquet' USING (uri) GROUP BY key) h USING (key)
    ORDER BY s.id
"""


def main() -> None:
    print(f"{'work folder':24}{'classes':>8}{'key':>8}{'hops':>8}{'links':>8}{'both':>8}")
    for work in map(Path, sys.argv[1:]):
        digits = json.loads((work / "precedence.summary.json").read_text())["digits"]
        rows = duckdb.execute(ROWS.format(work=work, last=NO_HOPS)).fetchnumpy()
        values = np.array([float(f"{score:.{digits - 1}e}") for score in rows["score"]])
        links = [-rows["links"], -rows["captures"]]
        rules: list[list[Any]] = [[], [rows["hops"]], links, [rows["hops"], *links]]
        for bins in BINS:
            parts = (by_key(values, rows["captures"] > 0, rule, bins) for rule in rules)
            print(f"{work.name:24}{bins:8}", *(f"{part:8.1%}" for part in parts), sep="")


def by_key(scores: Any, captured: Any, rule: Sequence[Any], bins: int) -> float:
    """Part of the captured nodes of which an equal one, by score and rule, has another class."""
    order = np.lexsort((np.arange(len(scores)), *reversed(rule), -scores))
    before = np.cumsum(captured[order]) - captured[order]
    classes = np.minimum(1 + bins * before // captured.sum(), bins).tolist()
    equal = list(zip(scores, *rule, strict=True))
    seen: dict[Any, set[int]] = {}
    for node, number in zip(order, classes, strict=True):
        seen.setdefault(equal[node], set()).add(number)
    placed = sum(len(seen[equal[node]]) > 1 for node in np.flatnonzero(captured))
    return float(placed / captured.sum())


if __name__ == "__main__":
    main()
