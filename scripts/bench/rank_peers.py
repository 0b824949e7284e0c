"""Who is compared by bench_rank.py: each function loads a graph and returns how to rank it.

A peer gets the folder of an input (edges.npy int64[2, E], sources and targets sorted by source;
graph/, the same as a Csr; edges.parquet, columns source and target), the nodes and the threads.
What it returns is called with a tolerance, and gives probabilities, or scores; their scale is of no
matter to the bound. Those that stop by a rule of their own take that rule for a certified tolerance
t where it can be derived: textbook steps shrink by 0.85, so steps below 0.15/0.85 t in sum will do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.csr import Csr, open_csr
from crawlrank.pipeline.engines.embedded.gen_graph import write_graph
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.pagerank.method import solve
from crawlrank.pipeline.ranking.solution import Problem

Floats = npt.NDArray[np.float64]
Ranker = Callable[[float], Floats]
STEP = 0.15 / 0.85  # of the tolerance
BUDGET = 2 << 30


def edges(folder: Path) -> Any:
    return np.load(folder / "edges.npy")


def matrix(folder: Path, nodes: int) -> Any:
    """Sources by targets, ones."""
    from scipy.sparse import csr_array

    sources, targets = edges(folder)
    return csr_array((np.ones(len(sources)), (sources, targets)), (nodes, nodes))


def crawlrank(folder: Path, nodes: int, threads: int) -> Ranker:
    csr = open_csr(folder / "graph")
    return lambda tolerance: solve(Problem(csr, Stop(tolerance=tolerance), threads, BUDGET)).scores


def igraph(folder: Path, nodes: int, threads: int) -> Ranker:
    """PRPACK, which has a tolerance of its own: 1e-10, not to be set."""
    graph = _igraph(nodes, np.ascontiguousarray(edges(folder).T))
    return lambda tolerance: np.array(graph.pagerank(damping=0.85, implementation="prpack"))


def _igraph(nodes: int, pairs: Any) -> Any:
    import igraph as ig

    return ig.Graph(n=nodes, edges=pairs, directed=True)


def scipy(folder: Path, nodes: int, threads: int) -> Ranker:
    """Power iteration, dangling probability spread evenly."""
    links = matrix(folder, nodes)
    outdegrees = np.diff(links.indptr)
    share, dangling = 1 / np.maximum(outdegrees, 1), outdegrees == 0
    incoming = links.T.tocsr()

    def power(tolerance: float) -> Floats:
        x, step = np.full(nodes, 1 / nodes), 1.0
        while step > STEP * tolerance:
            new = 0.85 * (incoming @ (x * share) + x[dangling].sum() / nodes) + 0.15 / nodes
            x, step = new, np.abs(new - x).sum()
        return x

    return power


def networkx(folder: Path, nodes: int, threads: int) -> Ranker:
    """Its tolerance is of the sum of steps, divided by N."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    sources, targets = edges(folder).tolist()
    graph.add_edges_from(zip(sources, targets, strict=True))

    def ranked(tolerance: float) -> Floats:
        found = nx.pagerank(graph, 0.85, tol=STEP * tolerance / nodes, max_iter=1000)
        return np.fromiter(found.values(), float, nodes)

    return ranked


def fast_pagerank(folder: Path, nodes: int, threads: int) -> Ranker:
    """Its tolerance is of the Euclidean norm of a step, from which none of the sum follows but by
    sqrt(N); a hundredth of the tolerance has been enough, and the certificate tells."""
    from fast_pagerank import pagerank_power
    from scipy.sparse import csr_matrix

    links = csr_matrix(matrix(folder, nodes))
    return lambda tolerance: np.asarray(pagerank_power(links, p=0.85, tol=tolerance / 100))


def jobs(folder: Path, nodes: int, threads: int) -> Ranker:
    """The page_rank job on the local runner, rounds to the tolerance."""
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.pipeline.data.graph import read_graph
    from crawlrank.pipeline.engines.text.rounds import rank as rank_by_jobs

    sources, targets = edges(folder)
    place = folder / "pr0.txt"
    with place.open("w") as file:
        for node, group in enumerate(np.split(targets, np.searchsorted(sources, range(1, nodes)))):
            named = ",".join(map(str, group.tolist())) or "dummy"
            file.write(f"{node}\t1.0\tO:{named}\n")
        file.write("dummy\t1.0\tO:dummy\n")

    def ranked(tolerance: float) -> Floats:
        with tempfile.TemporaryDirectory(dir=folder) as tmp:
            (Path(tmp) / "tmp").mkdir()
            launcher = Launcher("local", Path(tmp) / "tmp", processes=threads)
            stop = Stop(tolerance=tolerance / 2)  # of scores; of probabilities it is up to twice
            found, _ = rank_by_jobs(place, Path(tmp) / "ranks", launcher, stop)
            return read_graph(found).scores

    return ranked


def crawlrank_parquet(folder: Path, nodes: int, threads: int) -> Ranker:
    """From Parquet to scores, the graph on disk included."""
    import pyarrow.parquet as pq

    def pairs(part: int) -> Any:
        file = pq.ParquetFile(folder / "edges.parquet")
        for group in range(part, file.num_row_groups, threads):
            table = file.read_row_group(group)
            yield table["target"].to_numpy(), table["source"].to_numpy()

    def both(tolerance: float) -> Floats:
        with tempfile.TemporaryDirectory(dir=folder) as tmp:
            graph, rest = Path(tmp) / "graph", Path(tmp)
            streams = [pairs(part) for part in range(threads)]
            write_graph(streams, nodes, graph, budget=BUDGET, tmp=rest, threads=threads)
            csr: Csr = open_csr(graph)
            return solve(Problem(csr, Stop(tolerance=tolerance), threads, BUDGET)).scores

    return both


def igraph_parquet(folder: Path, nodes: int, threads: int) -> Ranker:
    """From Parquet to probabilities, by the fastest way into igraph: an array of pairs."""
    import pyarrow.parquet as pq

    def both(tolerance: float) -> Floats:
        table = pq.read_table(folder / "edges.parquet")
        columns = [table[name].to_numpy() for name in ("source", "target")]
        graph = _igraph(nodes, np.column_stack(columns))
        return np.array(graph.pagerank(damping=0.85, implementation="prpack"))

    return both


RANKING = {
    peer.__name__: peer for peer in (crawlrank, igraph, scipy, fast_pagerank, networkx, jobs)
}
WITH_LOADING = {peer.__name__: peer for peer in (crawlrank_parquet, igraph_parquet)}
