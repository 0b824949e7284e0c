"""From runs of the sample to the run of all archives.

Seconds of a step: what it takes with nothing to do, and a rate for each row of what it goes
through. Two runs give both: that of the sample, and one with many more rows. Bytes of a dataset:
those of the sample, times as many rows. Which rows those are is in the tables here; how many there
will be is in the sample (growth.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log, sqrt

from crawlrank.pipeline.data.memory import LOOPS, OWN
from crawlrank.pipeline.estimate.growth import Bracket, exactly, summed
from crawlrank.pipeline.estimate.sample_run import SampleRun
from crawlrank.pipeline.ranking.stop import Stop
from crawlrank.pipeline.steps import RANK

LINKS, CAPTURES, URIS, NOTHING = "links", "captures", "uris", "nothing"
MIXED = "links and uris"  # strings of links are in dictionaries: half grows with either

EXTRACT = "extract-links"
#: dataset or file of a work folder -> the rows that its bytes grow with
GROWS_WITH: Mapping[str, str] = {
    "links": MIXED,
    **dict.fromkeys(("numbers", "graph", "canonical_links", "input_links", "selected"), LINKS),
    "captures": CAPTURES,
    **dict.fromkeys(("uris", "map", "ranks", "scores", "scored", "hubs", "folds"), URIS),
    "precedence.txt": URIS,
}
#: step -> the rows that it goes through
GOES_THROUGH: Mapping[str, str] = {
    EXTRACT: LINKS,
    "select-links": LINKS,
    "canonicalize": URIS,
    "assign-ids": URIS,
    "gen-graph": LINKS,
    RANK: LINKS,
    "join-scores": URIS,
    "export-precedence": URIS,
    "validate-opic": LINKS,
}
USUAL_ROUNDS = 27, 1e-9  # of crawls that are complete, to this tolerance; samples take fewer
NOISE = 0.03  # seconds by which two runs of a step differ
OTHERS = 0.15  # of all seconds: what other programs of the machine make of it
NODE_BYTES = Bracket(
    250, 400, 700
)  # of memory; scripts/bench/bench_scale.py, 1 to 55 million links
MEMORY = Bracket(0.9, 1.0, 1.15)  # of what the sample's run took


@dataclass(frozen=True)
class RowTimes:
    """How many times as many rows as the sample has."""

    links: Bracket
    captures: Bracket
    uris: Bracket

    def times(self, rows: str) -> Bracket:
        if rows == NOTHING:
            return exactly(1.0)
        if rows == MIXED:
            pairs = zip(self.links, self.uris, strict=True)
            return Bracket(*(sqrt(links * uris) for links, uris in pairs))
        return {LINKS: self.links, CAPTURES: self.captures, URIS: self.uris}[rows]


@dataclass(frozen=True)
class Steps:
    """seconds: of each step, and of what is outside of all. working: those that rows take, without
    what a step takes to start."""

    seconds: dict[str, Bracket]
    working: dict[str, Bracket] = field(default_factory=dict)

    @property
    def total(self) -> Bracket:
        """Single steps err up and down, other programs slow them all."""
        value = sum(step.value for step in self.seconds.values())
        below = sqrt(sum((step.value - step.low) ** 2 for step in self.seconds.values()))
        above = sqrt(sum((step.high - step.value) ** 2 for step in self.seconds.values()))
        low = max(value / 2, (1 - OTHERS) * value - below)
        return Bracket(low, value, (1 + OTHERS) * value + above)


def seconds_of_steps(sample: SampleRun, more: SampleRun, counts: RowTimes, stop: Stop) -> Steps:
    """Of all steps but extract-links. more: a run with more rows, or the same run."""
    steps = Steps({})
    for name, took in sample.steps.items():
        if name == EXTRACT:
            continue
        rows = GOES_THROUGH[name]
        here, there = sample.rows.get(rows, 0), more.rows.get(rows, 0)
        rate = noise = 0.0
        if there > here:
            rate = max(0.0, more.steps[name] - took) / (there - here)
            noise = NOISE / (there - here)
            took = min(took, more.steps[name])  # the first run may have compiled something
        rounds = _rounds(more.rounds, stop) if name == RANK else exactly(1.0)
        each = Bracket(max(0.0, rate - noise), rate, rate + noise) * rounds
        steps.working[name] = counts.times(rows) * here * each
        fixed = max(0.0, took - rate * here)
        steps.seconds[name] = Bracket(*(fixed + working for working in steps.working[name]))
    return steps


def _rounds(measured: int, stop: Stop) -> Bracket:
    """How many times as many rounds as in the sample. Jobs do all of them in one where a graph is
    small, so that nothing is known of theirs."""
    if stop.iterations is not None or measured <= 1:
        return Bracket(1.0, 1.0, 1.0 if stop.iterations is not None else 2.0)
    usual, tolerance = USUAL_ROUNDS
    rounds = usual * log(stop.tolerance) / log(tolerance) if 0 < stop.tolerance < 1 else usual
    times = max(1.0, min(rounds, stop.max_rounds) / measured)
    return Bracket(1.0, times, 2 * times)


def disk(sample: SampleRun, counts: RowTimes, *, validated: bool) -> tuple[Bracket, Bracket]:
    """Bytes of the work folder at the end, and at the most."""
    sizes = {
        name: counts.times(GROWS_WITH.get(name, NOTHING)) * size
        for name, size in sample.disk.items()
    }
    end = summed(list(sizes.values()))
    beside = counts.links * max(0, sample.most - sample.end)
    if validated and "graph" in sizes:  # turned around, as OPIC reads it
        beside = Bracket(*map(max, zip(beside, sizes["graph"], strict=True)))
    return end, summed([end, beside])


def memory(sample: SampleRun, counts: RowTimes, limit: int) -> Bracket:
    """Bytes of all processes of the embedded runner at the most: while it extracts, as in the
    sample's run; or by nodes, behind that. It keeps to the limit."""
    least = MEMORY * sample.memory
    nodes = counts.uris * sample.rows.get("graph", 0) * NODE_BYTES
    needed = (OWN + LOOPS + each for each in nodes)
    return Bracket(*(max(own, min(limit, more)) for own, more in zip(least, needed, strict=True)))


def rows_of(sample: SampleRun, counts: RowTimes) -> dict[str, Bracket]:
    """How many rows there will be of the datasets that users count by. map: pages with an id."""
    grows = {"captures": CAPTURES, "links": LINKS, "uris": URIS, "map": URIS}
    return {name: counts.times(by) * sample.rows.get(name, 0) for name, by in grows.items()}
