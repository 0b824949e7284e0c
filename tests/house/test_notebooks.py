"""The notebooks of docs/ show what they keep, and their pages are made of them."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT, SCRIPTS

MAKING = runpy.run_path(str(SCRIPTS / "docs/make_notebook_pages.py"))
NOTEBOOKS = MAKING["notebooks"]()


def shown(notebook: dict[str, Any]) -> list[list[str]]:
    """What each code cell shows: its text, and `figure` for a figure, whose dots differ between
    versions of matplotlib."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        [
            "figure"
            if "image/png" in output.get("data", {})
            else "".join(output.get("text") or output["data"]["text/plain"])
            for output in cell["outputs"]
        ]
        for cell in cells
    ]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_keeps(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    kept = MAKING["read"](path)
    assert shown(MAKING["execute"](kept)) == shown(kept)
    assert ["figure"] in shown(kept)
    assert [outputs for outputs in shown(kept) if not outputs] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_page_of_a_notebook_is_that_of_its_cells(path: Path) -> None:
    page, figures = MAKING["page_of"](MAKING["read"](path), path.stem)
    assert path.with_suffix(".md").read_text() == page
    assert figures
    for name, data in figures.items():
        assert path.with_name(name).read_bytes() == data


def test_three_notebooks_are_in_the_site() -> None:
    nav = (ROOT / "mkdocs.yml").read_text()
    assert len(NOTEBOOKS) == 3
    assert all(f"- notebooks/{path.stem}.md" in nav for path in NOTEBOOKS)


def test_a_cell_shows_its_text_and_its_last_value() -> None:
    """Compared with what the same cell gives in a plain interpreter."""
    cell = {"cell_type": "code", "source": ["print('a')\n", "x = 2\n", "x * 3"]}
    (executed,) = MAKING["execute"]({"cells": [cell]})["cells"]
    assert [output["output_type"] for output in executed["outputs"]] == ["stream", "execute_result"]
    assert shown({"cells": [executed]}) == [["a\n", str(ast.literal_eval("6"))]]
