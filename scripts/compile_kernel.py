"""Compiles the folders that extraction spends its time in, by mypyc, into the wheel at hand.

A build hook of hatchling. CRAWLRANK_COMPILE says whether it compiles:

    0     it does not; the default, as it takes minutes
    1     it does, or the build fails
    auto  it does where mypyc, a C compiler and Python's headers are there and work; elsewhere the
          wheel is pure, and a line says why

A wheel that is compiled holds the same modules twice, of which Python takes the compiled ones. They
are made from a copy, so that none is left in the checkout, where it would hide what is edited.
Libraries that are installed are not looked at, so that the result does not depend on them:
`make types` checks what is called of them.

CRAWLRANK_NATIVE_CODE is a folder of machine code of loops that the wheel brings: see
scripts/install/make_wheels.py.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = "crawlrank/jobs/kernel"
FOLDERS = ("keys", "formats", "markup", "archive", "links", "captures")
MYPYC = "mypy[mypyc]>=1.11"
SETUP = """
from mypyc.build import mypycify
from setuptools import setup

words = ["--config-file=", "--ignore-missing-imports", "--no-site-packages", *{files!r}]
kernel = mypycify(words, opt_level="3", debug_level="0", group_name="crawlrank")
setup(packages=[], ext_modules=kernel)
"""


class CompiledKernel(BuildHookInterface):  # type: ignore[type-arg]
    def dependencies(self) -> list[str]:
        return [MYPYC] if _mode() == "1" or (_mode() == "auto" and not lacking()) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._place = tempfile.TemporaryDirectory()
        files = self._compiled(Path(self._place.name)) if _mode() != "0" else {}
        if given := os.environ.get("CRAWLRANK_NATIVE_CODE"):
            files |= {path: path.relative_to(given) for path in Path(given).rglob("*.native")}
        for path in sorted(files):
            build_data["force_include"][str(path)] = files[path].as_posix()
        if files:
            build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._place.cleanup()

    def _compiled(self, place: Path) -> dict[Path, Path]:
        """Compile in the folder `place`: the files, with their paths in the wheel; none where that
        cannot be done. Raises RuntimeError for this if it must be done."""
        fault = lacking() or _no_mypyc() or compiled(Path(self.root), place)
        if not fault:
            return {path: path.relative_to(place) for path in extensions(place)}
        if _mode() == "1":
            raise RuntimeError(f"Extraction cannot be compiled: {fault}")
        self.app.display_warning(f"Extraction is not compiled: {fault.splitlines()[0]}")
        return {}


def _mode() -> str:
    mode = os.environ.get("CRAWLRANK_COMPILE", "0")
    if mode not in {"0", "1", "auto"}:
        raise ValueError(f"CRAWLRANK_COMPILE is {mode!r}; expected 0, 1 or auto")
    return mode


def lacking() -> str:
    """What this machine lacks to compile; empty if nothing."""
    words = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if not words or not shutil.which(words[0]):
        return f"no C compiler {' '.join(words)}"
    headers = Path(sysconfig.get_path("include"))
    return "" if (headers / "Python.h").exists() else f"no Python.h in {headers}"


def _no_mypyc() -> str:
    return "" if find_spec("mypyc") else f"no {MYPYC} in the environment of the build"


def compiled(root: Path, place: Path) -> str:
    """Compile a copy of the kernel in the folder `place`. What went wrong, or nothing."""
    package = place / "crawlrank"
    package.mkdir()
    shutil.copy(root / "crawlrank" / "__init__.py", package)
    shutil.copytree(root / "jobs", package / "jobs")
    modules = (
        path
        for folder in FOLDERS
        for path in sorted((place / KERNEL / folder).glob("[!_]*.py"))
        if not path.name.startswith("scan_")  # which numba compiles
    )
    files = [path.relative_to(place).as_posix() for path in modules]
    (place / "setup.py").write_text(SETUP.format(files=files), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return f"mypyc or the compiler failed\n{done.stdout[-4000:]}" if done.returncode else ""


def extensions(place: Path) -> list[Path]:
    """The modules that were compiled there."""
    endings = {".so", ".pyd"}
    paths = [*place.glob("*"), *place.glob(f"{KERNEL}/*/*")]
    return [path for path in paths if path.suffix in endings]
