"""Rows that a thread makes while others are worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from crawlrank.pipeline.data.database import read_ahead


def test_rows_come_in_order_from_another_thread() -> None:
    made_by: list[int] = []

    def rows() -> Iterator[int]:
        for number in range(5):
            made_by.append(threading.get_ident())
            yield number

    assert list(read_ahead(rows())) == [0, 1, 2, 3, 4]
    assert len(set(made_by)) == 1 and threading.get_ident() not in made_by
    assert list(read_ahead(iter(()))) == []


def test_an_error_comes_after_the_rows_before_it() -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise ValueError("damaged")

    ahead = read_ahead(rows())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(ahead)


def test_one_row_is_made_before_it_is_asked_for() -> None:
    made = threading.Semaphore(0)
    latest: list[int] = []

    def rows() -> Iterator[int]:
        for number in range(9):
            latest.append(number)
            made.release()
            yield number

    ahead = read_ahead(rows())
    assert next(ahead) == 0
    assert made.acquire(timeout=600) and made.acquire(timeout=600)
    ahead.close()  # type: ignore[attr-defined]
    assert latest == [0, 1]
