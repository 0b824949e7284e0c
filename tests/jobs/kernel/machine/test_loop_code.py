"""Loops that are called without numba do what Python does; numba calls the others."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from support.paths import ROOT

from crawlrank.jobs.kernel.machine.kept_code import alone
from crawlrank.jobs.kernel.machine.loop_code import (
    LoopCode,
    address_by_interface,
    address_by_struct,
    address_function,
    kind_of,
)
from crawlrank.jobs.kernel.machine.machine_code import loop

SCALE = 3
WEIGHTS = np.array([1.0, 10.0])


def total(values: Any) -> float:
    result = 0.0
    for i in range(len(values)):
        result += values[i] * WEIGHTS[i % 2] * SCALE
    return result


def doubled(values: Any) -> None:
    for i in range(len(values)):
        values[i] *= 2


def statistics(table: Any, bounds: Any, factor: float, is_signed: bool) -> tuple[int, float, bool]:
    count, result = 0, 0.0
    for row in range(bounds[0], bounds[1]):
        for column in range(table.shape[1]):
            count += 1
            result += table[row, column] * factor
    return count, -result if is_signed else result, result > 1


def largest(values: Any) -> int:
    result = values[0]
    for value in values:
        result = max(result, value)
    return int(result)


def quotient(a: float, b: float) -> float:
    return a / b


def room(size: int) -> int:
    return len(np.zeros(size))


def rising(size: int) -> Any:
    return np.arange(size)


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the code of a loop returns; numba does not call it."""
    code = LoopCode(function, tuple(map(kind_of, arguments))).ready()
    assert code, "only numba can"
    return code(*arguments)


CASES = [
    (total, np.array([1.5, 2.5, 3.0])),
    (total, np.zeros(0)),
    (total, np.arange(4, dtype=np.uint32)),
    (statistics, np.arange(6, dtype=np.int32).reshape(3, 2), (1, 3), 0.25, True),
    (statistics, np.ones((2, 2)), (0, np.int64(2)), np.float64(0.25), np.True_),
    (largest, np.array([3, 2**40, 5])),
    (largest, np.array([1, 0], bool)),
    (quotient, 1.0, 3.0),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_the_code_returns_what_python_returns(case: tuple[Any, ...]) -> None:
    function, *arguments = case
    result, expected = called(function, *arguments), function(*arguments)
    assert result == expected
    parts = result if isinstance(result, tuple) else (result,)
    assert all(type(part) in (int, float, bool) for part in parts)


def test_arrays_are_changed_in_place(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=3)
    mapped[:] = 1, 2, 3
    assert called(doubled, mapped) is None
    assert mapped.tolist() == [2, 4, 6]
    assert called(total, np.array([1.0])) == 3  # the same loop for read-only arrays
    assert called(total, np.frombuffer(np.ones(1).tobytes())) == 3


ODD = [
    *(np.arange(8.0)[::2], np.array(1.0), np.ones(1, ">f8"), np.ones(1, "m8[s]")),
    *(2**63, -(2**63) - 1, (1, 2**63), "text", None, [1], 1j),
]


def test_a_division_by_zero_is_that_of_the_processor() -> None:
    assert loop(quotient)(1.0, 0.0) == np.inf


@pytest.mark.parametrize(
    "value",
    [
        np.arange(8.0)[::2],
        np.array(1.0),
        np.ones(1, ">f8"),
        2**63,
        -(2**63) - 1,
        (1, 2**63),
        "text",
        None,
        [1],
    ],
)
def test_other_arguments_are_left_to_numba(value: Any) -> None:
    kind = kind_of(value)
    assert kind is None or LoopCode(total, (kind,)).ready() is None


@pytest.mark.slow
def test_numba_calls_a_loop_for_other_arguments() -> None:
    assert loop(total)(np.arange(8.0)[::2]) == total(np.arange(8.0)[::2])
    assert loop(largest)(np.array([2**63, 1], np.uint64)) == 2**63


@pytest.mark.few(1)
@pytest.mark.parametrize("function", [room, rising])
def test_numba_calls_loops_that_allocate(function: Callable[..., Any]) -> None:
    kinds = (kind_of(3),)
    assert LoopCode(function, kinds).ready() is None
    assert np.array_equal(loop(function)(3), function(3))


@pytest.fixture
def new_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A loop of no module, whose code is kept in a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return loop(FunctionType(largest.__code__, {"__name__": "of_no_file"}))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["cfunc", "carray", "njit"])
def test_numba_calls_a_loop_where_it_cannot_make_its_code(
    name: str, monkeypatch: pytest.MonkeyPatch, new_loop: Any
) -> None:
    """As with a version of numba that has other names or arguments."""
    import numba

    with monkeypatch.context() as patched:
        patched.setattr(numba, name, None)
        assert LoopCode(new_loop.__wrapped__, (kind_of(np.ones(1)),)).ready() is None
    assert new_loop(np.array([4.0])) == 4


