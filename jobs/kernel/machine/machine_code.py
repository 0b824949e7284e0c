"""Plain loops over arrays as machine code, by numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@cache
def compiled(function: F, **options: Any) -> F:
    """The loop as machine code, made when first called with arrays of a kind, and kept on disk
    where numba finds a place for that. options: of numba.njit."""
    import numba  # takes a second to import

    try:
        made: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        made = numba.njit(**options)(function)
    return made


def loop(function: F) -> F:
    """Machine code that gives up the interpreter's lock, and divides as the processor does."""
    made: F = compiled(function, nogil=True, error_model="numpy")
    return made
