"""Plans of fetches: the conditions of the best one, a general solver, closed forms, and limits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special
from support.drawing import examples
from support.gains import gains_of

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.freshness.allocation import (
    OBJECTIVES,
    ChangingPages,
    allocation,
    freshness_of,
)
from crawlrank.pipeline.online.freshness.loops import changes_between

NUMBERS = st.floats(-4, 4).map(lambda exponent: 10**exponent)
MANY = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=40)


def pages_of(pairs, **options):
    changes, values = np.array(pairs, float).T.copy()
    return ChangingPages(changes, values, **options)


def random_pages(count, seed, **options):
    random = np.random.default_rng(seed)
    return ChangingPages(random.lognormal(-3, 2, count), random.pareto(1.2, count), **options)


@given(st.floats(-16, -1e-9).map(lambda exponent: 10**exponent))
def test_the_changes_between_fetches_are_the_inverse_of_the_gamma_function(y):
    assert changes_between(y) == pytest.approx(special.gammaincinv(2, y), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(MANY, NUMBERS, st.sampled_from([*OBJECTIVES]))
def test_all_pages_that_are_fetched_gain_the_same_and_the_others_less(pairs, budget, objective):
    pages = pages_of(pairs, objective=objective)
    rates, price = allocation(pages, budget)
    assert rates.sum() == pytest.approx(budget, rel=1e-9)
    gains, fetched = gains_of(pages, rates), rates > 0
    assert gains[fetched] == pytest.approx(price, rel=1e-6)
    assert (gains[~fetched] <= price * (1 + 1e-6)).all()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_so_do_very_many_pages_whose_price_a_sample_guesses(objective):
    pages = random_pages(150_000, 3, objective=objective)
    rates, price = allocation(pages, 15_000.0)
    assert rates.sum() == pytest.approx(15_000, rel=1e-12)
    gains, fetched = gains_of(pages, rates), rates > 0
    assert gains[fetched] == pytest.approx(price, rel=1e-6)
    assert (gains[~fetched] <= price * (1 + 1e-6)).all()


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(MANY, NUMBERS, st.sampled_from([*OBJECTIVES]), st.floats(0.01, 2))
def test_pages_at_their_limit_may_gain_more(pairs, budget, objective, share):
    most = budget / len(pairs) * (1 + share)
    pages = pages_of(pairs, objective=objective, most=most)
    rates, price = allocation(pages, budget)
    assert rates.max() <= most
    assert rates.sum() == pytest.approx(budget, rel=1e-9)
    gains, limited = gains_of(pages, rates), rates == most
    assert (gains[limited] >= price * (1 - 1e-6)).all()
    assert gains[(rates > 0) & ~limited] == pytest.approx(price, rel=1e-6)


@pytest.mark.few(5)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(5))
def test_a_general_solver_comes_to_the_same(objective, seed):
    random = np.random.default_rng(seed)
    pages = ChangingPages(random.uniform(0.1, 3, 6), random.uniform(0.2, 2, 6), objective)
    budget = random.uniform(1, 8)

    def loss(rates):
        return -(pages.values * freshness_of(pages, rates)).sum()

    solved = optimize.minimize(
        loss, np.full(6, budget / 6), method="SLSQP", bounds=[(1e-9, budget)] * 6,
        jac=lambda rates: -gains_of(pages, rates), options={"ftol": 1e-15, "maxiter": 1000},
        constraints={"type": "eq", "fun": lambda rates: rates.sum() - budget},
    )  # fmt: skip
    rates = allocation(pages, budget).rates
    safe = np.maximum(rates, 1e-12)  # the solver's logarithm has no zero
    assert loss(safe) == pytest.approx(solved.fun, abs=1e-6)
    assert rates == pytest.approx(solved.x, abs=2e-3)


@given(NUMBERS, NUMBERS)
def test_freshness_at_equal_intervals_is_an_average_over_time(change, rate):
    (fresh,) = freshness_of(ChangingPages(np.array([change]), np.ones(1)), np.array([rate]))
    ends = [0, *(end for end in rate / change * np.array([1, 5, 40]) if end < 1), 1]
    parts = [
        integrate.quad(lambda part: np.exp(-change / rate * part), *span)[0]
        for span in pairwise(ends)
    ]
    mean = sum(parts)
    assert fresh == pytest.approx(mean, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
@given(change=NUMBERS, rate=NUMBERS)
def test_gains_are_derivatives(objective, change, rate):
    pages, h = ChangingPages(np.full(3, change), np.ones(3), objective), 1e-4
    low, _, high = freshness_of(pages, rate * np.array([1 - h, 1, 1 + h]))
    _, gain, _ = gains_of(pages, np.full(3, rate))
    rounding = 1e-15 * max(1, abs(low)) / (rate * h)
    assert gain == pytest.approx((high - low) / (2 * rate * h), rel=1e-6, abs=4 * rounding)


def test_pages_alike_are_fetched_alike():
    rates, _ = allocation(pages_of([(2, 3)] * 8), 20)
    assert rates == pytest.approx(np.full(8, 2.5))


def test_pages_that_change_too_often_are_left():
    rates, _ = allocation(pages_of([(1, 1), (1000, 1)]), 1)
    assert rates.tolist() == pytest.approx([1, 0])
    harmonic, _ = allocation(pages_of([(1, 1), (1000, 1)], objective="harmonic"), 1)
    assert harmonic[1] > 0


def test_what_never_changes_or_has_no_value_is_not_fetched():
    pages = pages_of([(0, 5), (2, 0), (1, 1)])
    assert allocation(pages, 3).rates == pytest.approx([0, 0, 3])
    assert freshness_of(pages, np.zeros(3)).tolist() == [1, 0, 0]
    assert allocation(pages_of([(0, 5), (2, 0)]), 3).rates.tolist() == [0, 0]
    assert allocation(ChangingPages(np.empty(0), np.empty(0)), 3).rates.tolist() == []


def test_a_budget_of_nothing_and_one_above_all_needs():
    pages = pages_of([(1, 1), (2, 1), (0, 1)], most=4.0)
    assert allocation(pages, 0).rates.tolist() == [0, 0, 0]
    assert allocation(pages, 8).rates.tolist() == [4, 4, 0]
    above = allocation(pages, 1e9)
    assert (above.rates.tolist(), above.price) == ([4, 4, 0], 0)


@pytest.mark.parametrize("budget", [1e-12, 1e-3])
def test_a_tiny_budget_goes_to_the_best_page(budget):
    rates, _ = allocation(pages_of([(1, 1), (1, 3), (5, 2)]), budget)
    assert rates == pytest.approx([0, budget, 0])


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_it_is_better_than_plans_by_rule_of_thumb(objective):
    pages = random_pages(1000, 3, objective=objective)
    best = (pages.values * freshness_of(pages, allocation(pages, 300).rates)).sum()
    for weights in (np.ones(1000), pages.changes, pages.values):
        rates = 300 * weights / weights.sum()
        assert (pages.values * freshness_of(pages, rates)).sum() < best


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_numbers_that_mean_nothing_are_refused(wrong):
    with pytest.raises(BadInput):
        allocation(pages_of([(1, 1)]), wrong)


SHAPES = st.floats(-2, 3).map(lambda exponent: 10**exponent)


def by_integral(shape, change, rate):
    """The mean of F over rates of changes, by their quantiles."""
    days = shape / change

    def at(share):
        x = special.gammaincinv(shape, share) / days / rate
        return -np.expm1(-x) / x if x else 1.0

    return integrate.quad(at, 0, 1, limit=500, epsabs=1e-10)[0]


@pytest.mark.parametrize("shape", [0.05, 0.5, 0.999, 1.0, 1.0005, 2.0, 30.0])
@pytest.mark.parametrize("rate", [1e-3, 0.3, 100.0])
def test_the_mean_of_freshness_is_that_of_its_integral(shape, rate):
    pages = ChangingPages(np.array([0.7]), np.ones(1), shapes=np.array([shape]))
    (fresh,) = freshness_of(pages, np.array([rate]))
    assert fresh == pytest.approx(by_integral(shape, 0.7, rate), rel=1e-3)


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, SHAPES), min_size=1, max_size=40), NUMBERS)
def test_unknown_rates_gain_the_same_too(rows, budget):
    changes, values, shapes = np.array(rows).T.copy()
    pages = ChangingPages(changes, values, shapes=shapes)
    rates, price = allocation(pages, budget)
    assert rates.sum() == pytest.approx(budget, rel=1e-9)
    gains, fetched = gains_of(pages, rates), rates > 0
    assert gains[fetched] == pytest.approx(price, rel=1e-5)
    hardly = gains_of(pages, np.maximum(rates, 1e-280))  # in place of never
    assert (hardly[~fetched] <= price * (1 + 1e-6)).all()


@pytest.mark.slow
@given(NUMBERS, NUMBERS, st.sampled_from([0.05, 0.5, 1.0, 2.0, 300.0]))
def test_gains_are_slopes(change, rate, shape):
    pages, step = ChangingPages(np.full(3, change), np.ones(3), shapes=np.full(3, shape)), 1e-4
    around = rate * np.array([1 - step, 1, 1 + step])
    below, _, above = freshness_of(pages, around)
    slope, gain = (above - below) / (2 * step * rate), gains_of(pages, around)[1]
    assert gain == pytest.approx(slope, rel=1e-4, abs=1e-9 / rate)


def test_rates_of_a_large_shape_are_known():
    known = random_pages(200, 8)
    unknown = known._replace(shapes=np.full(200, 1e7))
    exact, mean = (allocation(pages, 20.0).rates for pages in (known, unknown))
    assert mean == pytest.approx(exact, rel=1e-4, abs=1e-6)


def test_a_page_that_may_never_change_is_fetched_at_any_price():
    """The page of which nothing but its mean is known gets a fetch, the other one with this mean
    does not."""
    pages = ChangingPages(np.array([50.0, 50.0, 0.1]), np.ones(3), shapes=np.array([0.3, 1e4, 9.0]))
    rates, _ = allocation(pages, 0.02)
    assert rates[0] > 0 == rates[1]
