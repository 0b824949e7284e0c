"""Plain loops over arrays as machine code, by numba."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


@cache
def compiled(function: F, **options: Any) -> F:
    """The loop as machine code. numba makes it at the first call with arrays of a type, and keeps
    it on disk if it can. options: of numba.njit."""
    import numba  # takes a second to import

    _leave_terminal_alone()
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return cast(F, numba.njit(**options)(function))


def _leave_terminal_alone() -> None:
    """numba colours its errors with colorama where that is installed, which then ends the standard
    output of the process with an escape sequence."""
    if initialise := sys.modules.get("colorama.initialise"):
        initialise.atexit_done = True  # type: ignore[attr-defined]  # asked before it registers
        atexit.unregister(initialise.reset_all)


def loop(function: F) -> F:
    """Machine code that releases the interpreter's lock, and divides as the processor does."""
    return cast(F, compiled(function, nogil=True, error_model="numpy"))
