"""Small named graphs, random ones, and exact PageRank by a dense solve, for the tests.

The oracle of most tests is `exact`: it solves the textbook Google matrix, dangling mass spread
evenly, which is another formula than the one the package iterates.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from crawlrank.jobs.kernel.rank.equation import Equation
from crawlrank.pipeline.data.csr import OFFSETS, OUTDEGREES, SOURCES, Csr, open_csr
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking.options import Round
from support.paths import DATA

Edges = Iterable[tuple[int, int]]
Numbers = npt.NDArray[np.int64]


def graph_of(nodes: int, edges: Edges, name: str = "test graph") -> Graph:
    """A graph with ids 0…nodes-1 and all scores 1."""
    pairs = np.array([*edges], np.int64).reshape(-1, 2)
    return joined(nodes, pairs[:, 0], pairs[:, 1], name)


def joined(nodes: int, sources: Numbers, targets: Numbers, name: str = "test graph") -> Graph:
    """The graph with links from sources to targets of the same places, each link once."""
    sources, targets = np.divmod(np.unique(sources * nodes + targets), nodes)
    degrees = np.bincount(sources, minlength=nodes)
    return Graph(
        name=name,
        ids=np.arange(nodes),
        scores=np.ones(nodes),
        offsets=np.concatenate(([0], np.cumsum(degrees))),
        targets=targets.astype(np.int32),
        dummy=1.0,
    )


def ldbc(name: str) -> Graph:
    """A graph of LDBC's, its nodes in the order of their names."""
    lines = (DATA / "pagerank" / f"{name}-input").read_text().splitlines()
    rows = [[int(word) for word in line.split()] for line in lines]
    place = {node: number for number, node in enumerate(sorted({n for row in rows for n in row}))}
    return graph_of(len(place), [(place[s], place[t]) for s, *targets in rows for t in targets])


def scored(graph: Graph, scores: npt.ArrayLike, dummy: float | None = None) -> Graph:
    """The graph with other scores; dummy completes them to N+1 where it is not given."""
    new = np.array(scores, float)
    rest = graph.nodes + 1 - float(new.sum()) if dummy is None else dummy
    return Graph("test ranks", graph.ids, new, graph.offsets, graph.targets, rest)


def exact_probabilities(graph: Graph) -> npt.NDArray[np.float64]:
    """Textbook PageRank: the stationary vector of the dense Google matrix."""
    n = graph.nodes
    matrix = np.zeros((n, n))
    for node in range(n):
        targets = graph.targets[graph.offsets[node] : graph.offsets[node + 1]]
        matrix[targets, node] = 1 / len(targets) if len(targets) else 0
        if not len(targets):
            matrix[:, node] = 1 / n
    google = 0.85 * matrix + 0.15 / n
    system = google - np.eye(n)
    system[-1] = 1.0  # the last balance follows from the others; probabilities sum to 1
    return np.linalg.solve(system, np.eye(n)[-1])


def exact_scores(graph: Graph) -> npt.NDArray[np.float64]:
    """The exact scores on Heritrix's scale: a node whose share of the teleport is 1/N gets 0.15 of
    it."""
    p = exact_probabilities(graph)
    dangling = p[graph.outdegrees == 0].sum()
    return np.asarray(p * 0.15 * graph.nodes / (0.15 + 0.85 * dangling))


def solved_scores(graph: Graph, equation: Equation, weights: Floats) -> Floats:
    """Scores for any damping and weights of mean 1, by numpy's linear algebra."""
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    matrix = np.eye(graph.nodes)
    np.add.at(matrix, (graph.targets, sources), -equation.damping / graph.outdegrees[sources])
    scores: Floats = np.linalg.solve(matrix, equation.base * weights)
    return scores


def rational_solution(graph: Graph) -> list[Fraction]:
    """x = 3/20 + 17/20 A x without any rounding, by Gauss and Jordan."""
    n = graph.nodes
    rows = [[Fraction(i == j) for j in range(n)] + [Fraction(3, 20)] for i in range(n)]
    for j in range(n):
        targets = graph.targets[graph.offsets[j] : graph.offsets[j + 1]].tolist()
        for i in targets:
            rows[i][j] -= Fraction(17, 20) / len(targets)
    for k in range(n):
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]


