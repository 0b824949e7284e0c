"""Rankings of graphs in memory, with the algorithms and the defaults of the command.

A graph is a scipy.sparse matrix, whose entry (i, j) is a link from node i to node j; a tuple of two
integer arrays (sources, targets), with weights as a third; an Arrow table, or a data frame of
pandas or polars, with the columns source, target and perhaps weight; a graph of networkx or igraph;
or the path of a file that `crawlrank run` takes for a graph, without its weights. Nodes of arrays
are numbered from 0. In tables, strings and integers are labels. In files labels are strings.

As in the command, a repeated edge counts once, and an edge of a node to itself does not count. With
weights, repeated edges add up, and edges of weight 0 do not count. All nodes are ranked, as with
`--nodes all`. Every function raises BadInput for a graph that it cannot rank.

>>> import crawlrank
>>> result = crawlrank.pagerank(([0, 1, 2, 3], [1, 2, 0, 0]))
>>> result.converged, result.scores.round(3).tolist()
(True, [1.33, 1.281, 1.239, 0.15])
>>> result.probabilities().round(3).tolist()
[0.333, 0.32, 0.31, 0.038]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.shortage import naming_shortages
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.library.input_graphs import InputGraph, input_graph, is_of
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of
from crawlrank.pipeline.ranking.inputs import LEAST_LOG2M, MOST_LOG2M, PERTURB
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.sites import SiteGraph
from crawlrank.pipeline.ranking.solution import Problem, Solution

if TYPE_CHECKING:
    import pyarrow as pa

    from crawlrank.pipeline.ranking.options import Round


@dataclass(frozen=True, eq=False)
class RankingResult:
    """The scores of a graph of N nodes and E edges.

    method: name of the ranking. scores: float64[N], by id, at least 0. labels: of the nodes, by
    id; None where the ids are the labels. dummy: score of the artificial page `dummy`, which
    collects what pages without links pass on. rounds: the entries of all rounds. more: further
    columns float64[N] by name, such as `hubs`. tolerance: what was asked for. self_loops,
    duplicates: edges that were left out.
    """

    method: str
    scores: Floats
    labels: Sequence[Any] | None
    dummy: float
    rounds: Sequence[Round]
    tolerance: float
    more: Mapping[str, Floats] = field(default_factory=dict)
    self_loops: int = 0
    duplicates: int = 0

    @property
    def nodes(self) -> int:
        return len(self.scores)

    @property
    def edges(self) -> int:
        """Distinct edges that count."""
        return int(self.rounds[-1]["edges"])

    @property
    def certificate(self) -> float:
        """Bound of the sum of all errors, relative to the sum of the scores. 0: exact."""
        return float(self.rounds[-1]["certificate"])

    @property
    def converged(self) -> bool:
        """Whether the certificate is at most the tolerance, or no further round can lower it."""
        return Stop(tolerance=self.tolerance).reached([*self.rounds])

    @property
    def bounds(self) -> Bounds:
        return bounds_of(self.rounds[-1])

    @property
    def eta(self) -> float:
        """Bound of the error of each score, relative to the exact score; infinite if unknown."""
        return self.bounds.eta

    @property
    def absolute(self) -> float:
        """Bound of the error of each score, in the unit of scores."""
        return self.bounds.absolute

    @property
    def probability_error(self) -> float:
        """Bound of the sum of the errors of all probabilities."""
        return float(self.rounds[-1]["probability_certificate"])

    def probabilities(self) -> Floats:
        """float64[N] of sum 1: the scores divided by their sum, without dummy.

        For pagerank these are the probabilities of the usual definition, in which a page without
        links passes its score to all pages alike; for personalized and trustrank, to all pages by
        their weights. All 0 if all scores are 0.
        """
        total = float(self.scores.sum())
        return self.scores / total if total else np.zeros(self.nodes)

    @cached_property
    def _ids(self) -> Mapping[Any, int]:
        return {label: at for at, label in enumerate(self.labels or ())}

    def __getitem__(self, label: Any) -> float:
        """The score of a node, by its label. Raises BadInput for a node that is not there."""
        known = self._ids.get(label) if self.labels is not None else label
        if not isinstance(known, int | np.integer) or not 0 <= known < self.nodes:
            raise BadInput("graph", f"no node {label!r}", "the label of a node")
        return float(self.scores[known])

    def __len__(self) -> int:
        return self.nodes

    def __repr__(self) -> str:
        return (
            f"<{self.method} of {self.nodes:,} nodes and {self.edges:,} edges,"
            f" certificate {self.certificate:.1e}>"
        )

    def as_dict(self) -> dict[Any, float]:
        """The score of each label, in the order of the ids."""
        labels = range(self.nodes) if self.labels is None else self.labels
        return dict(zip(labels, self.scores.tolist(), strict=True))

    def best(self, count: int = 10) -> list[tuple[Any, float]]:
        """The nodes of the highest scores, best first, as (label, score); ties by id."""
        order = np.argsort(-self.scores, kind="stable")[:count].tolist()
        labels = range(self.nodes) if self.labels is None else self.labels
        return [(labels[at], float(self.scores[at])) for at in order]

    def table(self) -> pa.Table:
        """The columns node (label), score and those of `more`, by id. `.to_pandas()` of it, or
        `polars.from_arrow`, give data frames. Raises BadInput for labels of several types."""
        import pyarrow as pa  # only for tables

        labels = np.arange(self.nodes) if self.labels is None else list(self.labels)
        try:
            column = pa.array(labels)
        except pa.ArrowException as error:
            what, cure = f"labels of which Arrow makes no column ({error})", "Take as_dict()."
            raise BadInput("table", what, "labels of one type", cure) from error
        return pa.table({"node": column, "score": self.scores, **self.more})


NodeWeights = Mapping[Any, float] | npt.ArrayLike
MOST_SEED = 2**63 - 1
SHOWN = ("hubs", "reach", "closeness")  # columns of a solution that a result has
NEUTRAL_RELEVANCE = METHODS["opic-hits"].unnamed


class _Solving(NamedTuple):
    """How to solve: when to stop, and the threads, on whose number the last bits depend."""

    stop: Stop
    threads: int


@naming_shortages()
def pagerank(
    graph: Any,
    *,
    nodes: int | None = None,
    weighted: bool | None = None,
    tolerance: float = Stop.tolerance,
    iterations: int | None = None,
    max_rounds: int = Stop.max_rounds,
    threads: int = 1,
) -> RankingResult:
    """PageRank: x_i = 0.15 + 0.85 * sum over links j->i of x_j / outdegree_j.

    The N scores and `dummy`, which collects 0.85 of what nodes without links have, sum to N + 1.
    With weights, a node shares its score by the weights of its links. For scores of sum 1 see
    RankingResult.probabilities.

    nodes: number of nodes, for a graph of two arrays (default: the highest id and 1). weighted:
    whether links have weights (default: if a third array or a column `weight` is given). tolerance:
    bound to reach of the sum of all errors, relative to the sum of the scores. iterations: exactly
    this number of plain rounds instead, as `--iterations` does. max_rounds: rounds that the
    tolerance may take; result.converged says whether they were enough."""
    given = input_graph(graph, nodes=nodes, weighted=weighted)
    solving = _solving(tolerance, iterations, max_rounds, threads)
    if given.weights is None:
        return _ranked("pagerank", given, solving)
    sites = SiteGraph(
        given.csr.offsets,
        given.csr.sources.astype(np.int64),
        given.weights,
        np.arange(given.csr.nodes),
    )
    return _ranked("site", given, solving, sites=sites)


@naming_shortages()
def personalized(
    graph: Any,
    weights: NodeWeights,
    *,
    nodes: int | None = None,
    tolerance: float = Stop.tolerance,
    iterations: int | None = None,
    max_rounds: int = Stop.max_rounds,
    threads: int = 1,
) -> RankingResult:
    """PageRank with readers who start anew at chosen nodes.

    weights: how often they start at each node, at least 0 and not all 0: a dict by label, in which
    a missing node has 0, or float64[N]. For the other parameters see pagerank.
    """
    given = _unweighted(graph, nodes)
    column = _node_weights("weights", weights, given, METHODS["personalized"].unnamed)
    solving = _solving(tolerance, iterations, max_rounds, threads)
    return _ranked("personalized", given, solving, weights=column)


@naming_shortages()
def trustrank(
    graph: Any,
    seeds: Iterable[Any],
    *,
    nodes: int | None = None,
    tolerance: float = Stop.tolerance,
    iterations: int | None = None,
    max_rounds: int = Stop.max_rounds,
    threads: int = 1,
) -> RankingResult:
    """TrustRank: PageRank with readers who start anew only at trusted nodes, equally often at each.

    seeds: labels of the trusted nodes. For the other parameters see pagerank.
    """
    given = _unweighted(graph, nodes)
    column = _node_weights("seeds", dict.fromkeys(seeds, 1.0), given, 0.0)
    solving = _solving(tolerance, iterations, max_rounds, threads)
    return _ranked("trustrank", given, solving, weights=column)


@naming_shortages()
def hits(
    graph: Any,
    *,
    relevance: NodeWeights | None = None,
    perturb: float = PERTURB.default,
    nodes: int | None = None,
    tolerance: float = Stop.tolerance,
    iterations: int | None = None,
    max_rounds: int = Stop.max_rounds,
    threads: int = 1,
) -> RankingResult:
    """HITS: scores are authorities, result.more["hubs"] has the hubs, both of Euclidean length 1.

    relevance: of each node, 0 to 1 (default: 1): a dict by label, in which a missing node has 0, or
    float64[N]. perturb: added to every entry of the matrix of links, so that a graph of several
    parts has one solution. Raises BadInput for a graph with several solutions. For the other
    parameters see pagerank; the certificate bounds the length of the error.
    """
    given = _unweighted(graph, nodes)
    column = _optional_weights("relevance", relevance, given, METHODS["hits"].unnamed)
    if not isinstance(perturb, Real):
        raise BadInput("perturb", _shown(perturb), "a number")
    solving = _solving(tolerance, iterations, max_rounds, threads)
    return _ranked("hits", given, solving, weights=column, perturb=perturb)


@naming_shortages()
def opic(
    graph: Any,
    *,
    nodes: int | None = None,
    tolerance: float = Stop.tolerance,
    iterations: int | None = None,
    max_rounds: int = Stop.max_rounds,
) -> RankingResult:
    """OPIC: the cash that passes through each node, on the scale on which a node that nothing links
    to has 1. For the parameters see pagerank."""
    given = _unweighted(graph, nodes)
    return _ranked("opic", given, _solving(tolerance, iterations, max_rounds, 1))


@naming_shortages()
def opic_hits(
    graph: Any,
    *,
    relevance: NodeWeights | None = None,
    nodes: int | None = None,
    tolerance: float = Stop.tolerance,
    iterations: int | None = None,
    max_rounds: int = Stop.max_rounds,
) -> RankingResult:
    """OPIC with cash for authorities and for hubs; result.more["hubs"] has the hubs.

    relevance: of each node, 0 to 1 (default: 0.5, also of a node that a dict does not name): a dict
    by label, or float64[N]. For the other parameters see pagerank.
    """
    given = _unweighted(graph, nodes)
    column = _optional_weights("relevance", relevance, given, NEUTRAL_RELEVANCE)
    solving = _solving(tolerance, iterations, max_rounds, 1)
    return _ranked("opic-hits", given, solving, weights=column)


@naming_shortages()
def degree(graph: Any, *, nodes: int | None = None) -> RankingResult:
    """Indegree: the number of nodes that link to each node. Exact."""
    given = _unweighted(graph, nodes)
    return _ranked("degree", given, _Solving(Stop(), 1))


@naming_shortages()
def harmonic(
    graph: Any,
    *,
    nodes: int | None = None,
    log2m: int | None = None,
    seed: int = 0,
    max_rounds: int = Stop.max_rounds,
    threads: int = 1,
) -> RankingResult:
    """Harmonic centrality: the sum over all other nodes y of 1 / d(y, x), d being the number of
    links of the shortest path from y to x. result.more has `reach`, from how many nodes there is
    one, and `closeness`, 1 / (the sum of these d).

    log2m: HyperBall with 2^log2m registers a node, 6 to 14; then result.eta is three times the
    standard deviation of a score, relative to it. None: exact distances, and HyperBall for large
    graphs. seed: of its hash. max_rounds: the longest path that
    HyperBall may find.
    """
    given = _unweighted(graph, nodes)
    if log2m is not None:
        log2m = _whole("log2m", log2m, LEAST_LOG2M, MOST_LOG2M)
    seed = _whole("seed", seed, 0, MOST_SEED)
    solving = _solving(Stop.tolerance, None, max_rounds, threads)
    return _ranked("harmonic", given, solving, log2m=log2m, seed=seed)


def _unweighted(graph: Any, nodes: int | None) -> InputGraph:
    """Raises BadInput for weights of links, which only pagerank takes."""
    given = input_graph(graph, nodes=nodes)
    if given.weights is not None:
        cure = "Leave out the third array, or the column weight."
        raise BadInput("graph", "links with weights", "links without: pagerank takes weights", cure)
    return given


def _solving(tolerance: float, iterations: int | None, max_rounds: int, threads: int) -> _Solving:
    """Raises BadInput for numbers that the options of the command refuse."""
    if not isinstance(tolerance, Real) or not tolerance > 0:
        raise BadInput("tolerance", _shown(tolerance), "a number above 0")
    if iterations is not None:
        iterations = _whole("iterations", iterations, 1)
    stop = Stop(iterations, tolerance, _whole("max_rounds", max_rounds, 1))
    return _Solving(stop, _whole("threads", threads, 1))


def _whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Raises BadInput for what is no whole number within these bounds."""
    is_whole = isinstance(value, Real) and not isinstance(value, bool) and value % 1 == 0
    if is_whole and least <= value and (most is None or value <= most):
        return int(value)
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise BadInput(name, _shown(value), f"a whole number {bounds}")


