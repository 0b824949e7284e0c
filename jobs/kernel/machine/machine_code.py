"""Loops over arrays as machine code: numba makes it once, and processes load it without numba.

A loop takes numbers, arrays and tuples of these, and returns nothing, a number or a tuple of
numbers. Its code (native.py) is made at the first call with arguments of some types, for the
processor that runs, and kept under a name that changes with the loop, the loops that it calls and
the constants that it uses.

numba itself calls a loop where there is no such code: for arguments of other types, for loops that
allocate or return arrays, where no folder for the code can be written, and where numba is told not
to compile, or to check the bounds of arrays.
numba keeps its code, too, and makes it anew when the file of the loop has changed. The code also
has the loops that it calls and the constants that it uses. So it is made anew where the file of one
of these is newer, too.

`prefetch` asks the processor for a place of an array some reads ahead. A loop over links reads
numbers from all over an array, and each read waits for memory otherwise. Source of the instruction:
the LLVM language reference, `llvm.prefetch`. It changes no number: the processor may ignore it.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

from crawlrank.jobs.kernel.machine.kept_code import is_private
from crawlrank.jobs.kernel.machine.loop_code import Caller, Kind, LoopCode, kind_of
from crawlrank.jobs.kernel.machine.native import part

F = TypeVar("F", bound=Callable[..., Any])
_OF_NUMBA = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")  # settings for which numba itself is called


def by_numba(function: F) -> F:
    """The loop as numba calls it. numba keeps its code on disk if it can."""
    import numba  # takes a second to import

    _leave_terminal_alone()
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        kept = numba.njit(cache=True, **options)(function)
        if kept is function:  # numba does not compile, as it was told
            return cast(F, _as_compiled(function))
        if _may_be_kept(function, kept):
            _remove_older(function, kept)
            return cast(F, kept)
    except (RuntimeError, OSError):  # no folder for it can be written
        pass
    return cast(F, numba.njit(**options)(function))


def _as_compiled(function: F) -> F:
    """The loop as Python, which warns of no overflow and returns numbers of Python, as compiled
    loops do."""
    from numpy import errstate, generic

    def numbers_of(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(numbers_of, value))
        return value.item() if isinstance(value, generic) else value

    def called(*arguments: Any) -> Any:
        with errstate(all="ignore"):
            return numbers_of(function(*arguments))

    return cast(F, called)


def _may_be_kept(function: Callable[..., Any], made: Any) -> bool:
    """Whether numba's folder for its code is beside the module, or nobody else may write it."""
    folder = Path(made.stats.cache_path)
    return folder == Path(function.__code__.co_filename).parent / "__pycache__" or is_private(
        folder
    )


def _remove_older(function: Callable[..., Any], made: Any) -> None:
    """Remove what numba has kept of the loop if a file that it is made of is newer."""
    if not isinstance(function, FunctionType):
        return
    name = f"*.{function.__name__}-{function.__code__.co_firstlineno}.*.nbi"
    kept = [*Path(made.stats.cache_path).glob(name)]
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
            if module.__file__ and (has or any(value is module for value in used.values())):
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
        self.function = cast(FunctionType, function)
        self._callers: dict[tuple[Kind, ...], Caller] = {}

    @cached_property
    def by_numba(self) -> Any:
        return by_numba(self.__wrapped__)

    @cached_property
    def part(self) -> Any:
        """The loop as a part of others."""
        return part(self.__wrapped__)

    def __call__(self, *arguments: Any) -> Any:
        kinds = tuple(map(kind_of, arguments))
        if (caller := self._callers.get(kinds)) is None:
            caller = self._callers[kinds] = self._caller(kinds)
        return caller(*arguments)

    def _caller(self, kinds: tuple[Kind, ...]) -> Caller:
        """What calls the loop with arguments of these kinds."""
        if None in kinds or any(os.environ.get(name, "0") != "0" for name in _OF_NUMBA):
            return cast(Caller, self.by_numba)
        return LoopCode(self.function, kinds).ready() or cast(Caller, self.by_numba)

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba compiles another loop that calls this one."""
        return self.part._numba_type_

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.by_numba, name)


def loop(function: F) -> F:
    """Machine code that releases the interpreter's lock, and divides as the processor does. It
    raises nothing."""
    return cast(F, _Loop(function))


@cache
def compiled(function: F) -> F:
    """As `loop`, for a function that Python calls as it is elsewhere."""
    return loop(function)


AHEAD = 96  # reads of a loop that a place is asked for ahead


class _Prefetch:
    """Asks for `array[index]`; does nothing where loops run as Python. index: unsigned, so that
    numba does not look whether it counts from the end."""

    def __call__(self, array: Any, index: Any) -> None:
        return None

    @cached_property
    def _numba_type_(self) -> Any:
        """The type by which numba compiles a loop that names this."""
        from numba.core.registry import cpu_target

        self._made = _intrinsic()  # numba knows it as long as it lives
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(self._made)


def _intrinsic() -> Any:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    to_read, keep_near, of_data = word(0), word(3), word(1)

    def prefetched(typing_context: Any, array: Any, index: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            of = context.make_array(array)(context, builder, values[0])
            address = builder.bitcast(builder.gep(of.data, [values[1]]), byte)
            ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            builder.call(ask, [address, to_read, keep_near, of_data])
            return context.get_dummy_value()

        return types.void(array, index), code

    return intrinsic(prefetched)


prefetch = _Prefetch()
