"""What a small crawl takes, by checkouts: `python scripts/compare/compare_starts.py [CHECKOUT…]`.

The archive of 64 captures in sample_data, by the checkouts in turn, this one first. CPU seconds of
the first run in a new copy, which makes all machine code, and of a later one, the least of several;
and the seconds that this one took.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
ARCHIVE = HERE / "sample_data" / "heritrix-loopback.warc.gz"
PARTS = ("crawlrank", "jobs", "pipeline")
NOT_KEPT = shutil.ignore_patterns("__pycache__")


def seconds(copy: Path) -> tuple[float, float]:
    """Of the processor, and of the clock, of a run."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "NUMBA_CACHE_DIR"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    caches = {"XDG_CACHE_HOME": str(copy / "caches")}
    command = [sys.executable, "-m", "crawlrank", "run", str(ARCHIVE), "--work", str(copy / "work")]
    shutil.rmtree(copy / "work", ignore_errors=True)
    before, begun = os.times(), time.perf_counter()
    subprocess.run(command, cwd=copy, env=kept | caches, capture_output=True, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4]), time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for number, checkout in enumerate([HERE, *asked.checkouts]):
            copies[checkout] = Path(folder, str(number))
            for part in PARTS:
                shutil.copytree(
                    checkout / part, copies[checkout] / part, symlinks=True, ignore=NOT_KEPT
                )
        firsts = {checkout: seconds(copy)[0] for checkout, copy in copies.items()}
        later = [{each: seconds(copy) for each, copy in copies.items()} for _ in range(asked.runs)]
    for checkout, first in firsts.items():
        cpu, wall = min(run[checkout] for run in later)
        print(f"{checkout}: first {first:.1f}, later {cpu:.2f} CPU seconds, {wall:.2f} s")


if __name__ == "__main__":
    main()
