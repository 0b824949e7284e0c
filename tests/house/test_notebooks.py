"""The notebooks of docs/ run, cell by cell, and their last expressions have values."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT

NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def execute(cell: str, space: dict[str, Any]) -> Any:
    """What a notebook shows of a cell: the value of its last expression, if that is one."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), space)
    return eval(ast.unparse(last), space) if last else None


def cells(notebook: Path) -> list[str]:
    document = json.loads(notebook.read_text())
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    return ["".join(cell["source"]) for cell in code]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_cell_by_cell(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "__main__"}
    values = [execute(cell, space) for cell in cells(notebook)]
    assert sum(bool(value) for value in values) >= len(values) - 1  # a run shows nothing


def test_there_is_one() -> None:
    assert NOTEBOOKS
