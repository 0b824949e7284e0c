"""What the Makefile installs, and when again: what a run needs, for other targets the rest.

The Python that it is given makes environments whose Python and command only note what they are
asked for.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

PYTHON = f"""#!/bin/sh
[ "$1" = -m ] || exec {sys.executable} "$@"
rm -rf "$4" && mkdir -p "$4/bin" && echo "$*" >> asked
for name in python crawlrank ruff; do
  echo '#!/bin/sh
echo "$*" >> asked
case "$*" in *$REFUSED) exit 1; esac' > "$4/bin/$name"
  chmod +x "$4/bin/$name"
done
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "constraints", tmp_path / "constraints")
    for name in ("jobs", "pipeline"):
        (tmp_path / "crawlrank" / name).mkdir(parents=True)
        (tmp_path / "crawlrank" / name / "__init__.py").touch()
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def asked(checkout: Path, target: str, refused: str = "nothing") -> list[str]:
    """The last words of each thing that a target asks for."""
    (checkout / "asked").write_text("")
    command = ["make", target, "PYTHON=./python", f"REFUSED={refused}"]
    subprocess.run(command, cwd=checkout, capture_output=True, check=False)
    return [line.split()[-1] for line in (checkout / "asked").read_text().splitlines()]


FOR_A_RUN = [".venv", ".venv/builders.txt", ".venv/run-pinned.txt", "."]
FOR_ALL = ".venv/pinned.txt"
RANKED = ["local"]  # the end of the command
CHECKED = ["--quiet", "--quiet"]


def test_a_run_does_not_wait_for_development(checkout: Path) -> None:
    assert asked(checkout, "pipeline") == FOR_A_RUN + RANKED
    assert asked(checkout, "pipeline") == RANKED
    assert asked(checkout, "lint") == [FOR_ALL, *CHECKED]
    assert asked(checkout, "lint") == CHECKED
    assert asked(checkout, "pipeline") == RANKED


def test_what_is_pinned_has_its_hashes(checkout: Path) -> None:
    asked(checkout, "setup")
    run, everything = (
        (checkout / name).read_text().splitlines() for name in (FOR_A_RUN[2], FOR_ALL)
    )
    assert set(run) < set(everything)
    assert all(" --hash=sha256:" in line for line in everything)
    assert any(line.startswith("mrjob==") for line in run)


@pytest.mark.few(1)
@pytest.mark.parametrize("refused", [FOR_A_RUN[1], FOR_A_RUN[2], " -e ."])
def test_a_setup_that_fails_is_mended(refused: str, checkout: Path) -> None:
    assert asked(checkout, "pipeline", refused)[-1] == refused.split()[-1]
    assert asked(checkout, "pipeline") == FOR_A_RUN + RANKED


def test_what_fails_for_development_is_made_anew(checkout: Path) -> None:
    asked(checkout, "pipeline")
    assert asked(checkout, "lint", FOR_ALL) == [FOR_ALL]
    assert asked(checkout, "lint") == [*FOR_A_RUN, FOR_ALL, *CHECKED]


@pytest.mark.few(1)
@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints/hashes.txt", "constraints/run"])
def test_a_change_of_dependencies_renews(changed: str, checkout: Path) -> None:
    asked(checkout, "setup")
    path = checkout / changed
    for file in path.iterdir() if path.is_dir() else [path]:
        file.write_text(file.read_text())
    assert asked(checkout, "lint") == [*FOR_A_RUN, FOR_ALL, *CHECKED]
