"""What the words of links cost extraction: the command extract-links with --anchors and without.

    python scripts/costs/anchor_text.py ARCHIVE… [--pairs 20]

CPU seconds of the whole command in one process, with Parquet as output; the two take turns at going
first. Medians, and the quartiles of the ratio of the pairs: on a busy machine the figures of one
command differ by more than its words cost.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    archives = [archive.resolve() for archive in options.archives]
    for anchors in (False, True):  # machine code is compiled
        seconds(archives, anchors)
    pairs = list[tuple[float, float]]()
    for number in range(options.pairs):
        taken = {anchors: seconds(archives, anchors) for anchors in (number % 2, 1 - number % 2)}
        pairs.append((taken[0], taken[1]))
    without, with_words = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = statistics.quantiles(words / alone for alone, words in pairs)
    print(f"{without:.2f} s, with words {with_words:.2f} s: {with_words / without - 1:.1%} more")
    print("quartiles of the pairs:", *(f"{ratio - 1:.1%}" for ratio in ratios))


def seconds(archives: list[Path], anchors: int) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [*archives, "--output", folder / "links.parquet"]
        words += ["--captures", folder / "captures.parquet", "--quiet", "--jobs", 1]
        words += ["--anchors", folder / "anchors.parquet"] if anchors else []
        command = [sys.executable, "-m", "crawlrank", "step", "extract-links", *map(str, words)]
        before = os.times()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


if __name__ == "__main__":
    main()
