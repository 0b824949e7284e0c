"""One job's map and reduce on Spark, lines sorted and sent as Hadoop Streaming does.

mrjob's own harness groups each key's lines in memory, leaves keys in no order, and hashes them as
Python does, so that parts were not sorted and ranges met in one task. Here lines go to the reducer
that Hadoop would choose (ranges.py) and are sorted within it, on disk if need be.
spark-submit runs this file with the words that mrjob's runner writes for its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from jobs.kernel.formats.ranges import reducer_of

REMEMBERED = 100_000  # keys, of which a task sees some many times
Task = tuple[str, str, list[str]]  # module, class and arguments of the job


def main(words: list[str]) -> None:
    """Run the step; what fails is raised, for spark-submit to tell."""
    from pyspark import SparkConf, SparkContext

    args = _parser().parse_args(words)
    (step,) = json.loads(args.steps_desc)
    module, _, name = args.job_class.rpartition(".")
    task = (module, name, shlex.split(args.job_args or ""))
    conf = SparkConf().set("spark.ui.showConsoleProgress", "false")
    if conf.get("spark.master", "local").startswith("local"):
        conf.set("spark.ui.enabled", "false")  # a server, for a job of seconds
    context = SparkContext(conf=conf)
    lines: Any = context.textFile(args.input_path, use_unicode=False)
    if args.hadoop_input_format:  # of lists, whose lines are a task each
        listed = lines.collect()
        lines = context.parallelize(listed, max(1, len(listed)))
    lines = lines.mapPartitions(partial(_mapped, task))
    if "reducer" in step:
        reducers = args.num_reducers or lines.getNumPartitions()
        sent = lines.map(_key_and_rest).repartitionAndSortWithinPartitions(
            numPartitions=reducers, partitionFunc=partial(_reducer, reducers)
        )
        lines = sent.mapPartitions(partial(_reduced, task))
    lines.saveAsTextFile(args.output_path, compressionCodecClass=args.compression_codec)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("job_class", "input_path", "output_path"):
        parser.add_argument(name)
    for name in ("--hadoop-input-format", "--steps-desc", "--job-args", "--compression-codec"):
        parser.add_argument(name)
    parser.add_argument("--num-reducers", type=int)
    for name in ("--counter-output-dir", "--first-step-num", "--last-step-num"):
        parser.add_argument(name, help="not used: a job is one step, and tells what it counts")
    for name in ("hadoop-input-format", "hadoop-output-format", "sort-values"):
        parser.add_argument(f"--no-{name}", action="store_true")
    parser.add_argument("--sort-values", action="store_true")
    return parser


def _job(task: Task, kind: str) -> tuple[Any, Any, Any]:
    """The job of a task, and how it reads and writes lines."""
    module, name, args = task
    job = getattr(import_module(module), name)([*args, f"--{kind}", "--step-num=0"])
    job.sandbox(stderr=open(os.devnull, "wb"))  # noqa: SIM115, PTH123 (signs of life, as long as the task)
    return (job, *job.pick_protocols(0, kind))


def _mapped(task: Task, lines: Iterable[bytes]) -> Iterator[bytes]:
    job, read, write = _job(task, "mapper")
    for key, value in job.map_pairs(map(read, lines), 0):
        yield write(key, value)


def _reduced(task: Task, pairs: Iterable[tuple[tuple[bytes, bytes], None]]) -> Iterator[bytes]:
    job, read, write = _job(task, "reducer")
    lines = (key + b"\t" + rest for (key, rest), _ in pairs)
    for key, value in job.reduce_pairs(map(read, lines), 0):
        yield write(key, value)


def _key_and_rest(line: bytes) -> tuple[tuple[bytes, bytes], None]:
    key, _, rest = line.partition(b"\t")
    return (key, rest), None


@lru_cache(REMEMBERED)
def _reducer_of(key: bytes, reducers: int) -> int:
    return reducer_of(key, reducers)


def _reducer(reducers: int, key_and_rest: tuple[bytes, bytes]) -> int:
    return _reducer_of(key_and_rest[0], reducers)


if __name__ == "__main__":
    # by this name tasks find its functions
    import_module("jobs.mapreduce.runners.spark_harness").main(sys.argv[1:])
