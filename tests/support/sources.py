"""The code of tests, as trees."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from support.paths import ROOT

#: relative to tests/ -> the code
TESTS = {
    str(path.relative_to(ROOT / "tests")): path.read_text()
    for path in sorted((ROOT / "tests").rglob("*.py"))
}


def programs(source: str) -> Iterator[ast.Module]:
    """A file, and the programs for other processes that it holds as strings."""
    tree = ast.parse(source)
    yield tree
    for node in ast.walk(tree):
        text = _text(node)
        if "import " in text:
            try:
                yield ast.parse(textwrap.dedent(text))
            except SyntaxError:
                continue  # other text


def _text(node: ast.AST) -> str:
    """The text of a string; what an f-string puts in stands as 0."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "0"
                       for part in node.values)  # fmt: skip
    return ""
