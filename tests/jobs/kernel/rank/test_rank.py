"""One round and what it proves: exact sums, mass, and certificates held against exact solves."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import (
    NAMED,
    exact_probabilities,
    exact_scores,
    graph_of,
    graphs,
    rational_solution,
)

from crawlrank.jobs.kernel.rank.plain_round import RoundSums, RoundTally, exact_parts, new_score
from crawlrank.pipeline.data.graph import Graph

ROUNDING = 1e-13  # relative, of the sums and quotients of a bound near 0
Vector = npt.NDArray[np.float64]

MAGNITUDES = st.floats(min_value=0, max_value=1e300)
WIDE = st.lists(MAGNITUDES, max_size=40)


@given(WIDE, st.randoms())
@example([1e300, 1e-300, 5e-324], random.Random(0))
@example([1.0, 2.0**-53, 2.0**-106], random.Random(0))
@example([0.1] * 10, random.Random(0))
def test_parts_of_any_grouping_sum_to_the_same_bits(
    values: list[float], rng: random.Random
) -> None:
    groups: list[list[float]] = [[], [], [], []]
    for value in values:
        rng.choice(groups).append(value)
    once = [part for group in groups for part in exact_parts(group)]
    twice = exact_parts(exact_parts(once[: len(once) // 2]) + once[len(once) // 2 :])
    assert math.fsum(once) == math.fsum(twice) == math.fsum(values)


@given(WIDE)
def test_parts_are_few_and_the_first_is_the_sum(values: list[float]) -> None:
    parts = exact_parts(values)
    assert parts[0] == math.fsum(values)
    assert len(parts) <= 40  # 2098 bits of a sum of doubles, 53 and more in each


@given(st.lists(st.floats(min_value=0.15 / 500, max_value=1e9), min_size=1, max_size=500))
def test_scores_of_a_crawl_need_three_parts_at_most(values: list[float]) -> None:
    assert len(exact_parts(values)) <= 3


def test_scores_worked_out_by_hand() -> None:
    assert new_score([]) == 0.15
    assert new_score([1.0]) == 1.0
    assert new_score([0.5, 0.25, 0.25]) == 1.0
    assert new_score([2.0, 1.0]) == pytest.approx(2.7, rel=1e-15)


def round_of(graph: Graph, scores: Vector, dummy: float) -> tuple[Vector, float]:
    """The next scores and dummy's, from the edges; sums in the order of the edges."""
    incoming: list[list[float]] = [[] for _ in range(graph.nodes)]
    to_dummy = [dummy]
    for node in range(graph.nodes):
        targets = graph.targets[graph.offsets[node] : graph.offsets[node + 1]].tolist()
        for target in targets:
            incoming[target].append(float(scores[node]) / len(targets))
        if not targets:
            to_dummy.append(float(scores[node]))
    return np.array([new_score(values) for values in incoming]), new_score(to_dummy)


def sums_of(
    graph: Graph,
    old: Vector,
    new: Vector,
    dummies: tuple[float, float],
    shift: float = 0.0,
    owners: Sequence[int] | None = None,
) -> RoundSums:
    """The sums of a round as the job makes them: a tally for each reducer, JSON, and a merge."""
    owners = owners or [0] * graph.nodes
    tallies = [RoundTally(shift) for _ in range(max(owners) + 2)]
    for node, owner in enumerate(owners):
        tallies[owner].add(float(old[node]), float(new[node]), int(graph.outdegrees[node]))
    tallies[-1].add_dummy(*dummies)
    total = RoundSums()
    for tally in tallies:
        total.merge(RoundSums(**json.loads(json.dumps(tally.sums().as_dict()))))
    return total


def above(bound: float) -> float:
    """The bound and the rounding of its own sums; some graphs meet a bound exactly."""
    return bound * (1 + ROUNDING) + ROUNDING


def check_certificates(graph: Graph, sums: RoundSums, old: Vector, new: Vector) -> None:
    true, p_true = exact_scores(graph), exact_probabilities(graph)
    error = np.abs(new - true).sum() / new.sum()
    assert error <= above(sums.certificate)
    assert np.all(np.abs(new - true) <= above(sums.eta) * true)
    assert np.all(np.abs(old - true) <= above(sums.eta) * true)
    assert np.abs(old / old.sum() - p_true).sum() <= above(sums.probability_certificate)


@settings(max_examples=examples(150), deadline=None)
@given(graphs(), st.integers(1, 25))
def test_certificates_of_rounds_hold_and_no_mass_is_lost(graph: Graph, rounds: int) -> None:
    old, dummy, shift = np.ones(graph.nodes), 1.0, 0.0
    for number in range(rounds):
        new, next_dummy = round_of(graph, old, dummy)
        sums = sums_of(graph, old, new, (dummy, next_dummy), shift)
        check_certificates(graph, sums, old, new)
        assert sums.shift == shift
        assert sums.mass_error < 1e-14
        assert sums.mass == pytest.approx(graph.nodes + 1, rel=1e-14)
        assert sums.residual_sum / graph.nodes == pytest.approx(
            shift if number else (1 - next_dummy) / graph.nodes, abs=1e-13
        )
        old, dummy, shift = new, next_dummy, sums.next_shift()


def check_without_allowance(
    sums: RoundSums, old: Vector, new: Vector, true: list[Fraction]
) -> None:
    """The three bounds as they are, against fractions: no rounding on this side."""
    before, after = ([Fraction(float(x)) for x in scores] for scores in (old, new))
    error = sum(abs(x - t) for x, t in zip(after, true, strict=True)) / sum(after)
    assert 0 < error <= Fraction(sums.certificate) or sums.certificate > error == 0
    for x in (before, after):
        assert all(abs(a - t) <= Fraction(sums.eta) * t for a, t in zip(x, true, strict=True))
    whole, total = sum(before), sum(true)
    apart = sum(abs(x / whole - t / total) for x, t in zip(before, true, strict=True))
    assert apart <= Fraction(sums.probability_certificate)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(examples(30)))
