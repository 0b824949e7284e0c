"""Splits of the local runner are those of mrjob."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO

from hypothesis import example, given
from hypothesis import strategies as st
from mrjob.sim import _split_records

from crawlrank.jobs.mapreduce.runners.local import cut_by_key, cut_lines

LINES = st.lists(st.sampled_from([b"\n", b"a\n", b"a\t\n", b"a\tb\n", b"b\tb\tb\n", b"bc\n", b"c"]))
SIZES = st.integers(0, 40)


def files_in(folder: Path) -> Iterator[IO[bytes]]:
    for number in count():
        yield (folder / f"{number:05}").open("wb")


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.glob("0*"))]


def key(line: bytes) -> bytes:
    return line.split(b"\t")[0]


@given(LINES, SIZES)
@example([], 0)
@example([b"a\n"], 0)
def test_lines(lines: list[bytes], size: int) -> None:
    expected = [b"".join(group) for group in _split_records(iter(lines), size)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = cut_lines(lines, size, files_in(folder))
        assert contents(folder) == expected
        assert [Path(name).name for name in names] == [f"{n:05}" for n in range(len(expected))]


@given(LINES, SIZES)
@example([], 5)
@example([b"a\tb\n"] * 3 + [b"b\tb\n"] * 2, 6)
def test_lines_of_a_key_stay_together(lines: list[bytes], size: int) -> None:
    whole = b"".join(sorted(line.rstrip(b"\n") + b"\n" for line in lines))
    records = whole.splitlines(keepends=True)
    expected = [b"".join(group) for group in _split_records(iter(records), size, key)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sorted").write_bytes(whole)
        assert cut_by_key(folder / "sorted", size, files_in(folder)) == len(expected)
        assert contents(folder) == expected
