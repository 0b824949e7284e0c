"""Links and captures in Parquet: what others read, what comes back, how it lies in the file."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.samples import made_captures, made_links

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import format_capture, parse_capture
from crawlrank.jobs.kernel.formats.rows import AnchorRun
from crawlrank.pipeline.engines.embedded import columns
from crawlrank.pipeline.engines.embedded.columns import (
    AnchorsWriter,
    CapturesWriter,
    LinksWriter,
    capture_blocks,
    link_blocks,
)

Rows = list[tuple[str, str, str]]


class FewStrings(LinksWriter):
    most_strings = 1000


class FewCaptures(CapturesWriter):
    block = 7


def written(path: Path, rows: Rows, block: int = columns.BLOCK) -> Path:
    with LinksWriter(path, block) as links:
        for source, page in groupby(rows, key=itemgetter(1)):
            targets, _, letters = zip(*page, strict=True)
            hops = [letter.encode() for letter in letters]
            is_one = len(targets) % 2 and len(set(hops)) == 1
            links.add(source.encode(), [t.encode() for t in targets], hops[0] if is_one else hops)
    assert links.rows == len(rows)
    return path


def readable(lines: list[bytes]) -> Rows:
    """Links whose URIs are UTF-8, as extraction makes them."""
    rows = [line.decode("utf-8", "replace").split(" ") for line in lines]
    return [
        (target, source, hop) for target, source, hop in rows if "\ufffd" not in target + source
    ]


def in_blocks(path: Path) -> Rows:
    rows = []
    for block in link_blocks(path):
        targets, sources = block.targets.to_pylist(), block.sources.to_pylist()
        assert len(set(targets)) == len(targets) and len(set(sources)) == len(sources)
        for target, source, hop in zip(block.target, block.source, block.hop, strict=True):
            rows.append((targets[target], sources[source], block.hops[hop]))
    return rows


def bytes_of_targets(path: Path) -> int:
    """The bytes of all pages of the first column, not compressed."""
    metadata = pq.read_metadata(path)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return sum(group.column(0).total_uncompressed_size for group in groups)


@pytest.mark.parametrize("block", [1, 7, 100, columns.BLOCK])
def test_links_come_back_and_others_read_the_same(block: int, tmp_path: Path) -> None:
    rows = readable(made_links())
    path = written(tmp_path / "part.parquet", rows, block)
    assert in_blocks(path) == rows
    assert duckdb.read_parquet(str(path)).fetchall() == rows
    assert pq.ParquetFile(path).metadata.num_row_groups == -(-len(rows) // block)
    assert set(pq.read_schema(path).types) == {pa.string()}


@given(
    rows=st.lists(st.tuples(st.sampled_from("abcé"), st.sampled_from("de"), st.sampled_from("LE")))
)
def test_any_links_come_back(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("links") / "part.parquet"
    assert in_blocks(written(path, rows, 3)) == rows


@pytest.mark.slow
def test_every_page_of_a_block_uses_its_dictionary(tmp_path: Path) -> None:
    """5.4 MB of distinct URIs, twice: Parquet by itself gives up a dictionary that is so large."""
    rows = [
        (f"http://a.example/{i % 50_000:090}", "http://a.example/", "L") for i in range(100_000)
    ]
    path = written(tmp_path / "part.parquet", rows)
    assert 50_000 * 107 < bytes_of_targets(path) < 60_000 * 107
    table = pa.table(dict(zip(columns.LINK_COLUMNS, zip(*rows, strict=True), strict=True)))
    pq.write_table(table, tmp_path / "usual.parquet")
    assert bytes_of_targets(tmp_path / "usual.parquet") > 90_000 * 107


def test_long_uris_end_a_block_early(tmp_path: Path) -> None:
    rows = [(f"http://a.example/{number:0500}", "http://a.example/", "L") for number in range(9)]
    path = tmp_path / "part.parquet"
    with FewStrings(path) as links:
        for target, source, _ in rows:
            links.add(source.encode(), [target.encode()], [b"L"])
    assert [len(block.target) for block in link_blocks(path)] == [2, 2, 2, 2, 1]
    assert in_blocks(path) == rows


def test_parquet_of_other_tools_is_read_too(tmp_path: Path) -> None:
    rows = readable(made_links())
    table = pa.table(dict(zip(columns.LINK_COLUMNS, zip(*rows, strict=True), strict=True)))
    for name, options in (("plain", {"use_dictionary": False}), ("mixed", {"data_page_size": 64})):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(table, path, dictionary_pagesize_limit=200, **options)
        assert in_blocks(path) == rows


def test_no_links_and_no_captures(tmp_path: Path) -> None:
    assert in_blocks(written(tmp_path / "links.parquet", [])) == []
    with CapturesWriter(tmp_path / "captures.parquet") as captures:
        pass
    assert captures.rows == 0
    assert list(capture_blocks(tmp_path / "captures.parquet")) == []


def test_captures_have_types_and_null_where_unknown(tmp_path: Path) -> None:
    lines = [line for line in made_captures() if b"\xff" not in line]
    lines.append(b"http://a.example/\t-\t-\t-\t-\trevisit\ta.warc.gz\t123456789012\t-\tLLR")
    path = tmp_path / "part.parquet"
    with FewCaptures(path) as captures:
        captures.add(map(parse_capture, lines))
    assert captures.rows == len(lines)
    found = duckdb.read_parquet(str(path)).fetchall()
    texts = ["\t".join("-" if value is None else str(value) for value in row) for row in found]
    assert [text.encode() for text in texts] == [
        format_capture(parse_capture(line)) for line in lines
    ]
    assert found[-1][2] is None and found[-1][7] == 123456789012 and found[0][2] == 200
    blocks = [block.to_pylist() for block in capture_blocks(path)]
    assert [len(block) for block in blocks] == [7] * (len(lines) // 7) + [len(lines) % 7]
    assert [row["timestamp"] for block in blocks for row in block] == [row[1] for row in found]


def test_what_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="UTF8"), LinksWriter(tmp_path / "part") as links:
        links.add(b"http://a.example/", [b"http://a.example/\xff"], [b"L"])


def test_files_that_are_no_part_are_named(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    path.write_bytes(b"no Parquet at all")
    with pytest.raises(BadInput, match="no readable Parquet") as refused:
        list(link_blocks(path))
    assert refused.value.where == str(path)
    pq.write_table(pa.table({"target": ["a"], "hop": ["L"]}), path)
    with pytest.raises(BadInput, match="no column source; expected columns target, source, hop"):
        list(link_blocks(path))


@pytest.mark.parametrize("passing", [False, True])
def test_words_of_links_that_lead_nowhere_are_no_row(passing: bool, tmp_path: Path) -> None:
    path, nowhere = tmp_path / "words", AnchorRun([b"", b"b"], b"a", b"Write to me\n\n", b"-")
    with AnchorsWriter(path, passing=passing) as anchors:
        anchors.add(nowhere)
    assert anchors.rows == 0
    if passing:
        path, part = tmp_path / "whole", path
        with AnchorsWriter(path) as anchors:
            anchors.append(part)
    assert pq.read_table(path).num_rows == 0
