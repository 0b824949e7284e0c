"""The code of a loop for arguments of some types, called with addresses and numbers.

The code is made for the processor that runs. It is kept (kept_code.py) under a name that changes
with the types, the processor, the loop, the loops that it calls and the constants that it uses.
Code for all processors of the architecture, as some wheels bring it, is taken where there is none
for the processor that runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from crawlrank.jobs.kernel.machine.kept_code import alone, can_be_kept, keep, kept
from crawlrank.jobs.kernel.machine.native import (
    GENERIC,
    loaded,
    object_code,
    part,
    processor,
    source_of,
)

if TYPE_CHECKING:
    import numpy.typing as npt

# The type of a number, (dtype, dimensions) of an array, or `tuple` before the kinds of its members
Kind: TypeAlias = Any
Caller: TypeAlias = Callable[..., Any]

_CTYPES = {
    "bool": ctypes.c_bool,
    "int64": ctypes.c_int64,
    "float64": ctypes.c_double,
    "uint64": ctypes.c_uint64,
    "int32": ctypes.c_int32,
    "uint32": ctypes.c_uint32,
    "uint8": ctypes.c_uint8,
}
_NAMES = {int: "int64", float: "float64", bool: "bool"}
_FORMATS = {"int64": "q", "float64": "d", "uint64": "Q", "bool": "?7x"}  # 8 bytes a result
_NO_CODE = b"numba"  # kept for a loop that only numba itself can call
_MOST = 2**63
_owners: list[Any] = []  # of the code, for as long as the process lives
_making = threading.Lock()  # one loop at a time, as numba does
_PACKAGE = __name__.partition(".")[0]
_HEAD = object.__basicsize__  # bytes of an object before its own fields
_read = ctypes.c_size_t.from_address


@cache
def _makers() -> bytes:
    """What makes and calls the code."""
    return source_of(__name__) + source_of(object_code.__module__)


def kind_of(value: object) -> Kind | None:
    """The kind of an argument; None if there is no code for such."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        is_plain = flags.c_contiguous and flags.aligned and value.ndim
        return (value.dtype, value.ndim) if is_plain else None
    if type(value) is tuple:
        kinds = tuple(map(kind_of, value))
        return None if None in kinds or not kinds else (tuple, *kinds)
    if type(value) is int and not -_MOST <= value < _MOST:
        return None
    return type(value)


