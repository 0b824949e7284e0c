"""What a ranking is given and what it returns: the interface of all methods of methods.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.team import BLOCK
from crawlrank.pipeline.ranking.pagerank.links import WeightedLinks
from crawlrank.pipeline.ranking.sites.graph import SiteGraph
from crawlrank.pipeline.ranking.stop import Round, Stop


@dataclass(frozen=True, eq=False)
class State:
    """What a method needs to go on behind its rounds so far. The meaning of vector and dummy is the
    method's own."""

    vector: Floats
    dummy: float
    rounds: list[Round] = field(default_factory=list)


# called after each round with its entry, all entries, and a function that copies the state, which
# is valid until the next round
OnState = Callable[[Round, list[Round], Callable[[], State]], None]


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph to rank. budget: bytes of memory. state: of an interrupted run on the same graph, to
    the same kind of stop. weights: float64[N], at least 0; their meaning is the method's: how often
    a reader starts at each page, or its relevance. perturb: see hits.py. sites: of a method that
    ranks them. combined: float64[N], the scores of one that is made of others. links: None where
    all weigh the same. block: edges, or nodes, that a thread passes at once."""

    csr: Csr
    stop: Stop
    threads: int
    budget: int
    state: State | None = None
    on_round: OnState = lambda entry, rounds, state: None
    weights: Floats | None = None
    perturb: float = 0.0
    sites: SiteGraph | None = None
    combined: Floats | None = None
    links: WeightedLinks | None = None
    block: int = BLOCK


@dataclass(frozen=True, eq=False)
class Solution:
    """scores: float64[N], at least 0. dummy: the score of the dummy node. rounds: at least one; the
    last one's certificate and eta bound the error of the scores. more: further columns, by name."""

    scores: Floats
    dummy: float
    rounds: list[Round]
    more: Mapping[str, Floats] = field(default_factory=dict)


def exact(csr: Csr, scores: Floats, dummy: float = 0.0) -> Solution:
    """The solution of a method that computes its scores without error, in one round."""
    errors = ("residual_l1", "residual_max", "certificate", "eta", "probability_certificate")
    entry: Round = {
        "round": 1,
        "nodes": csr.nodes,
        "edges": csr.edges,
        "dangling": int(np.count_nonzero(csr.outdegrees == 0)),
        "mass": float(scores.sum()) + dummy,
        **dict.fromkeys(errors, 0.0),
        "seconds": 0.0,
    }
    return Solution(scores, dummy, [entry])
