"""Numbers of things stand in sentences with the form of the noun that goes with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from support.paths import ROOT

#: what messages and tables count; the number in front may be 1
COUNTED = re.compile(
    r" (?:[a-z]+ )?(pages|links|lines|archives|files|sites|URIs|captures|raters|places|bytes"
    r"|jobs|errors|others|rounds|fields|keys)\b(?! (?:scores )?(?:tell|above))"
)
#: expressions that are never 1, by the words of the code
NEVER_ONE = re.compile(
    r"[A-Z_]{3,}$|nodes$|FEW|\bcount_of\(|fold\.hops| or 'no'$|records$|\bsize$|limit$"
)
#: not read by users of a crawl: the laboratory, checks of arguments inside the package
APART = ("lab", "ranking", "engines")


def plurals(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of what says `1 pages` for some number."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:], strict=False):
                if (
                    isinstance(value, ast.FormattedValue)
                    and isinstance(text, ast.Constant)
                    and COUNTED.match(str(text.value))
                    and not NEVER_ONE.search(ast.unparse(value.value))
                ):
                    yield node.lineno, f"{ast.unparse(value.value)}{str(text.value)[:30]}"


def test_a_number_that_may_be_one_is_written_by_count_of() -> None:
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for top in ("jobs", "pipeline", "crawlrank")
        for path in sorted((ROOT / top).rglob("*.py"))
        if not {*path.parts} & {*APART}
        for line, text in plurals(path.read_text())
    ]
    assert faults == []


@pytest.mark.parametrize("text", ["{n} pages", "{len(a):,} listed URIs were", "of {n:,} lines"])
def test_the_check_finds_plurals(text: str) -> None:
    assert list(plurals(f'x = f"{text}"'))
    assert not list(plurals('x = f"{count_of(n, 1)} pages"'))
