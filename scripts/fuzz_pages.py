"""Links of mutated pages: those that the scanner decides have the links that lexbor gives.

    scripts/fuzz_pages.py --count 200000 --out work/fuzz

Pages are those of tests/support/inputs/mutated_pages.py, by seed and number. Finds go to --out: the
page itself, and what both ways gave. `--only NUMBER` reads one page again.
Exit code 1 if there is a find.
"""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fuzzing import options_of, shares_of  # noqa: E402
from support.inputs.mutated_pages import mutated_page  # noqa: E402
from support.paths import REFERENCE  # noqa: E402
from support.scanning import OPTIONS, both_ways  # noqa: E402

from crawlrank.jobs.kernel.captures.extraction_code import prepare  # noqa: E402

SHARE = 1000  # pages at a time


class Compared(NamedTuple):
    """How many pages were left to the parser, and what was found: number, page, description."""

    left: int
    finds: list[tuple[int, bytes, str]]


def compared(seed: int, numbers: range) -> Compared:
    left, finds = 0, []
    for number in numbers:
        page = mutated_page(seed, number, reference=REFERENCE.is_dir())
        options = random.Random(number).choice(OPTIONS)
        parsed, scanned = both_ways(page, options)
        left += scanned is None
        if scanned not in (None, parsed):
            what = f"{page.media_type}\n{options}\nparsed: {parsed}\nscanned: {scanned}\n"
            finds.append((number, page.body, what))
    return Compared(left, finds)


def main() -> None:
    options = options_of(__doc__.splitlines()[0], 200_000)
    shares = shares_of(options, SHARE)
    count = sum(map(len, shares))
    prepare()
    began, left, found = time.monotonic(), 0, 0
    with ProcessPoolExecutor(options.jobs) as workers:
        for result in workers.map(partial(compared, options.seed), shares):
            left, found = left + result.left, found + len(result.finds)
            for number, page, what in result.finds:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"page-{options.seed}-{number}.html").write_bytes(page)
                (options.out / f"page-{options.seed}-{number}.txt").write_text(what)
                print(f"page {number}:\n{what}", flush=True)
    seconds = time.monotonic() - began
    print(f"{count:,} pages in {seconds:.0f} s, {left:,} left to the parser; finds: {found}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
