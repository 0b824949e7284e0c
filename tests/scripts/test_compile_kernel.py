"""The build hook: what wheel it gives with a mypyc that works, with one that fails, without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.paths import ROOT

PURE = "crawlrank-0.1.0-py3-none-any.whl"
MODULE = "crawlrank/jobs/kernel/keys/keys"
#: mypycify of a mypyc that makes one module, which is empty
WORKS = f"""
from setuptools import Extension
def mypycify(words, **options):
    assert "{MODULE}.py" in words
    with open("keys.c", "w") as file:
        file.write("#include <Python.h>\\nstatic struct PyModuleDef it = {{0}};\\n"
                   "PyMODINIT_FUNC PyInit_keys(void) {{ return PyModuleDef_Init(&it); }}\\n")
    return [Extension("{MODULE.replace("/", ".")}", ["keys.c"])]
"""
FAILS = "def mypycify(words, **options): raise ValueError('of another version')"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/compile_kernel.py", folder / "scripts")
    shutil.copytree(ROOT / "docs/man", folder / "docs/man")
    for name in ("crawlrank", "jobs", "pipeline"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
    (folder / f"{MODULE.removeprefix('crawlrank/')}.py").parent.mkdir(parents=True)
    (folder / f"{MODULE.removeprefix('crawlrank/')}.py").touch()
    return folder


def build(
    checkout: Path, folder: Path, mypyc: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Build a wheel into a folder, by a mypyc with this module `build`."""
    (folder / "libraries/mypyc").mkdir(parents=True)
    (folder / "libraries/mypyc/__init__.py").touch()
    (folder / "libraries/mypyc/build.py").write_text(mypyc)
    env = {**os.environ, "PYTHONPATH": str(folder / "libraries"), **settings}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / "dist"]
    return subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True)


def wheel(folder: Path) -> Path:
    (path,) = (folder / "dist").iterdir()
    return path


def test_a_wheel_is_pure_unless_more_is_asked_for(checkout: Path, tmp_path: Path) -> None:
    assert build(checkout, tmp_path, FAILS).returncode == 0
    assert wheel(tmp_path).name == PURE


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "1"])
def test_what_is_compiled_is_in_the_wheel(checkout: Path, tmp_path: Path, mode: str) -> None:
    given = tmp_path / "given/crawlrank/jobs/native_code"
    given.mkdir(parents=True)
    (given / "one.native").write_bytes(b"code")
    settings = {"CRAWLRANK_COMPILE": mode, "CRAWLRANK_NATIVE_CODE": str(tmp_path / "given")}
    done = build(checkout, tmp_path, WORKS, **settings)
    assert done.returncode == 0, done.stderr
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel(tmp_path).name.startswith(f"crawlrank-0.1.0-{version}-{version}-")
    names = ZipFile(wheel(tmp_path)).namelist()
    assert f"{MODULE}.py" in names
    assert [name for name in names if name.startswith(f"{MODULE}.cpython")]
    assert "crawlrank/jobs/native_code/one.native" in names
    assert not [*checkout.rglob("*.so"), *checkout.rglob("*.c")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mypyc", "compiler", "why"),
    [
        (FAILS, "", "mypyc or the compiler failed"),
        (WORKS, "false", "mypyc or the compiler failed"),
        (WORKS, "/no/compiler -O1", "no C compiler /no/compiler -O1"),
    ],
)
def test_what_cannot_be_compiled_is_pure_or_an_error(
    checkout: Path, tmp_path: Path, mypyc: str, compiler: str, why: str
) -> None:
    settings = {"CC": compiler} if compiler else {}
    done = build(checkout, tmp_path, mypyc, CRAWLRANK_COMPILE="auto", **settings)
    assert done.returncode == 0
    assert f"Extraction is not compiled: {why}\n" in done.stdout + done.stderr
    assert wheel(tmp_path).name == PURE
    again = tmp_path / "again"
    assert build(checkout, again, mypyc, CRAWLRANK_COMPILE="1", **settings).returncode
    assert not (again / "dist").exists() or not [*(again / "dist").iterdir()]


def test_an_unknown_mode_is_an_error(checkout: Path, tmp_path: Path) -> None:
    done = build(checkout, tmp_path, FAILS, CRAWLRANK_COMPILE="yes")
    assert "CRAWLRANK_COMPILE is 'yes'; expected 0, 1 or auto" in done.stdout + done.stderr
