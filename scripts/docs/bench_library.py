"""The figures of docs/library.md: CPU time of the import, and of ranking a graph of 1,000 links
after the first call, which loads machine code.

    scripts/docs/bench_library.py
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

import crawlrank

LINKS, NODES, TIMES = 1000, 300, 50
IMPORT = "import time; a = time.process_time(); import crawlrank; print(time.process_time() - a)"


def import_seconds() -> float:
    """The least of some imports, each in a process of its own."""
    command = [sys.executable, "-c", IMPORT]
    return min(float(subprocess.check_output(command)) for _ in range(5))


def solve_seconds() -> float:
    """The median of some calls after the first one, in seconds of this thread."""
    ends = np.random.default_rng(1).integers(0, NODES, (2, LINKS))
    graph = (ends[0], ends[1])
    crawlrank.pagerank(graph)
    times = []
    for _ in range(TIMES):
        begin = time.thread_time()
        crawlrank.pagerank(graph)
        times.append(time.thread_time() - begin)
    return float(np.median(times))


def main() -> None:
    print(f"import crawlrank: {1000 * import_seconds():.1f} ms")
    print(f"pagerank of {LINKS:,} links: {1000 * solve_seconds():.1f} ms")


if __name__ == "__main__":
    main()
