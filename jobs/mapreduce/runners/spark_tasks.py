"""One job's map and reduce on Spark, lines sorted and sent as Hadoop Streaming does.

mrjob's own harness groups the lines of a key in memory, does not sort keys, and hashes them as
Python does. With it parts are not sorted, and several ranges meet in one task. Here lines go to the
reducer that Hadoop would choose (order.py) and are sorted within it, on disk if necessary.

Tasks import this module from the zip of jobs. It imports no pyspark before one of them runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from crawlrank.jobs.kernel.formats.order import reducer_of

REMEMBERED = 100_000  # keys, some of which a task sees many times


class SharedFile(NamedTuple):
    """A file that Spark brings to each task. name: that it has there."""

    name: str


class TaskJob(NamedTuple):
    """The job of a task. args: of its command line."""

    module: str
    class_name: str
    args: tuple[str | SharedFile, ...]

    def make(self, kind: str) -> tuple[Any, Any, Any]:
        """The job, and the functions that read and write its lines."""
        from pyspark import SparkFiles

        args = [SparkFiles.get(a.name) if isinstance(a, SharedFile) else a for a in self.args]
        job_class = getattr(import_module(self.module), self.class_name)
        job = job_class([*args, f"--{kind}", "--step-num=0"])
        job.sandbox(stderr=open(os.devnull, "wb"))  # noqa: SIM115, PTH123 (signs of life, as long as the task)
        return (job, *job.pick_protocols(0, kind))


class JobLines(NamedTuple):
    """What a job reads and writes. inputs: paths or URLs of datasets. by_line: each line is a task.
    reducers: None for a job without a reduce. codec: Java's class of the compression, if any."""

    inputs: str
    output: str
    by_line: bool
    reducers: int | None
    codec: str | None


def run_job(context: Any, job: TaskJob, lines: JobLines) -> None:
    """Do the job's map and reduce. Raises what Spark raises."""
    rows: Any = context.textFile(lines.inputs, use_unicode=False)
    if lines.by_line:
        listed = rows.collect()
        rows = context.parallelize(listed, max(1, len(listed)))
    rows = rows.mapPartitions(partial(_mapped, job))
    if lines.reducers is not None:
        reducers = lines.reducers or rows.getNumPartitions()
        sent = rows.map(_key_and_rest).repartitionAndSortWithinPartitions(
            numPartitions=reducers, partitionFunc=partial(_reducer, reducers)
        )
        rows = sent.mapPartitions(partial(_reduced, job))
    rows.saveAsTextFile(lines.output, compressionCodecClass=lines.codec)


def _mapped(task_job: TaskJob, lines: Iterable[bytes]) -> Iterator[bytes]:
    job, parse, serialize = task_job.make("mapper")
    for key, value in job.map_pairs(map(parse, lines), 0):
        yield serialize(key, value)


def _reduced(
    task_job: TaskJob, pairs: Iterable[tuple[tuple[bytes, bytes], None]]
) -> Iterator[bytes]:
    job, parse, serialize = task_job.make("reducer")
    lines = (key + b"\t" + rest for (key, rest), _ in pairs)
    for key, value in job.reduce_pairs(map(parse, lines), 0):
        yield serialize(key, value)


def _key_and_rest(line: bytes) -> tuple[tuple[bytes, bytes], None]:
    key, _, rest = line.partition(b"\t")
    return (key, rest), None


@lru_cache(REMEMBERED)
def _reducer_of(key: bytes, reducers: int) -> int:
    return reducer_of(key, reducers)


def _reducer(reducers: int, key_and_rest: tuple[bytes, bytes]) -> int:
    return _reducer_of(key_and_rest[0], reducers)
