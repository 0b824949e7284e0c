"""The order of scores and of ids as bytes, which is all that a shuffle sorts by."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.formats.order import ascending_id, descending, rounded

SCORES = st.just(0.0) | st.floats(min_value=1e-300, max_value=1e300)
DIGITS = st.integers(1, 17)


@given(SCORES, SCORES, DIGITS)
@example(0.15, 0.15000000000000002, 9)
@example(9.999999999, 10.0, 9)
@example(99.9999999951, 100.0, 9)
@example(1.0, 0.9999999999, 9)
def test_bytes_sort_as_rounded_scores_do_the_other_way(a: float, b: float, digits: int) -> None:
    one, other = rounded(a, digits), rounded(b, digits)
    assert (descending(a, digits) < descending(b, digits)) == (one > other)
    assert (descending(a, digits) == descending(b, digits)) == (one == other)


@given(SCORES, DIGITS)
def test_rounded_is_what_decimal_arithmetic_gives(score: float, digits: int) -> None:
    context = Context(prec=digits, rounding=ROUND_HALF_EVEN)
    assert rounded(score, digits) == float(context.plus(Decimal(score)))


@given(SCORES, DIGITS)
def test_texts_of_one_number_of_digits_are_equally_long(score: float, digits: int) -> None:
    assert len(descending(score, digits)) == 4 + digits
    assert descending(score, digits).isdigit()


def test_nine_digits_unless_told() -> None:
    assert rounded(1.2345678949) == 1.23456789
    assert descending(1.23456789) == b"1000" + b"876543210"
    assert descending(0.15) == b"1001" + b"849999999"


@given(st.lists(st.integers(0, 10**18 - 1), unique=True))
@example([9, 10, 99, 100, 0])
def test_ids_sort_as_numbers_and_dummy_last(numbers: list[int]) -> None:
    ids = [b"%d" % number for number in numbers]
    wanted = [b"%d" % number for number in sorted(numbers)]
    ordered = sorted([b"dummy", *ids], key=ascending_id)
    assert ordered == [*wanted, b"dummy"]
    assert [ascending_id(node)[1:] for node in ordered[:-1]] == wanted


@pytest.mark.parametrize("node", [b"0", b"9" * 18])
def test_ids_stay_clear_of_side_lines_and_tabs(node: bytes) -> None:
    assert b"A" <= ascending_id(node)[:1] <= b"R"
