"""Wait for what another process does without a signal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def awaited(look: Callable[[], T], what: str = "", seconds: float = 600.0) -> T:
    """The first answer of a look that is true; the test fails if none is within the seconds. Where
    a pipe, an event or the end of a process tells the same, wait for that.

    what: has not happened, if the test fails.
    """
    last = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < last, f"not after {seconds} s: {what or look}"
        time.sleep(0.005)
    return answer
