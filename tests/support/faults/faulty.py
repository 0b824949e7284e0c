"""A job that counts first words, and meets with the fault that it is told of at a line `bad`.

`--signs`: a folder on the machine of test and tasks, where they tell each other how far they are.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from crawlrank.jobs.mapreduce.job import Job, KeyValue


class Faulty(Job):
    DATASET = "counts"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--fault", choices=("none", "die", "wait"), default="none")
        self.add_passthru_arg("--signs", default="")

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        word = line.split()[0]
        if word == b"bad":
            self._meet(Path(self.options.signs))
        self.counts["lines"] += 1
        yield word, b"1"

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        yield key + b" %d" % sum(1 for _ in values)

    def _meet(self, signs: Path) -> None:
        fault = self.options.fault
        if fault == "die" and not (signs / "died").exists():
            (signs / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "wait":
            (signs / "waits").touch()
            while not (signs / "go").exists():
                time.sleep(0.1)


if __name__ == "__main__":
    Faulty.run()
