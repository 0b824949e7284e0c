"""Tests hand the code what it shall do, and set no names of its modules and classes.

A value that a test has to change is a parameter with a default, or an attribute of a class that the
test makes a class of its own from. Names of other people's modules may be set. Programs that tests
hold as strings, for other processes, are looked at like the tests themselves.

A place is shown as a file of tests/ and the end of the dotted name of what it sets;
`PYTHONPATH=tests python tests/house/test_patches.py` prints all places.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import pytest
from support.paths import ROOT, SCRIPTS
from support.sources import TESTS, programs

#: folders whose modules tests import by their own names
FOLDERS = (ROOT, *(SCRIPTS, SCRIPTS / "bench", SCRIPTS / "compare", SCRIPTS / "costs"))
#: functions that set a name of an object, or an item: by their last word
SETTERS = {"setattr", "delattr", "setitem", "delitem", "object", "patch", "dict", "multiple"}
OWN = "house/test_patches.py"  # whose strings are patches that the check has to see

Names = Mapping[str, set[str]]


@cache
def is_ours(dotted: str) -> bool:
    top = dotted.partition(".")[0]
    found = any((path / top).is_dir() or (path / f"{top}.py").is_file() for path in FOLDERS)
    return found and top not in ("tests", "scripts", "docs", "work")


def names_of(nodes: Sequence[ast.AST]) -> Names:
    """For each name in a program the dotted names of what it may stand for: what is imported, and
    what is put into a variable, or is gone through by a loop."""
    names = defaultdict[str, set[str]](set)
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.asname:
                    names[each.asname].add(each.name)
                else:
                    names[each.name.partition(".")[0]].add(each.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                names[each.asname or each.name].add(f"{node.module}.{each.name}")
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            if isinstance(node.iter, ast.Tuple | ast.List):
                for one in node.iter.elts:
                    names[node.target.id] |= meant(one, names)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] |= meant(node.value, names)
    return names


def loaded(node: ast.expr) -> str:
    """The module of `import_module("…")` and `sys.modules["…"]`, or nothing."""
    word = ""
    if isinstance(node, ast.Call) and node.args and "import_module" in ast.unparse(node.func):
        word = ast.unparse(node.args[0])
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("sys.modules"):
        word = ast.unparse(node.slice)
    return word.strip("'\"")


def meant(node: ast.expr, names: Names) -> set[str]:
    """The dotted names that an expression may stand for."""
    if module := loaded(node):
        return {module}
    if isinstance(node, ast.Name):
        return set(names.get(node.id, ()))
    if isinstance(node, ast.Attribute):
        return {f"{dotted}.{node.attr}" for dotted in meant(node.value, names)}
    if isinstance(node, ast.Subscript | ast.Starred):
        return meant(node.value, names)
    return set()


def set_by_calls(node: ast.Call, names: Names) -> Iterator[tuple[ast.expr | str, str]]:
    """The object of which a call sets a name, and the name; a dotted name as a whole, and an empty
    one."""
    function = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if function not in SETTERS or not node.args:
        return
    first, *rest = node.args
    if isinstance(first, ast.Constant):
        yield str(first.value), ""
    elif function.endswith("item") or function == "dict":
        yield first, ""
    elif rest:
        constant = isinstance(rest[0], ast.Constant)
        yield first, ast.literal_eval(rest[0]) if constant else f"{{{ast.unparse(rest[0])}}}"


def set_in(tree: ast.Module) -> Iterator[str]:
    """What of ours a program sets, as `module.NAME` or `Class.name`. Of objects that nothing is
    known of, these are private names and constants."""
    nodes = [*ast.walk(tree)]
    names = names_of(nodes)
    for node in nodes:
        given = list[tuple[ast.expr | str, str]]()
        if isinstance(node, ast.Call):
            given += set_by_calls(node, names)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            given.append((node.value, node.attr))
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            given.append((node.value, ""))
        for what, name in given:
            objects = {what} if isinstance(what, str) else meant(what, names)
            for dotted in filter(is_ours, objects):
                yield ".".join(f"{dotted}.{name}".rstrip(".").split(".")[-2:])
            own = isinstance(what, ast.Name) and what.id in ("self", "cls")
            if not objects and not own and (name.startswith("_") or name.isupper()):
                yield f"{ast.unparse(what)}.{name}"


def patches(sources: Mapping[str, str]) -> set[tuple[str, str]]:
    return {
        (file, name)
        for file, source in sources.items()
        for tree in programs(source)
        for name in set_in(tree)
    }


def made_in_tests() -> set[tuple[str, str]]:
    return patches({file: TESTS[file] for file in TESTS if file != OWN})


@pytest.mark.slow
def test_no_test_sets_names_of_ours() -> None:
    assert sorted(made_in_tests()) == [], "make it a parameter; see the docstring"


HEAD = """
from crawlrank.jobs import page_rank
import crawlrank.pipeline.run as runs
import crawlrank.pipeline.data.memory
"""


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("monkeypatch.setattr(page_rank, 'COMBINED', 3)", "page_rank.COMBINED"),
        ("patch.setattr('crawlrank.jobs.page_rank.COMBINED', 3)", "page_rank.COMBINED"),
        ("with mock.patch('crawlrank.pipeline.run.run'): pass", "run.run"),
        ("@mock.patch.object(runs, 'run')\ndef f(): pass", "run.run"),
        ("with patch.dict(runs.TABLE, a=1): pass", "run.TABLE"),
        ("monkeypatch.setitem(runs.TABLE, 'a', 1)", "run.TABLE"),
        ("monkeypatch.delattr(runs, 'run')", "run.run"),
        ("for name in NAMES: setattr(runs, name, 1)", "run.{name}"),
        ("for m in (runs, page_rank): p.setattr(m, 'X', 1)", "page_rank.X"),
        ("page_rank.COMBINED = 3", "page_rank.COMBINED"),
        ("page_rank.COMBINED += 3", "page_rank.COMBINED"),
        ("a, page_rank.COMBINED = 3, 4", "page_rank.COMBINED"),
        ("del page_rank.COMBINED", "page_rank.COMBINED"),
        ("crawlrank.pipeline.data.memory.LEAST = 3", "memory.LEAST"),
        ("runs.TABLE['a'] = 1", "run.TABLE"),
        ("page_rank.PageRank.combine = None", "PageRank.combine"),
        ("def f():\n    from crawlrank.pipeline.run.run import run\n    run.x = 1", "run.x"),
        ("module = runs\nmodule.run = None", "run.run"),
        ("m = importlib.import_module('crawlrank.jobs.lines')\nm.X = 1", "lines.X"),
        ("sys.modules['crawlrank.jobs.lines'].X = 1", "lines.X"),
        ("import emr_costs\nemr_costs.PRICES = {}", "emr_costs.PRICES"),
        ("engine = Engine()\nengine._memory = 3", "engine._memory"),
        ("monkeypatch.setattr(Engine(), '_memory', 3)", "Engine()._memory"),
        ("def test(module):\n    monkeypatch.setattr(module, 'BLOCK', 3)", "module.BLOCK"),
        ("CODE = '''\nimport crawlrank.jobs.lines\ncrawlrank.jobs.lines.X = 1'''", "lines.X"),
        ("CODE = f'import crawlrank.jobs.lines; crawlrank.jobs.lines.X = {x}'", "lines.X"),
    ],
)
def test_patches_are_seen(code: str, name: str) -> None:
    assert ("a.py", name) in patches({"a.py": HEAD + code})


@pytest.mark.parametrize(
    "code",
    [
        "monkeypatch.setattr(socket, 'create_connection', None)",
        "monkeypatch.setattr('socket.create_connection', None)",
        "monkeypatch.setitem(sys.modules, 'matplotlib', None)",
        "monkeypatch.setenv('crawlrank.jobs.lines', '1')",
        "import mrjob.emr\nmrjob.emr._WAIT = 0",
        "class Own(page_rank.PageRank):\n    COMBINED = 3",
        "class Own:\n    def __init__(self):\n        self._x = 3",
        "limit = page_rank.COMBINED",
        "clock = Clock()\nclock.now = 3",
        "'''Text on import and page_rank.COMBINED = 3'''",
    ],
)
def test_nothing_else_is_a_patch(code: str) -> None:
    assert patches({"a.py": HEAD + code}) == set()


if __name__ == "__main__":
    for file, name in sorted(made_in_tests()):
        sys.stdout.write(f'    ("{file}", "{name}"),\n')
