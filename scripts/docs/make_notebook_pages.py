"""Executes the notebooks of docs/notebooks, keeps what their cells show, and makes pages of them.

    python scripts/docs/make_notebook_pages.py [NAME…]

Cells are executed in order, in this process: a cell shows what it prints, the value of its last
expression, and the figures of matplotlib that it has left open. All three go into the notebook, as
Jupyter would keep them. The page is the notebook in Markdown, with its figures beside it; the first
sentence of the text before a cell describes its figure.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from pprint import pformat
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "docs/notebooks"
WIDTH = 88  # characters of a line of what a cell shows
DOTS = 80  # of a figure, in an inch
Notebook = dict[str, Any]
Output = dict[str, Any]


def notebooks() -> list[Path]:
    return sorted(NOTEBOOKS.glob("*.ipynb"))


def read(path: Path) -> Notebook:
    document: Notebook = json.loads(path.read_text())
    return document


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def execute(notebook: Notebook) -> Notebook:
    """The notebook with what its cells show now, executed in the current folder."""
    space: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell = cell | {"execution_count": count, "outputs": _shown(cell, count, space)}
        cells.append(cell)
    return notebook | {"cells": cells}


def _shown(cell: dict[str, Any], count: int, space: dict[str, Any]) -> list[Output]:
    """What a cell shows, as a notebook keeps it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = _value(source_of(cell), space)
    outputs: list[Output] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(True)})
    figures = _figures()
    if value is not None and not figures:
        lines = _text_of(value).splitlines(True)
        outputs.append({
            "data": {"text/plain": lines}, "execution_count": count, "metadata": {},
            "output_type": "execute_result",
        })  # fmt: skip
    for data in figures:
        picture = {"image/png": base64.b64encode(data).decode()}
        outputs.append({"data": picture, "metadata": {}, "output_type": "display_data"})
    return outputs


def _value(source: str, space: dict[str, Any]) -> Any:
    """Execute a cell; the value of its last expression, if it ends with one."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), space)
    return eval(ast.unparse(last), space) if last else None


def _text_of(value: Any) -> str:
    text = repr(value)
    return text if "\n" in text or len(text) <= WIDTH else pformat(value, width=WIDTH)


def _figures() -> list[bytes]:
    """The open figures as PNG; closes them."""
    plots = sys.modules.get("matplotlib.pyplot")
    if plots is None:
        return []
    pictures = []
    for number in plots.get_fignums():
        data = io.BytesIO()
        plots.figure(number).savefig(data, format="png", dpi=DOTS, metadata={"Software": None})
        pictures.append(data.getvalue())
    plots.close("all")
    return pictures


def page_of(notebook: Notebook, name: str) -> tuple[str, dict[str, bytes]]:
    """The page of a notebook in Markdown, and its figures by the names that the page gives them."""
    figures: dict[str, bytes] = {}
    parts, about = list[str](), ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(source_of(cell))
            about = re.split(r"(?<=[.?])\s", source_of(cell).rpartition("\n")[2])[0]
            continue
        parts.append(f"```py\n{source_of(cell)}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                file = f"{name}-{len(figures) + 1}.png"
                figures[file] = base64.b64decode(data["image/png"])
                parts.append(f"![{about}]({file})")
            else:
                text = "".join(output.get("text", data.get("text/plain", [])))
                parts.append(f"```text\n{text.rstrip()}\n```")
    parts.append(f"[The notebook]({name}.ipynb) has these cells.")
    return "\n\n".join(parts) + "\n", figures


def write(path: Path, notebook: Notebook) -> None:
    """Write a notebook and its page."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    page, figures = page_of(notebook, path.stem)
    path.with_suffix(".md").write_text(page)
    for name, data in figures.items():
        path.with_name(name).write_bytes(data)


def main(names: list[str]) -> None:
    os.environ.setdefault("MPLBACKEND", "agg")
    for path in notebooks():
        if not names or path.stem in names:
            before = Path.cwd()
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "sample_data").symlink_to(ROOT / "sample_data")
                os.chdir(folder)
                try:
                    notebook = execute(read(path))
                finally:
                    os.chdir(before)
            write(path, notebook)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
