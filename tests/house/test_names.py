"""Names in the code: no two types share one, and none is a word that says nothing."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import pytest
from support.paths import ROOT

MODULES = sorted(path for top in ("jobs", "pipeline") for path in (ROOT / top).rglob("*.py"))
#: of what? CONTRIBUTING.md has better ones
EMPTY_WORDS = {"found", "told", "said", "place", "thing", "stuff"}
#: what an error has: where, found, expected and cure
OF_ERRORS = {("jobs/kernel/errors.py", "found"), ("jobs/kernel/machine/shortage.py", "found")}
#: a key of the JSON of diff
OF_REPORTS = {("pipeline/analysis/compare/diff.py", "place")}
MOST_LINES = 40  # of a function
#: kernels whose length is one formula
LONG = {"greedy", "image"}
#: signatures of many options, which are the reference of `crawlrank.run` and `rank`
LONG_SIGNATURES = {("pipeline/library/command_functions.py", name) for name in ("run", "rank")}


def types_of(tree: ast.Module) -> Iterator[str]:
    """Classes and aliases of types at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            yield from (name for name in names if name[0].isupper() and not name.isupper())


def names_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Everything that a module gives a name to."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def faults(sources: dict[str, str]) -> Iterator[str]:
    homes = defaultdict(list)
    for module, source in sources.items():
        tree = ast.parse(source)
        for name in types_of(tree):
            homes[name].append(module)
        nodes = [*ast.walk(tree)]
        for name in {*names_of(nodes)} & EMPTY_WORDS:
            if (module, name) not in OF_ERRORS | OF_REPORTS:
                yield f"{module}: {name} does not say what it is"
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and node.name not in LONG:
                if (module, node.name) in LONG_SIGNATURES:
                    continue
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > MOST_LINES:
                    yield f"{module}: {node.name} has {lines} lines"
    for name, modules in homes.items():
        if len(modules) > 1:
            yield f"{name} is a type of {' and '.join(modules)}"


def test_names_say_what_they_are_and_functions_are_short() -> None:
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in MODULES}
    assert list(faults(sources)) == []


def test_no_two_files_of_tests_share_a_name() -> None:
    """pytest imports them by their names alone, and refuses the second."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("class Row: ...", "Row is a type of a.py and b.py"),
        ("found = 1", "b.py: found does not say what it is"),
        ("def f(told): ...", "b.py: told does not say what it is"),
        ("def f():\n" + "    x = 1\n" * 40, "b.py: f has 41 lines"),
    ],
)
def test_faults_are_seen(source: str, fault: str) -> None:
    assert list(faults({"a.py": "class Row: ...", "b.py": source})) == [fault]
