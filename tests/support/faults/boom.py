"""A job that raises, or whose process is killed, at the line that tells it to."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import Job, KeyValue


class Boom(Job):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        self.counts["lines"] += 1
        if line == b"raise":
            raise ValueError("no such luck")
        if line == b"kill":
            sys.stderr.write("about to go\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        yield line, b"x"

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if key == b"raise in reduce":
            raise ValueError("no such luck either")
        yield key + b" %d" % len(list(values))


if __name__ == "__main__":
    Boom.run()
