"""Visits a second of the policies of Adaptive OPIC, on a random web by the power law.

    scripts/online/bench_aopic.py [--nodes N] [--exponent X] [--sweeps K] [--json FILE]

Each policy makes K N visits. N more come before them and are not timed, since the loops compile
then. Replay gets the pages in a random order. Discovery is the policy cycle with a weight for
unread pages. Targets at 100,000 pages: cycle 10, greedy 1 million visits a second.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from crawlrank.pipeline.lab.chain import Chain
from crawlrank.pipeline.lab.partitions import PartitionedCrawl, owners_of
from crawlrank.pipeline.lab.simulation import Simulation
from crawlrank.pipeline.lab.webs import random_web

SEED = 1
TARGETS = {"cycle": 10.0, "greedy": 1.0}  # million visits a second


def policies(chain: Chain) -> dict[str, Callable[[], object]]:
    """What makes N visits by each."""
    n = chain.nodes
    order = np.random.default_rng(SEED).permutation(n)
    random, cycle, greedy, replay = (Simulation(chain, seed=SEED) for _ in range(4))
    discovering = Simulation(chain, discovery=4.0)
    partitioned = PartitionedCrawl(chain, owners_of(n, 8), 1000)
    return {
        "random": lambda: random.random(n),
        "cycle": lambda: cycle.cycle(n),
        "greedy": lambda: greedy.greedy(n),
        "replay": lambda: replay.replay(order),
        "cycle, discovery": lambda: discovering.cycle(n),
        "8 machines, cycle": partitioned.sweep,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--exponent", type=float, default=2.1)
    parser.add_argument("--sweeps", type=int, default=10, help="timed visits, times N")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    web = random_web(options.nodes, options.exponent, np.random.default_rng(SEED))
    print(f"{web.nodes:,} pages, {len(web.links):,} links\n")
    print("policy              million visits/s    target")
    speeds = {}
    for policy, sweep in policies(web.chain()).items():
        sweep()
        begin = time.perf_counter()
        for _ in range(options.sweeps):
            sweep()
        speed = options.sweeps * web.nodes / (time.perf_counter() - begin)
        speeds[policy] = speed
        target = f"{TARGETS[policy]:10.0f}" if policy in TARGETS else ""
        print(f"{policy:18}{speed / 1e6:18.1f}{target}")
    if options.json:
        about = {"nodes": web.nodes, "links": len(web.links), "visits_per_second": speeds}
        options.json.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
