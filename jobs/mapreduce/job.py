"""What all jobs share: bytes as keys and values, side lines (side_lines.py), bad input.

**Ends of lines.** Hadoop Streaming ends a line with a tab when it has fewer tabs than a key has
fields: two fields on the way into a reducer and out of a job without one, one field on the way out
of a reducer. None of our lines and values ends with a tab, so it is taken off wherever lines
arrive.

The notes of one task, and when it ran: its output ends with them (side_lines.py).

Some jobs have a plan, a small file of JSON that the driver writes: split points, counts of earlier
jobs, or the ranges and locations of packed partitions.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
from argparse import SUPPRESS, ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrjob.job import MRJob
from mrjob.options import _add_basic_args, _add_job_args, _add_runner_args, _add_step_args
from mrjob.protocol import BytesProtocol, BytesValueProtocol
from mrjob.step import MRStep

from crawlrank.jobs.kernel.errors import BadLine
from crawlrank.jobs.kernel.formats.order import labels, range_of
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.formats.side_lines import (
    COUNTERS,
    END,
    ERROR,
    NOTES,
    RAN,
    ROWS,
    SIDE_NAMES,
    side_name,
    to_json,
)
from crawlrank.jobs.kernel.machine.shortage import exit_code_of

if TYPE_CHECKING:
    from crawlrank.jobs.kernel.rank.packed_graph import Plan


class TaskNotes:
    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._rows: Counter[bytes] = Counter()  # written, by the name of their side lines
        self._began, self._ended = time.time(), 0.0  # of this task and of map tasks it knows of

    def add(self, name: bytes, value: bytes) -> None:
        self._lines.append(name + b"\t" + value)

    def taken_from(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The lines that are no notes, counted; notes are kept for the end of the task."""
        for line in lines:
            name = side_name(line)
            if name in NOTES:
                self._lines.append(line)
            else:
                self._rows[name] += 1
                yield line

    def at_end(self) -> Iterator[bytes]:
        """The notes, and after them their number of bytes at most: a cluster may write each with a
        tab at its end."""
        if self._rows:
            rows = {name[1:].decode() or "main": count for name, count in self._rows.items()}
            self.add(ROWS, to_json(rows))
            self._rows.clear()
        if self._lines:
            yield from self._lines
            yield END + b"\t%d" % sum(len(line) + 2 for line in self._lines)
            self._lines.clear()

    def ran(self) -> tuple[bytes, bytes]:
        """The note of when the task began and ended, in seconds by the clock of its machine."""
        return RAN, b"%.3f %.3f" % (self._began, max(self._ended, time.time()))

    def add_ran(self, tasks: Iterator[bytes]) -> None:
        """Count in map tasks of this job, so that one note tells of them and of their reducer."""
        for value in tasks:
            began, ended = map(float, value.split())
            self._began, self._ended = min(self._began, began), max(self._ended, ended)


LINE_FORMAT = "org.apache.hadoop.mapred.lib.NLineInputFormat"
LINE_BY_LINE = {
    "mapreduce.input.lineinputformat.linespermap": "1",
    "stream.map.input.ignoreKey": "true",  # the position of the line, with formats other than text
}
MAX_BAD_LINES = 5  # reported by one task, which reads them in the order of the inputs
MAX_BAD_GROUPS = 10_000  # reported by one task, which does not see them in that order

KeyValue = tuple[bytes, bytes]


@cache
def _options() -> ArgumentParser:
    """mrjob's options, defined once for all jobs, as that takes longer than many tasks."""
    parser = ArgumentParser(add_help=False)
    for add in (_add_basic_args, _add_job_args, _add_runner_args):
        add(parser)
    _add_step_args(parser, include_deprecated=True)
    return parser


