"""Visits a second of the OPIC policies, on a graph file or on a made web-like graph.

    scripts/bench/bench_opic.py [GRAPH] [--edges N] [--policies cycle,random,greedy] [--json FILE]

The made graph is that of synthetic.py.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from synthetic import web_like

from crawlrank.pipeline.data.graph import Graph, read_graph
from crawlrank.pipeline.ranking.opic import opic
from crawlrank.pipeline.ranking.options import OpicOptions


def made(edges: int) -> Graph:
    """A seeded graph of this number of edges, all scores 1."""
    nodes, sources, targets = web_like(edges)
    offsets = np.searchsorted(sources, np.arange(nodes + 1))
    return Graph(
        "made", np.arange(nodes), np.ones(nodes), offsets, targets.astype(np.int32), dummy=1.0
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", help="a graph dataset; none: a made one")
    parser.add_argument("--edges", type=int, default=4_000_000, help="of the made graph")
    parser.add_argument("--sweeps", type=int, default=40, help="visits allowed, times N")
    parser.add_argument("--policies", default="cycle,random,greedy")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    options = parser.parse_args()
    begin = time.perf_counter()
    graph = read_graph(options.graph) if options.graph else made(options.edges)
    dangling, most = (graph.outdegrees == 0).mean(), graph.indegrees.max()
    print(f"{graph.name}: {graph.nodes:,} nodes, {graph.edges:,} edges, {dangling:.0%} dangling,")
    print(f"largest indegree {most:,}, ready in {time.perf_counter() - begin:.1f} s\n")
    print("policy      visits  seconds  million visits/s  million edges/s  certificate      eta")
    rows = []
    for policy in options.policies.split(","):
        chosen = OpicOptions(policy, max_visits=options.sweeps)
        result = opic(graph, chosen)
        last = result.history[-1]
        rate = last.visits / last.seconds / 1e6
        edges = rate * graph.edges / graph.nodes
        shown = f"{rate:16.1f}  {edges:15.1f}  {last.certificate:11.2g}  {last.eta:7.2g}"
        print(f"{policy:8}{last.visits:10,}  {last.seconds:7.2f}  {shown}")
        rows.append(
            {
                "policy": policy,
                "visits": last.visits,
                "seconds": last.seconds,
                "certificate": last.certificate,
            }
        )
    if options.json:
        about = {"nodes": graph.nodes, "edges": graph.edges, "policies": rows}
        options.json.write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
