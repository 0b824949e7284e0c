"""extract_links whose process is killed, as by the memory killer, while it reads an archive whose
name has `dies` in it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

from crawlrank.jobs.extract_links import ExtractLinks


class DyingReader(ExtractLinks):
    def _lines(self, path: str, uri: str) -> Iterator[bytes]:
        for number, line in enumerate(super()._lines(path, uri)):
            yield line
            if "dies" in uri and number == 3:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    DyingReader.run()
