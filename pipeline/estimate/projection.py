"""From runs of samples to the run of all archives.

Two runs, of a part of the sample and of all of it, give for each step the seconds that it takes to
start and those for each row. Rows and bytes of datasets grow with the bytes of the archives.
Distinct URIs grow more slowly, because later pages repeat links of earlier ones: as a power of the
links, whose exponent is that between the two runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

from crawlrank.pipeline.data.memory import LOOPS, OWN, TEXT_BYTES
from crawlrank.pipeline.estimate.sample import SampleRun
from crawlrank.pipeline.steps import OF_ARCHIVES

EXTRACT = "extract-links"
#: steps whose seconds grow with distinct URIs, not with links
STEPS_OF_URIS = ("canonicalize", "assign-ids", "join-scores", "export-precedence")
#: datasets and files whose bytes grow with links, and with distinct URIs; `links` keeps each
#: distinct URI once and each link as numbers, so half of it grows with either
DISK_OF_LINKS = (
    "numbers", "graph", "canonical_links", "input_links", "selected", "captures", "anchors",
)  # fmt: skip
DISK_OF_URIS = ("uris", "map", "ranks", "scores", "scored", "hubs", "folds", "precedence.txt")
DISK_OF_BOTH = ("links",)
PER_ARCHIVE = OF_ARCHIVES  # with a file for each archive
FILE = 4096  # bytes of such a file without any row
USUAL_GROWTH, LEAST_GROWTH = 0.8, 0.3  # exponents: where none was measured, and the smallest
GROWTH = (-0.4, -0.2, 0.05)  # how far the exponent of all archives is from that of the sample
ERRORS = 2.0  # standard errors, up and down
LEAST_ERROR = 0.03  # of a number of rows
NOISE = 0.03  # seconds by which two runs of a step differ
OTHERS = 0.2  # of all seconds: what other programs of the machine make of it
NODE_BYTES = (250, 400, 700)  # of memory; scripts/bench/bench_scale.py, 1 to 55 million links
MEMORY = (0.9, 1.0, 1.15)  # of what the sample's run took

# assumed of clusters, of which nothing is measured; see docs/emr.md and docs/scaling.md
CORE_OF_A_VCPU = 0.6  # two are one core's threads
HADOOP = 2.0  # all that a job costs by what its Python costs: JVMs, pipes, sorting, copying
STEP = 1.5 / 60  # hours that a job takes without any data
OTHER_STEPS = 16  # jobs of a run that are no rounds
ROUNDS = 38  # packed ones, to a certified 1e-9: 25 to 1e-6 by docs/benchmarks.md, and half more
NODE = 16  # vCPUs of an m5.4xlarge
UNSURE = (0.5, 1.0, 2.0)  # of all of this


class Bracket(NamedTuple):
    """A value that is estimated, and what it lies between."""

    low: float
    value: float
    high: float

    def __mul__(self, other: object) -> Bracket:
        """Times a number, or times a factor for each of the three."""
        if isinstance(other, tuple):
            return Bracket(*(mine * its for mine, its in zip(self, other, strict=True)))
        if isinstance(other, (int, float)):
            return Bracket(self.low * other, self.value * other, self.high * other)
        return NotImplemented


def exactly(value: float) -> Bracket:
    return Bracket(value, value, value)


def summed(brackets: Sequence[Bracket]) -> Bracket:
    """The sum of amounts that are high together and low together."""
    return Bracket(*(sum(each) for each in zip(*brackets, strict=True))) if brackets else exactly(0)


@dataclass(frozen=True)
class RowTimes:
    """How many times as many links and distinct URIs all archives have as the sample has."""

    links: Bracket
    uris: Bracket

    @property
    def both(self) -> Bracket:
        pairs = zip(self.links, self.uris, strict=True)
        return Bracket(*(sqrt(links * uris) for links, uris in pairs))


def row_times(share: float, error: float, few: SampleRun, ran: SampleRun) -> RowTimes:
    """share: of all bytes that is in the sample. error: see `standard_error`. few, ran: the runs of
    a part of the sample and of all of it."""
    if share >= 1:
        return RowTimes(exactly(1.0), exactly(1.0))
    apart = min(0.8, max(LEAST_ERROR, ERRORS * error))
    links = Bracket(max(1.0, (1 - apart) / share), 1 / share, (1 + apart) / share)
    exponent = growth(few, ran)
    exponents = (min(1.0, max(LEAST_GROWTH, exponent + more)) for more in GROWTH)
    return RowTimes(links, Bracket(*(t**b for t, b in zip(links, exponents, strict=True))))


def growth(few: SampleRun, ran: SampleRun) -> float:
    """The exponent with which distinct URIs grow as links do, between two runs."""
    links = ran.rows.get("links", 0) / max(1, few.rows.get("links", 0))
    uris = ran.rows.get("uris", 0) / max(1, few.rows.get("uris", 0))
    if not few.rows.get("uris") or links < 1.1 or uris < 1:
        return USUAL_GROWTH
    return max(LEAST_GROWTH, min(1.0, log(uris) / log(links)))


def standard_error(rows: Sequence[int], lengths: Sequence[int], share: float) -> float:
    """The standard error of the number of rows a byte, as a part of that number. rows, lengths: of
    each piece."""
    count, total, length = len(rows), sum(rows), sum(lengths)
    if count < 2 or not total:
        return 0.5
    apart = sum((n - total / length * own) ** 2 for n, own in zip(rows, lengths, strict=True))
    return sqrt(count / (count - 1) * apart * max(0.0, 1 - share)) / total


def seconds_of_steps(
    few: SampleRun, ran: SampleRun, times: RowTimes
) -> tuple[dict[str, Bracket], dict[str, Bracket]]:
    """Seconds of each step on all archives; and the part of them that grows with rows."""
    seconds, working = dict[str, Bracket](), dict[str, Bracket]()
    for name, took in ran.steps.items():
        of_uris = name in STEPS_OF_URIS
        rows = "uris" if of_uris else "links"
        here, part = ran.rows.get(rows, 0), few.rows.get(rows, 0)
        fixed, growing = divided(took, here, few.steps.get(name, 0.0), part)
        noise = NOISE if part else 0.0
        sure = Bracket(max(0.0, growing - noise), growing, growing + noise)
        working[name] = sure * (times.uris if of_uris else times.links)
        seconds[name] = Bracket(*(fixed + each for each in working[name]))
    return seconds, working


def divided(took: float, rows: int, part_took: float, part_rows: int) -> tuple[float, float]:
    """Seconds that a step takes to start, and those that its rows take, of a run and one of a part
    of its rows. All of it grows where the part has no rows."""
    if not 0 < part_rows < rows:
        return (took, 0.0) if part_rows >= rows else (0.0, took)
    rate = max(0.0, (took - part_took) / (rows - part_rows))
    fixed = min(took, part_took) if not rate else max(0.0, took - rate * rows)
    return fixed, rate * rows


def total_of(seconds: Mapping[str, Bracket]) -> Bracket:
    """Single steps err up and down; other programs slow them all."""
    value = sum(step.value for step in seconds.values())
    below = sqrt(sum((step.value - step.low) ** 2 for step in seconds.values()))
    above = sqrt(sum((step.high - step.value) ** 2 for step in seconds.values()))
    low = max(value / 2, (1 - OTHERS) * value - below)
    return Bracket(low, value, (1 + OTHERS) * value + above)


def disk(
    ran: SampleRun, times: RowTimes, archives: int, *, validated: bool
) -> tuple[Bracket, Bracket]:
    """Bytes of the work folder at the end, and at the most. archives: how many there are."""
    grows = {
        **dict.fromkeys(DISK_OF_LINKS, times.links),
        **dict.fromkeys(DISK_OF_URIS, times.uris),
        **dict.fromkeys(DISK_OF_BOTH, times.both),
    }
    sizes = {}
    for name, size in ran.disk.items():
        files = min(size, FILE * len(ran.archives)) if name in PER_ARCHIVE else 0
        fixed = files * archives / max(1, len(ran.archives))
        growing = grows.get(name, exactly(1.0)) * (size - files)
        sizes[name] = summed([growing, exactly(fixed)])
    end = summed(list(sizes.values()))
    beside = times.links * max(0, ran.most - ran.end)
    if validated and "graph" in sizes:  # turned around, as OPIC reads it
        beside = Bracket(*map(max, zip(beside, sizes["graph"], strict=True)))
    return end, summed([end, beside])


def embedded_memory(ran: SampleRun, times: RowTimes, limit: int) -> Bracket:
    """Bytes of all processes of the embedded runner at the most: of the sample's run, or by nodes,
    if that is more. It keeps to the limit."""
    nodes = times.uris * ran.rows.get("graph", 0) * NODE_BYTES
    needed = (min(limit, OWN + LOOPS + each) for each in nodes)
    least = exactly(ran.memory) * MEMORY
    return Bracket(*(max(own, more) for own, more in zip(least, needed, strict=True)))


def jobs_memory(ran: SampleRun, rows: Mapping[str, Bracket], *, validated: bool) -> Bracket:
    """Bytes of the machine that starts jobs, most of them for validation by OPIC."""
    opic = [rows["links"] * TEXT_BYTES[0], rows["map"] * TEXT_BYTES[1]] if validated else []
    return summed([exactly(ran.memory) * MEMORY, *opic])


def rows_of(ran: SampleRun, times: RowTimes) -> dict[str, Bracket]:
    """How many rows there will be of the datasets that users count by. map: pages with an id."""
    grows = {"captures": times.links, "links": times.links, "uris": times.uris, "map": times.uris}
    return {name: by * ran.rows.get(name, 0) for name, by in grows.items()}


class ClusterNeeds(NamedTuple):
    """node_hours: of nodes of 16 vCPUs, while jobs work. jobs, starting: how many there are, and
    the hours on the clock that they take to start, however many nodes."""

    node_hours: Bracket
    jobs: int
    starting: float


def cluster_needs(
    core_seconds: Bracket, iterations: int | None, *, together: bool = False
) -> ClusterNeeds:
    """core_seconds: of Python, on this machine. iterations: plain rounds, if they are counted.
    together: whether all jobs start once."""
    jobs = OTHER_STEPS + (iterations or ROUNDS)
    hours = core_seconds * (HADOOP / 3600 / (NODE * CORE_OF_A_VCPU)) * UNSURE
    return ClusterNeeds(hours, jobs, STEP if together else jobs * STEP)
