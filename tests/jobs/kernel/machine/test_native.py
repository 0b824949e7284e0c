"""Machine code is kept, and taken only as it was written."""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from crawlrank.jobs.kernel.machine.native import Native

MODULE = """
import numba
from crawlrank.jobs.kernel.machine.native import inlined

@inlined
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
        "import sys; from crawlrank.jobs.kernel.machine.native import Native\n"
        f"print(Native(*{tuple(made)!r}).kept()(b'aa', 2))\n"
        "print('numba' in sys.modules, 'numpy' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [str(4 * ord("a")), "False", "False"]


@pytest.mark.few(1)
@pytest.mark.parametrize("position", [0, 40, -1])
def test_code_that_is_not_as_it_was_written_is_not_taken(
    made: Native, tmp_path: Path, position: int
) -> None:
    path = kept_file(tmp_path)
    flipped = bytearray(path.read_bytes())
    flipped[position] ^= 1
    path.write_bytes(flipped)
    assert made.kept(again=True) is None
    path.write_bytes(flipped[:20])
    assert made.kept(again=True) is None


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
        "import sys; from crawlrank.jobs.kernel.machine.native import Native\n"
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


@pytest.mark.slow
def test_code_is_made_where_numba_is_told_not_to_compile(tmp_path: Path) -> None:
    (tmp_path / "of_python.py").write_text(MODULE)
    code = (
        "from crawlrank.jobs.kernel.machine.native import Native\n"
        f"print(Native('of_python', 'total_at', {ARGUMENTS!r}, ('of_python',)).made()(b'aa', 2))\n"
        "import numba; here = lambda: 1; print(numba.njit(here) is here)"
    )
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [str(4 * ord("a")), "True"]


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
        assert code.kept(again=True) is None
        assert code.made()(b"\2", 1) == 4
    finally:
        sys.dont_write_bytecode = False


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Native:
    """A function whose code was made and is in the user's folder of caches."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "__pycache__").write_text("no folder")
    name = f"of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    code = Native(name, "total_at", ARGUMENTS, (name,))
    assert code.made()(b"\2", 1) == 4
    return code


def test_code_in_the_cache_is_its_users_alone(cached: Native, tmp_path: Path) -> None:
    path = kept_file(tmp_path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert cached.kept(again=True)


@pytest.mark.few(1)
@pytest.mark.parametrize("others", [0o770, 0o707, 0o722])
def test_code_that_others_could_write_is_removed(
    cached: Native, tmp_path: Path, others: int
) -> None:
    path = kept_file(tmp_path)
    (path.parent / "other").touch()  # no code
    path.parent.chmod(others)
    assert cached.kept(again=True) is None
    assert not path.exists()
    assert not path.parent.stat().st_mode & 0o022
    assert [path.name for path in path.parent.iterdir()] == ["other"]
    assert cached.made()(b"\2", 1) == 4
    assert cached.kept(again=True)


def test_code_in_a_folder_of_somebody_else_is_not_taken(
    cached: Native, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept_file(tmp_path)
    before = path.stat()
    monkeypatch.setattr(os, "geteuid", lambda: before.st_uid + 1)
    assert cached.kept(again=True) is None
    assert cached.made()(b"\2", 1) == 4
    assert path.stat() == before


def test_a_function_may_be_called_after_its_code_was_loaded_again(made: Native) -> None:
    first = made.ready()
    for _ in range(3):
        made.made()
    gc.collect()
    assert first(b"\1\2\3", 3) == 12


def test_the_entry_of_a_zip_is_the_code_that_is_kept(made: Native, tmp_path: Path) -> None:
    """Code that is made again has other bytes."""
    kept_file(tmp_path).unlink()
    path, contents = made.entry()
    assert made.entry() == (path, contents)
    assert kept_file(tmp_path).read_bytes() == contents
