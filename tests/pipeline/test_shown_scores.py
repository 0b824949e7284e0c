"""Scores as people are shown them have the digits of every score that their bounds allow."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.bounds import EXACT, Bounds

SCORES = st.floats(0, 1e9, allow_subnormal=False)
SMALL = st.floats(-12, 0.5).map(lambda power: 10**power)
BOUNDS = st.builds(
    Bounds, st.just(0.0) | st.just(math.inf) | SMALL, st.just(0.0) | st.just(math.inf) | SMALL
)


@given(SCORES, BOUNDS, st.floats(0, 1))
@example(0.78622, Bounds(3.5e-4, math.inf), 0.4)
def test_every_exact_score_has_the_digits_that_are_shown(
    score: float, bounds: Bounds, where: float
) -> None:
    low, high = bounds.ends(score)
    assume(math.isfinite(high))
    exact = low + where * (high - low)
    text = bounds.text(score)
    if text.startswith("<"):
        assert low == 0 and high <= float(text[1:]) <= 2 * high
    elif "±" in text:
        shown, off = map(float, text.split("±"))
        assert shown == float(f"{score:.0e}")
        assert max(score - low, high - score) <= off <= 2 * max(score - low, high - score)
    else:
        mantissa = re.sub(r"e.*", "", text).replace(".", "").lstrip("0")
        digits = len(mantissa) or 1
        assert digits <= 6
        if low > 0:
            assert f"{exact:.{digits - 1}e}" == f"{float(text):.{digits - 1}e}"


@given(SCORES.filter(bool), st.floats(1e-12, 1e-3))
def test_a_digit_more_is_not_proved(score: float, eta: float) -> None:
    bounds = Bounds(eta, math.inf)
    digits = len(re.sub(r"e.*", "", bounds.text(score)).replace(".", "").lstrip("0"))
    assume("±" not in bounds.text(score))
    low, high = bounds.ends(score)
    if digits < 6:
        assert f"{low:.{digits}e}" != f"{high:.{digits}e}"


@pytest.mark.parametrize(
    ("score", "bounds", "shown"),
    [
        (0.786219, Bounds(3.5e-4, math.inf), "0.786"),
        (0.5, EXACT, "0.500000"),
        (0.7654321, Bounds(math.inf, math.inf), "~0.765432"),
        (0.0, EXACT, "0"),
        (0.0, Bounds(math.inf, 1.5e-9), "<2e-9"),
        (3e-12, Bounds(math.inf, 2.5e-9), "<3e-9"),
        (0.75, Bounds(0.5, math.inf), "0.8±0.8"),
        (1234567.0, Bounds(1e-9, math.inf), "1.23457e+06"),
        (3.0, Bounds(0.1, math.inf), "3"),
        (0.75, Bounds(math.inf, 0.2), "0.8±0.2"),
    ],
)
def test_cases(score: float, bounds: Bounds, shown: str) -> None:
    assert bounds.text(score) == shown


def test_a_sum_may_be_off_by_the_bounds_of_all_its_scores() -> None:
    bounds = Bounds(math.inf, 1e-4)
    assert bounds.text(0.1235) == "0.12"
    assert bounds.text(0.12345, scores=1000) == "0.1±0.2"


@given(SCORES, BOUNDS)
def test_a_number_has_the_same_digits(score: float, bounds: Bounds) -> None:
    text = bounds.text(score)
    assume(text[0] not in "<~" and "±" not in text)
    assert bounds.number(score) == float(text)