def address_by_interface(array: npt.NDArray[Any]) -> int:
    """The address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def address_by_struct(array: npt.NDArray[Any]) -> int:
    """The address, read where numpy's C structure of an array has it, after the head of a Python
    object, in a sixth of the time."""
    return _read(id(array) + _HEAD).value


@cache
def address_function() -> Callable[[npt.NDArray[Any]], int]:
    """What gives the address of the first element of an array in the least time."""
    for probe in (np.empty(3), np.arange(9)[2:], np.frombuffer(b"read only", np.uint8)):
        if address_by_struct(probe) != address_by_interface(probe):
            return address_by_interface
    return address_by_struct


class Parameter(NamedTuple):
    """A parameter of the code. type: that of a number; `*` ends that of an address. value: the
    expression of what it is called with."""

    name: str
    type: str
    value: str


def _parameters(kind: Kind, name: str, value: str) -> tuple[list[Parameter], str]:
    """The parameters for an argument, and the argument as an expression of these. value: the
    expression of what Python calls the loop with."""
    if isinstance(kind, type):
        value += ".item()" * issubclass(kind, np.generic)
        return [Parameter(name, _number(kind), value)], name
    first, *rest = kind
    if first is tuple:
        parts = [_parameters(each, f"{name}_{i}", f"{value}[{i}]") for i, each in enumerate(rest)]
        expression = "".join(f"{each}, " for _, each in parts)
        return [each for some, _ in parts for each in some], f"({expression})"
    address = f"address({value})"
    data = Parameter(name, f"{first.name if first.isnative else first.str}*", address)
    sizes = [Parameter(f"{name}_{i}", "int64", f"{value}.shape[{i}]") for i in range(rest[0])]
    shape = "".join(f"{size.name}, " for size in sizes)
    return [data, *sizes], f"array_at({name}, ({shape}))"


def _number(kind: type) -> str:
    """The name of a type of numbers; of others one that has no code."""
    is_numpy = issubclass(kind, np.generic)
    return np.dtype(kind).name if is_numpy else _NAMES.get(kind, kind.__qualname__)


class LoopCode(NamedTuple):
    """A loop for arguments of these kinds."""

    function: Any
    kinds: tuple[Kind, ...]

    def ready(self) -> Caller | None:
        """What calls the code, which was kept or is made now; None if only numba can."""
        if not all(each.rstrip("*") in _CTYPES for _, each, _ in self._parameters()):
            return None
        module, name = self.function.__module__, self._name(processor())
        contents = kept(module, name) or kept(module, self._name(GENERIC))
        if contents is None:
            if not can_be_kept(module):
                return None  # numba compiles in less time
            with _making, alone(module, name):
                contents = kept(module, name) or self._made_and_kept(module, name)
        form, _, code = contents.partition(b"\n")
        return None if form == _NO_CODE else self._caller(form.decode(), code)

    def _made_and_kept(self, module: str, name: str) -> bytes:
        """The contents of a new file; _NO_CODE where this numba makes none."""
        from numba.core.errors import NumbaError

        try:
            contents = self._made()
        except (NumbaError, ImportError, AttributeError, RuntimeError, TypeError, ValueError):
            return _NO_CODE  # numba itself says what is wrong with a loop
        keep(module, name, contents)
        return contents

    def _parameters(self) -> list[Parameter]:
        parts = [_parameters(kind, f"a{i}", f"a{i}") for i, kind in enumerate(self.kinds)]
        return [each for some, _ in parts for each in some]

    def _name(self, processor: tuple[str, str]) -> str:
        """The name of the file with the code for that processor."""
        import llvmlite

        made_for = (sys.platform, platform.machine(), llvmlite.__version__, *processor, self.kinds)
        digest = hashlib.sha256(repr(made_for).encode())
        for each in (_makers(), *_made_of(self.function, set())):
            digest.update(each)
        stem = Path(self.function.__code__.co_filename).stem
        return f"{stem}.{self.function.__name__}-{digest.hexdigest()[:20]}.native"

    def _made(self) -> bytes:
        """The format of the results, and the object code."""
        from numba import int64

        loop = part(self.function)
        results = _results(loop, tuple(map(_numba_kind, self.kinds)))
        if results is None:
            return _NO_CODE
        is_tuple, names = results
        kinds = [_numba_type(kind) for _, kind, _ in self._parameters()]
        kinds += [_numba_type("uint8*" if name == "bool" else f"{name}*") for name in names]
        wrapper = self._wrapper(loop, is_tuple, len(names))
        code = object_code(wrapper, int64(*kinds), "loop", of_this_processor=True)
        form = "".join(_FORMATS[name] for name in names)
        form = f"({form})" if is_tuple else form
        return _NO_CODE if code is None else form.encode() + b"\n" + code

    def _wrapper(self, loop: Any, is_tuple: bool, results: int) -> Callable[..., int]:
        """A function of addresses and numbers that calls the loop and writes what it returns."""
        import numba

        arguments = [_parameters(kind, f"a{i}", "")[1] for i, kind in enumerate(self.kinds)]
        names = [each.name for each in self._parameters()] + [f"r{i}" for i in range(results)]
        lines = [f"def wrapper({', '.join(names)}):", f" result = loop({', '.join(arguments)})"]
        lines += [f" r{i}[0] = result{f'[{i}]' * is_tuple}" for i in range(results)]
        values: dict[str, Any] = {"array_at": numba.carray, "loop": loop}
        exec("\n".join([*lines, " return 0"]), values)
        return values["wrapper"]  # type: ignore[no-any-return]

    def _caller(self, form: str, code: bytes) -> Caller:
        """A function of the arguments that calls the code, and gives what it wrote."""
        parameters, unpacking = self._parameters(), struct.Struct(form.strip("()"))
        addresses = [f"first + {offset}" for offset in range(0, unpacking.size, 8)]
        kinds = [_CTYPES.get(kind, ctypes.c_void_p) for _, kind, _ in parameters]
        native, owner = loaded(code, "loop", [*kinds, *(ctypes.c_void_p for _ in addresses)])
        _owners.append(owner)
        values: dict[str, Any] = {"native": native, "unpack": unpacking.unpack}
        values |= {
            "address": address_function(),
            "room": ctypes.c_int64 * len(addresses),
            "addressof": ctypes.addressof,
        }
        call = f" native({', '.join([*(each.value for each in parameters), *addresses])})"
        lines = [f"def call({', '.join(f'a{i}' for i in range(len(self.kinds)))}):"]
        if addresses:
            lines += [" results = room()", " first = addressof(results)", call]
            lines += [f" return unpack(results){'' if form[0] == '(' else '[0]'}"]
        exec("\n".join(lines if addresses else [*lines, call]), values)
        return values["call"]  # type: ignore[no-any-return]


def _results(loop: Any, kinds: tuple[Any, ...]) -> tuple[bool, list[str]] | None:
    """Whether a loop returns a tuple, and the types of the numbers that it returns; None if it
    returns others. kinds: of its arguments, as numba has them."""
    from numba import types

    loop.compile(kinds)
    returned = loop.overloads[kinds].signature.return_type
    is_tuple = isinstance(returned, types.BaseTuple)
    names = [] if returned == types.none else list(map(str, returned if is_tuple else [returned]))
    return (is_tuple, names) if all(name in _FORMATS for name in names) else None


def _numba_kind(kind: Kind) -> Any:
    import numba

    types: Any = numba.types

    if isinstance(kind, type):
        return _numba_type(_number(kind))
    first, *rest = kind
    if first is tuple:
        return types.BaseTuple.from_types(tuple(map(_numba_kind, rest)))
    return types.Array(_numba_type(first.name), rest[0], "C")


def _numba_type(name: str) -> Any:
    import numba

    types: Any = numba.types

    number = types.boolean if name.startswith("bool") else getattr(types, name.rstrip("*"))
    return types.CPointer(number) if name.endswith("*") else number


def _made_of(function: FunctionType, seen: set[CodeType]) -> Iterator[bytes]:
    """What the code of a loop is made of: itself, the loops that it calls, and constants. seen: the
    functions that were given."""
    code = function.__code__
    seen.add(code)
    yield _bytecode(code)
    values = [each.cell_contents for each in function.__closure__ or ()]
    values += [function.__defaults__, *_named(code, function.__globals__)]
    for module in [value for value in values if isinstance(value, ModuleType)]:
        if module.__name__.startswith(_PACKAGE):
            values += _named(code, vars(module))
    for value in values:
        callee = getattr(value, "__wrapped__", value)
        if isinstance(callee, FunctionType):
            yield from _made_of(callee, seen) if callee.__code__ not in seen else ()
        elif isinstance(value, np.ndarray):
            yield f"{value.dtype}{value.shape}".encode() + value.tobytes()
        elif isinstance(value, (int, float, str, tuple, np.generic)):
            yield repr(value).encode()
        elif type(value).__module__.startswith(_PACKAGE):
            yield Path(sys.modules[type(value).__module__].__file__ or "").read_bytes()


def _named(code: CodeType, values: dict[str, Any]) -> list[Any]:
    return [values[name] for name in code.co_names if name in values]


def _bytecode(code: CodeType) -> bytes:
    constants = [_bytecode(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames)).encode()
