"""Imports go downward only: cli -> driver -> engines -> jobs -> jobs.kernel."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KERNEL = sorted(ROOT.glob("jobs/kernel/*.py"))
JOBS = sorted(ROOT.glob("jobs/*.py"))

# module -> what it may not import. Algorithms see arrays and numbers, never paths or options.
ALGORITHMS = (
    "audit/order",
    "classes",
    "opic",
    "opic_loops",
    "certificate",
    "plot_bins",
    "embedded/kernels",
    "embedded/plain",
    "embedded/rows",
    "embedded/sweeps",
)
OUTSIDE = ("pathlib", "os", "io", "click", "rich", "duckdb", "pyarrow", "mrjob")

# commands call, they are never called
TOP = ("pipeline.cli", "pipeline.__main__")


def imported(path: Path) -> set[str]:
    """Every module that a file imports, anywhere in it; `from a import b` counts as a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            assert node.module
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def within(modules: set[str], *packages: str) -> set[str]:
    return {m for m in modules if any(m == p or m.startswith(p + ".") for p in packages)}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_the_reading_of_imports_sees_them_all(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import a.b\nfrom jobs import launch\ndef f():\n    from pipeline.cli import main\n"
    )
    found = imported(path)
    assert found == {"a.b", "jobs", "jobs.mapreduce.launch", "pipeline.cli", "pipeline.cli.main"}
    assert within(found, "jobs.mapreduce.launch", "pipeline") == {
        "jobs.mapreduce.launch",
        "pipeline.cli",
        "pipeline.cli.main",
    }


@pytest.mark.parametrize("path", KERNEL, ids=module_of)
def test_the_kernel_knows_nothing_above_it(path: Path) -> None:
    above = within(imported(path), "jobs", "pipeline", "mrjob")
    assert above - {"jobs"} == within(above, "jobs.kernel")


@pytest.mark.parametrize("path", JOBS, ids=module_of)
def test_jobs_travel_without_the_pipeline(path: Path) -> None:
    assert within(imported(path), "pipeline") == set()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_know_neither_paths_nor_options(name: str) -> None:
    path = ROOT / "pipeline" / f"{name}.py"
    if not path.exists():
        pytest.skip(f"no pipeline/{name}.py")
    assert within(imported(path), *OUTSIDE, *TOP) == set()


@pytest.mark.parametrize("path", sorted(ROOT.glob("pipeline/**/*.py")), ids=module_of)
def test_nothing_below_imports_the_command_line(path: Path) -> None:
    if module_of(path).startswith(TOP):
        return
    assert within(imported(path), *TOP) == set()
