"""Order and classes, against the rules of the design written out one node at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.pipeline.ranking.bounds import digits_for
from crawlrank.pipeline.ranking.classes import (
    SpelledNodes,
    cut,
    order_of,
    possible,
    preferred_by,
    tie_weights,
)
from crawlrank.pipeline.ranking.options import Ties

FEW = st.sampled_from([0.15, 0.2, 0.25, 1.0, 1.1, 1.15, 3.0, 9.95])
POSITIVE = st.floats(min_value=1e-30, max_value=1e30)


def formatted(x: float, digits: int) -> float:
    return float(f"{x:.{digits - 1}e}")


def place(values: Sequence[float], mask: Sequence[bool], node: int) -> tuple[int, int, int]:
    """(p, first, last) of a node, counted over the nodes in mask."""
    mine = (-values[node], node)
    others = [j for j in range(len(values)) if mask[j] and j != node]
    p = sum((-values[j], j) < mine for j in others)
    first = sum(values[j] > values[node] for j in others)
    equal = sum(values[j] == values[node] for j in others) + mask[node]
    return p, first, first + max(equal, 1) - 1


def slow_class(
    values: Sequence[float], mask: Sequence[bool], node: int, bins: int, ties: Ties
) -> int:
    """Word for word: 1 + B*p//n, or 1 + B*(first+last)//(2n); at most B outside the mask."""
    n = sum(mask)
    p, first, last = place(values, mask, node)
    found = 1 + bins * p // n if ties == "key" else 1 + bins * (first + last) // (2 * n)
    return min(found, bins)


def extremes(scores: Sequence[float], eta: float, digits: int, node: int) -> list[list[float]]:
    """Rounded scores with this node as high and the others as low as eta allows; the reverse."""
    low = [formatted(x / (1 + eta), digits) for x in scores]
    high = [formatted(x / (1 - eta), digits) for x in scores]
    up, down = list(low), list(high)
    up[node], down[node] = high[node], low[node]
    return [up, down]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float], list[bool]]:
    scores = draw(st.lists(st.one_of(FEW, st.floats(0.15, 20)), min_size=1, max_size=14))
    mask = draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    return scores, mask if any(mask) else [True] * len(scores)


@settings(max_examples=examples(200), deadline=None)
@given(cases(), st.integers(1, 125), st.sampled_from(["key", "together"]), st.integers(1, 9))
def test_classes_are_those_of_the_text(
    case: tuple[list[float], list[bool]], bins: int, ties: Ties, digits: int
) -> None:
    scores, mask = case
    found = cut(np.array(scores), bins, digits=digits, mask=np.array(mask), ties=ties)
    values = [formatted(x, digits) for x in scores]
    nodes = range(len(scores))
    expected = [slow_class(values, mask, node, bins, ties) for node in nodes]
    assert found.classes.tolist() == expected
    assert found.order.tolist() == sorted(nodes, key=lambda i: (-values[i], i))
    group = [{expected[j] for j in nodes if values[j] == values[i]} for i in nodes]
    assert found.by_key.tolist() == [len(g) > 1 for g in group]
    assert not found.near.any()


@settings(max_examples=examples(200), deadline=None)
@given(
    cases(),
    st.integers(1, 20),
    st.sampled_from(["key", "together"]),
    st.sampled_from([1e-12, 1e-4, 0.01, 0.1, 0.4]),
    st.integers(1, 9),
)
def test_near_is_exactly_what_eta_can_move(
    case: tuple[list[float], list[bool]], bins: int, ties: Ties, eta: float, digits: int
) -> None:
    scores, mask = case
    found = cut(np.array(scores), bins, digits=digits, mask=np.array(mask), ties=ties, eta=eta)
    how = {"digits": digits, "mask": np.array(mask), "eta": eta}
    first, last = possible(np.array(scores), bins, ties=ties, **how)
    expected = []
    for node in range(len(scores)):
        moved = extremes(scores, eta, digits, node)
        reached = {slow_class(v, mask, node, bins, ties) for v in moved}
        expected.append(len(reached) > 1)
        assert (min(reached), max(reached)) == (first[node], last[node])
    assert found.near.tolist() == expected


def test_possible_classes_with_ties_by_links_are_those_along_the_preferences() -> None:
    rng = np.random.default_rng(3)
    scores, preferred = rng.choice([0.15, 0.2, 0.3], 60), rng.permutation(60).astype(np.uint64)
    along, how = np.argsort(preferred), {"digits": 9, "eta": 0.1}
    found = possible(scores, 7, ties="links", preferred=preferred, **how)
    for numbers, expected in zip(found, possible(scores[along], 7, **how), strict=True):
        assert numbers[along].tolist() == expected.tolist()


