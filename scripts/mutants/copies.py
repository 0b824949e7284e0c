"""Copies of a tree, each with an environment of its own whose Python imports the copy.

Times are kept, so that bytecode and the machine code of numba, which lie beside the sources, stay
valid. The environment has the packages of this one, but for the checkout that is installed there:
processes that tests start find the copy, whatever their folder and their variables are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

TOPS = ("crawlrank", "jobs", "pipeline", "scripts", "tests")  # where Python keeps what it compiled
LEFT_BY_TESTS = (".venv", ".hypothesis", "work")


@contextlib.contextmanager
def copied(tree: Path) -> Iterator[Path]:
    """A copy of the tracked files and of what is compiled; removed afterwards."""
    with _new_folder() as copy:
        for name in _tracked(tree):
            _copy(tree / name, copy / name)
        for name in TOPS:
            for folder in (tree / name).rglob("__pycache__"):
                shutil.copytree(folder, copy / folder.relative_to(tree), dirs_exist_ok=True)
        _make_environment(copy)
        yield copy


@contextlib.contextmanager
def copied_again(first: Path) -> Iterator[Path]:
    """A copy of a copy in which tests have run, with what they compiled; removed afterwards."""
    with _new_folder() as copy:
        left_out = shutil.ignore_patterns(*LEFT_BY_TESTS)
        shutil.copytree(first, copy, symlinks=True, ignore=left_out)
        _make_environment(copy)
        yield copy


@contextlib.contextmanager
def _new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="crawlrank-mutant-", ignore_cleanup_errors=True) as top:
        yield Path(top) / "tree"


def _tracked(tree: Path) -> list[str]:
    command = ["git", "-C", str(tree), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (tree / name).exists()]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)


def _make_environment(copy: Path) -> None:
    venv.create(copy / ".venv", symlinks=True, with_pip=False)
    own = Path(sysconfig.get_path("purelib"))
    packages = copy / ".venv" / own.relative_to(sys.prefix)
    lines = [str(copy), str(own)]
    for path in own.glob("*.pth"):
        lines += [line for line in path.read_text().splitlines() if line.startswith("import ")]
    (packages / "copy.pth").write_text("\n".join(lines) + "\n")
    command = Path(sys.prefix) / "bin" / "crawlrank"
    if command.exists():
        text = command.read_text().replace(sys.prefix, str(copy / ".venv"))
        (copy / ".venv" / "bin" / "crawlrank").write_text(text)
        (copy / ".venv" / "bin" / "crawlrank").chmod(0o755)


def python_of(copy: Path) -> str:
    return str(copy / ".venv" / "bin" / "python")


def environment_of(copy: Path) -> dict[str, str]:
    """Variables for tests in the copy, without those that change what pytest or Python does."""
    left_out = {"PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "PYTHONPATH": str(copy)}


def drop_machine_code(copy: Path, changed: str) -> None:
    """Remove what numba made of modules that use a changed one, directly or through others. By
    itself a loop is made anew for loops and constants that it names, but not for what these
    constants come from."""
    kept = {path.parent.parent / f"{path.name.split('.')[0]}.py" for path in copy.rglob("*.nbi")}
    sources = {path: path.read_text(encoding="utf-8") for path in kept if path.exists()}
    todo = [copy / changed]
    while todo:
        module = ".".join(("crawlrank", *todo.pop().relative_to(copy).with_suffix("").parts))
        for path in [path for path, text in sources.items() if f"from {module} import" in text]:
            del sources[path]
            todo.append(path)
            for file in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"):
                file.unlink()
