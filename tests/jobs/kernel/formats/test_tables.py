"""Parquet says what text says: read by Arrow alone, and back as lines."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.inputs.samples import HOSTILE, made_captures, made_links, write

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import CAPTURES, LINKS, Dataset
from crawlrank.jobs.kernel.formats.reading import parts, read_lines
from crawlrank.pipeline.data.parquet import ROW_GROUP, deliver_rows, write_table
from crawlrank.pipeline.engines.embedded.columns import CAPTURE_SCHEMA

UTF8 = [uri for uri in HOSTILE if b"\xff" not in uri]  # a URI of ours is UTF-8


def lines(where: Path) -> list[bytes]:
    return [line for _, _, line in read_lines(where)]


def folder(tmp: Path, *lines_of_parts: list[bytes]) -> Path:
    (tmp / "parts").mkdir()
    for number, part in enumerate(lines_of_parts):
        write(tmp / "parts" / f"part-{number}", part)
    return tmp / "parts"


def links() -> list[bytes]:
    odd = [b'http://h/"a",b http://h/,\' L', b'http://h/" http://h/- E', b"http://h/NA http://h/ R"]
    return [line for line in made_links() if b"\xff" not in line] + odd


@pytest.mark.parametrize("row_group", [1, ROW_GROUP])
def test_links_and_captures_come_back(row_group: int, tmp_path: Path) -> None:
    captures = [line + b"\t-\t-" * (line.count(b"\t") == 7) for line in made_captures()]
    for name, rows, dataset in (("l", links(), LINKS), ("c", captures, CAPTURES)):
        (tmp_path / name).mkdir()
        texts = folder(tmp_path / name, rows[:20], [], rows[20:])
        write_table(parts(texts), tmp_path / f"{name}.parquet", dataset, row_group=row_group)
        assert lines(tmp_path / f"{name}.parquet") == rows
        groups = pq.ParquetFile(tmp_path / f"{name}.parquet").num_row_groups
        assert groups == (2 if row_group == 1 else 1)


def test_columns_have_the_types_of_what_they_hold(tmp_path: Path) -> None:
    row = b"http://h/\t20240230000060\t404\ttext/html\t-\tresponse\ta.warc\t5000000000\t-\tLL"
    unknown = b"http://h/\t-\t-\t-\t-\trevisit\ta.warc\t0\thttp://h/\t-"
    write_table(parts(folder(tmp_path, [row, unknown])), tmp_path / "c.parquet", CAPTURES)
    table = pq.read_table(tmp_path / "c.parquet")
    assert table.column_names == [
        *("uri", "timestamp", "status", "media_type", "digest", "kind", "archive", "offset"),
        *("via", "hops"),
    ]
    first, second = table.to_pylist()
    assert (first["status"], first["offset"], first["digest"]) == (404, 5_000_000_000, None)
    assert first["timestamp"] == "20240230000060"  # an archive's, not a day of any calendar
    assert [name for name in second if second[name] is None] == [
        *("timestamp", "status", "media_type", "digest", "hops"),
    ]
    assert table.schema == CAPTURE_SCHEMA  # as the embedded engine writes them
    column = pq.ParquetFile(tmp_path / "c.parquet").metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert "RLE_DICTIONARY" in column.encodings


@pytest.mark.parametrize("dataset", [LINKS, CAPTURES])
def test_a_dataset_without_rows(dataset: Dataset, tmp_path: Path) -> None:
    write_table(parts(folder(tmp_path, [], [])), tmp_path / "x.parquet", dataset)
    assert pq.read_table(tmp_path / "x.parquet").column_names == list(dataset.first(dataset.usual))
    assert lines(tmp_path / "x.parquet") == []


def test_a_folder_of_tables(tmp_path: Path) -> None:
    rows = links()
    deliver_rows(folder(tmp_path, rows[:50], rows[50:]), tmp_path / "links", LINKS, tables=True)
    found = sorted(path.name for path in (tmp_path / "links").iterdir())
    assert found == ["part-0.parquet", "part-1.parquet"]
    assert lines(tmp_path / "links") == rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links", "parts"]


def test_tables_of_others(tmp_path: Path) -> None:
    """Columns of other names are left alone; the hop, via and hops may be absent."""
    made = {"source": ["http://a/"], "rank": [1], "target": ["http://b/"]}
    pq.write_table(pa.table(made), tmp_path / "l.parquet")
    assert lines(tmp_path / "l.parquet") == [b"http://b/ http://a/"]


def test_no_table_and_a_table_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"http://a/ http://b/ L\n")
    pq.write_table(pa.table({"x\x1b": [1], "y": [2]}), tmp_path / "b.parquet")
    for name, found in (("a", "Parquet"), ("b", r"b.parquet: a table with the columns x\\x1b, y;")):
        with pytest.raises(BadInput, match=found) as refused:
            lines(tmp_path / f"{name}.parquet")
        assert "\x1b" not in str(refused.value)
        assert "line 0" not in str(refused.value)
    assert "links (target, source) or captures (" in refused.value.expected
