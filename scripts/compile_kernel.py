"""Compiles the folders that extraction spends its time in, by mypyc, into the wheel at hand.

A build hook of hatchling, off unless asked for, as it takes a C compiler and a minute:

    HATCH_BUILD_HOOKS_ENABLE=1 pip install .

The wheel then holds the same modules twice, of which Python takes the compiled ones. They are made
from a copy, so that none is left in the checkout, where it would hide what is edited there.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = "crawlrank/jobs/kernel"
FOLDERS = ("keys", "formats", "markup", "archive", "links", "captures")
# Types of libraries that are not there to be looked at do not matter: `make types` checks them.
SETUP = """
from mypyc.build import mypycify
from setuptools import setup

words = ["--config-file=", "--ignore-missing-imports", *{files!r}]
kernel = mypycify(words, opt_level="3", debug_level="0", group_name="crawlrank")
setup(packages=[], ext_modules=kernel)
"""


class CompiledKernel(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._place = tempfile.TemporaryDirectory()
        place = Path(self._place.name)
        package = place / "crawlrank"
        package.mkdir()
        shutil.copy(Path(self.root, "crawlrank", "__init__.py"), package)
        shutil.copytree(Path(self.root, "jobs"), package / "jobs")
        folders = [place / KERNEL / folder for folder in FOLDERS]
        modules = (
            path
            for folder in folders
            for path in sorted(folder.glob("[!_]*.py"))
            if not path.name.startswith("scan_")  # which numba compiles
        )
        files = [path.relative_to(place).as_posix() for path in modules]
        (place / "setup.py").write_text(SETUP.format(files=files), encoding="utf-8")
        compiled = subprocess.run(
            [sys.executable, "setup.py", "build_ext", "--inplace"],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if compiled.returncode:
            raise RuntimeError(f"mypyc could not compile {KERNEL}:\n{compiled.stdout[-4000:]}")
        for extension in (".so", ".pyd"):
            for made in [*place.glob(f"*{extension}"), *place.glob(f"{KERNEL}/*/*{extension}")]:
                build_data["force_include"][str(made)] = made.relative_to(place).as_posix()
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._place.cleanup()
