"""Loops as machine code: what numba's own settings make of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from support.paths import ROOT

from crawlrank.jobs.kernel.machine.machine_code import loop


@loop
def last(values: np.ndarray, place: int) -> float:
    value: float = values[place]
    return value


def test_a_loop_computes() -> None:
    assert last(np.array([1.0, 2.0]), 1) == 2.0


def ends(values: np.ndarray) -> tuple[float, bool]:
    return values[-1], values[-1] > values[0]


@pytest.mark.parametrize("told_not_to", [False, True])
def test_a_loop_returns_numbers_of_python(
    told_not_to: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports are written as JSON, which knows no numbers of numpy."""
    if told_not_to:
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
        monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    results = loop(ends)(np.array([1.0, 2.0]))
    assert results == (2.0, True)
    assert [*map(type, results)] == [float, bool]


@pytest.mark.slow
def test_bounds_are_checked_where_numba_is_told_to(tmp_path: Path) -> None:
    """So `make test-loops` sees what lies outside of an array."""
    code = "from test_machine_code import last, np; print(last(np.ones(2), 1)); last(np.ones(2), 2)"
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{Path(__file__).parent}:{ROOT / 'tests'}", **checked},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "1.0\n"
    assert "IndexError: index is out of bounds" in done.stderr


LOOP = """
import sys
from crawlrank.jobs.kernel.machine.machine_code import loop

@loop
def twice(number):
    return 2 * number

print(twice.by_numba(2), twice.stats.cache_path, sum(twice.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_loops_in_a_folder_that_others_could_write_are_made_again(tmp_path: Path) -> None:
    """Where numba keeps them when the package's folder cannot be written."""
    (tmp_path / "module.py").write_text(LOOP)
    (tmp_path / "__pycache__").write_text("no folder")
    env = {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "caches")}
    command = [sys.executable, "-B", str(tmp_path / "module.py")]

    def run() -> list[str]:
        return subprocess.run(
            command, env=env, capture_output=True, text=True, check=True
        ).stdout.split()

    result, folder, hits = run()
    assert (result, hits) == ("4", "0")
    assert run() == ["4", folder, "1"]
    Path(folder).chmod(0o770)
    assert run() == ["4", folder, "0"]
    assert not Path(folder).stat().st_mode & 0o022
    assert run() == ["4", folder, "1"]


CALLER = """
import sys
from crawlrank.caller_parts import FACTOR, grown
from crawlrank.jobs.kernel.machine.machine_code import loop

@loop
def scaled(number):
    return FACTOR * number

@loop
def sum_(number):
    return grown(number)

results = [each(2) for each in (scaled, sum_)]
print(*results, int("numba" not in sys.modules))
results = [each.by_numba(2) for each in (scaled, sum_)]
print(*results, sum(sum(each.stats.cache_hits.values()) for each in (scaled, sum_)) // 2)
"""
PARTS = """
from crawlrank.jobs.kernel.machine.machine_code import loop

FACTOR = {factor}

@loop
def grown(number):
    return number + {growth}
"""


def test_a_loop_is_made_anew_when_what_it_is_made_of_has_changed(tmp_path: Path) -> None:
    """A constant, and a loop that it calls. Our code, and what numba keeps, which itself looks at
    the file of the loop alone."""
    package = tmp_path / "crawlrank"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "jobs").symlink_to(ROOT / "jobs")
    (package / "caller.py").write_text(CALLER)
    said = []
    for number, (factor, growth) in enumerate([(1, 1), (1, 1), (3, 5)]):
        if number != 1:
            (package / "caller_parts.py").write_text(PARTS.format(factor=factor, growth=growth))
        command = [sys.executable, "-m", "crawlrank.caller"]
        env = {"PYTHONPATH": str(tmp_path), "PATH": ""}
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
        said.append(done.stdout or done.stderr)
    assert said == [f"{line}\n" * 2 for line in ("2 3 0", "2 3 1", "6 7 0")]