def lines_of(graph: Graph) -> list[str]:
    """The graph's lines as gen-graph and page-rank write them."""
    lines = []
    for node, score in enumerate(graph.scores.tolist()):
        targets = graph.ids[graph.targets[graph.offsets[node] : graph.offsets[node + 1]]]
        named = ",".join(map(str, targets.tolist())) or "dummy"
        lines.append(f"{graph.ids[node]}\t{score!r}\tO:{named}")
    return [*lines, f"dummy\t{graph.dummy!r}\tO:dummy"]


def write_graph(graph: Graph, path: Path) -> Path:
    path.write_text("\n".join(lines_of(graph)) + "\n")
    return path


def csr_of(graph: Graph, ids: type = np.uint32) -> Csr:
    """The graph by its incoming edges."""
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    order = np.argsort(graph.targets, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(graph.indegrees))).astype(np.int64)
    return Csr(offsets, sources[order].astype(ids), graph.outdegrees.astype(ids))


def saved(csr: Csr, folder: Path) -> Csr:
    folder.mkdir()
    for name, array in (
        (OFFSETS, csr.offsets),
        (SOURCES, csr.sources),
        (OUTDEGREES, csr.outdegrees),
    ):
        np.save(folder / name, array)
    return open_csr(folder)


def untimed(rounds: list[Round]) -> list[Round]:
    """Entries of rounds without what no two runs share."""
    return [{**entry, "seconds": 0} for entry in rounds]


def cycle(n: int) -> Graph:
    return joined(n, np.arange(n), (np.arange(n) + 1) % n)


def clique(n: int) -> Graph:
    return graph_of(n, ((i, j) for i in range(n) for j in range(n) if i != j))


def star(n: int) -> Graph:
    """n - 1 leaves that point to node 0, which points to nothing."""
    return joined(n, np.arange(1, n), np.zeros(n - 1, np.int64))


def chain(n: int) -> Graph:
    """0 -> 1 -> … -> n-1, which dangles."""
    return joined(n, np.arange(n - 1), np.arange(1, n))


def two_components() -> Graph:
    """A cycle of three, and two nodes that point to each other."""
    return graph_of(5, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)])


NAMED = {
    "one page": graph_of(1, []),
    "all dangling": graph_of(6, []),
    "cycle": cycle(7),
    "clique": clique(5),
    "star": star(8),
    "chain": chain(6),
    "two components": two_components(),
}


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12) -> Graph:
    """Any small graph: dangling nodes, isolated nodes and several components included."""
    n = draw(st.integers(1, max_nodes))
    nodes = st.integers(0, n - 1)
    edges = draw(st.sets(st.tuples(nodes, nodes), max_size=3 * n))
    return graph_of(n, ((s, t) for s, t in edges if s != t))


def web_like(nodes: int, seed: int, degree: float = 6.0) -> Graph:
    """Random, with a few hubs and many pages without links: heavier tails than `graphs` gives."""
    rng = np.random.default_rng(seed)
    degrees = np.where(rng.random(nodes) < 0.3, 0, rng.geometric(1 / degree, nodes))
    sources = np.repeat(np.arange(nodes), degrees)
    targets = (nodes * rng.random(len(sources)) ** 3).astype(int)
    others = sources != targets
    return joined(nodes, sources[others], targets[others])


def published(name: str) -> tuple[Graph, npt.NDArray[np.float64]]:
    """An LDBC graph and its published probabilities, by ascending id."""
    rows = [
        line.split()
        for line in (DATA / "pagerank" / f"{name}-input").read_text().splitlines()
        if line
    ]
    ids = sorted(int(row[0]) for row in rows)
    place = {node: position for position, node in enumerate(ids)}
    edges = [(place[int(s)], place[int(t)]) for s, *targets in rows for t in targets]
    output = DATA / "pagerank" / (f"{name}-PR" if name.startswith("example") else f"{name}-output")
    values = dict(line.split() for line in output.read_text().splitlines() if line)
    return graph_of(len(ids), edges), np.array([float(values[str(node)]) for node in ids])