class Job(MRJob):  # type: ignore[misc]  # mrjob has no types
    """One map and, where `reduce_key` is defined, one reduce, on lines of bytes.

    A subclass defines `map_line(line)` -> pairs, `map_end()` -> pairs, and optionally
    `reduce_key(key, values)` -> lines and `reduce_end()` -> lines. Without `reduce_key` the pairs'
    values are the output. The driver gets `self.counts` as counters.
    """

    INPUT_PROTOCOL = BytesValueProtocol
    INTERNAL_PROTOCOL = BytesProtocol
    OUTPUT_PROTOCOL = BytesValueProtocol
    SORT_VALUES = True  # lines reach a reducer sorted by their first two fields, as bytes

    #: name of the dataset of plain lines, for commands
    DATASET = "rows"

    #: names of the datasets of side lines `@name`, which launch.py writes apart
    SIDE_DATASETS: tuple[str, ...] = ()

    #: entries that a task holds in memory, to send once what is the same, before it sends them all
    COMBINED = 200_000

    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self.counts: Counter[str] = Counter()
        self.notes = TaskNotes()
        self._errors = 0

    def report(self, notes: Mapping[str, Sequence[Any]]) -> None:
        """Tell whoever runs the job by itself what its tasks have noted, by kind. Raises BadInput
        for what they could not read."""

    def configure_args(self) -> None:
        self.arg_parser = ArgumentParser(usage=self._usage(), add_help=False, parents=[_options()])
        self.arg_parser.add_argument("args", nargs="*", help="input files")
        self.add_passthru_arg(
            "--reducers", type=int, default=None, help="number of reduce tasks on a cluster"
        )
        # mrjob starts a task as its job's file, which may have several classes
        self.add_passthru_arg("--stage", help=SUPPRESS)

    def jobconf(self) -> dict[str, Any]:
        conf = {**super().jobconf(), **(LINE_BY_LINE if self.by_line() else {})}
        if self.options.reducers and self.has_reducer():
            conf["mapreduce.job.reduces"] = str(self.options.reducers)
        return conf

    def make_runner(self) -> Any:
        """Make the runner without parsing the command line twice more, as mrjob does for its
        log."""
        runner = self._runner_class()(**self._runner_kwargs())
        runner.job_class = type(self)
        return runner

    def by_line(self) -> bool:
        """Whether a line of the input is a task of its own, as for lists of archives."""
        return False

    def hadoop_input_format(self) -> str | None:
        return LINE_FORMAT if self.by_line() else None

    def _runner_class(self) -> Any:
        from crawlrank.jobs.mapreduce.runners import runner_class  # which tasks do not need

        return runner_class(super()._runner_class())

    def own_args(self) -> list[str]:
        """The options of this job's own command line, for the job that is launched."""
        args = []
        for action in self.arg_parser._actions:  # mrjob itself reads them there
            value = getattr(self.options, action.dest, None)
            if action.dest not in self._passthru_arg_dests or value in (None, action.default):
                continue
            args.append(action.option_strings[-1])
            if action.nargs != 0:  # a flag has no value
                # argparse takes -0.00001 for a number, but -1e-05 for an option
                args.append(f"{value:.20f}" if isinstance(value, float) else str(value))
        return args

    @classmethod
    def run(cls, whole: Callable[[Job], None] = MRJob.run_job) -> None:
        """Run one task, as mrjob does, or the whole job. A task that fails because the machine
        lacks something ends with the exit code of that shortage, which reaches the driver even
        where the disk has no room for a message.

        whole: runs the job where the command line asks for no task.
        """
        try:
            job = cls()
            if job.is_task():
                job.execute()
            else:
                whole(job)
            sys.stdout.flush()
        except Exception as error:
            if (code := exit_code_of(error)) is None:
                raise
            with contextlib.suppress(OSError):
                traceback.print_exc()
            os._exit(code)  # without a flush, which would fail once more on a full disk

    # the map and reduce that mrjob sees

    def steps(self) -> list[MRStep]:
        if self.reads_archives():
            return [MRStep(mapper_raw=self.mapper_raw)]
        parts = {"mapper": self._mapper, "mapper_final": self._mapper_final}
        if self.has_reducer():
            parts.update(reducer=self._reducer, reducer_final=self._reducer_final)
        return [MRStep(**parts)]

    @classmethod
    def reads_archives(cls) -> bool:
        return cls.mapper_raw is not MRJob.mapper_raw

    @classmethod
    def has_reducer(cls) -> bool:
        return cls.reduce_key is not Job.reduce_key

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        raise NotImplementedError

    def map_end(self) -> Iterator[KeyValue]:
        yield from ()

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        raise NotImplementedError

    def reduce_end(self) -> Iterator[bytes]:
        yield from ()

    def _mapper(self, _: None, line: bytes) -> Iterator[tuple[bytes | None, bytes]]:
        if side_name(line):
            return
        try:
            yield from self._paired(self.map_line(line.removesuffix(b"\t").removeprefix(BOM)))
        except BadLine as error:
            yield from self._paired(self.bad_line(line, error))

    def _mapper_final(self) -> Iterator[tuple[bytes | None, bytes]]:
        yield from self._paired(self.map_end())
        yield from self._paired(self._flush_counters())
        for line in self.notes.at_end():
            yield None, line

    def _paired(self, pairs: Iterator[KeyValue]) -> Iterator[tuple[bytes | None, bytes]]:
        """Pairs for the shuffle; without a reducer, lines for the output."""
        if self.has_reducer():
            yield from pairs
            return
        lines = (key + b"\t" + value if key in SIDE_NAMES else value for key, value in pairs)
        for line in self.notes.taken_from(lines):
            yield None, line

    def _reducer(self, key: bytes, values: Iterator[bytes]) -> Iterator[tuple[None, bytes]]:
        ended = (value.removesuffix(b"\t") for value in values)
        if key == RAN:
            self.notes.add_ran(ended)
            return
        lines = (
            (key + b"\t" + value for value in ended)
            if key in SIDE_NAMES
            else self.reduce_key(key, ended)
        )
        for line in self.notes.taken_from(lines):
            yield None, line

    def _reducer_final(self) -> Iterator[tuple[None, bytes]]:
        for line in self.notes.taken_from(self.reduce_end()):
            yield None, line
        for name, value in self._flush_counters():
            self.notes.add(name, value)
        for line in self.notes.at_end():
            yield None, line

    def _flush_counters(self) -> Iterator[KeyValue]:
        if self.counts:
            yield COUNTERS, to_json(dict(self.counts))
        self.counts.clear()
        yield self.notes.ran()

    # errors in the input

    def bad_line(self, line: bytes, error: BadLine) -> Iterator[KeyValue]:
        """Report a line that does not have its format. The driver looks up its file and number; on
        a cluster the task knows the file."""
        report = {"found": error.found, "expected": error.expected}
        if file := os.environ.get("mapreduce_map_input_file"):  # noqa: SIM112 (Hadoop names it so)
            report["file"] = file
        yield from self._bad_input(MAX_BAD_LINES, line=line.decode("latin-1"), **report)

    def _bad_input(self, most: int, **report: Any) -> Iterator[KeyValue]:
        """Report input that cannot be used: found, expected, cure; and the line, or key and values
        of pairs (see bad_group), by which the driver looks it up."""
        self._errors += 1
        if self._errors <= most:
            yield ERROR, to_json(report)

    def bad_group(self, key: bytes, values: Sequence[bytes], **report: str) -> Iterator[bytes]:
        """Report, from a reducer, lines that do not fit together. The wrong one is the input line
        that maps to the last of these values under `key`; a value of one byte stands for all that
        start with it."""
        report["key"] = key.decode("latin-1")
        texts = [value.decode("latin-1") for value in values]
        for name, error in self._bad_input(MAX_BAD_GROUPS, values=texts, **report):
            yield name + b"\t" + error


class PlannedJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--plan", help="what earlier jobs counted; set by the driver")

    @cached_property
    def plan(self) -> Any:
        """Read when the first line needs it, as in the driver the file has another path."""
        return json.loads(Path(self.options.plan).read_bytes())


class RangedJob(PlannedJob):
    """Partitions by range; its plan is the list of split points."""

    @cached_property
    def _points(self) -> list[bytes]:
        return [point.encode() for point in self.plan]

    @cached_property
    def _labels(self) -> list[bytes]:
        return labels(len(self._points) + 1, self.options.reducers or 1)

    def label_of(self, key: bytes) -> bytes:
        """The label of the key's range, as jobs/kernel/formats/order.py makes them."""
        return self._labels[range_of(key, self._points)]


def write_points(path: Path, points: Iterable[bytes]) -> None:
    """Write the plan of a RangedJob. points: ascending."""
    path.write_text(json.dumps([point.decode() for point in points]))


class PackedJob(PlannedJob):
    """Its plan has the ranges and the locations of packed data."""

    @cached_property
    def plan(self) -> Plan:
        from crawlrank.jobs.kernel.rank.packed_graph import read_plan  # it loads numpy

        return read_plan(self.options.plan)


class PartitionJob(PackedJob):
    """Reads lines of partition numbers, one line a task, and the partitions themselves at their
    locations."""

    def by_line(self) -> bool:
        return True

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        for number in line.split():
            yield from self.map_partition(int(number))

    def map_partition(self, own: int) -> Iterator[KeyValue]:
        raise NotImplementedError