def test_preferences_add_up_over_the_spellings_of_a_node() -> None:
    nodes, links, captures = np.array([[2, 7, 0], [0, 3, 0], [2, 1 << 33, 1], [2, 0, 4]]).T
    spelled = SpelledNodes(4, weighed=True)
    for rows in (slice(3), slice(3, None)):
        weights = tie_weights(links[rows], captures[rows])
        spelled.add(nodes[rows], captures[rows] > 0, weights)
    assert spelled.spelled.tolist() == [True, False, True, False]
    assert spelled.captured.tolist() == [False, False, True, False]
    sums = np.array([3, 0, 7 + (1 << 33), 0]), np.array([0, 0, 5, 0])
    assert spelled.take_preferred() is not None
    spelled = SpelledNodes(4, weighed=True)
    spelled.add(nodes, captures > 0, tie_weights(links, captures))
    preferred = spelled.take_preferred()
    assert preferred is not None
    assert preferred.tolist() == preferred_by(*sums).tolist()


@settings(max_examples=examples(200), deadline=None)
@given(cases(), st.integers(1, 20), st.sampled_from(["key", "together"]), st.data())
def test_a_node_that_is_not_near_keeps_its_class(
    case: tuple[list[float], list[bool]], bins: int, ties: Ties, data: st.DataObject
) -> None:
    scores, mask = np.array(case[0]), np.array(case[1])
    eta = data.draw(st.sampled_from([1e-9, 1e-3, 0.05, math.inf]))
    absolute = data.draw(st.sampled_from([math.inf, 1.0, 1e-3]))
    shifts = st.lists(st.floats(-0.99, 0.99), min_size=len(scores), max_size=len(scores))
    drawn = np.array(data.draw(shifts))
    relative = scores / (1 + eta * drawn) if math.isfinite(eta) else np.where(drawn < 0, 0, np.inf)
    true = np.clip(relative, np.maximum(scores - 0.99 * absolute, 0), scores + 0.99 * absolute)
    found = cut(scores, bins, mask=mask, ties=ties, eta=eta, absolute=absolute)
    moved = found.classes != cut(true, bins, mask=mask, ties=ties).classes
    assert not (moved & ~found.near).any()


@settings(max_examples=examples(200), deadline=None)
@given(cases(), st.integers(1, 20), st.sampled_from([0, 1e-12, 1e-4, 0.01, 0.1]), st.data())
def test_ties_by_links(
    case: tuple[list[float], list[bool]], bins: int, eta: float, data: st.DataObject
) -> None:
    """Nodes whose keys follow their links and captures have by key what the others have by
    these: written out, the classes of nodes that are sorted so before."""
    scores, mask = case
    nodes = range(len(scores))
    few = st.lists(st.integers(0, 2), min_size=len(scores), max_size=len(scores))
    links, captures = data.draw(few), data.draw(few)
    preferred = preferred_by(np.array(links), np.array(captures))
    given_ = {"mask": np.array(mask), "eta": eta}
    found = cut(np.array(scores), bins, **given_, ties="links", preferred=preferred)  # type: ignore[arg-type]
    ahead = sorted(nodes, key=lambda i: (-links[i], -captures[i], i))
    values, over = [formatted(scores[i], 9) for i in ahead], [mask[i] for i in ahead]
    expected = [slow_class(values, over, place, bins, "key") for place in nodes]
    assert found.classes[ahead].tolist() == expected
    same = [(formatted(scores[i], 9), links[i], captures[i]) for i in nodes]
    assert found.order.tolist() == sorted(
        nodes, key=lambda i: (-same[i][0], -links[i], -captures[i], i)
    )
    alone = [len({found.classes[j] for j in nodes if same[j] == same[i]}) > 1 for i in nodes]
    assert found.by_key.tolist() == alone
    moved = []
    for place in nodes:
        both = extremes([scores[i] for i in ahead], eta, 9, place)
        moved.append(len({slow_class(v, over, place, bins, "key") for v in both}) > 1)
    assert found.near[ahead].tolist() == (moved if eta else [False] * len(scores))
    plain = cut(np.array(scores), bins, **given_, ties="key")  # type: ignore[arg-type]
    without = cut(np.array(scores), bins, **given_, ties="links")  # type: ignore[arg-type]
    for name in ("order", "classes", "near", "by_key"):
        assert getattr(plain, name).tolist() == getattr(without, name).tolist()


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.one_of(POSITIVE, FEW, st.floats(1, 1.00001), st.sampled_from([0.0, -0.0]))),
    st.integers(1, 17),
)
def test_order_is_by_rounded_score_then_by_position(scores: list[float], digits: int) -> None:
    values = rounded(np.array(scores, np.float64), digits)
    assert (
        order_of(np.array(scores), digits).tolist() == np.argsort(-values, kind="stable").tolist()
    )


