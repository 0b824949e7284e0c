"""One module opens files for the readers of Arrow, and gives them no object of Python, which a
thread of Arrow's would hold when the process ends."""

from __future__ import annotations

import ast

import pytest
from support.paths import ROOT

ONLY = "jobs/kernel/storage/arrow_files.py"

#: what opens files, or reads them ahead
OPENING = {
    "ParquetFile", "read_table", "read_metadata", "read_schema", "read_pandas", "ParquetDataset",
    "PythonFile", "OSFile", "memory_map", "BufferReader", "input_stream", "open_csv",
}  # fmt: skip
#: what reads a file that is open, and what opens it
READING = {"open_stream", "open_file", "read_csv"}
NATIVE = {"native_file", "native_bytes"}


def faults(tree: ast.Module) -> list[int]:
    """Lines that open a file for Arrow, or let it read what no function of NATIVE has opened."""
    native = {
        item.optional_vars.id
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and called(item.context_expr) in NATIVE
    }
    lines = []
    for node in ast.walk(tree):
        name = called(node)
        if name in OPENING:
            lines.append(node.lineno)
        elif name in READING and isinstance(node, ast.Call):
            source = node.args[0]
            given = isinstance(source, ast.Name) and source.id in native
            if not given and called(source) not in NATIVE:
                lines.append(node.lineno)
    return lines


def called(node: ast.AST) -> str:
    """The name of the function that is called, without its module; that of a method, too."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) and node.func.id in NATIVE else ""


def test_one_module_opens_files_for_arrow() -> None:
    found = {
        str(path.relative_to(ROOT)): lines
        for folder in ("jobs", "pipeline")
        for path in (ROOT / folder).rglob("*.py")
        if any(word in (code := path.read_text()) for word in OPENING | READING)
        if (lines := faults(ast.parse(code)))
    }
    assert found.keys() == {ONLY}, found


@pytest.mark.parametrize(
    "code",
    [
        "with open('a') as stream, pa.ipc.open_file(stream) as file: pass",
        "file = pq.ParquetFile(path)",
        "csv.read_csv(io.BytesIO(lines))",
        "rows = pyarrow.parquet.read_table(path)",
    ],
)
def test_others_are_seen(code: str) -> None:
    assert faults(ast.parse(code)) == [1]


def test_what_is_native_is_not() -> None:
    code = "with native_file(path) as stream, pa.ipc.open_file(stream) as file: pass"
    assert faults(ast.parse(code)) == []
