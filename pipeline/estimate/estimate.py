"""What `crawlrank run` will take on archives: time, memory, disk, and hours of nodes.

    sample      windows of the archives, 5 % of their bytes               sample.py
    runs        all steps, on a quarter of the sample and on all of it    sample.py
    projection  from the rows of the sample to those of all archives      projection.py

All of it is in a temporary folder. A sample that is all of the archives is the run itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from crawlrank.jobs.kernel.archive.range_lists import SUFFIX
from crawlrank.jobs.kernel.archive.sources import WACZ
from crawlrank.jobs.kernel.captures.extraction_code import prepare
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url, name_of
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
    if ranges := next((each for each in archives if str(each).endswith(SUFFIX)), None):
        what = "records that an index names, of which no sample is taken"
        raise BadInput(name_of(ranges), what, "archives to take a sample of", "Leave them out.")
    with temporary_folder() as folder, consecutive(reporter or Reporter()) as begin:
        begin("sample")
        sample = take_sample(archives, folder / "pieces", options.extraction.max_record, size)
        prepare()
        of_sample = _sample_options(options)
        begin("run of a quarter")
        few = _run_of_a_quarter(sample, of_sample, folder)
        begin("run of the sample")
        ran, notes = _run(sample, of_sample, folder)
    _leave_out_unreadable(sample, ran)
    return _projected(sample, few, ran, options, notes)


def _sample_options(options: RunOptions) -> RunOptions:
    """The options of the runs of samples, which send nothing to a cluster."""
    return replace(
        options, runner=_runner(options), data=None, conf=None, strict=False, skip_bad_files=True,
        force=False, validation=replace(options.validation, min_agreement=0.0),
    )  # fmt: skip


def _runner(options: RunOptions) -> str:
    return "inline" if options.runner in CLUSTERS else options.runner


def _run_of_a_quarter(sample: Sample, options: RunOptions, tmp: Path) -> SampleRun:
    """A run of nothing where the quarter cannot be run, as it may have no link at all."""
    paths = [piece.path for piece in sample.pieces[: ceil(len(sample.pieces) / 4)]]
    try:
        return run_sample(paths, tmp / "part", options)
    except BadInput:
        return SampleRun()


def _run(sample: Sample, options: RunOptions, tmp: Path) -> tuple[SampleRun, tuple[str, ...]]:
    """Run the sample; by PageRank, with a note, if the files of the method name no page of it."""
    paths = [piece.path for piece in sample.pieces]
    try:
        return run_sample(paths, tmp / "run", options), ()
    except BadInput as error:
        if options.method == PAGERANK:  # its place is in a folder that is removed
            archives = {str(piece.path): str(piece.archive) for piece in sample.pieces}
            where = archives.get(error.where, "the sample")
            raise BadInput(where, error.found, error.expected, error.cure) from error
        note = f"--method {options.method} could not rank the sample ({error}); PageRank"
        by_pagerank = replace(options, method=PAGERANK, inputs={})
        return run_sample(paths, tmp / "run-by-pagerank", by_pagerank), (f"{note} stands for it.",)


def _leave_out_unreadable(sample: Sample, ran: SampleRun) -> None:
    """Take the pieces that the run could not read out of the sample. A piece from the middle of
    an archive may well have no page; at the beginning this is a fault of the archive."""
    errors = {str(entry["path"]): entry["error"] for entry in ran.archives if entry["error"]}
    for piece in sample.pieces:
        if (error := errors.get(str(piece.path))) and not piece.begin:
            sample.unreadable[str(piece.archive)] = BadInput(str(piece.archive), *error)
    sample.pieces = [piece for piece in sample.pieces if str(piece.path) not in errors]


def _projected(
    sample: Sample, few: SampleRun, ran: SampleRun, options: RunOptions, notes: tuple[str, ...]
) -> RunEstimate:
    share = min(1.0, sample.length / sample.total)
    times = row_times(share, _error(sample, ran, share), few, ran)
    seconds, working = _seconds(sample, few, ran, options, times)
    archives, rows = sample.readable_archives, rows_of(ran, times)
    if options.runner == EMBEDDED:
        memory = embedded_memory(ran, times, (options.memory or half_of_machine()).total)
    else:
        memory = jobs_memory(ran, rows, validated=options.validate)
    end, most = disk(ran, times, archives, validated=options.validate)
    cluster = None
    if options.runner in CLUSTERS:
        cluster = cluster_needs(
            summed(list(working.values())), options.stop.iterations,
            together=RUNNERS[options.runner].held_application,
        )  # fmt: skip
    return RunEstimate(
        options.runner, archives, sample.total, min(sample.length, sample.total),
        total_of(seconds), seconds, memory, end, most, rows, cluster, sample.unreadable, notes,
    )  # fmt: skip


def _error(sample: Sample, ran: SampleRun, share: float) -> float:
    """The standard error of links a byte, or of captures a byte where there are no links."""
    counters = {str(entry["path"]): entry["counters"] for entry in ran.archives}
    lengths = [piece.length for piece in sample.pieces]
    for name in ("links", "captures"):
        rows = [counters.get(str(piece.path), {}).get(name, 0) for piece in sample.pieces]
        if any(rows):
            return standard_error(rows, lengths, share)
    return 0.5


def _seconds(
    sample: Sample, few: SampleRun, ran: SampleRun, options: RunOptions, times: RowTimes
) -> tuple[dict[str, Bracket], dict[str, Bracket]]:
    """Seconds of each step, and what of them grows with rows. Those of extraction depend on the
    process that has most to do, and have what fetching the archives takes besides."""
    if sample.whole:
        seconds = {name: exactly(took) for name, took in ran.steps.items()}
        return {**seconds, START: exactly(ran.outside)}, seconds
    seconds, working = seconds_of_steps(few, ran, times)
    fixed = seconds[EXTRACT].low - working[EXTRACT].low
    most, processes = _most_bytes(sample, options), _processes(options)
    fetching = sum(piece.fetching for piece in sample.pieces) / sample.length
    reading = working[EXTRACT] * (most * processes / sample.total)
    working[EXTRACT] = summed([reading, exactly(fetching * most)])
    seconds[EXTRACT] = summed([exactly(fixed), working[EXTRACT]])
    seconds[START] = exactly(min(ran.outside, few.outside or ran.outside))
    return seconds, working


def _most_bytes(sample: Sample, options: RunOptions) -> float:
    """Bytes that the process extracts that has most to do; of a cluster, all of them."""
    cut = options.runner == EMBEDDED
    uncut = [size for path, size in sample.sizes if not cut or is_url(path) or _is_wacz(path)]
    return max([sample.total / _processes(options), *map(float, uncut)])


def _processes(options: RunOptions) -> int:
    processes = at_a_time(options.processes)
    if options.runner == EMBEDDED:
        return (options.memory or half_of_machine()).extracting(processes)
    return processes if RUNNERS[_runner(options)].tasks else 1


def _is_wacz(path: PathOrUrl) -> bool:
    return str(path).endswith(WACZ.suffixes)
