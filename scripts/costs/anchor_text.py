"""What the words of links cost extraction, as `run --anchor-text` does it.

    python scripts/costs/anchor_text.py ARCHIVE… [--pairs 20]

CPU seconds of the step extract-links of the embedded engine, in one process that does nothing else;
the two take turns at going first. Least values, medians, and the quartiles of the ratio of the
pairs: on a busy machine the figures of one step differ by more than its words cost.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from extract_stages import written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    archives = [archive.resolve() for archive in options.archives]
    for anchors in (False, True):  # machine code is compiled
        in_new_process(archives, anchors)
    pairs = list[tuple[float, float]]()
    for number in range(options.pairs):
        order = (False, True) if number % 2 else (True, False)
        taken = {anchors: in_new_process(archives, anchors) for anchors in order}
        pairs.append((taken[False], taken[True]))
    without, with_words = zip(*pairs, strict=True)
    for name, of in (("least", min), ("median", statistics.median)):
        alone, both = of(without), of(with_words)
        print(f"{name}: {alone:.2f} s, with words {both:.2f} s: {both / alone - 1:.1%} more")
    ratios = statistics.quantiles(both / alone for alone, both in pairs)
    print("quartiles of the pairs:", *(f"{ratio - 1:.1%}" for ratio in ratios))


def in_new_process(archives: list[Path], anchors: bool) -> float:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(seconds, (archives, anchors))


def seconds(archives: list[Path], anchors: bool) -> float:
    began = time.process_time()
    written(archives, anchor_text=anchors)
    return time.process_time() - began


if __name__ == "__main__":
    main()
