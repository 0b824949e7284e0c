"""Machine code is kept, and taken only as it was written."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jobs.kernel.machine import native
from jobs.kernel.machine.native import Native

MODULE = """
import numba
from jobs.kernel.machine.native import part

@part
def twice(numbers, size):
    total = 0
    for i in range(size):
        total += 2 * numbers[i]
    return total

def total_at(numbers, size):
    return twice(numba.carray(numbers, size), size)
"""
ARGUMENTS = ("bytes", "int64")


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Native:
    """A function whose code was made; its module's folder is new."""
    module = f"of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{module}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    code = Native(module, "total_at", ARGUMENTS, (module,))
    assert code.kept() is None
    assert code.made()(b"\1\2\3", 3) == 12
    return code


def kept_file(folder: Path) -> Path:
    (path,) = folder.rglob("*.native")
    return path


def test_what_was_made_is_kept(made: Native, tmp_path: Path) -> None:
    assert kept_file(tmp_path).parent.name == "__pycache__"
    code = (
        "import sys; from jobs.kernel.machine.native import Native\n"
        f"print(Native(*{tuple(made)!r}).kept()(b'aa', 2))\n"
        "print('numba' in sys.modules, 'numpy' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [str(4 * ord("a")), "False", "False"]


@pytest.mark.parametrize("position", [0, 40, -1])
def test_code_that_is_not_as_it_was_written_is_not_taken(
    made: Native, tmp_path: Path, position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept_file(tmp_path)
    flipped = bytearray(path.read_bytes())
    flipped[position] ^= 1
    path.write_bytes(flipped)
    monkeypatch.setattr(native, "_loaded", {})
    assert made.kept() is None
    path.write_bytes(flipped[:20])
    assert made.kept() is None


def test_a_zip_brings_its_code(made: Native, tmp_path: Path) -> None:
    """Nodes of a cluster import the package from a zip and have nowhere to keep code."""
    (tmp_path / "of_package").mkdir()
    (tmp_path / "of_package/__init__.py").touch()
    (tmp_path / "of_package/code.py").write_text(MODULE)
    native_code = Native("of_package.code", "total_at", ARGUMENTS, ("of_package.code",))
    path, contents = native_code.entry()
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as file:
        for name in ("of_package/__init__.py", "of_package/code.py"):
            file.write(tmp_path / name, name)
        file.writestr(path, contents)
    code = (
        "import sys; from jobs.kernel.machine.native import Native\n"
        f"print(Native(*{tuple(native_code)!r}).ready()(b'aa', 2), 'numba' in sys.modules)"
    )
    environment = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "package.zip"), *sys.path[1:]])}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert run.stdout.split() == [str(4 * ord("a")), "False"]


def test_code_of_other_sources_is_not_taken(made: Native, tmp_path: Path) -> None:
    (tmp_path / f"{made.module}.py").write_text(MODULE.replace("2 *", "3 *"))
    assert made.kept() is None


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's folder of caches is next; without any, the code is made and used all the same."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    (tmp_path / "__pycache__").write_text("no folder")
    (tmp_path / "of_read_only.py").write_text(MODULE)
    code = Native("of_read_only", "total_at", ARGUMENTS, ("of_read_only",))
    sys.dont_write_bytecode = True
    try:
        assert code.made()(b"\2", 1) == 4
        assert kept_file(tmp_path).parent == tmp_path / "caches" / "crawlrank"
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "__pycache__"))
        monkeypatch.setattr(native, "_loaded", {})
        assert code.kept() is None
        assert code.made()(b"\2", 1) == 4
    finally:
        sys.dont_write_bytecode = False
