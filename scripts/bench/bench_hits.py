"""HITS to the same error by crawlrank and others, and personalized PageRank beside plain PageRank.

    scripts/bench/bench_hits.py [--edges 1,10] [--graph pr0.txt] [--peers svds,networkx,igraph]

Seconds are the best of repeats, all in one process, one after the other; compiling and loading are
not counted. The distance is |a - a*| from the result of crawlrank at a tolerance of 1e-12. Needs
the extra `bench`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_rank import made
from rank_peers import BUDGET, edges, matrix

from crawlrank.pipeline.data.csr import open_csr
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem, Solution

TOLERANCE = 1e-9
AT_MOST = {"networkx": 20_000_000}  # edges beyond which a peer takes too long
Peer = Callable[[], Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", default="1,10", help="millions of edges of made graphs")
    parser.add_argument("--graph", type=Path, action="append", default=[], help="a graph dataset")
    parser.add_argument("--peers", default="svds,igraph,networkx")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for source in [*options.graph, *(float(part) for part in options.edges.split(",") if part)]:
        with tempfile.TemporaryDirectory(prefix="bench-hits-") as tmp:
            compared(source, Path(tmp), options)


def compared(source: Path | float, folder: Path, options: argparse.Namespace) -> None:
    about = made(source, folder)
    print(f"\n{about['name']}: {about['nodes']:,} nodes, {about['edges']:,} edges", flush=True)
    csr = open_csr(folder / "graph")

    def solve(method: str, tolerance: float, **inputs: Any) -> Solution:
        problem = Problem(csr, Stop(tolerance=tolerance), options.threads, BUDGET, inputs)
        return METHODS[method].scoring.solve(problem)

    exact = solve("hits", 1e-12)
    print(f"hits: {len(exact.rounds)} rounds to {exact.rounds[-1]['certificate']:.1e}")
    print("peer                 seconds  ratio  distance", flush=True)
    ours, _ = shown("crawlrank", lambda: solve("hits", TOLERANCE).scores, exact, options, 0.0)
    for name in [name for name in options.peers.split(",") if name]:
        if about["edges"] <= AT_MOST.get(name, about["edges"]):
            shown(name, PEERS[name](folder, about["nodes"]), exact, options, ours)
    weights = np.random.default_rng(1).uniform(size=about["nodes"])
    seeds = (weights < 1e-3).astype(float)
    plain, _ = timed(lambda: solve("pagerank", TOLERANCE), options.repeats)

    def personalized(given: Any) -> Peer:
        return lambda: solve("personalized", TOLERANCE, weights=given)

    for name, given in (("every page", weights), ("one page in 1,000", seeds)):
        seconds, _ = timed(personalized(given), options.repeats)
        print(f"personalized, {name}: {seconds:.3f} s, {seconds / plain:.2f} of plain", flush=True)


def shown(
    name: str, peer: Peer, exact: Solution, options: argparse.Namespace, ours: float
) -> tuple[float, Any]:
    seconds, scores = timed(peer, 1 if name == "networkx" else options.repeats)
    scores = np.abs(scores) / np.linalg.norm(scores)
    away = float(np.linalg.norm(scores - exact.scores))
    print(f"{name:18}{seconds:10.3f}{seconds / (ours or seconds):7.1f}{away:10.1e}", flush=True)
    return seconds, scores


def timed(work: Peer, repeats: int) -> tuple[float, Any]:
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begin)
    return best, result


def svds(folder: Path, nodes: int) -> Peer:
    """ARPACK to machine precision, its default; a tolerance of its own is about the eigenvalue."""
    from scipy.sparse.linalg import svds as of_scipy

    links = matrix(folder, nodes)
    return lambda: of_scipy(links, k=1, random_state=1)[2][0]


def networkx(folder: Path, nodes: int) -> Peer:
    import networkx as nx

    net = nx.DiGraph()
    net.add_nodes_from(range(nodes))
    net.add_edges_from(edges(folder).T.tolist())

    def hits() -> Any:
        authorities = nx.hits(net, tol=TOLERANCE)[1]
        return np.array([authorities[node] for node in range(nodes)])

    return hits


def igraph(folder: Path, nodes: int) -> Peer:
    import igraph as ig

    net = ig.Graph(n=nodes, edges=np.ascontiguousarray(edges(folder).T), directed=True)
    return lambda: np.array(net.authority_score())


PEERS: dict[str, Callable[[Path, int], Peer]] = {
    "svds": svds,
    "igraph": igraph,
    "networkx": networkx,
}

if __name__ == "__main__":
    main()
