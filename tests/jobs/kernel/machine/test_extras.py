"""Commands that install an extra, against pyproject.toml and against pip itself."""

from __future__ import annotations

import shlex
import subprocess
import sys
from importlib.machinery import PathFinder

import pytest
from support.paths import ROOT

from crawlrank.jobs.kernel.machine import extras

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
EXTRAS.pop("dev")  # which names other extras


def compact(requirements: list[str]) -> list[str]:
    return sorted(each.replace(" ", "") for each in requirements)


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_is_what_pyproject_says(extra: str) -> None:
    assert compact(extras.packages_of(extra)) == compact(EXTRAS[extra])


@pytest.mark.slow
def test_the_command_runs() -> None:
    """The packages are here, so that pip has nothing to fetch."""
    words = shlex.split(extras.install_command("pdf"))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    done = subprocess.run([*words, "--no-index", "--no-deps"], capture_output=True, text=True)
    assert (done.returncode, "already satisfied: pypdf" in done.stdout) == (0, True), done.stderr


def test_an_environment_of_uv_has_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathFinder, "find_spec", lambda name: None)
    assert extras.install_command("pdf") == f"uv pip install --python {sys.executable} 'pypdf>=5'"


def test_where_crawlrank_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert extras.packages_of("emr") == ["crawlrank[emr]"]
