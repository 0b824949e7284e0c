"""Plain loops over arrays as machine code, by numba.

Code that is kept in a user's folder of caches is read only if nobody else may write there. Code
beside a module needs no such check: who may write there may write the module.

numba makes a loop anew when its own file has changed. The code also has the loops that it calls and
the constants that it uses, so it is made anew where the file of one of these is newer, too.
"""

from __future__ import annotations

import atexit
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

_CODE = (".native", ".nbi", ".nbc")  # ours, and numba's two
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def is_private(folder: Path) -> bool:
    """Whether this user alone may write to a folder. One of this user that others may write is
    closed to them, and what code it has is removed: they may have written it."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        status = folder.stat()
        if status.st_uid != os.geteuid():
            return False
        if status.st_mode & _OTHERS:
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
            for path in folder.iterdir():
                if path.suffix in _CODE:
                    path.unlink()
    except OSError:
        return False
    return True


F = TypeVar("F", bound=Callable[..., Any])


@cache
def compiled(function: F, **options: Any) -> F:
    """The loop as machine code. numba makes it at the first call with arrays of a type, and keeps
    it on disk if it can. options: of numba.njit."""
    import numba  # takes a second to import

    _leave_terminal_alone()
    try:
        kept = numba.njit(cache=True, **options)(function)
        if _may_be_kept(function, kept):
            _remove_older(function, kept)
            return cast(F, kept)
    except (RuntimeError, OSError):  # no folder for it can be written
        pass
    return cast(F, numba.njit(**options)(function))


def _may_be_kept(function: Callable[..., Any], made: Any) -> bool:
    """Whether numba's folder for its code is beside the module, or nobody else may write it."""
    stats = getattr(made, "stats", None)
    if stats is None:  # numba does not compile, as it was told
        return True
    folder = Path(stats.cache_path)
    return folder == Path(function.__code__.co_filename).parent / "__pycache__" or is_private(
        folder
    )


def _remove_older(function: Callable[..., Any], made: Any) -> None:
    """Remove what numba has kept of the loop if a file that it is made of is newer."""
    stats = getattr(made, "stats", None)
    if stats is None or not isinstance(function, FunctionType):
        return
    name = f"*.{function.__name__}-{function.__code__.co_firstlineno}.*.nbi"
    kept = [*Path(stats.cache_path).glob(name)]
    files = filter(os.path.exists, _made_of(function) if kept else ())  # not those in a zip
    newest = max(map(os.path.getmtime, files), default=0.0)
    for index in kept:
        with suppress(FileNotFoundError):  # another process has removed it
            if index.stat().st_mtime < newest:
                index.unlink()


def _made_of(function: FunctionType) -> set[str]:
    """The files of this package that have what the function names, and what those loops name."""
    files, waiting, seen = set[str](), [function], set[FunctionType]()
    package = f"{__name__.partition('.')[0]}."
    modules = [module for name, module in [*sys.modules.items()] if name.startswith(package)]
    while waiting:
        one = waiting.pop()
        seen.add(one)
        names = [name for name in one.__code__.co_names if name in one.__globals__]
        used = {name: one.__globals__[name] for name in names}
        for module in modules:
            has = any(module.__dict__.get(name, used) is value for name, value in used.items())
            if module.__file__ and (has or module in used.values()):
                files.add(module.__file__)
        loops = (value.__wrapped__ for value in used.values() if isinstance(value, _Loop))
        waiting += [each for each in loops if each not in seen]
    return files


def _leave_terminal_alone() -> None:
    """numba colours its errors with colorama where that is installed, which then ends the standard
    output of the process with an escape sequence."""
    if initialise := sys.modules.get("colorama.initialise"):
        initialise.atexit_done = True  # type: ignore[attr-defined]  # asked before it registers
        atexit.unregister(initialise.reset_all)


class _Loop:
    """A loop that is compiled when it is first called, so that its module loads without numba."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)

    @cached_property
    def code(self) -> Any:
        return compiled(self.__wrapped__, nogil=True, error_model="numpy")

    def __call__(self, *arguments: Any) -> Any:
        return self.code(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba compiles another loop that calls this one."""
        return self.code._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.code, name)


def loop(function: F) -> F:
    """Machine code that releases the interpreter's lock, and divides as the processor does."""
    return cast(F, _Loop(function))
