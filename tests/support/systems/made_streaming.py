"""A step of Hadoop Streaming as a cluster runs it, with the job's own command lines and files, on
one machine: tasks as processes, each in a folder of its own. What differs from Hadoop: a split is a
whole file (a line with NLineInputFormat), and tasks run one after the other.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from crawlrank.jobs.kernel.formats.order import (
    reducer_of,  # checked against Java's own hashes in test_ranges.py
)
from support.systems.cluster import ended

TOLERATED = "mapreduce.map.failures.maxpercent"
ALONE = {"-info", "-verbose"}  # options without a value


class TaskFailed(Exception):
    """Its message: what the task said on stderr."""


class Store(NamedTuple):
    """Objects by URL, with a client of S3."""

    client: Any

    def get(self, url: str) -> bytes:
        bucket, _, key = url.removeprefix("s3://").partition("/")
        return bytes(self.client.get_object(Bucket=bucket, Key=key)["Body"].read())

    def put(self, url: str, data: bytes) -> None:
        bucket, _, key = url.removeprefix("s3://").partition("/")
        self.client.put_object(Bucket=bucket, Key=key, Body=data)

    def under(self, url: str) -> list[str]:
        """The object itself, or all in the folder; hidden ones are left out, as Hadoop does."""
        bucket, _, key = url.rstrip("/").removeprefix("s3://").partition("/")
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=key)
        keys = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        keys = [found for found in keys if found == key or found.startswith(f"{key}/")]
        names = [(one, one.rpartition("/")[2]) for one in keys]
        return [f"s3://{bucket}/{one}" for one, name in names if name and name[0] not in "._"]


def options_of(args: list[str]) -> dict[str, list[str]]:
    """The command line of Hadoop Streaming: every option with its values."""
    found: dict[str, list[str]] = {}
    words = iter(args)
    for word in words:
        assert word.startswith("-"), word
        found.setdefault(word, []).append("" if word in ALONE else next(words))
    return found


def run_streaming(args: list[str], store: Store, scratch: Path) -> None:
    """Read -input, write -output, a part a task, and _SUCCESS. Raises TaskFailed."""
    options = options_of(args)
    (output,) = options["-output"]
    if store.under(output):
        raise TaskFailed(f"Output directory {output} already exists")
    conf = dict(value.split("=", 1) for value in options.get("-D", ()))
    files = [one for value in options.get("-files", ()) for one in value.split(",")]
    tasks = _Tasks(store, files, scratch)
    by_line = any(name.endswith(".NLineInputFormat") for name in options.get("-inputformat", ()))
    splits = []
    for url in [url for folder in options["-input"] for url in store.under(folder)]:
        data = store.get(url)
        splits += [(url, split) for split in (data.splitlines(True) if by_line else [data])]
    parts, failed = [], 0
    for url, split in splits:
        variables = {"mapreduce_map_input_file": url}
        try:
            parts.append(tasks.run(options["-mapper"][0], split, variables))
        except TaskFailed:
            failed += 1
            if 100 * failed > len(splits) * int(conf.get(TOLERATED, 0)):
                raise
    fields = 2
    if "-reducer" in options:
        inputs = shuffled(parts, int(conf.get("mapreduce.job.reduces", 1)))
        parts = [tasks.run(options["-reducer"][0], lines, {}) for lines in inputs]
        fields = 1
    for number, part in enumerate(parts):
        lines = b"".join(ended(line, fields) + b"\n" for line in part.splitlines())
        store.put(f"{output.rstrip('/')}/part-{number:05}", lines)
    store.put(f"{output.rstrip('/')}/_SUCCESS", b"")


def shuffled(mapped: list[bytes], reducers: int) -> list[bytes]:
    """The input of each reducer: lines whose first field is the same meet, in order of the first
    two."""
    inputs: list[list[bytes]] = [[] for _ in range(reducers)]
    for line in (ended(line, 2) for output in mapped for line in output.splitlines()):
        inputs[reducer_of(line.partition(b"\t")[0], reducers)].append(line)
    return [
        b"".join(line + b"\n" for line in sorted(lines, key=lambda line: line.split(b"\t")[:2]))
        for lines in inputs
    ]


class _Tasks:
    """Each starts with a copy of the step's files."""

    def __init__(self, store: Store, files: list[str], scratch: Path) -> None:
        self._cache, self._folder = scratch / "cache", scratch / "task"
        self._cache.mkdir(parents=True)
        for file in files:
            url, _, name = file.partition("#")
            lock, own = b"/tmp/wrapper.lock.", f"{scratch}/wrapper.lock.".encode()
            (self._cache / name).write_bytes(store.get(url).replace(lock, own))  # mrjob leaves it

    def run(self, command: str, lines: bytes, variables: Mapping[str, str]) -> bytes:
        shutil.copytree(self._cache, self._folder)
        env = {name: os.environ[name] for name in os.environ if name.startswith("AWS_")}
        env |= {"PATH": os.environ["PATH"], "no_proxy": "127.0.0.1", **variables}
        try:
            done = subprocess.run(
                shlex.split(command), input=lines, cwd=self._folder, env=env, capture_output=True
            )
        finally:
            shutil.rmtree(self._folder)
        if done.returncode:
            raise TaskFailed(done.stderr.decode())
        return done.stdout
