"""Queries join tables by what is equal. DuckDB may take any comparison of two tables for the way to
join them: `FROM a JOIN b ON a.x = b.x JOIN c ON a.y = c.y WHERE b.id <> c.id` was joined as all
pairs of b and c, gigabytes for a crawl of 18,000 pages, and on others in a moment.

Such a row is left out of the result instead, or the comparison is of a subquery's columns.
"""

from __future__ import annotations

import ast
import re

from support.paths import ROOT

NAME = r"\b([a-z_]\w*)\.[a-z_]\w*"
COMPARED = re.compile(rf"{NAME}\s*(?:<>|!=|<=|>=|<|>)\s*{NAME}|{NAME}\s+BETWEEN\s+{NAME}")
#: with a table of one row
ONE_ROW = {
    ("pipeline/analysis/compare/explain.py", text)
    for text in ("r.links > n.links", "r.captures > n.captures")
}


def compared(query: str) -> list[str]:
    """Comparisons of columns of two tables, as they are written."""
    return [
        match[0]
        for match in COMPARED.finditer(query)
        if len({name for name in match.groups() if name}) > 1
    ]


def queries(source: str) -> list[str]:
    """The strings of a module that has such comparisons anywhere."""
    nodes = ast.walk(ast.parse(source)) if compared(source) else ()
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def test_tables_are_joined_by_what_is_equal() -> None:
    found = {
        (str(path.relative_to(ROOT)), text)
        for folder in ("jobs", "pipeline")
        for path in (ROOT / folder).rglob("*.py")
        for query in queries(path.read_text())
        for text in compared(query)
    }
    assert found == ONE_ROW


def test_what_is_found() -> None:
    assert compared("WHERE s.id <> t.id AND s.x = t.x AND s.a < s.b") == ["s.id <> t.id"]
    assert compared("ON a.begin <= b.at AND b.at BETWEEN a.begin AND a.finish") == [
        "a.begin <= b.at",
        "b.at BETWEEN a.begin",
    ]
