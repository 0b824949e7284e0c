"""The faults that `make mutants` puts into the code can be put there, one line each, and there are
some of every kind."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from mutants.edit import Edit, NotApplicable, apply
from mutants.edits import AREAS, EDITS
from support.paths import ROOT

FEWEST, MOST_TESTS = 60, 3
WANTED = {
    *("kernels", "rounds", "opic", "hits", "bounds", "ties", "formats", "keys", "folds", "graph"),
    *("records", "damage", "links", "web", "manifest", "resume", "lock", "workers", "messages"),
    *("precedence", "heritrix", "recrawl", "planning", "estimate", "reports", "audit", "library"),
    "words",
}


def faults(edit: Edit, root: Path) -> Iterator[str]:
    text = (root / edit.path).read_text()
    if edit.path.partition("/")[0] not in ("jobs", "pipeline"):
        yield f"{edit.name}: {edit.path} is not of the product"
    if (count := text.count(edit.before)) != 1:
        yield f"{edit.name}: {edit.path} has the text {count} times, expected once"
    if edit.before == edit.after or "\n" in edit.before + edit.after:
        yield f"{edit.name}: it changes no single line"
    try:
        ast.parse(text.replace(edit.before, edit.after))
    except SyntaxError as error:
        yield f"{edit.name}: no Python ({error})"
    if not 1 <= len(edit.test_files) <= MOST_TESTS:
        yield f"{edit.name}: {len(edit.test_files)} files of tests"
    for file in edit.test_files:
        if not (root / file).is_file():
            yield f"{edit.name}: no file {file}"
    if not edit.test_functions:
        yield f"{edit.name}: no function of tests"
    for test in edit.test_functions:
        if test.partition("::")[2] not in functions_of(root / test.partition("::")[0]):
            yield f"{edit.name}: no function {test} of `make test`"


@cache
def functions_of(path: Path) -> set[str]:
    """The names of the functions of a module that are not slow, none where there is no file."""
    parsed = ast.parse(path.read_text()) if path.is_file() else ast.Module([], [])
    return {
        node.name
        for node in parsed.body
        if isinstance(node, ast.FunctionDef)
        if "pytest.mark.slow" not in map(ast.unparse, node.decorator_list)
    }


@pytest.mark.slow
def test_each_edit_changes_a_line_and_names_tests() -> None:
    assert [fault for edit in EDITS for fault in faults(edit, ROOT)] == []


def test_every_area_has_edits_and_each_edit_a_name_of_its_own() -> None:
    assert AREAS.keys() == WANTED
    assert [area for area, edits in AREAS.items() if not edits] == []
    assert len(EDITS) >= FEWEST
    assert [name for name, count in Counter(edit.name for edit in EDITS).items() if count > 1] == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"path": "scripts/a.py"}, "scripts/a.py is not of the product"),
        ({"before": "x", "after": "y"}, "jobs/a.py has the text 2 times, expected once"),
        ({"before": "z"}, "jobs/a.py has the text 0 times, expected once"),
        ({"after": "y = 2"}, "it changes no single line"),
        ({"before": "x = 1\ny = 2"}, "it changes no single line"),
        ({"after": "y ="}, "no Python (invalid syntax (<unknown>, line 2))"),
        ({"tests": "t.py::test_a v.py w.py x.py"}, "4 files of tests"),
        ({"tests": "t.py::test_a u.py"}, "no file u.py"),
        ({"tests": "t.py"}, "no function of tests"),
        ({"tests": "t.py::test_b"}, "no function t.py::test_b of `make test`"),
        ({"tests": "t.py::test_slow"}, "no function t.py::test_slow of `make test`"),
    ],
)
def test_faults_are_seen(changes: dict[str, str], fault: str, tmp_path: Path) -> None:
    for folder in ("jobs", "scripts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("x = 1\ny = 2\nx = 3\n")
    for name in ("t.py", "v.py", "w.py", "x.py"):
        (tmp_path / name).write_text("def test_a(): ...\n@pytest.mark.slow\ndef test_slow(): ...\n")
    edit = Edit("name", "jobs/a.py", "y = 2", "y = 3", "t.py::test_a")
    assert list(faults(edit, tmp_path)) == []
    assert list(faults(edit._replace(**changes), tmp_path)) == [f"name: {fault}"]


@pytest.mark.parametrize("text", ["", "x = 1\nx = 1\n"])
def test_text_that_is_not_there_once_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text)
    with pytest.raises(NotApplicable, match=r"^a\.py has the text [02] times"):
        apply(Edit("name", "a.py", "x = 1", "x = 2", "t.py"), tmp_path)
    assert (tmp_path / "a.py").read_text() == text
