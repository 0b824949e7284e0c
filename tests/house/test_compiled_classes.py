"""Classes of what mypyc compiles mean the same there as in Python.

mypyc takes a decorator of a method that it does not know for one that changes nothing. A
`cached_property` then is a property that is made anew each time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

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


def test_methods_have_decorators_that_mypyc_knows() -> None:
    modules = [path for name in FOLDERS for path in (ROOT / "jobs/kernel" / name).glob("*.py")]
    assert len(modules) > 40
    for path in modules:
        assert not [*unknown_decorators(path.read_text())], path


@pytest.mark.parametrize("decorator", ["cached_property", "functools.cached_property", "cache"])
def test_others_are_seen(decorator: str) -> None:
    source = f"class A:\n    @{decorator}\n    def b(self): ...\n"
    assert [*unknown_decorators(source)] == [f"A.b with @{decorator}"]
