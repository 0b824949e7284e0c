"""Machine code that numba makes once, and that processes load without numba.

Loading numba and what it keeps takes half a second of every process; this takes some hundredths, as
it loads nothing but llvmlite, and calls with addresses. The code is kept where numba would keep it:
beside the module, or in the user's folder of caches. It is made for all processors of its
architecture, so that the nodes of a cluster can take it from the zip of the package. Its name
changes with the sources, and where numba is told to check the bounds of arrays.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from crawlrank.jobs.kernel.machine.machine_code import is_private

_BESIDE = "__pycache__"
_DIGEST = 32  # bytes of SHA-256 in front of the code
# What numba calls where a function raises or gives memory back, which none does here.
_DECLARED = re.compile(r"^declare \S.*? @((?:numba_|NRT_|Py)\w+)\(.*$\n", re.MULTILINE)
_CTYPES = {"bytes": ctypes.c_char_p, "int64": ctypes.c_int64}  # all others are addresses

NativeFunction = Callable[..., int]
_loaded: dict[str, tuple[NativeFunction, Any]] = {}  # each with the owner of its code
F = TypeVar("F", bound=Callable[..., Any])


def inlined(function: F) -> F:
    """A function of arrays that others are made of; without counts of references to them."""
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    return cast(F, numba.njit(**options)(function))


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
            return _loaded[name][0]
        kept = (_code_in(contents) for contents in _all_kept(self.module, name))
        code = next(filter(None, kept), None)
        return self._load(name, code) if code else None

    def made(self) -> NativeFunction:
        """The function; its code is kept where a folder can be written."""
        code, name = self._code(), self._name()
        for folder in _folders(self.module, make=True):
            if _written(folder, name, code):
                break
        return self._load(name, code)

    def entry(self) -> tuple[str, bytes]:
        """The path of the code in a zip that holds the module, and the contents of that file."""
        self.ready()
        package, _, _ = self.module.rpartition(".")
        name = self._name()
        contents = next(filter(_code_in, _all_kept(self.module, name)), None)
        path = "/".join([*package.split("."), _BESIDE, name])
        return path, contents or _contents(self._code())

    def _name(self) -> str:
        checked = os.environ.get("NUMBA_BOUNDSCHECK", "")
        made_for = (sys.platform, platform.machine(), checked, *self)
        digest = hashlib.sha256(repr(made_for).encode())
        for source in self.sources:
            digest.update(_source(source))
        return f"{self.function}-{digest.hexdigest()[:20]}.native"

    def _code(self) -> bytes:
        import llvmlite.binding as llvm
        import numba

        kinds = [_numba_type(numba.types, kind) for kind in self.arguments]
        function = getattr(importlib.import_module(self.module), self.function)
        options: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
        made = numba.cfunc(numba.types.int64(*kinds), **options)(function)
        text = made.inspect_llvm().replace(made.native_name, self.function)
        code: bytes = _machine(3).emit_object(llvm.parse_assembly(_without_numba(text)))
        return code

    def _load(self, name: str, code: bytes) -> NativeFunction:
        import llvmlite.binding as llvm

        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(0))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        kinds = [_CTYPES.get(kind, ctypes.c_void_p) for kind in self.arguments]
        address = engine.get_function_address(self.function)
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(address)
        _loaded[name] = function, engine
        return function


def _without_numba(text: str) -> str:
    """LLVM's text that ends the process where it would call numba or Python."""
    never = set(_DECLARED.findall(text))
    text = re.sub(r"@(\w+)\(", lambda m: "@abort(" if m[1] in never else m[0], text)
    return (
        re.sub(r"^declare .*@abort\(.*$\n", "", text, flags=re.MULTILINE)
        + "declare void @abort()\n"
    )


def _numba_type(types: Any, kind: str) -> Any:
    number = "uint8" if kind == "bytes" else kind.removesuffix("*")
    numba_type = getattr(types, number)
    return numba_type if kind == "int64" else types.CPointer(numba_type)


def _machine(level: int) -> Any:
    """What makes code for all processors of this architecture, or takes it."""
    import llvmlite.binding as llvm

    with contextlib.suppress(RuntimeError):  # newer ones initialize themselves, and say so
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(opt=level, jit=True)


def _source(module: str) -> bytes:
    spec = find_spec(module)
    source = spec.loader.get_source(module) if spec and spec.loader else None  # type: ignore[attr-defined]
    return (source or "").encode()


def _folders(module: str, make: bool = False) -> Iterator[Path]:
    """Where code may be kept: beside the module, or where programs of this user keep such, which
    nobody else may write. make: those that are not there."""
    folders = [(beside, 0o777)] if (beside := _beside(module)) else []
    if home := os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME"):
        cache = Path(home) / (".cache" * ("XDG_CACHE_HOME" not in os.environ)) / "crawlrank"
        folders.append((cache, 0o700))
    for folder, mode in folders:
        with contextlib.suppress(OSError):
            if make:
                folder.mkdir(mode, parents=True, exist_ok=True)
            if folder == beside or is_private(folder):
                yield folder


def _beside(module: str) -> Path | None:
    spec = find_spec(module)
    return Path(spec.origin).parent / _BESIDE if spec and spec.origin else None


def _all_kept(module: str, name: str) -> Iterator[bytes]:
    """The contents of all files of this name, those in a zip that holds the module included."""
    spec = find_spec(module)
    get: Callable[[str], bytes] | None = getattr(spec and spec.loader, "get_data", None)
    if get and (beside := _beside(module)):
        with contextlib.suppress(OSError):
            yield get(str(beside / name))
    for folder in _folders(module):
        with contextlib.suppress(OSError):
            yield (folder / name).read_bytes()


def _contents(code: bytes) -> bytes:
    return hashlib.sha256(code).digest() + code


def _code_in(contents: bytes) -> bytes | None:
    """The code in a file's contents, if they are whole."""
    code = contents[_DIGEST:]
    return code if code and contents == _contents(code) else None


def _written(folder: Path, name: str, code: bytes) -> bool:
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(_contents(code))
        Path(file.name).replace(folder / name)
        (folder / name).chmod(0o644)
    except OSError:
        return False
    return True
