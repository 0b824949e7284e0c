"""Text of graphs that is read many lines at a time gives what its lines give one by one, wherever
odd lines are."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.engines.embedded.graph_files.edge_lists import (
    MORE_FIELDS,
    CommonCrawl,
    EdgeLists,
)
from crawlrank.pipeline.engines.embedded.graph_files.matrices import WEIGHTS, Matrix
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    COMMENTS,
    HEAD,
    GraphSource,
    columns_in,
)

REGULAR = 2400  # lines: more than the first block, which is read line by line
LATE = 2300  # a line of a later block
SEPARATORS = {"tsv": "\t", "csv": ",", "csv;": ";", "txt": " "}
ODD = (
    *(
        b"# comment",
        b"#a{}b",
        b"%a{}b",
        b"%",
        b"",
        b"  ",
        b"\t",
        b"a",
        b"a{}b{}c",
        b"a{}b{}2{}3",
        b"{}b",
        b"a{}",
        b"{}",
    ),
    *(
        b'"a{}x"{}b',
        b'a{}"b',
        b"a{}b\r",
        b"a\r{}b",
        b"a {} b",
        b" a{}b",
        b"a{}b  ",
        b"a{}  ",
        b"\xff{}b",
    ),
    *("ä{}ü".encode(), "a\u2003b{}c".encode(), b"a\x1cb{}c", b"a\x00{}b", b"a{}b{}{{'w': 2}}"),
    *(b"a{}b{}c{}d{}e", b"a{}{}b", b"007{}7", b"nan{}null", b"a{}#b", b"a{}b\r\r", b"a{}  "),
)

Expected = tuple[list[tuple[str, str]], int, int] | int


def expected(data: bytes, separator: str, *, header: bool) -> Expected:
    """The edges, how many lines are comments, and how many have more fields; or the number of the
    first line that is no edge."""
    edges, comments, more = [], 0, 0
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            text = line.decode().rstrip("\r")
        except UnicodeDecodeError:
            return number
        if "\r" in text:
            return number
        if not text or text[0] in "#%":
            comments += bool(text)
            continue
        if header:
            header = False
            continue
        row = text.split() if separator == " " else text.split(separator)
        if separator in ",;":
            row = [field.strip(" ") for field in row]
        if '"' in text and separator != " ":
            trims = separator in ",;"
            row = next(csv.reader([text], delimiter=separator, skipinitialspace=trims))
        prose = separator == " " and len(row) > 4 and not row[2].startswith("{")
        if prose or len(row) < 2 or not (row[0] and row[1]):
            return number
        edges.append((row[0], row[1]))
        more += len(row) > 2
    return edges, comments, more


def read(source: GraphSource, *counters: str) -> Expected:
    try:
        rows = [
            row for batch in source.edges() for row in zip(*batch.to_pydict().values(), strict=True)
        ]
    except BadInput as error:
        return int(str(error).partition(", line ")[2].partition(":")[0])
    first, second = (source.counters[name] for name in counters)
    return rows, first, second


def check_edges(
    path: Path, kind: str, odd: Sequence[tuple[int, bytes]], end: bytes, *, header: bool
) -> None:
    separator = SEPARATORS[kind]
    lines = [f"n{k}{separator}n{k * 7 % 1000}".encode() for k in range(REGULAR)]
    for at, line in odd:
        lines.insert(max(at, 2), line.replace(b"{}", separator.encode()))
    if header:
        lines.insert(0, f"source{separator}target".encode())
    data = end.join(lines) + end
    path.write_bytes(data)
    assert data.index(f"n{LATE}{separator}".encode()) > HEAD
    edges = read(EdgeLists([path]), COMMENTS, MORE_FIELDS)
    assert edges == expected(data, separator, header=header), odd


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", SEPARATORS)
def test_each_odd_line(kind: str, tmp_path: Path) -> None:
    for line in ODD:
        check_edges(tmp_path / f"a.{kind.rstrip(';')}", kind, [(LATE, line)], b"\n", header=False)


@settings(max_examples=examples(100))
@given(
    kind=st.sampled_from([*SEPARATORS]), header=st.booleans(),
    end=st.sampled_from([b"\n", b"\r\n"]),
    odd=st.lists(st.tuples(st.integers(0, REGULAR), st.sampled_from(ODD)), max_size=3),
)  # fmt: skip
def test_edge_lists(
    kind: str, header: bool, end: bytes, odd: Sequence[tuple[int, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    path = tmp_path_factory.mktemp("blocks") / f"a.{kind.rstrip(';')}"
    check_edges(path, kind, odd, end, header=header)


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_edges_of_both_directions(kind: str, tmp_path: Path) -> None:
    """Those that a table calls undirected, in all blocks."""
    path, separator = tmp_path / f"a.{kind}", SEPARATORS[kind]
    rows = [
        (f"n{k}", ("Undirected", "Directed", "")[k % 3], f"n{k * 7 % 1000}") for k in range(REGULAR)
    ]
    lines = [separator.join(row) for row in [("Source", "Type", "Target"), *rows]]
    path.write_text("\n".join([*lines, ""]))
    wanted = [(one, other) for one, _, other in rows]
    wanted += [(other, one) for one, way, other in rows if way == "Undirected"]
    edges = read(EdgeLists([path]), COMMENTS, MORE_FIELDS)
    assert not isinstance(edges, int)
    assert (sorted(edges[0]), *edges[1:]) == (sorted(wanted), 0, 0)


def test_a_later_block_of_prose(tmp_path: Path) -> None:
    """All of its lines have as many words."""
    first, path = HEAD // 8 + 1, tmp_path / "a.txt"  # lines of eight bytes in the first block
    path.write_bytes(b"aaa bbb\n" * first + b"a b c d e\n" * 9)
    assert read(EdgeLists([path]), COMMENTS, MORE_FIELDS) == first + 1


@pytest.mark.parametrize("separator", ["\t", ",", ""])
def test_lines_that_are_alike_are_read_at_once(separator: str) -> None:
    block = b"".join(f"a{k}{separator or '  '}b{k}\n".encode() for k in range(100))
    columns = columns_in(block, separator)
    assert columns is not None
    assert [column.to_pylist() for column in columns] == [
        [f"{name}{k}" for k in range(100)] for name in "ab"
    ]


MATRIX = (
    *(
        b"% comment",
        b"% 1 2",
        b"",
        b" ",
        b"0 1 1",
        b"1 0 1",
        b"41 1 1",
        b"1 41 1",
        b"1 1",
        b"1 1 1 1",
    ),
    *(b"1 x 1", b"0x1 1 1", b"1 1 x", b"1  2\t1.0 ", b"1 2 nan", b"1 2 inf", b"1 2 0", b"1 2 -0.0"),
    *(b"1 2 1e-400", b"007 2 1", b"1 2 2.5", b"+1 2 1", b"1.0 2 1", b"1 2 1_0", b"-1 2 1"),
    *(b"99999999999999999999 1 1", b"9" * 5000 + b" 1 1", b"1 2 1\r"),
    *("١ 2 1".encode(), "² 2 1".encode()),
)


def expected_of_matrix(data: bytes, *, symmetric: bool) -> Expected:
    pairs, weights, begun = [], 0, False
    for number, line in enumerate(data.decode().split("\n"), 1):
        text = line.rstrip("\r")
        if not text or text[0] == "%":
            continue
        if not begun:
            begun = True
            continue
        row = text.split()
        if len(row) != 3 or not all(re.fullmatch("[0-9]{1,18}", end) for end in row[:2]):
            return number
        ends = int(row[0]), int(row[1])
        if not all(1 <= end <= 40 for end in ends):
            return number
        try:
            value = float(row[2])
        except ValueError:
            return number
        if value:
            weights += row[2] not in ("1", "1.0")
            pairs.append((str(ends[0]), str(ends[1])))
            if symmetric and ends[0] != ends[1]:
                pairs.append((str(ends[1]), str(ends[0])))
    return sorted(pairs), weights, 0


def check_matrix(path: Path, odd: Sequence[tuple[int, bytes]], *, symmetric: bool) -> None:
    lines = [f"{k % 40 + 1} {k * 7 % 40 + 1} {(k % 3) / 2}".encode() for k in range(REGULAR)]
    for at, line in odd:
        lines.insert(at, line)
    entries = sum(bool(line) and not line.startswith(b"%") for line in lines)
    symmetry = "symmetric" if symmetric else "general"
    head = f"%%MatrixMarket matrix coordinate real {symmetry}\n40 40 {entries}\n".encode()
    data = head + b"\n".join(lines) + b"\n"
    path.write_bytes(data)
    assert len(head + b"\n".join(lines[:LATE])) > HEAD
    edges = read(Matrix([path]), WEIGHTS, "nothing")
    edges = edges if isinstance(edges, int) else (sorted(edges[0]), *edges[1:])
    assert edges == expected_of_matrix(data, symmetric=symmetric), odd


@pytest.mark.few(1)
@pytest.mark.parametrize("symmetric", [True, False])
def test_each_odd_entry(symmetric: bool, tmp_path: Path) -> None:
    for line in MATRIX:
        check_matrix(tmp_path / "a.mtx", [(LATE, line)], symmetric=symmetric)


def test_a_block_without_an_edge(tmp_path: Path) -> None:
    path, entries = tmp_path / "a.mtx", HEAD // 3
    head = f"%%MatrixMarket matrix coordinate integer general\n9 9 {entries}\n"
    path.write_text(f"{head}3 4 1\n" + "1 2 0\n" * (entries - 1))
    assert read(Matrix([path]), WEIGHTS, "nothing") == ([("3", "4")], 0, 0)


@settings(max_examples=examples(100))
@given(
    symmetric=st.booleans(),
    odd=st.lists(st.tuples(st.integers(0, REGULAR), st.sampled_from(MATRIX)), max_size=3),
)
def test_matrices(
    symmetric: bool, odd: Sequence[tuple[int, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_matrix(tmp_path_factory.mktemp("blocks") / "a.mtx", odd, symmetric=symmetric)


@settings(max_examples=examples(50))
@given(
    at=st.integers(0, REGULAR),
    odd=st.sampled_from(
        [b"1\ta\t3", b"x\ta", b"1\t", b"1", b"# c", b"1\t\xc3\xa4", b"\xff\ta", b"1 a"]
    ),
)
def test_vertices(at: int, odd: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = [f"{k}\tcom.a{k}".encode() for k in range(REGULAR)]
    lines.insert(at, odd)
    path = tmp_path_factory.mktemp("blocks") / "vertices.txt"
    path.write_bytes(b"\n".join(lines))
    is_bad = odd in (b"x\ta", b"1\t", b"1", b"\xff\ta", b"1 a")
    source = CommonCrawl([path], [path])
    try:
        rows = [
            row for batch in source.nodes() for row in zip(*batch.to_pydict().values(), strict=True)
        ]
    except BadInput as error:
        assert is_bad and f"vertices.txt, line {at + 1}:" in str(error)
    else:
        kept = [line.decode().split("\t")[:2] for line in lines if line != b"# c"]
        assert not is_bad and [list(row) for row in rows] == kept
        assert source.counters[COMMENTS] == (odd == b"# c")
