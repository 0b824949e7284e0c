"""Definitions of importance, against eigenvectors of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.lab.chain import Chain, chain_of, exact_importance
from crawlrank.pipeline.lab.experiments import (
    ADJACENCY,
    LAZY,
    MOST,
    UNDIRECTED,
    WALK,
    LabGraphs,
    compare_definitions,
    importance,
)

CHAIN = LabGraphs(150, exponent=2.1).web(3)[0].chain()


def adjacency(chain: Chain) -> Floats:
    matrix = np.zeros((chain.nodes, chain.nodes))
    sources = np.repeat(np.arange(chain.nodes), np.diff(chain.offsets))
    np.add.at(matrix, (chain.targets, sources), 1)
    return matrix


def principal(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eig(matrix)
    vector = np.abs(vectors[:, values.real.argmax()].real)
    return vector / vector.sum()


@pytest.mark.parametrize("definition", [WALK, LAZY])
def test_a_walk_that_may_stay_has_the_same_importance(definition: str) -> None:
    x, rounds = importance(CHAIN, definition)
    assert np.abs(x - exact_importance(CHAIN)).sum() < 1e-7
    assert rounds < MOST


def test_the_others_are_principal_eigenvectors() -> None:
    links = adjacency(CHAIN)
    for definition, matrix in ((ADJACENCY, links), (UNDIRECTED, links + links.T)):
        x, _ = importance(CHAIN, definition)
        assert np.abs(x - principal(matrix)).sum() < 1e-5


def test_powers_of_a_ring_settle_only_with_the_identity() -> None:
    """Two pages that link to each other, and a third that links to one of them."""
    ring = chain_of(np.array([0, 1, 2, 3]), np.array([1, 0, 0]), edges=1e-6)
    assert importance(ring, WALK)[1] == MOST
    x, rounds = importance(ring, LAZY)
    assert rounds < MOST
    assert x == pytest.approx([0.5, 0.5, 0], abs=1e-5)


def test_rows_compare_with_the_walk() -> None:
    rows = {row.definition: row for row in compare_definitions(LabGraphs(400), 1)}
    assert rows[WALK].kendall == rows[LAZY].kendall == pytest.approx(1, abs=1e-3)
    assert rows[WALK].top == rows[LAZY].top == 100
    for name in (ADJACENCY, UNDIRECTED):
        assert 0 < rows[name].kendall < 0.99
        assert 10 < rows[name].top <= 100
