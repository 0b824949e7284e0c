"""How often Python looks for objects that only hold each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 50_000  # objects between two looks, some megabytes; Python's own is 700


class _Users:
    """Who wants it seldom now, and what was before the first came."""

    def __init__(self) -> None:
        self.count, self.before = 0, gc.get_threshold()


_users = _Users()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within it, Python looks seldom. Extraction makes many lists and tuples that it keeps for a
    while, and none that hold each other: looking for these takes a tenth of its time. What was
    before comes back when the last one leaves, in whatever order they do."""
    if not _users.count:
        _users.before = gc.get_threshold()
        first, *others = _users.before
        gc.set_threshold(max(SELDOM, first) if first else 0, *others)  # 0: it never looks
    _users.count += 1
    try:
        yield
    finally:
        _users.count -= 1
        if not _users.count:
            gc.set_threshold(*_users.before)
