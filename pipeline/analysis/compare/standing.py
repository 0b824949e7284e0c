"""The position and the class of one page, from counts instead of a sort.

Rounding is monotone, so the scores that count as equal to a score are those between two doubles
(`tie_bounds`), and the position of a page is a count: of pages above it, and of equal ones with a
smaller key. Its class follows from the same counts over the captured pages, by the equation of
pipeline/ranking/classes.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from crawlrank.jobs.kernel.formats.order import rounded
from crawlrank.pipeline.ranking.classes import class_of
from crawlrank.pipeline.workfolder.results.finished import Finished

COUNTS = """
    SELECT count(*), fsum(score), count(*) FILTER (score >= $low AND score <= $high),
           count(*) FILTER (before), count(*) FILTER (over), count(*) FILTER (over AND before),
           count(*) FILTER (over AND score > $high), count(*) FILTER (over AND score >= $low)
    FROM (SELECT score, captured OR $all AS over, score > $high OR (score >= $low AND (
"""
BY_KEY = COUNTS + "ord < $ord)) AS before FROM {ranked})"
BY_LINKS = (
    COUNTS
    + """
          r.links > n.links OR (r.links = n.links AND (r.captures > n.captures
          OR (r.captures = n.captures AND ord < $ord))))) AS before
          FROM (SELECT * FROM {ranked} JOIN {weighed} USING (ord)) r,
          (SELECT links, captures FROM {weighed} WHERE ord = $ord) n)
"""
)


@dataclass(frozen=True)
class Standing:
    """position: from 1, of `nodes`. equal: nodes with its score, itself included; the key orders
    them, with --ties links after links and captures. probability: to 12 digits; further ones depend
    on the order of a sum. cut_over: how many nodes the classes are cut over."""

    nodes: int
    position: int
    equal: int
    probability: float
    precedence: int
    bins: int
    cut_over: int


def standing_of(finished: Finished, score: float, order: int | str) -> Standing:
    """order: what orders the node among equal ones: its id or, in text datasets, its key."""
    low, high = tie_bounds(score, finished.digits)
    parameters, values = finished.parameters, {"low": low, "high": high, "ord": order}
    query = BY_LINKS if parameters["--ties"] == "links" else BY_KEY
    row = finished.rows(query, **values, all=parameters["--classes-over"] == "all")[0]
    if not row[4]:  # nothing was captured
        row = finished.rows(query, **values, all=True)[0]
    nodes, total, equal, before, over, over_before, above, at_least = row
    bins = int(parameters["--bins"])
    if parameters["--ties"] != "together":
        precedence = int(class_of(over_before, over, bins))
    else:
        precedence = int(class_of(above + max(at_least - 1, above), 2 * over, bins))
    probability = float(f"{score / total:.12g}")
    return Standing(nodes, before + 1, equal, probability, precedence, bins, over)


def tie_bounds(score: float, digits: int) -> tuple[float, float]:
    """The least and the greatest double that round to the same `digits` significant digits."""
    if not score:
        return 0.0, 0.0
    value = rounded(score, digits)
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)

    def last(outside: float) -> float:
        """The double nearest to `outside` that still counts as equal."""
        inside = score
        while (middle := (inside + outside) / 2) not in (inside, outside):
            if rounded(middle, digits) == value:
                inside = middle
            else:
                outside = middle
        return inside

    return last(value - 2 * unit), last(value + 2 * unit)
