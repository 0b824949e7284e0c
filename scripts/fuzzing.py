"""Options and shares of work of the scripts that read drawn inputs in several processes."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def options_of(description: str, count: int) -> argparse.Namespace:
    """The options of the command line. count: how many inputs are read by default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--out", type=Path, default=Path("work/fuzz"))
    return parser.parse_args()


def shares_of(options: argparse.Namespace, size: int) -> list[range]:
    """The numbers of the inputs, in ranges of at most `size`."""
    first, count = (0, options.count) if options.only is None else (options.only, 1)
    end = first + count
    return [range(begin, min(begin + size, end)) for begin in range(first, end, size)]
