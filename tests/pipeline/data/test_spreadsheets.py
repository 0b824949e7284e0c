"""CSV that no spreadsheet calculates, and that every reader of CSV reads back."""

from __future__ import annotations

import ast
import csv
import io

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.paths import ROOT

from crawlrank.pipeline.data.datasets import FORMULA, as_text, csv_pieces, harmless

#: https://owasp.org/www-community/attacks/CSV_Injection, and what makes text of a cell
OF_OWASP = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)
numbers = st.integers(-9, 9) | st.floats(allow_nan=False)


@given(st.lists(st.tuples(cells, numbers, st.none()), max_size=9))
@example([("=1+1", -1, None), ("", -0.5, None), ('"a",\r\n', 1e300, None)])
def test_cells_are_text_and_read_back(rows: list[tuple[str, float, None]]) -> None:
    text = "".join(csv_pieces(("=name", "count", "nothing"), rows))
    header, *read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert header == ["=name", "count", "nothing"]  # our own, from no archive
    for (cell, number, _), (shown, count, nothing) in zip(rows, read, strict=True):
        assert not shown.startswith(OF_OWASP[:-1])
        assert shown.removeprefix("'") == cell
        assert (type(number)(count), nothing) == (number, "")
    assert len(read) == len(rows)


@pytest.mark.parametrize("first", [*OF_OWASP, "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_what_begins_a_formula_gets_an_apostrophe(first: str) -> None:
    assert first in FORMULA
    assert as_text(f"{first}cmd|' /C calc'!A0") == f"'{first}cmd|' /C calc'!A0"
    assert as_text(f"http://a/{first}") == f"http://a/{first}"


@given(st.lists(cells, min_size=1, max_size=9))
def test_sql_does_the_same(texts: list[str]) -> None:
    query = f"SELECT {harmless('cell')} FROM (SELECT unnest($texts) AS cell)"
    found = duckdb.execute(query, {"texts": texts}).fetchall()
    assert [cell for (cell,) in found] == [as_text(text) for text in texts]


def test_there_is_no_other_writer_of_csv() -> None:
    """Nor a program that lets DuckDB write CSV without `harmless`."""
    writers = set()
    for path in (ROOT / "pipeline").rglob("*.py"):
        name, source = str(path.relative_to(ROOT)), path.read_text()
        if "csv" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in WRITERS:
                writers.add(name)
        if "FORMAT csv" in source and "harmless(" not in source:
            writers.add(name)
    assert writers == {"pipeline/data/datasets.py"}


WRITERS = {"csv.writer", "csv.DictWriter", "csv.write_csv", "csv.CSVWriter"}
