"""Visits a second of the OPIC policies, on a graph file or on a made web-like graph.

    python scripts/bench_opic.py [GRAPH] [--pages N] [--policies cycle,random,greedy]

The made graph: hosts of Zipf-like sizes, pages in key order so that a host's pages are
neighbours, a third of the pages dangling, geometric outdegrees, three links of four inside the
host, the others by the copying model, which gives indegrees a heavy tail.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt

from pipeline.graph import Graph, read_graph
from pipeline.opic import OpicOptions, opic


def web_like(pages: int, seed: int = 1, degree: float = 12.0) -> Graph:
    """A seeded graph of so many pages; degree is the mean outdegree of pages with links."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.zipf(1.6, pages), pages // 20 + 1)
    first = np.minimum(np.concatenate(([0], np.cumsum(sizes))), pages)
    host = np.searchsorted(first, np.arange(pages), side="right") - 1
    degrees = np.where(rng.random(pages) < 1 / 3, 0, rng.geometric(1 / degree, pages))
    sources = np.repeat(np.arange(pages), degrees)
    low, high = first[host[sources]], first[host[sources] + 1]
    targets = low + ((high - low) * rng.random(len(sources)) ** 2).astype(np.int64)
    leaving = np.flatnonzero(rng.random(len(sources)) < 1 / 4)
    targets[leaving] = _copied(rng, len(leaving), pages)
    pairs = np.unique((sources * pages + targets)[sources != targets])
    offsets = np.searchsorted(pairs, np.arange(pages + 1) * pages)
    ones, ids = np.ones(pages), np.arange(pages)
    return Graph("made", ids, ones, offsets, (pairs % pages).astype(np.int32), 1.0)


def _copied(rng: np.random.Generator, links: int, pages: int) -> npt.NDArray[np.int64]:
    """Targets by the copying model: three of four are the target of an earlier link, at random."""
    own = np.arange(links)
    earlier = (own * rng.random(links)).astype(np.int64)
    pointer = np.where(rng.random(links) < 3 / 4, earlier, own)
    while not np.array_equal(pointer[pointer], pointer):
        pointer = pointer[pointer]
    return rng.integers(pages, size=links)[pointer]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", help="a graph dataset; none: a made one")
    parser.add_argument("--pages", type=int, default=500_000, help="of the made graph")
    parser.add_argument("--sweeps", type=int, default=40, help="visits allowed, times N")
    parser.add_argument("--policies", default="cycle,random,greedy")
    options = parser.parse_args()
    begin = time.perf_counter()
    graph = read_graph(options.graph) if options.graph else web_like(options.pages)
    dangling, most = (graph.outdegrees == 0).mean(), graph.indegrees.max()
    print(f"{graph.name}: {graph.nodes:,} nodes, {graph.edges:,} edges, {dangling:.0%} dangling,")
    print(f"largest indegree {most:,}, ready in {time.perf_counter() - begin:.1f} s\n")
    print("policy      visits  seconds  million visits/s  million edges/s  certificate      eta")
    for policy in options.policies.split(","):
        chosen = OpicOptions(policy, max_visits=options.sweeps)
        result = opic(graph, chosen)
        last = result.history[-1]
        rate = last.visits / last.seconds / 1e6
        edges = rate * graph.edges / graph.nodes
        shown = f"{rate:16.1f}  {edges:15.1f}  {last.certificate:11.2g}  {last.eta:7.2g}"
        print(f"{policy:8}{last.visits:10,}  {last.seconds:7.2f}  {shown}")


if __name__ == "__main__":
    main()
