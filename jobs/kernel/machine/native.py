"""Machine code that numba makes once, and that processes load without numba.

Loading numba and what it keeps takes half a second of every process; this takes some hundredths, as
it loads nothing but llvmlite, and calls with addresses. The code of a `Native` is made for all
processors of its architecture, so that the nodes of a cluster can take it from the zip of the
package. Its name changes with the sources, and where numba is told to check the bounds of arrays.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any, Generic, NamedTuple, TypeVar, cast

from crawlrank.jobs.kernel.machine.kept_code import BESIDE, alone, contents_of, keep, kept

# What code calls where it raises, or gives memory back that it took; others begin with `Py`
_FAILURES = {
    *("numba_do_raise", "numba_unpickle", "numba_runtime_build_excinfo_struct"),
    *("numba_gil_ensure", "numba_gil_release", "NRT_Free", "NRT_MemInfo_call_dtor"),
}
_OF_NUMBA = ("numba_", "NRT_")  # begin the names of all that code calls of numba
# All others are addresses, also int64, as that takes less time
_CTYPES = {"bytes": ctypes.c_char_p}
_FAST, _ANY = 3, 0  # levels of optimization: to make code, to load it
GENERIC = ("generic", "")  # all processors of the architecture, as `processor` gives them

NativeFunction = Callable[..., int]
T = TypeVar("T")
_loaded: dict[str, NativeFunction] = {}
_owners = list[Any]()  # the owners of all code: somebody may call a function that is loaded again
F = TypeVar("F", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def of_python(kind: Class) -> Class:
    """Keep a class as it is: mypyc compiles no subclass of what Python has built in, and no class
    with a decorator."""
    return kind


class OfThread(Generic[T]):
    """An object for each thread, such as the room that code writes to: while it runs, and after it,
    other threads may call it. make: called when a thread asks for the first time."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._local = make, threading.local()

    def __call__(self) -> T:
        try:
            made: T = self._local.made
        except AttributeError:
            made = self._local.made = self._make()
        return made


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """numba compiles meanwhile, also where it is told not to."""
    import numba

    config: Any = numba.config
    told_not_to, config.DISABLE_JIT = config.DISABLE_JIT, 0
    try:
        yield
    finally:
        config.DISABLE_JIT = told_not_to


def part(function: F, **options: Any) -> F:
    """A function that others are made of; Python cannot call it. options: of numba.njit."""
    import numba

    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    with _compiling():
        return cast(F, numba.njit(nogil=True, error_model="numpy", **options)(function))


def inlined(function: F) -> F:
    """A part without counts of references to its arrays, which does not allocate."""
    return part(function, _nrt=False)


class Native(NamedTuple):
    """A function of a module that numba can compile. arguments: `bytes`, `int64`, or the type of
    the numbers at an address. It returns an int64, and neither raises nor allocates. sources: the
    modules that it is made of."""

    module: str
    function: str
    arguments: tuple[str, ...]
    sources: tuple[str, ...]

    def ready(self) -> NativeFunction:
        """The function, by code that was kept, or that is made now, which takes seconds."""
        return self.kept() or self.made()

    def kept(self, again: bool = False) -> NativeFunction | None:
        """The function, if its code was kept. again: load it even if this process has."""
        name = self._name()
        if name in _loaded and not again:
            return _loaded[name]
        code = kept(self.module, name)
        return self._load(name, code) if code else None

    def made(self) -> NativeFunction:
        """The function; its code is kept where a folder can be written."""
        name = self._name()
        return self._load(name, self._kept_or_made(name))

    def _kept_or_made(self, name: str) -> bytes:
        with alone(self.module, name):
            code = kept(self.module, name)
            if code is None:
                code = self._code()
                keep(self.module, name, code)
        return code

    def entry(self) -> tuple[str, bytes]:
        """The path of the code in a zip that holds the module, and the contents of that file. Code
        is kept before it is taken: made again, it has other bytes."""
        package, _, _ = self.module.rpartition(".")
        name = self._name()
        path = "/".join([*package.split("."), BESIDE, name])
        return path, contents_of(kept(self.module, name) or self._kept_or_made(name))

    def _name(self) -> str:
        checked = os.environ.get("NUMBA_BOUNDSCHECK", "")
        made_for = (sys.platform, platform.machine(), checked, *self)
        digest = hashlib.sha256(repr(made_for).encode())
        for source in self.sources:
            digest.update(source_of(source))
        return f"{self.function}-{digest.hexdigest()[:20]}.native"

    def _code(self) -> bytes:
        from numba import types

        kinds = [_numba_type(types, kind) for kind in self.arguments]
        function = getattr(importlib.import_module(self.module), self.function)
        code = object_code(function, types.int64(*kinds), self.function)
        assert code is not None, f"{self.function} calls numba"
        return code

    def _load(self, name: str, code: bytes) -> NativeFunction:
        kinds = [_CTYPES.get(kind, ctypes.c_void_p) for kind in self.arguments]
        function, engine = loaded(code, self.function, kinds)
        _owners.append(engine)
        _loaded[name] = function
        return function


def object_code(
    function: Callable[..., Any], signature: Any, name: str, *, of_this_processor: bool = False
) -> bytes | None:
    """The object code of a function of numbers and addresses, under a name; None if it calls numba,
    as it does to allocate. The code ends the process where it would raise. signature: of numba.
    of_this_processor: others of its architecture may not run it."""
    import llvmlite.binding as llvm
    import numba

    with _compiling():
        made = numba.cfunc(signature, nogil=True, error_model="numpy")(function)
    module = llvm.parse_assembly(made.inspect_llvm())
    module.get_function(made.native_name).name = name
    called = {each.name for each in module.functions if each.is_declaration}
    failures = {each for each in called if each in _FAILURES or each.startswith("Py")}
    if any(each.startswith(_OF_NUMBA) for each in called - failures):
        return None
    module.link_in(llvm.parse_assembly("\n".join(_ends_the_process(failures))))
    return cast(bytes, _machine(_FAST, of_this_processor).emit_object(module))


def _ends_the_process(names: Iterable[str]) -> list[str]:
    """LLVM's text of functions that do so."""
    text = "define void @{}() {{\n call void @abort()\n unreachable\n}}"
    return ["declare void @abort()", *map(text.format, names)]


def loaded(code: bytes, name: str, kinds: Iterable[Any]) -> tuple[NativeFunction, Any]:
    """A function of object code, and the owner of the code. kinds: of its arguments in ctypes."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(_ANY))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(name)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address), engine


def _numba_type(types: Any, kind: str) -> Any:
    number = "uint8" if kind == "bytes" else kind.removesuffix("*")
    numba_type = getattr(types, number)
    return numba_type if kind == "int64" else types.CPointer(numba_type)


def processor() -> tuple[str, str]:
    """Name and features of the processor to make code for: this one, or the one that numba's
    settings name."""
    import llvmlite.binding as llvm

    if name := os.environ.get("NUMBA_CPU_NAME"):
        return name, os.environ.get("NUMBA_CPU_FEATURES", "")
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _machine(level: int, of_this_processor: bool = False) -> Any:
    """What makes code for all processors of this architecture, or for this one, or takes it."""
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer ones initialize themselves, and say so
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    options = dict(zip(("cpu", "features"), processor(), strict=True)) if of_this_processor else {}
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(opt=level, jit=True, **options)


def source_of(module: str) -> bytes:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else None  # type: ignore[attr-defined]
    return (source or "").encode()
