"""One job's map and reduce on Spark, lines sorted and sent as Hadoop Streaming does.

mrjob's own harness groups the lines of a key in memory, does not sort keys, and hashes them as
Python does. With it parts are not sorted, and several ranges meet in one task. Here lines go to the
reducer that Hadoop would choose (order.py) and are sorted within it, on disk if necessary.
spark-submit runs this file with the arguments that mrjob's runner writes for mrjob's harness.
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

from crawlrank.jobs.kernel.formats.order import reducer_of

REMEMBERED = 100_000  # keys, some of which a task sees many times
JobCall = tuple[str, str, list[str]]  # module, class and arguments of the job


def main(words: list[str]) -> None:
    """Run the step. Errors are raised, so that spark-submit reports them."""
    from pyspark import SparkConf, SparkContext

    args = _parser().parse_args(words)
    (step,) = json.loads(args.steps_desc)
    module, _, name = args.job_class.rpartition(".")
    call = (module, name, shlex.split(args.job_args or ""))
    conf = SparkConf().set("spark.ui.showConsoleProgress", "false")
    if conf.get("spark.master", "local").startswith("local"):
        conf.set("spark.ui.enabled", "false")  # a server, for a job of seconds
    context = SparkContext(conf=conf)
    lines: Any = context.textFile(args.input_path, use_unicode=False)
    if args.hadoop_input_format:  # lines that are a task each
        listed = lines.collect()
        lines = context.parallelize(listed, max(1, len(listed)))
    lines = lines.mapPartitions(partial(_mapped, call))
    if "reducer" in step:
        reducers = args.num_reducers or lines.getNumPartitions()
        sent = lines.map(_key_and_rest).repartitionAndSortWithinPartitions(
            numPartitions=reducers, partitionFunc=partial(_reducer, reducers)
        )
        lines = sent.mapPartitions(partial(_reduced, call))
    lines.saveAsTextFile(args.output_path, compressionCodecClass=args.compression_codec)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("job_class", "input_path", "output_path"):
        parser.add_argument(name)
    for name in ("--hadoop-input-format", "--steps-desc", "--job-args", "--compression-codec"):
        parser.add_argument(name)
    parser.add_argument("--num-reducers", type=int)
    for name in ("--counter-output-dir", "--first-step-num", "--last-step-num"):
        parser.add_argument(name, help="not used: a job is one step with counters in its output")
    for name in ("hadoop-input-format", "hadoop-output-format", "sort-values"):
        parser.add_argument(f"--no-{name}", action="store_true")
    parser.add_argument("--sort-values", action="store_true")
    return parser


def _job(call: JobCall, kind: str) -> tuple[Any, Any, Any]:
    """The job, and the functions that read and write its lines."""
    module, name, args = call
    job = getattr(import_module(module), name)([*args, f"--{kind}", "--step-num=0"])
    job.sandbox(stderr=open(os.devnull, "wb"))  # noqa: SIM115, PTH123 (signs of life, as long as the task)
    return (job, *job.pick_protocols(0, kind))


def _mapped(call: JobCall, lines: Iterable[bytes]) -> Iterator[bytes]:
    job, parse, serialize = _job(call, "mapper")
    for key, value in job.map_pairs(map(parse, lines), 0):
        yield serialize(key, value)


def _reduced(call: JobCall, pairs: Iterable[tuple[tuple[bytes, bytes], None]]) -> Iterator[bytes]:
    job, parse, serialize = _job(call, "reducer")
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


if __name__ == "__main__":
    # tasks find its functions by this name
    import_module("crawlrank.jobs.mapreduce.runners.spark_harness").main(sys.argv[1:])
