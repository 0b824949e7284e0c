"""What a ranking is given and what it returns: the interface of all methods of methods.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crawlrank.pipeline.data.csr import BLOCK, Csr
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.options import FINAL, Round, Stop


@dataclass(frozen=True, eq=False)
class State:
    """What a method needs to continue after its rounds so far. Each method gives vector and dummy a
    meaning of its own."""

    vector: Floats
    dummy: float
    rounds: list[Round] = field(default_factory=list)


# called after each round with its entry, all entries, and a function that copies the state, which
# is valid until the next round
OnState = Callable[[Round, list[Round], Callable[[], State]], None]


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph to rank. budget: bytes of memory. inputs: what the method takes besides the graph, by
    the names in inputs.py. state: the state of an interrupted run on the same graph, with the same
    inputs and to the same kind of stop. block: edges, or nodes, that a thread passes at once.

    Inputs are `weights`, float64[N], at least 0: how often a reader starts at each page, its
    relevance, or how much it is of a topic; `topic`, a TopicLinks; `perturb`, a number; `sites`, a
    SiteGraph; `links`, a WeightedLinks; `combined`, float64[N], the scores of a ranking that is
    made of others.
    """

    csr: Csr
    stop: Stop
    threads: int
    budget: int
    inputs: Mapping[str, Any] = field(default_factory=dict)
    state: State | None = None
    on_round: OnState = lambda entry, rounds, state: None
    block: int = BLOCK


@dataclass(frozen=True, eq=False)
class Solution:
    """scores: float64[N], at least 0. dummy: the score of the dummy node. rounds: at least one; the
    last one's certificate and eta bound the error of the scores. more: further columns, by name."""

    scores: Floats
    dummy: float
    rounds: list[Round]
    more: Mapping[str, Floats] = field(default_factory=dict)


def left_for_dummy(nodes: int, total: float) -> float:
    """What the dummy node has beside N scores of this sum: with it they sum to N + 1. A vector of
    which rounds are still to come may have more; then it is 0."""
    return max(0.0, nodes + 1 - total)


def mass_of(nodes: int, total: float) -> float:
    """The sum of all scores, that of the dummy node included. total: without it."""
    return max(nodes + 1.0, total)


def exact(csr: Csr, scores: Floats, dummy: float = 0.0, eta: float = 0.0) -> Solution:
    """The solution of a method that computes its scores in one round, without error but for that of
    rounding. eta: a bound of that, relative to each score."""
    errors = ("certificate", "eta", "probability_certificate")
    entry: Round = {
        "round": 1,
        "nodes": csr.nodes,
        "edges": csr.edges,
        "dangling": int(np.count_nonzero(csr.outdegrees == 0)),
        "mass": float(scores.sum()) + dummy,
        **dict.fromkeys(("residual_l1", "residual_max"), 0.0),
        **dict.fromkeys(errors, eta),
        "probability_certificate": 2 * eta,
        FINAL: True,
        "seconds": 0.0,
    }
    return Solution(scores, dummy, [entry])