def test_code_that_cannot_be_kept_is_left_to_numba(
    new_loop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert LoopCode(new_loop.__wrapped__, (kind_of(np.ones(1)),)).ready() is None


def test_threads_make_a_loop_once(monkeypatch: pytest.MonkeyPatch, new_loop: Any) -> None:
    import numba

    make = Mock(wraps=numba.cfunc)
    monkeypatch.setattr(numba, "cfunc", make)
    arrays = [np.full(1, value) for value in range(4)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(new_loop, arrays)) == [0, 1, 2, 3]
    assert make.call_count == 1


def raising(source: str) -> list[str]:
    """The loops of a module that raise or assert."""
    functions = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)]
    loops = [each for each in functions if "loop" in map(ast.unparse, each.decorator_list)]
    kinds = (ast.Raise, ast.Assert)
    return [each.name for each in loops if any(isinstance(part, kinds) for part in ast.walk(each))]


def test_no_loop_raises() -> None:
    """Its code would end the process."""
    assert raising("@loop\ndef one():\n for i in x:\n  assert i\n") == ["one"]
    files = [*ROOT.glob("jobs/**/*.py"), *ROOT.glob("pipeline/**/*.py")]
    sources = [text for path in files if "@loop" in (text := path.read_text(encoding="utf-8"))]
    assert len(sources) > 10
    assert [name for source in sources for name in raising(source)] == []


MODULE = """
import sys
import numpy as np
from crawlrank.jobs.kernel.machine.machine_code import loop

@loop
def total(values, factor):
    result = 0.0
    for value in values:
        result += value * factor
    return result

if __name__ == "__main__":
    print(total(np.ones(5), 2.0), "numba" in sys.modules)
"""


@pytest.mark.slow
def test_processes_at_once_make_the_same_and_others_load_it(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(MODULE)
    environment = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-m", "module"]

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
        )

    processes = [started() for _ in range(3)]
    said = sorted(process.communicate()[0] for process in processes)
    assert said == ["10.0 False\n", "10.0 False\n", "10.0 True\n"]  # others wait for one
    (kept,) = (tmp_path / "__pycache__").glob("module.total-*")
    assert started().communicate()[0] == "10.0 False\n"
    kept.write_bytes(kept.read_bytes()[:-1])  # as a disk that is full leaves it
    assert started().communicate()[0] == "10.0 True\n"
    assert started().communicate()[0] == "10.0 False\n"
    assert [path.name for path in (tmp_path / "__pycache__").glob("*total*")] == [kept.name]
    assert not list((tmp_path / "__pycache__").glob("tmp*"))


def test_who_needs_the_same_code_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    order, begun = list[str](), threading.Event()

    def second() -> None:
        begun.set()
        with alone("no_module", "code"):
            order.append("second")

    waiting = threading.Thread(target=second)
    with alone("no_module", "code"):
        waiting.start()
        assert begun.wait(600)
        with alone("no_module", "other code"), alone("no_module", "code", wait=0.0):
            order.append("in time, or without a wait")
        order.append("first")
    waiting.join()
    assert order == ["in time, or without a wait", "first", "second"]
    assert list((tmp_path / "crawlrank").iterdir()) == []


GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


@pytest.mark.slow
@pytest.mark.parametrize("change", ["", "+ 0", "other"])
def test_code_that_a_wheel_brings_is_taken_for_the_same_loop_alone(
    change: str, tmp_path: Path
) -> None:
    """It runs on each processor of the architecture. Nothing is written for it."""
    module, given = tmp_path / "module.py", tmp_path / "native_code"
    module.write_text(MODULE)
    environment = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "c"), "PATH": ""}

    def ran(**settings: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "module"],
            cwd=tmp_path, env=environment | settings, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    assert ran(**GENERIC) == "10.0 True\n"
    (tmp_path / "__pycache__").rename(given)
    if change == "other":  # a name with another digest, as of another version of llvmlite
        (code,) = given.glob("*.native")
        code.rename(code.with_name(f"module.total-{'0' * 20}.native"))
    elif change:
        module.write_text(MODULE.replace("* factor", f"* factor {change}"))
    assert ran() == f"10.0 {change != ''}\n"
    assert len([*(tmp_path / "__pycache__").glob("*.native")]) == (change != "")


@pytest.mark.slow
def test_a_program_that_is_a_file_keeps_its_loops_in_the_users_folder(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(MODULE)
    environment = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "caches"), "PATH": ""}
    for with_numba in (True, False):
        done = subprocess.run(
            [sys.executable, str(tmp_path / "program.py")],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout == f"10.0 {with_numba}\n"
    assert list((tmp_path / "caches" / "crawlrank").glob("program.total-*.native"))


def test_addresses_are_those_of_the_array_interface(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "array", np.uint8, "w+", shape=100)
    arrays = [
        np.zeros(0), np.arange(9)[3:], np.arange(9)[::-1], np.ones((3, 4))[1:], np.array(5.0),
        np.frombuffer(b"read only", np.uint8), np.zeros(4, ">i4"), mapped, mapped[7:],
        np.zeros(1 << 22), np.ma.masked_equal(np.arange(3), 1), np.zeros(2, "datetime64[s]"),
    ]  # fmt: skip
    assert [*map(address_by_struct, arrays)] == [*map(address_by_interface, arrays)]
    assert address_function() is address_by_struct