def _shown(value: Any) -> str:
    return f"{value}" if isinstance(value, Real) else f"{value!r:.60}"


def _optional_weights(
    name: str, given: NodeWeights | None, graph: InputGraph, missing: float
) -> Floats | None:
    return None if given is None else _node_weights(name, given, graph, missing)


def _node_weights(name: str, given: NodeWeights, graph: InputGraph, missing: float) -> Floats:
    """float64[N]. Raises BadInput for labels that are not in the graph, and for other lengths."""
    count = graph.csr.nodes
    if not (isinstance(given, Mapping) or (is_of(given, "pandas") and hasattr(given, "items"))):
        column = _number(name, given)
        if column.shape != (count,):
            raise BadInput(name, f"an array of the shape {column.shape}", f"({count},)")
        return _finite(name, column)
    known = range(count) if graph.labels is None else graph.labels
    ids = {label: at for at, label in enumerate(known)}
    column = np.full(count, missing)
    for label, weight in cast(Mapping[Any, float], given).items():
        if label not in ids:
            raise BadInput(f"{name}[{label!r}]", "no node of the graph", "the label of a node")
        number = _number(f"{name}[{label!r}]", weight)
        if number.ndim:
            raise BadInput(f"{name}[{label!r}]", _shown(weight), "one number")
        column[ids[label]] = number
    return _finite(name, column)


def _number(name: str, given: Any) -> npt.NDArray[np.float64]:
    """A number, or several. Raises BadInput for anything else."""
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise BadInput(name, _shown(given), "a finite number of at least 0") from None


def _finite(name: str, column: Floats) -> Floats:
    wrong = ~(np.isfinite(column) & (column >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise BadInput(f"{name}, node {at}", f"{column[at]:g}", "a finite number of at least 0")
    if not column.any():
        raise BadInput(name, "0 for all nodes", "a number above 0 for one of them")
    return column


def _ranked(
    method: str,
    graph: InputGraph,
    solving: _Solving,
    **inputs: Any,
) -> RankingResult:
    """The only place that calls a method. inputs: of the method, by the names in
    ranking/inputs.py."""
    budget = half_of_machine().budget
    problem = Problem(graph.csr, solving.stop, solving.threads, budget, inputs)
    solution: Solution = METHODS[method].scoring.solve(problem)
    return RankingResult(
        "pagerank" if "sites" in inputs else method,
        solution.scores,
        graph.labels,
        float(solution.dummy),
        solution.rounds,
        solving.stop.tolerance,
        {name: column for name, column in solution.more.items() if name in SHOWN},
        graph.self_loops,
        graph.duplicates,
    )
