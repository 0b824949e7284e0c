"""The table of datasets: what docs/formats.md says, and how far a column of it reaches."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats import datasets, lines
from crawlrank.jobs.kernel.formats.datasets import DATASETS, Dataset, RowOrder
from crawlrank.jobs.kernel.formats.reading import table_lines
from crawlrank.jobs.kernel.formats.rows import Capture, Fold
from crawlrank.pipeline.data.parquet import schema_of, write_table
from crawlrank.pipeline.workfolder.results.lines import text_table

FORMATS = (Path(__file__).resolve().parents[4] / "docs" / "formats.md").read_text()
FIRST_TABLE = FORMATS.partition("| dataset |")[2].partition("\n\n")[0]
IN_TEXT = dict(re.findall(r"^\| (\w+) \| `[^|]*\| `([^`]+)`", FIRST_TABLE, re.M))
IN_PARQUET = dict(re.findall(r"^\| `(\w+)/\w+\.parquet` \| ([^;|]+)[;|]", FORMATS, re.M))


def test_the_page_lists_all_datasets() -> None:
    assert IN_TEXT.keys() - {"precedence"} == DATASETS.keys()
    arrays_or_text = {"canonical_links", "input_links", "graph", "ranks", "hubs", "anchors"}
    assert IN_PARQUET.keys() - {"keys"} == DATASETS.keys() - arrays_or_text


@pytest.mark.parametrize("name", DATASETS)
def test_the_columns_of_the_page_are_those_of_the_table(name: str) -> None:
    dataset = DATASETS[name]
    separator = "<TAB>" if dataset.separator == "\t" else " "
    usual = list(dataset.first(dataset.usual))
    assert IN_TEXT[name].split(separator) == usual
    if name in IN_PARQUET:
        columns = [column.split(" ") for column in IN_PARQUET[name].strip().split(", ")]
        types = {column: "".join(kind) or "string" for column, *kind in columns}
        unasked = {n: t for n, t in dataset.parquet_columns.items() if n not in dataset.columns}
        assert types == {**dataset.first(dataset.usual), **unasked}
        assert list(types) == [n for n in dataset.parquet_columns if n in types]


def test_the_columns_that_extraction_adds_are_on_the_page() -> None:
    columns, widths = list(datasets.CAPTURES.columns), datasets.CAPTURES.widths
    assert widths[-1] == len(columns)
    for begin, end in pairwise(widths[widths.index(datasets.CAPTURES.usual) :]):
        assert f"`{'<TAB>'.join(columns[begin:end])}`" in FORMATS


def test_a_column_more_reaches_every_reader(tmp_path: Path) -> None:
    types = {"hops": "int64", "weight": "double"}
    longer = Dataset("folds", (*Fold._fields, "weight"), "\t", RowOrder.LINE, types=types)
    line = b"a)/\tb)/\tredirect\t1\t0.5"
    assert lines._fields(line, longer) == line.split(b"\t")
    part = tmp_path / "part-0"
    part.write_bytes(line + b"\n")
    (row,) = duckdb.sql(f"SELECT weight, hops FROM {text_table(longer, [part])}").fetchall()
    assert row == (0.5, 1)
    write_table([part], tmp_path / "folds.parquet", longer)
    assert pq.read_schema(tmp_path / "folds.parquet") == schema_of(longer.columns)
    assert [*table_lines(tmp_path / "folds.parquet", [longer])] == [line + b"\n"]
    assert "weight" in longer.expected
    assert tuple(Fold._fields) == tuple(datasets.FOLDS.columns)
    assert datasets.CAPTURES.columns["offset"] == "int64" and Capture._fields[7] == "offset"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_break_in_a_cell_is_refused(end: str, tmp_path: Path) -> None:
    """Otherwise one row would be two."""
    table = pa.table({"target": [f"http://b/ http://b/ L{end}http://c/"], "source": ["http://a/"],
                      "hop": ["L"]})  # fmt: skip
    pq.write_table(table, tmp_path / "links.parquet")
    with pytest.raises(BadInput, match="a line break in a cell"):
        list(table_lines(tmp_path / "links.parquet"))


@pytest.mark.parametrize(
    "name", ["it's", "both ' and \"", "a\\b", "a\u00a0b", "a\u00adb", "a\nb", "[a]"]
)
def test_files_of_any_name_are_read(name: str, tmp_path: Path) -> None:
    part = tmp_path / name
    part.write_bytes(b"0 org,example)/\n")
    (row,) = duckdb.sql(
        f"SELECT * FROM {text_table(datasets.MAP, [part, part])} LIMIT 1"
    ).fetchall()
    assert row[1] == "org,example)/"
