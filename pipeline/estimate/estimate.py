"""What `crawlrank run` will take on archives: time, memory, disk, and hours of nodes.

    sample      pieces of the archives, 5 % of their bytes                 sample.py
    run         all steps of the run, with its options, on the sample      sample_run.py
    copies      the steps behind extraction, on several times as many rows copies.py
    reading     seconds a byte of extraction, by as many processes         reading.py
    projection  from the rows of the sample to those of all archives       projection.py

All of it is in a temporary folder. A sample that is all of the archives is the run itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crawlrank.jobs.kernel.archive.sources import WACZ
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.cores import at_a_time
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.launcher import CLUSTERS
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.estimate import projection
from crawlrank.pipeline.estimate.clusters import ClusterNeeds, cluster_needs, jobs_memory
from crawlrank.pipeline.estimate.growth import Bracket, exactly, summed
from crawlrank.pipeline.estimate.projection import RowTimes, Steps
from crawlrank.pipeline.estimate.reading import seconds_a_byte
from crawlrank.pipeline.estimate.sample import (
    USUAL,
    Sample,
    SampleSize,
    length_of,
    take_sample,
    write_archives,
)
from crawlrank.pipeline.estimate.sample_run import SampleRun, run_copies, run_sample
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter, consecutive
from crawlrank.pipeline.ranking.methods import PAGERANK
from crawlrank.pipeline.steps import EMBEDDED

START = "start"
MOST_COPIES = 64
EXTRACTION = Bracket(0.85, 1.0, 1.2)  # of the seconds of extraction


@dataclass(frozen=True)
class RunEstimate:
    """What the run takes. steps: seconds of the clock of each. disk_end, disk_most: bytes of the
    work folder, on a cluster of that and of the folder at --data. rows: of datasets. sampled: bytes
    of the archives that the estimate rests upon, of all `size` bytes. notes: what a reader should
    know of it."""

    runner: str
    archives: int
    size: int
    sampled: int
    seconds: Bracket
    steps: dict[str, Bracket]
    memory: Bracket
    disk_end: Bracket
    disk_most: Bracket
    rows: dict[str, Bracket]
    cluster: ClusterNeeds | None
    unreadable: dict[str, BadInput]
    notes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        return min(1.0, self.sampled / self.size) if self.size else 1.0


def estimate(
    archives: Sequence[PathOrUrl],
    options: RunOptions,
    reporter: Reporter | None = None,
    size: SampleSize = USUAL,
) -> RunEstimate:
    """size: of the sample. Raises BadInput where there is no archive, or none of the sample can be
    read."""
    if not archives:
        raise BadInput("the estimate", "no archive", "archives to take a sample of")
    reporter = reporter or Reporter()
    with (
        temporary_folder() as folder,
        consecutive(reporter) as begin,
    ):
        return _Estimating(archives, options, folder, begin, size).result()


class _Estimating:
    """options: of the run that is estimated. begin: a part of the estimate, by its name.
    size: of the sample. sample_options: of the run of the sample."""

    def __init__(
        self,
        archives: Sequence[PathOrUrl],
        options: RunOptions,
        tmp: Path,
        begin: Callable[[str], None],
        size: SampleSize,
    ) -> None:
        self.archives, self.options, self.tmp, self.begin = archives, options, tmp, begin
        self.size = size
        self.on_cluster = options.runner in CLUSTERS
        self.sample_options = replace(
            options, runner="inline" if self.on_cluster else options.runner, data=None, conf=None,
            strict=False, skip_bad_files=True, force=False,
            validation=replace(options.validation, min_agreement=0.0),
        )  # fmt: skip
        self.notes: list[str] = []
        self.memory = options.memory or half_of_machine()
        self.processes = at_a_time(options.processes)
        if options.runner == EMBEDDED:
            self.processes = self.memory.extracting(self.processes)
        elif self.sample_options.runner == "inline":
            self.processes = 1

    def result(self) -> RunEstimate:
        self.begin("sample")
        sample = take_sample(
            self.archives, self.tmp / "pieces", self.options.extraction, self.processes, self.size
        )
        paths = write_archives(sample.pieces, self.tmp / "archives", self.processes)
        self.begin("run of the sample")
        ran = self._run(paths)
        if sample.whole:
            again = run_sample(paths, self.tmp / "run-again", self.sample_options)
            return self._whole(sample, ran.least(again))
        self.begin("run of copies")
        more = self._more(sample, ran)
        self.begin("speed of extraction")
        return self._projected(sample, ran, more, self._extraction(sample, paths, ran))

    def _run(self, paths: Sequence[Path]) -> SampleRun:
        """Of the sample; by PageRank, where the method's own files name no page of it."""
        try:
            return run_sample(paths, self.tmp / "run", self.sample_options)
        except BadInput as error:
            if self.options.method == PAGERANK:  # its place is in a folder that is removed
                where = "the sample"
                raise BadInput(where, error.found, error.expected, error.cure) from error
            self.notes.append(
                f"--method {self.options.method} could not rank the sample ({error}); PageRank"
                " stands for it."
            )
            self.sample_options = replace(self.sample_options, method=PAGERANK, inputs={})
            return run_sample(paths, self.tmp / "run-by-pagerank", self.sample_options)

    @property
    def _work(self) -> Path:
        other = self.tmp / "run-by-pagerank"
        return other if other.exists() else self.tmp / "run"

    def _more(self, sample: Sample, ran: SampleRun) -> SampleRun:
        """A run of the sample's links several times over."""
        links = ran.rows.get("links", 0)
        copies = copies_of(links, sample.times().value, self.options.runner, self.size.copied)
        parts = min(copies, sample.archives)
        return run_copies(self._work, self.tmp / "copies", copies, parts, self.sample_options)

    def _extraction(
        self, sample: Sample, paths: Sequence[Path], ran: SampleRun
    ) -> tuple[float, Bracket]:
        """Seconds that extraction takes to start, and those that the bytes of a process take."""
        few = write_archives(sample.few, self.tmp / "few", self.processes)
        processes = min(self.processes, len(paths))
        rate = seconds_a_byte(few, paths, self.tmp / "reading", self.options.extraction, processes)
        rate *= sum(path.stat().st_size for path in paths) / sample.length  # for what they stand
        fixed = max(0.0, ran.steps[projection.EXTRACT] - rate * sample.length / processes)
        fetching = sum(piece.fetching for piece in sample.pieces) / length_of(sample.pieces)
        return fixed, EXTRACTION * ((rate + fetching) * self._busiest(sample))

    def _busiest(self, sample: Sample) -> float:
        """Bytes that the process extracts that has most to do; of a cluster, all of them."""
        cut = self.options.runner == EMBEDDED
        uncut = [size for path, size in sample.sizes if not cut or is_url(path) or _is_wacz(path)]
        even = sample.total / self.processes
        return max([even, *map(float, uncut)])

    def _whole(self, sample: Sample, ran: SampleRun) -> RunEstimate:
        once = exactly(1.0)
        seconds = {name: exactly(took) for name, took in ran.steps.items()}
        seconds[START] = exactly(ran.outside)
        return self._estimate(sample, ran, RowTimes(once, once, once), Steps(seconds))

    def _projected(
        self,
        sample: Sample,
        ran: SampleRun,
        more: SampleRun,
        extraction: tuple[float, Bracket],
    ) -> RunEstimate:
        times = sample.times()
        counts = RowTimes(times, times, sample.uri_times())
        steps = projection.seconds_of_steps(ran, more, counts, self.options.stop)
        fixed, reading = extraction
        steps.working[projection.EXTRACT] = reading
        steps.seconds[projection.EXTRACT] = Bracket(*(fixed + each for each in reading))
        steps.seconds[START] = exactly(min(ran.outside, more.outside))
        return self._estimate(sample, ran, counts, steps)

    def _estimate(
        self, sample: Sample, ran: SampleRun, counts: RowTimes, steps: Steps
    ) -> RunEstimate:
        end, most = projection.disk(ran, counts, validated=self.options.validate)
        rows = projection.rows_of(ran, counts)
        cluster = None
        if self.on_cluster:
            core_seconds = summed(list((steps.working or steps.seconds).values()))
            cluster = cluster_needs(core_seconds, self.options.stop.iterations)
        return RunEstimate(
            self.options.runner, sample.archives, sample.total, sample.length, steps.total,
            steps.seconds, self._memory(ran, counts, rows), end, most, rows, cluster,
            sample.unreadable, tuple(self.notes),
        )  # fmt: skip

    def _memory(self, ran: SampleRun, counts: RowTimes, rows: dict[str, Bracket]) -> Bracket:
        if self.options.runner == EMBEDDED:
            return projection.memory(ran, counts, self.memory.total)
        own = projection.MEMORY * ran.memory
        return summed(
            [own, jobs_memory(rows["links"], rows["map"])] if self.options.validate else [own]
        )


def copies_of(links: int, times: float, runner: str, copied: tuple[int, int] = USUAL.copied) -> int:
    """How many copies of a sample show what a row costs: at least two, and no more links than all
    archives have. times: how many times as many these are."""
    wanted = min(copied[runner != EMBEDDED], links * times)
    return max(2, min(MOST_COPIES, round(wanted / max(1, links))))


def _is_wacz(path: PathOrUrl) -> bool:
    return str(path).endswith(WACZ.suffixes)
