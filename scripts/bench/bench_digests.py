"""What the digests of datasets take of a run: `python scripts/bench/bench_digests.py ARCHIVE…`.

One run, in this process: seconds of it in all, and of these what recording its datasets took, with
bringing them to the disk and without; then what comparing all of them takes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress import Reporter
from crawlrank.pipeline.run.run import run
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder import dataset_store
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.results.dataset_folders import checked


class Clock:
    """Seconds and calls of functions that are wrapped by it."""

    def __init__(self) -> None:
        self.seconds, self.calls = 0.0, 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*args)
            finally:
                self.seconds += time.perf_counter() - begun
                self.calls += 1

        return timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--runner", default=EMBEDDED)
    asked = parser.parse_args()
    reading, syncing = Clock(), Clock()
    dataset_store._digest = reading.around(dataset_store._digest)
    os.fsync = syncing.around(os.fsync)
    with tempfile.TemporaryDirectory() as folder:
        work, begun = Path(folder, "work"), time.perf_counter()
        run(work, asked.archives, RunOptions(runner=asked.runner), Reporter())
        whole = time.perf_counter() - begun
        read, synced, files = reading.seconds, syncing.seconds, reading.calls
        manifest, begun = Manifest(work), time.perf_counter()
        size = sum(
            entry[0]
            for result in checked(work, manifest, digests=True)
            for entry in result.record["files"].values()
        )
        compared = time.perf_counter() - begun
    print(f"{asked.runner}: a run of {whole:.2f} s; {files} files, {size / 1e6:.1f} MB of datasets")
    for what, seconds in (("digests", read), ("fsync", synced), ("check afterwards", compared)):
        print(f"{what:17} {seconds:7.3f} s  {seconds / whole:6.2%} of the run")


if __name__ == "__main__":
    main()
