"""Where one page stands: its position and its class, from counts instead of a sort.

Rounding is monotone, so the scores that count as equal to one are those between two doubles
(`tie_bounds`), and a page's position is a count of pages above and of equal ones with a smaller
key. Its class follows from the same counts over the captured pages by the equation of
pipeline/ranking/classes.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from jobs.kernel.formats.order import rounded
from pipeline.workfolder.results.finished import Finished

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
    """position: from 1, of `nodes`. equal: nodes that share its score, with itself; the key alone
    orders them, with ties by links behind links and captures. probability: to 12 digits; the order
    of a sum shows in those behind. cut_over: how many nodes the classes are cut over."""

    nodes: int
    position: int
    equal: int
    probability: float
    precedence: int
    bins: int
    cut_over: int


def standing_of(finished: Finished, score: float, order: int | str) -> Standing:
    """order: what orders the node among equal ones, its id or, in text, its key."""
    low, high = tie_bounds(score, finished.digits)
    asked, given = finished.parameters, {"low": low, "high": high, "ord": order}
    query = BY_LINKS if asked["--ties"] == "links" else BY_KEY
    row = finished.rows(query, **given, all=asked["--classes-over"] == "all")[0]
    if not row[4]:  # nothing was captured
        row = finished.rows(query, **given, all=True)[0]
    nodes, total, equal, before, over, over_before, above, at_least = row
    bins = int(asked["--bins"])
    if asked["--ties"] != "together":
        place = bins * over_before // over
    else:
        place = bins * (above + max(at_least - 1, above)) // (2 * over)
    precedence = min(1 + place, bins)
    return Standing(
        nodes, before + 1, equal, float(f"{score / total:.12g}"), precedence, bins, over
    )


def tie_bounds(score: float, digits: int) -> tuple[float, float]:
    """The least and the greatest double that round to the same `digits` significant digits."""
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
