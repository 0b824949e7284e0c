"""Harmonic centrality of sites as a ranking of pages: a page has the columns of its site.

A site links to another one if a page of it does. Memory: that of the graph of sites, and 24 bytes a
page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from crawlrank.pipeline.data.csr import Csr, Ids, id_type
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.harmonic import method
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.sites import SiteGraph, spread
from crawlrank.pipeline.ranking.solution import OnState, Problem, Solution, State

base = method.base


def solve(problem: Problem) -> Solution:
    sites: SiteGraph = problem.inputs["sites"]
    kind: Any = id_type(sites.nodes)
    outdegrees: Ids = np.bincount(sites.sources, minlength=sites.nodes).astype(kind)
    csr = Csr(sites.offsets, sites.sources.astype(kind), outdegrees)
    done = method.solve(replace(problem, csr=csr, on_round=_told(problem, csr)))
    columns = {name: _spread(sites, column) for name, column in done.more.items()}
    rounds = [_of_pages(entry, problem, csr) for entry in done.rounds]
    return Solution(_spread(sites, done.scores), 0.0, rounds, columns)


def _told(problem: Problem, csr: Csr) -> OnState:
    """Tells of rounds on sites as of those of pages."""

    def on_round(entry: Round, rounds: list[Round], state: object) -> None:
        of_pages = [_of_pages(each, problem, csr) for each in rounds]
        problem.on_round(of_pages[-1], of_pages, lambda: State(np.zeros(0), 0.0, of_pages))

    return on_round


def _of_pages(entry: Round, problem: Problem, csr: Csr) -> Round:
    counts = {"nodes": problem.csr.nodes, "edges": problem.csr.edges}
    return {**entry, **counts, "sites": csr.nodes, "site_edges": csr.edges}


def _spread(sites: SiteGraph, column: Floats) -> Floats:
    of_pages = np.empty(len(sites.of_pages))
    spread(sites.of_pages, column, of_pages)
    return of_pages


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """0: a link between pages adds to the score of a site, and not to that of its target alone."""
    return np.zeros(len(scores))
