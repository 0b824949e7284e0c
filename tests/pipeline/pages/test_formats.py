"""Values as text: nothing that is rounded becomes nothing, all, or another unit's number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.pages.page import (
    FORMATS,
    NOTHING,
    percent,
    pieces,
    seconds,
    size,
    text,
    timestamp,
)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_unknown_is_a_dash(name: str) -> None:
    assert FORMATS[name](None) == NOTHING


@given(st.floats(0, 1))
def test_a_share_is_never_rounded_to_nothing_or_all(share: float) -> None:
    shown = percent(share)
    assert (shown == "0.00%") == (share == 0)
    assert (shown == "100.00%") == (share == 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (77_584, "77.6 kB"),
        (5e15, "5,000 TB"),
        (1000, "1 kB"),
        (19_494_221, "19.5 MB"),
        (3e18, "3,000,000 TB"),
    ],
)
def test_sizes(value: float, shown: str) -> None:
    assert size(value) == shown


def test_times() -> None:
    assert seconds(2.94) == "2.9 s"
    assert seconds(600) == "10.0 min"
    assert seconds(7200 * 2) == "4.0 h"
    assert timestamp("20240506070809") == "2024-05-06 07:08:09"
    assert timestamp("2024") == "2024"


def test_text_cannot_steer() -> None:
    assert text("a\u202eb\n\x1b[0m") == "a\\u202eb\n\\x1b[0m"


def test_lines_end_between_the_pieces_of_a_uri() -> None:
    uri = "http://a.example/b//c?d=1&e=2"
    assert pieces(uri) == ["http://", "a.example/", "b//", "c?", "d=", "1&", "e=", "2"]
    assert "".join(pieces(uri)) == uri
    assert pieces("") == [""]