def test_certificates_hold_to_the_last_bit_and_are_never_0(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        n = rng.randint(1, 7)
        nodes = [(s, t) for s in range(n) for t in range(n) if s != t]
        graph = graph_of(n, rng.sample(nodes, rng.randint(0, len(nodes))))
        true = rational_solution(graph)
        old, dummy, shift = np.ones(n), 1.0, 0.0
        for number in range(300):
            new, next_dummy = round_of(graph, old, dummy)
            if number % 20 == 0 or number > 295:
                sums = sums_of(graph, old, new, (dummy, next_dummy), shift)
                check_without_allowance(sums, old, new, true)
                shift = sums.next_shift() if number > 295 else 0.0
            old, dummy = new, next_dummy


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), graphs(), st.floats(-2, 2))
def test_certificates_hold_from_any_scores_and_with_any_shift(
    data: st.DataObject, graph: Graph, shift: float
) -> None:
    n = graph.nodes
    old = np.array(data.draw(st.lists(st.floats(0.15, 50), min_size=n, max_size=n)))
    new, next_dummy = round_of(graph, old, 1.0)
    check_certificates(graph, sums_of(graph, old, new, (1.0, next_dummy), shift), old, new)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), graphs())
def test_any_grouping_of_the_nodes_merges_to_the_same_sums(
    data: st.DataObject, graph: Graph
) -> None:
    n = graph.nodes
    old = np.array(data.draw(st.lists(st.floats(0.15, 50), min_size=n, max_size=n)))
    owners = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    new, next_dummy = round_of(graph, old, 1.0)
    one = sums_of(graph, old, new, (1.0, next_dummy), 0.25).as_dict()
    several = sums_of(graph, old, new, (1.0, next_dummy), 0.25, owners).as_dict()
    assert several == pytest.approx(one, rel=1e-12, abs=1e-12)
    for count in ("nodes", "edges", "dangling", "dummies", "residual_max"):
        assert several[count] == one[count]


def test_blocks_of_a_tally_do_not_show() -> None:
    pairs = [(float(i % 7) + 0.15, float(i % 5) + 0.15, i % 3) for i in range(100)]
    found = []
    for block in (1, 8, 10_000):
        tally = type("Tally", (RoundTally,), {"BLOCK": block})(0.5)
        for old, new, outdegree in pairs:
            tally.add(old, new, outdegree)
        found.append(tally.sums().as_dict())
    assert found[0] == pytest.approx(found[2])
    assert found[1] == pytest.approx(found[2])
    assert found[0]["nodes"] == 100
    assert found[0]["edges"] == sum(outdegree for *_, outdegree in pairs) == 99
    assert found[0]["dangling"] == 34


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMED)
def test_the_certificates_reach_zero(name: str) -> None:
    """They fall as 0.85^k: 200 rounds leave nothing but rounding, with a sharp shift."""
    graph = NAMED[name]
    old, dummy, shift = np.ones(graph.nodes), 1.0, 0.0
    for _ in range(200):
        new, next_dummy = round_of(graph, old, dummy)
        sums = sums_of(graph, old, new, (dummy, next_dummy), shift)
        old, dummy, shift = new, next_dummy, sums.next_shift()
    assert sums.certificate < 1e-13
    assert sums.eta < 1e-12
    assert sums.probability_certificate < 1e-12
    assert new == pytest.approx(exact_scores(graph), rel=1e-12)


def test_a_star_after_one_round_by_hand() -> None:
    """Seven leaves point to a hub that dangles. x = 1, then hub 0.15 + 0.85 * 7 = 6.1, leaves
    0.15, dummy 0.15 + 0.85 (1 + 1) = 1.85. r = 5.1 and seven times -0.85: |r|_1 = 11.05,
    max|r| = 5.1, sum -0.85; |x'|_1 = 7.15. Next dummy 0.15 + 0.85 (6.1 + 1.85) = 6.9075."""
    star = NAMED["star"]
    old = np.ones(8)
    new, dummy = round_of(star, old, 1.0)
    sums = sums_of(star, old, new, (1.0, dummy))
    assert new.tolist() == pytest.approx([6.1] + [0.15] * 7)
    assert dummy == pytest.approx(1.85)
    assert sums.certificate == pytest.approx(0.85 * 11.05 / (0.15 * 7.15))
    assert sums.eta == pytest.approx(34)
    assert sums.next_shift() == pytest.approx((1.85 - 6.9075) / 8)


@pytest.mark.parametrize("shift", [0.0, -0.85, -0.85 / 8, 3.0])
def test_no_shift_makes_the_bound_of_probabilities_too_small(shift: float) -> None:
    """For this round, about its mean, -0.10625, |r|_1 is 5.20625 + 7 * 0.74375 = 10.4125; about
    -0.85, which is the median, it would be 5.95 only. The mean itself gives the bound exactly: of
    the vector that enters 10.4125 / (0.15 * 8), and of that which leaves, with m = 0.85 / 7.15,
    (1 + m) 0.85 of it and 2 m."""
    star = NAMED["star"]
    new, dummy = round_of(star, np.ones(8), 1.0)
    sums = sums_of(star, np.ones(8), new, (1.0, dummy), shift)
    moved = 0.85 / 7.15
    exact = (1 + moved) * 0.85 * 10.4125 / (0.15 * 8) + 2 * moved
    assert sums.probability_certificate >= exact * (1 - ROUNDING)
    if shift == -0.85 / 8:
        assert sums.probability_certificate == pytest.approx(exact, rel=1e-13)
