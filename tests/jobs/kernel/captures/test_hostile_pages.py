"""Hostile archives that are drawn: each is read in time. `make fuzz` draws many more and larger
ones, `make test-linear` reads those of each production by itself."""

from __future__ import annotations

from functools import partial

import pytest
from support.inputs.hostile import drawn, is_too_long, read, seconds

MOST = 1 << 13  # bytes of each


@pytest.mark.parametrize("hundred", range(10))
@pytest.mark.slow
def test_each_is_read_in_time(hundred: int) -> None:
    for number in range(100 * hundred, 100 * (hundred + 1)):
        data = drawn(1, number, MOST)
        assert not is_too_long(seconds(partial(read, data))), number
