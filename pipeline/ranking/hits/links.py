"""The links as a matrix: M = (L + eps) R^(1/2), with L_ij = 1 for an edge i->j, R the relevance.

A hub vector has a number for each row. Rows are the nodes with edges out; all nodes where eps adds
something to each. Memory: 16 bytes a row for each thread, and, where they fit, 4 bytes an edge for
the rows of sources; otherwise sources are read where they lie, and all nodes are rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.csr import Ids, id_type
from crawlrank.pipeline.data.graph import Floats, Mask, Targets
from crawlrank.pipeline.data.team import Team, read_only
from crawlrank.pipeline.ranking.hits.kernels import (
    carefully,
    gather,
    join_hubs,
    row_numbers,
    there_and_back,
)
from crawlrank.pipeline.ranking.structure.component_loops import flatten


class Links:
    """relevance: float64[1] or float64[N]. perturb: eps. budget: bytes for the rows of sources.
    wanted: what sums may be wrong by, relative."""

    def __init__(
        self, team: Team, relevance: Floats, perturb: float, *, budget: int, wanted: float
    ) -> None:
        self.team, self.relevance, self.perturb = team, relevance, perturb
        compact = not perturb and 4 * team.edges + 4 * team.nodes <= budget
        self.nodes = np.flatnonzero(team.outdegrees) if compact else np.arange(team.nodes)
        self._rows: Ids = self._placed() if compact else team.sources
        self._compact = compact
        ends = np.linspace(0, team.edges, team.threads + 1)[1:-1]
        self._cuts = [0, *np.searchsorted(team.offsets, ends).tolist(), team.nodes]
        self._pairs = [np.zeros((len(self.nodes), 2)) for _ in range(team.threads)]
        terms, most = int(np.diff(team.offsets).max()), int(team.outdegrees.max())
        many = UNIT * terms > wanted  # then sums over the edges to a node are taken in two parts
        self._loop = carefully if many else there_and_back
        self.doubt = UNIT * ((0 if many else terms) + most + 2 * team.threads + 16)

    def _placed(self) -> Ids:
        kind = id_type(len(self.nodes))
        row_of: Any = np.zeros(self.team.nodes, kind)
        row_of[self.nodes] = np.arange(len(self.nodes), dtype=kind)
        rows: Any = np.empty(self.team.edges, kind)

        def of_range(begin: int, end: int) -> None:
            edges = slice(self.team.offsets[begin], self.team.offsets[end])
            row_numbers(self.team.sources[edges], row_of, rows[edges])

        self.team.over_nodes(of_range)
        placed: Ids = read_only(rows)
        return placed

    def squared(self, u: Floats) -> Floats:
        """M M^T u; each number is wrong by at most `doubt` of what |M| |M^T| |u| has there."""
        extra = self.perturb * float(u.sum()) if self.perturb else 0.0
        totals = self.team.each(lambda t: self._pass(t, u, extra))
        out: Floats = self._pairs[0][:, 1].copy()
        for others in self._pairs[1:]:
            out += others[:, 1]
        if self.perturb:
            out += self.perturb * sum(totals)
        return out

    def _pass(self, thread: int, u: Floats, extra: float) -> float:
        team, pairs, total = self.team, self._pairs[thread], 0.0
        pairs[:, 0], pairs[:, 1] = u, 0
        for block in team.blocks(self._cuts[thread], self._cuts[thread + 1]):
            total += self._loop(team.offsets, self._rows, self.relevance, pairs, extra, *block)
            if not self._compact:
                team.release(*block)
        return total

    def community(self, row: int) -> Mask:
        """The rows that a row shares authorities with, or that share some with these, and so on:
        where the only hubs and authorities above 0 are, if the row is one of them."""
        if self.perturb:
            return np.ones(len(self.nodes), np.bool_)
        roots: Targets = np.arange(len(self.nodes), dtype=np.int64)
        for block in self.team.blocks(0, self.team.nodes):
            join_hubs(self.team.offsets, self._rows, self.relevance, roots, *block)
            if not self._compact:
                self.team.release(*block)
        flatten(roots, np.zeros_like(roots))
        mask: Mask = roots == roots[row]
        return mask

    def authorities(self, u: Floats) -> Floats:
        """(L + eps)^T u of all nodes, float64[N]."""
        sums = np.empty(self.team.nodes)

        def of_range(begin: int, end: int) -> None:
            gather(self.team.offsets, self._rows, u, sums, begin, end)

        self.team.over_nodes(of_range)
        sums += self.perturb * float(u.sum())
        return sums
