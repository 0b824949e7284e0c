"""Rates of changes: distributions in closed form, integrals, simulated pages, and little to see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats
from support.drawing import examples

from crawlrank.pipeline.online.freshness.change_rates import (
    DEFAULT,
    Seen,
    _digamma,
    _shape_of,
    corrected,
    pooled,
    posterior,
    simple,
)

ONE = np.zeros(1, np.int64)
PAGES = 20_000


def seen_of(exact=0.0, quiet=0.0, spans=()):
    return Seen(
        np.array([exact]), np.array([quiet]), np.array([0, len(spans)]), np.array(spans, float)
    )


def simulated(rates, visits, seed):
    """What visits, after these days each, see of pages with these rates."""
    random, count = np.random.default_rng(seed), len(rates)
    days = random.choice(visits, (count, len(visits)))
    changed = random.random(days.shape) < -np.expm1(-rates[:, None] * days)
    offsets = np.concatenate([[0], np.cumsum(changed.sum(1))])
    return Seen(np.zeros(count), (days * ~changed).sum(1), offsets, days[changed]), days, changed


@given(st.floats(0.1, 50), st.floats(0.01, 100), st.integers(0, 5), st.floats(0, 1000))
def test_pages_without_changed_intervals_have_a_gamma_distribution(shape, days, exact, quiet):
    rows = posterior(seen_of(float(exact), quiet), np.array([[shape, days]]), ONE)
    wanted = stats.gamma(shape + exact, scale=1 / (days + quiet))
    ends = wanted.ppf([0.025, 0.975])
    assert rows[0, 0] == pytest.approx(wanted.mean(), rel=2e-3)
    assert rows[0, 1:3] == pytest.approx(ends, rel=3e-2)
    assert wanted.cdf(rows[0, 1:3]) == pytest.approx([0.025, 0.975], abs=2e-3)
    log = special.digamma(shape + exact) - np.log(days + quiet)
    assert rows[0, 3] == pytest.approx(shape + exact, rel=2e-2)
    assert rows[0, 4] == pytest.approx(log, abs=1e-2)


@pytest.mark.slow
@settings(max_examples=examples(50), deadline=None)
@given(
    st.floats(0.3, 5), st.floats(0.1, 50), st.floats(0, 100),
    st.lists(st.floats(0.01, 100), min_size=1, max_size=6),
)  # fmt: skip
def test_posteriors_are_integrals(shape, days, quiet, spans):
    def weight(logs, power=0):
        rate = np.exp(logs)
        seen = np.prod(-np.expm1(-np.multiply.outer(spans, rate)), axis=0)
        return rate ** (shape + power) * np.exp(-rate * (days + quiet)) * seen

    points = np.linspace(-25, 12, 20001)
    whole, mean = (integrate.trapezoid(weight(points, power), points) for power in (0, 1))
    row = posterior(seen_of(0, quiet, spans), np.array([[shape, days]]), ONE)[0]
    assert row[0] == pytest.approx(mean / whole, rel=2e-3)
    inside = points[(points > np.log(row[1])) & (points < np.log(row[2]))]
    share = integrate.trapezoid(weight(inside), inside) / whole
    assert share == pytest.approx(0.95, abs=5e-3)
    log = integrate.trapezoid(points * weight(points), points) / whole
    assert np.log(row[3]) - special.digamma(row[3]) == pytest.approx(
        np.log(mean / whole) - log, rel=0.03
    )


def test_the_simple_estimate_is_too_low_and_the_corrected_one_is_not():
    random, intervals, rates = np.random.default_rng(5), 50, np.array([0.1, 0.5, 1.0, 2.0])
    changes = random.binomial(intervals, -np.expm1(-rates), (20_000, 4)).astype(float)
    whole = np.full(20_000, float(intervals))
    for column, rate in enumerate(rates):
        low = simple(changes[:, column], whole).mean()
        right = corrected(changes[:, column], whole, whole).mean()
        assert low == pytest.approx(-np.expm1(-rate), rel=0.01)  # 0.86 where it is 2
        assert right == pytest.approx(rate, rel=0.01)


@pytest.mark.slow
@pytest.mark.few(3)
@pytest.mark.parametrize("visits", [[3.0, 3.0], [1.0] * 10, [0.5, 2.0, 7.0, 7.0, 60.0]])
@pytest.mark.parametrize(("shape", "days"), [(0.5, 10.0), (1.0, 30.0), (4.0, 8.0)])
def test_intervals_hold_the_rate_of_nineteen_pages_of_twenty(visits, shape, days):
    rates = np.random.default_rng(9).gamma(shape, 1 / days, PAGES)
    seen, _, _ = simulated(rates, visits, 1)
    found = pooled(seen, np.zeros(PAGES, np.int64))
    inside = (found.low <= rates) & (rates <= found.high)
    assert 0.93 < inside.mean() < 0.97
    assert found.mean.mean() == pytest.approx(rates.mean(), rel=0.1)
    for wrong in (0.8, 1.25):  # intervals that are too narrow or too wide would be seen
        middle, half = np.sqrt(found.low * found.high), np.sqrt(found.high / found.low) ** wrong
        inside = (middle / half <= rates) & (rates <= middle * half)
        assert not 0.93 < inside.mean() < 0.97


@pytest.mark.slow
def test_groups_have_priors_of_their_own_if_they_have_enough_pages():
    random = np.random.default_rng(2)
    fast, slow, few = random.gamma(2, 1, 3000), random.gamma(2, 0.01, 3000), np.full(10, 1.0)
    seen, _, _ = simulated(np.concatenate([fast, slow, few]), [1.0, 3.0, 10.0], 3)
    groups = np.repeat([0, 1, 2], [3000, 3000, 10])
    found = pooled(seen, groups)
    mean = found.prior[:, 0] / found.prior[:, 1]
    assert mean[:2] == pytest.approx([2, 0.02], rel=0.15)
    assert set(found.groups[groups == 2]) == {3}
    assert set(found.groups[groups == 1]) == {1}


def test_pages_that_always_changed_tell_too_little():
    seen, _, changed = simulated(np.full(500, 2.0), [30.0, 30.0], 1)
    found = pooled(seen, np.zeros(500, np.int64))
    assert changed.all()
    assert found.prior[1].tolist() == list(DEFAULT)
    assert set(found.groups) == {1}
    assert (found.low > 1 / 100).all()


def test_one_visit_gives_the_default_and_says_so():
    found = pooled(
        Seen(np.zeros(5), np.zeros(5), np.zeros(6, np.int64), np.empty(0)), ONE.repeat(5)
    )
    assert found.groups.tolist() == [1] * 5
    assert found.prior[1].tolist() == list(DEFAULT)
    assert found.mean == pytest.approx(DEFAULT[0] / DEFAULT[1], rel=2e-3)
    assert stats.gamma(DEFAULT[0], scale=1 / DEFAULT[1]).median() == pytest.approx(
        np.log(2) / 50, rel=0.01
    )


def test_no_pages_at_all():
    none = Seen(np.empty(0), np.empty(0), np.zeros(1, np.int64), np.empty(0))
    assert len(pooled(none, np.empty(0, np.int64)).mean) == 0


@pytest.mark.slow
def test_a_million_visits_of_one_page_are_one_rate():
    random = np.random.default_rng(4)
    changed = random.random(1_000_000) < -np.expm1(-0.3)
    seen = seen_of(0.0, float((~changed).sum()), np.ones(changed.sum()))
    row = posterior(seen, np.array([DEFAULT]), ONE)[0]
    assert row[:3] == pytest.approx([0.3] * 3, rel=0.01)


@given(st.floats(1e-2, 500))
def test_shapes_of_gamma_distributions(shape):
    assert _digamma(shape) == pytest.approx(special.digamma(shape), abs=1e-9)
    assert _shape_of(np.log(shape) - special.digamma(shape)) == pytest.approx(shape, rel=1e-5)