def test_order_of_scores_whose_upper_halves_are_equal() -> None:
    scores = 1 + np.random.default_rng(5).integers(0, 300, 10_000) * 1e-9
    expected = np.argsort(-rounded(scores, 10), kind="stable")
    assert np.array_equal(order_of(scores, 10), expected)
    assert order_of(scores, 10).dtype == np.int32


def test_closed_forms() -> None:
    ten = np.arange(10, 0, -1.0)
    assert cut(ten, 5).classes.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert cut(ten, 3).classes.tolist() == [1, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert cut(ten[::-1], 2).classes.tolist() == [2] * 5 + [1] * 5
    assert cut(ten, 1).classes.tolist() == [1] * 10
    assert cut(np.ones(1), 125).classes.tolist() == [1]
    assert cut(np.ones(4), 5).classes.tolist() == [1, 2, 3, 4]
    assert cut(np.ones(4), 5).by_key.tolist() == [True] * 4
    assert cut(np.ones(4), 5, ties="together").classes.tolist() == [2] * 4
    assert cut(np.ones(5), 5, ties="together").classes.tolist() == [3] * 5
    assert not cut(np.ones(5), 5, ties="together").by_key.any()


def test_other_nodes_take_the_class_of_their_place() -> None:
    """Two captured nodes, two classes: the cut lies between them, wherever others stand."""
    scores = np.array([9.0, 8.0, 7.0, 6.0, 5.0])
    mask = np.array([False, True, False, True, False])
    assert cut(scores, 2, mask=mask).classes.tolist() == [1, 1, 2, 2, 2]
    assert cut(scores, 2, mask=np.zeros(5, bool)).classes.tolist() == [1, 1, 1, 2, 2]


def test_near_needs_a_score_across_the_boundary() -> None:
    scores = np.array([4.0, 2.00001, 2.0, 1.0])
    assert cut(scores, 2, eta=1e-5).near.tolist() == [False, True, True, False]
    assert not cut(scores, 2, eta=1e-6).near.any()
    assert cut(scores, 2, eta=1.0).near.all()


def test_equal_scores_are_not_near_unless_rounding_can_part_them() -> None:
    assert not cut(np.full(8, 0.15), 4, eta=1e-12).near.any()
    edge = 0.1500000005  # half way between two values of 9 digits
    assert cut(np.full(8, edge), 4, eta=1e-12).near.all()


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.one_of(POSITIVE, FEW, st.floats(0.15, 1e6)), min_size=1), st.integers(1, 17))
@example([9.9999999995, 0.0999999999999, 1e22, 1e-22, 1e23, 5e-324], 9)
@example([0.15, 2.5, 0.25, 1.25, 12500000.5, 100000000.5, 999999999.5], 1)
def test_rounded_is_what_the_format_gives(scores: list[float], digits: int) -> None:
    assert rounded(np.array(scores), digits).tolist() == [formatted(x, digits) for x in scores]


def test_rounded_at_its_own_borders() -> None:
    """Every half and every power of ten, and the doubles beside them."""
    ties = [(k + 0.5) * 10.0**e for k in (1, 7, 12, 99, 123456788) for e in range(-12, 13)]
    centres = np.array([*ties, *(10.0**e for e in range(-30, 31))])
    sides = [np.nextafter(centres, 0), centres, np.nextafter(centres, np.inf)]
    scores: npt.NDArray[np.float64] = np.concatenate(sides)
    for digits in range(1, 13):
        expected = [formatted(x, digits) for x in scores.tolist()]
        assert rounded(scores, digits).tolist() == expected


def test_rounded_of_many() -> None:
    scores = np.random.default_rng(1).lognormal(0, 4, 20_000)
    for digits in (1, 4, 9, 12, 13):
        expected = [formatted(x, digits) for x in scores.tolist()]
        assert rounded(scores, digits).tolist() == expected


@pytest.mark.parametrize("eta,digits", [(0.0, 9), (1e-15, 9), (4.9e-10, 9), (6e-10, 8), (0.004, 2)])
def test_digits_follow_eta(eta: float, digits: int) -> None:
    assert digits_for(eta) == digits


def test_digits_are_never_less_than_one() -> None:
    assert [digits_for(eta) for eta in (0.049, 0.05, 0.3, 7.0, math.inf)] == [1] * 5


def test_classes_never_fall_along_the_order() -> None:
    scores = np.round(np.random.default_rng(2).lognormal(0, 1, 5_000), 2) + 0.15
    for ties, bins in itertools.product(("key", "together"), (2, 5, 125)):
        found = cut(scores, bins, ties=ties)  # type: ignore[arg-type]
        along = found.classes[found.order]
        assert (np.diff(along) >= 0).all()
        assert along[0] >= 1 and along[-1] <= bins
