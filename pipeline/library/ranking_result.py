"""What a ranking of a graph in memory returns: scores by node and label, with proved bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of

if TYPE_CHECKING:
    import pyarrow as pa

    from crawlrank.pipeline.ranking.stop import Round


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
        """Whether the certificate is at most the tolerance."""
        return self.certificate <= self.tolerance

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
        if known is None or not 0 <= known < self.nodes:
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
        `polars.from_arrow`, give data frames."""
        import pyarrow as pa  # only for tables

        labels = np.arange(self.nodes) if self.labels is None else list(self.labels)
        return pa.table({"node": labels, "score": self.scores, **self.more})
