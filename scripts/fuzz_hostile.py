"""Whether drawn archives are read in time: parts of the hostile inputs of all grammars, mixed.

    scripts/fuzz_hostile.py --count 15000 --out work/fuzz

Archives are those of tests/support/inputs/hostile.py, by seed and number, each of at most 64 KiB of
gzip. One that takes longer than 5 seconds of CPU, or more on a slow machine, goes to --out. `--only
NUMBER` reads one again. Prints what the slowest took. Exit code 1 if there is a find.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fuzzing import options_of, shares_of  # noqa: E402
from support.inputs.hostile import drawn, is_too_long, read, seconds  # noqa: E402

from crawlrank.jobs.kernel.captures.extraction_code import prepare  # noqa: E402

SHARE, MOST = 100, 1 << 20  # archives at a time, bytes of each


def took(seed: int, numbers: range) -> list[tuple[float, int]]:
    """CPU seconds of each."""
    of_each = []
    for number in numbers:
        data = drawn(seed, number, MOST)
        of_each.append((seconds(partial(read, data)), number))
    return of_each


def main() -> None:
    options = options_of(__doc__.splitlines()[0], 15_000)
    shares = shares_of(options, SHARE)
    count = sum(map(len, shares))
    prepare()
    began, slowest, finds = time.monotonic(), (0.0, 0), 0
    with ProcessPoolExecutor(options.jobs) as workers:
        for of_each in workers.map(partial(took, options.seed), shares):
            slowest = max(slowest, *of_each)
            for cpu, number in of_each:
                if is_too_long(cpu):
                    finds += 1
                    options.out.mkdir(parents=True, exist_ok=True)
                    path = options.out / f"hostile-{options.seed}-{number}.warc"
                    path.write_bytes(drawn(options.seed, number, MOST))
                    print(f"{path}: {cpu:.1f} s", flush=True)
    wall = time.monotonic() - began
    cpu, number = slowest
    print(f"{count:,} archives in {wall:.0f} s; the slowest, {number}, {cpu:.2f} s; finds: {finds}")
    sys.exit(bool(finds))


if __name__ == "__main__":
    main()
