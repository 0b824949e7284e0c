"""Options of classes and of OPIC: each value with its type, bounds and default, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crawlrank.jobs.kernel.formats.order import DIGITS

MAX_BINS = 125
ClassesOver = Literal["captured", "all"]
Ties = Literal["key", "links", "together"]
Policy = Literal["cycle", "random", "greedy"]
VirtualPage = Literal["teleport", "edge"]


@dataclass(frozen=True)
class CutOptions:
    """How scores are cut into classes; pipeline/ranking/classes.py has the equation.

    bins: 1 to MAX_BINS. digits: scores with the same significant digits count as equal.
    """

    bins: int = 5
    classes_over: ClassesOver = "captured"
    ties: Ties = "key"
    digits: int = DIGITS


@dataclass(frozen=True)
class OpicOptions:
    """opic_error: the certificate to reach. max_visits: in multiples of N; the policy cycle makes
    whole sweeps of N, at least one. seed: of the policy random. virtual_page: see
    pipeline/ranking/opic.py."""

    policy: Policy = "cycle"
    opic_error: float = 1e-6
    max_visits: float = 200.0
    seed: int = 0
    virtual_page: VirtualPage = "teleport"


@dataclass(frozen=True)
class ValidationOptions(CutOptions, OpicOptions):
    """Options of OPIC, and of classes as in the precedence file. digits: of PageRank's order.
    certificate: that page-rank has proved, where it is known."""

    min_agreement: float = 0.99
    certificate: float | None = None
