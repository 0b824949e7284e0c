"""What extraction asks of Python's search for cycles, and gives back."""

from __future__ import annotations

import gc

import pytest

from crawlrank.jobs.kernel.captures.extraction import SELDOM, seldom_collected


@pytest.fixture(params=[(700, 10, 10), (0, 10, 10), (10**6, 5, 5)], autouse=True)
def threshold(request):
    before = gc.get_threshold()
    gc.set_threshold(*request.param)
    yield request.param
    gc.set_threshold(*before)


def test_the_threshold_is_high_within_and_comes_back(threshold):
    with pytest.raises(KeyError), seldom_collected():
        assert gc.get_threshold()[0] == wanted(threshold[0])
        raise KeyError
    assert gc.get_threshold() == threshold


def test_it_comes_back_when_the_last_leaves_whatever_the_order(threshold):
    first, second = seldom_collected(), seldom_collected()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == wanted(threshold[0])
    second.__exit__(None, None, None)
    assert gc.get_threshold() == threshold


def wanted(before):
    return 0 if before == 0 else max(SELDOM, before)
