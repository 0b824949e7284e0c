"""Classes of what mypyc compiles mean the same there as in Python.

mypyc takes a decorator of a method that it does not know for one that changes nothing. A
`cached_property` then is a property that is made anew each time. It compiles no subclass of a
builtin type but of errors, and no `super().__new__`; a class with a decorator stays one of Python.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.paths import ROOT

from scripts.compile_kernel import FOLDERS

KNOWN = {"property", "staticmethod", "classmethod", "contextmanager"}


def unknown_decorators(source: str) -> Iterator[str]:
    """The methods with a decorator beyond KNOWN."""
    classes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    for node in classes:
        for method in (each for each in node.body if isinstance(each, ast.FunctionDef)):
            for decorator in map(ast.unparse, method.decorator_list):
                if decorator.rpartition(".")[2] not in KNOWN:
                    yield f"{node.name}.{method.name} with @{decorator}"


def refused_classes(source: str) -> Iterator[str]:
    """The classes that mypyc refuses to compile."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef):
            continue
        for base in map(ast.unparse, node.bases):
            kind = getattr(builtins, base, None)
            if kind and not issubclass(kind, BaseException) and not node.decorator_list:
                yield f"{node.name} of {base} without a decorator"
        if "super().__new__(" in ast.unparse(node):
            yield f"{node.name} with super().__new__"


def compiled_modules() -> list[Path]:
    modules = [path for name in FOLDERS for path in (ROOT / "jobs/kernel" / name).glob("*.py")]
    assert len(modules) > 40
    return modules


def test_classes_are_those_that_mypyc_compiles() -> None:
    for path in compiled_modules():
        assert not [*refused_classes(path.read_text())], path


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("class A(str): ...", ["A of str without a decorator"]),
        ("@of_python\nclass A(str): ...", []),
        ("class A(ValueError): ...", []),
        ("class A:\n def __new__(cls): return super().__new__(cls)", ["A with super().__new__"]),
    ],
)
def test_classes_that_it_refuses_are_seen(source: str, refused: list[str]) -> None:
    assert [*refused_classes(source)] == refused


def test_methods_have_decorators_that_mypyc_knows() -> None:
    for path in compiled_modules():
        assert not [*unknown_decorators(path.read_text())], path


@pytest.mark.parametrize("decorator", ["cached_property", "functools.cached_property", "cache"])
def test_others_are_seen(decorator: str) -> None:
    source = f"class A:\n    @{decorator}\n    def b(self): ...\n"
    assert [*unknown_decorators(source)] == [f"A.b with @{decorator}"]
