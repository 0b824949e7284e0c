"""What `crawlrank run` will take on archives: time, memory, disk, and hours of nodes.

    sample      windows of the archives, 5 % of their bytes               sample.py
    runs        all steps, on a quarter of the sample and on all of it    sample_run.py
    projection  from the rows of the sample to those of all archives      projection.py

All of it is in a temporary folder. A sample that is all of the archives is the run itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from crawlrank.jobs.kernel.archive.sources import WACZ
from crawlrank.jobs.kernel.captures.extraction_code import prepare
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.launcher import CLUSTERS
from crawlrank.jobs.mapreduce.runners import RUNNERS
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.estimate.projection import (
    EXTRACT,
    Bracket,
    ClusterNeeds,
    RowTimes,
    cluster_needs,
    disk,
    embedded_memory,
    exactly,
    jobs_memory,
    row_times,
    rows_of,
    seconds_of_steps,
    standard_error,
    summed,
    total_of,
)
from crawlrank.pipeline.estimate.sample import (
    USUAL,
    Sample,
    SampleRun,
    SampleSize,
    run_sample,
    take_sample,
)
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter, consecutive
from crawlrank.pipeline.ranking.methods import PAGERANK
from crawlrank.pipeline.steps import EMBEDDED

START = "start"


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
    with temporary_folder() as folder, consecutive(reporter or Reporter()) as begin:
        begin("sample")
        max_record = options.extraction.max_record
        sample = take_sample(archives, folder / "pieces", max_record, size)
        return _Estimating(sample, options, folder, begin).result()


class _Estimating:
    """options: of the run that is estimated. begin: a part of the estimate, by its name.
    sample_options: of the runs of samples."""

    def __init__(
        self, sample: Sample, options: RunOptions, tmp: Path, begin: Callable[[str], None]
    ) -> None:
        self.sample, self.options, self.tmp, self.begin = sample, options, tmp, begin
        self.on_cluster = options.runner in CLUSTERS
        self.sample_options = replace(
            options, runner="inline" if self.on_cluster else options.runner, data=None, conf=None,
            strict=False, skip_bad_files=True, force=False,
            validation=replace(options.validation, min_agreement=0.0),
        )  # fmt: skip
        self.notes: list[str] = []

    def result(self) -> RunEstimate:
        prepare()
        paths = [piece.path for piece in self.sample.pieces]
        self.begin("run of a quarter")
        few = self._run_of_a_part(paths[: ceil(len(paths) / 4)])
        self.begin("run of the sample")
        ran = self._run(paths)
        self._leave_out_unreadable(ran)
        sample = self.sample
        share = min(1.0, sample.length / sample.total)
        times = row_times(share, self._error(ran, share), few, ran)
        seconds, working = self._seconds(few, ran, times)
        archives = len(sample.sizes) - len(self._opened_and_bad())
        end, most = disk(ran, times, archives, validated=self.options.validate)
        rows = rows_of(ran, times)
        cluster = None
        if self.on_cluster:
            core_seconds = summed(list(working.values()))
            cluster = cluster_needs(core_seconds, self.options.stop.iterations)
        return RunEstimate(
            self.options.runner, archives, sample.total,
            min(sample.length, sample.total), total_of(seconds), seconds,
            self._memory(ran, times, rows), end, most, rows, cluster, sample.unreadable,
            tuple(self.notes),
        )  # fmt: skip

    def _run_of_a_part(self, paths: Sequence[Path]) -> SampleRun:
        """A run of nothing where the part cannot be run, as it may have no link at all."""
        try:
            return run_sample(paths, self.tmp / "part", self.sample_options)
        except BadInput:
            return SampleRun()

    def _run(self, paths: Sequence[Path]) -> SampleRun:
        """Run the sample; by PageRank if the files of the method name no page of it."""
        try:
            return run_sample(paths, self.tmp / "run", self.sample_options)
        except BadInput as error:
            if self.options.method == PAGERANK:  # its place is in a folder that is removed
                where = self._archive_at(error.where) or "the sample"
                raise BadInput(where, error.found, error.expected, error.cure) from error
            self.notes.append(
                f"--method {self.options.method} could not rank the sample ({error}); PageRank"
                " stands for it."
            )
            options = replace(self.sample_options, method=PAGERANK, inputs={})
            return run_sample(paths, self.tmp / "run-by-pagerank", options)

    def _archive_at(self, path: str) -> str | None:
        """The archive of which a file of the sample is."""
        of = {str(piece.path): str(piece.archive) for piece in self.sample.pieces}
        return of.get(path)

    def _leave_out_unreadable(self, ran: SampleRun) -> None:
        """Take the pieces that the run could not read out of the sample. A piece from the middle of
        an archive may well have no page; at the beginning this is a fault of the archive."""
        errors = {str(entry["path"]): entry["error"] for entry in ran.archives if entry["error"]}
        kept = []
        for piece in self.sample.pieces:
            if str(piece.path) not in errors:
                kept.append(piece)
            elif not piece.begin:
                archive = str(piece.archive)
                self.sample.unreadable[archive] = BadInput(archive, *errors[str(piece.path)])
        self.sample.pieces = kept

    def _opened_and_bad(self) -> list[str]:
        return [str(path) for path, _ in self.sample.sizes if str(path) in self.sample.unreadable]

    def _error(self, ran: SampleRun, share: float) -> float:
        """The standard error of links a byte, or of captures a byte where there are no links."""
        counters = {str(entry["path"]): entry["counters"] for entry in ran.archives}
        pieces = self.sample.pieces
        lengths = [piece.length for piece in pieces]
        for name in ("links", "captures"):
            rows = [counters.get(str(piece.path), {}).get(name, 0) for piece in pieces]
            if any(rows):
                return standard_error(rows, lengths, share)
        return 0.5

    def _seconds(
        self, few: SampleRun, ran: SampleRun, times: RowTimes
    ) -> tuple[dict[str, Bracket], dict[str, Bracket]]:
        """Seconds of each step, and what of them grows with rows."""
        if self.sample.whole:
            seconds = {name: exactly(took) for name, took in ran.steps.items()}
            return {**seconds, START: exactly(ran.outside)}, seconds
        seconds, working = seconds_of_steps(few, ran, times)
        fetching = sum(piece.fetching for piece in self.sample.pieces) / self.sample.length
        fixed = seconds[EXTRACT].low - working[EXTRACT].low
        reading = working[EXTRACT] * self._unevenness()
        if fetching:
            reading = summed([reading, exactly(fetching * self._busiest())])
        working[EXTRACT] = reading
        seconds[EXTRACT] = Bracket(*(fixed + each for each in reading))
        seconds[START] = exactly(min(ran.outside, few.outside or ran.outside))
        return seconds, working

    def _processes(self) -> int:
        if self.options.runner != EMBEDDED:
            several = RUNNERS[self.sample_options.runner].tasks
            return at_a_time(self.options.processes) if several else 1
        memory = self.options.memory or half_of_machine()
        return memory.extracting(at_a_time(self.options.processes))

    def _busiest(self) -> float:
        """Bytes that the process extracts that has most to do; of a cluster, all of them."""
        cut = self.options.runner == EMBEDDED
        sizes = self.sample.sizes
        uncut = [size for path, size in sizes if not cut or is_url(path) or _is_wacz(path)]
        return max([self.sample.total / self._processes(), *map(float, uncut)])

    def _unevenness(self) -> float:
        """How many times as long extraction takes as with the bytes shared out evenly."""
        return self._busiest() * self._processes() / self.sample.total

    def _memory(self, ran: SampleRun, times: RowTimes, rows: dict[str, Bracket]) -> Bracket:
        if self.options.runner == EMBEDDED:
            limit = (self.options.memory or half_of_machine()).total
            return embedded_memory(ran, times, limit)
        return jobs_memory(ran, rows, validated=self.options.validate)


def _is_wacz(path: PathOrUrl) -> bool:
    return str(path).endswith(WACZ.suffixes)
