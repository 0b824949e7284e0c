"""A job whose tasks tell what they are, or end in other ways than by an exception."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.mapreduce.runners.local import LocalRunner


class OddTasks(Job):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        word, _, rest = line.decode().partition(" ")
        if word == "tell":
            facts = {
                "folder": Path.cwd().name,
                "input": Path(os.environ["mapreduce_map_input_file"]).name,  # noqa: SIM112
                "interrupt": str(signal.getsignal(signal.SIGINT)),
                "files": len([*Path("/proc/self/fd").iterdir()]),
                "argv": sys.argv[1:],
            }
            yield b"", json.dumps(facts).encode()
        elif word == "exit":
            sys.exit(int(rest))
        elif word == "hold":
            held = bytearray(int(rest))
            yield b"", b"%d" % len(held)
        elif word == "wait":
            Path(rest).write_text(str(os.getpid()))
            signal.pause()


class _Programs(LocalRunner):
    """Starts tasks as programs, as where none can be forked."""

    forks = False


def as_programs(job_class: type[Job]) -> type[Job]:
    """The job, each of whose tasks is a program."""

    def runner_class(self: Job) -> Any:
        return _Programs

    return type(job_class.__name__, (job_class,), {"_runner_class": runner_class})


if __name__ == "__main__":
    OddTasks.run()
