"""What PageRank on a Csr leaves, and what it can go on from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pipeline.contract import Round
from pipeline.data.graph import Floats


@dataclass(frozen=True, eq=False)
class State:
    """Where the rounds told so far have got to.

    vector: after plain rounds the scores, float64[N]; after sweeps y = x / outdegree of the nodes
    with edges out, in their order, as the next sweep reads it. dummy: its score after plain rounds.
    """

    vector: Floats
    dummy: float
    rounds: list[Round] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Ranked:
    """scores: float64[N], of Heritrix's scale; with dummy they sum to N + 1."""

    scores: Floats
    dummy: float
    rounds: list[Round]


# called after each round with its entry, all entries, and how to get the state, valid until the
# next round: it costs a copy, so only who saves it asks
OnRound = Callable[[Round, list[Round], Callable[[], State]], None]
