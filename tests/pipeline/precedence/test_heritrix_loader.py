"""The model of PrecedenceLoader, against what Heritrix 3.13.0 did with the same files."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.heritrix_cases import LINT_TXT, Case, written
from support.paths import HERITRIX

from crawlrank.pipeline.precedence.heritrix_loader import (
    BLOCK,
    MAX_LINE,
    BreaksOff,
    LoaderFails,
    load,
    read_lines,
)


def test_lint_txt_is_read_whole() -> None:
    text = (HERITRIX / "lint.txt").read_text("utf-8")
    assert len(LINT_TXT) == 60
    assert sum(len(case.stored) for case in LINT_TXT) == text.count("{precalc-precedence=")
    assert sum(bool(case.exception) for case in LINT_TXT) == text.count("Exception in") + 1


@pytest.mark.parametrize("case", LINT_TXT, ids=lambda case: case.name)
def test_lint_txt(case: Case, tmp_path: Path) -> None:
    path = written(case.name, case.file, tmp_path)
    if case.exception:
        with pytest.raises(LoaderFails) as failure:
            load(path)
        assert failure.value.exception == case.exception
        return
    stored = load(path)
    if not case.name.startswith("very long"):  # its key is cut off in lint.txt
        assert stored == case.stored
    assert len(list(read_lines(path))) == case.entries


def loader_jsonl() -> list[dict[str, Any]]:
    lines = (HERITRIX / "loader.jsonl").read_text("ascii").split("\n")
    return [json.loads(line) for line in lines if line]


def test_files_that_the_loader_was_given(tmp_path: Path) -> None:
    cases = loader_jsonl()
    assert len(cases) == 555
    wrong = []
    for case in cases:
        is_gzip = case["name"].lower().endswith(".gz")
        file = base64.b64decode(case["file"]) if is_gzip else case["file"].encode("latin-1")
        try:
            found: Any = load(written(case["name"], file, tmp_path))
        except LoaderFails as error:
            found = error.exception.partition(":")[0]
        if found != case.get("stored", case.get("fails")):
            wrong.append((case, found))
    assert not wrong


def test_heritrix_own_precedence_files() -> None:
    stored = load(HERITRIX / "prec.txt")
    assert len(stored) == 24
    assert sorted(stored.values()) == list(range(1, 94, 4))
    assert len(load(HERITRIX / "precedence2-selftest-rank.txt")) > 3


@pytest.mark.slow
def test_one_bad_line_after_many_good_ones_stores_nothing() -> None:
    good = b"".join(b"http://h.example/%d 5\n" % number for number in range(30_000))
    assert len(load(good)) == 30_000
    with pytest.raises(LoaderFails) as failure:
        load(good + b"\n")
    assert failure.value.line == 30_001


# ---- lines -----------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["a", "bc", "\r", "\n", "\r\n", "x" * BLOCK, "\u2028", "\x0b"])))
def test_lines_are_those_of_java(pieces: list[str]) -> None:
    text = "".join(pieces)
    lines = list(read_lines(text.encode()))
    assert "".join(line.text + line.end for line in lines) == text
    expected = re.split("\r\n|\r|\n", text)
    assert [line.text for line in lines] == (expected if expected[-1] else expected[:-1])
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


def test_a_line_end_between_two_chunks_is_one(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_bytes(b"a" * 65_535 + b"\r\nb")
    assert [line.end for line in read_lines(path)] == ["\r\n", ""]


@pytest.mark.slow
def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"a" * (4 * MAX_LINE)))
    with pytest.raises(LoaderFails, match="a line of more than"):
        load(path)


# ---- gzip ------------------------------------------------------------------------------------


def numbered(count: int) -> bytes:
    return b"".join(b"http://h.example/%06d 5\n" % number for number in range(count))


def test_members_are_read_on_and_what_follows_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "FILE.GZ"
    path.write_bytes(
        gzip.compress(numbered(10)) + gzip.compress(b"http://x.example/ 1\n") + b"rest"
    )
    assert len(load(path)) == 11


def test_a_clipped_file_loads_in_part_and_nobody_is_told(tmp_path: Path) -> None:
    """Java loses the block of 8,192 characters in which the file breaks off."""
    path = tmp_path / "file.gz"
    whole = gzip.compress(numbered(5000))
    path.write_bytes(whole[: len(whole) // 2])
    stored = load(path)
    assert 1000 < len(stored) < 4000
    assert len(stored) in {blocks * BLOCK // 26 for blocks in range(16)}
    with pytest.raises(BreaksOff, match="middle"):
        list(read_lines(path))


def test_a_wrong_checksum_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(numbered(3))[:-8] + bytes(8))
    assert len(load(path)) == 3
    with pytest.raises(BreaksOff, match="checksum"):
        list(read_lines(path))


@pytest.mark.parametrize("options", [4, 8, 16, 2, 30])
def test_optional_fields_of_the_header(options: int, tmp_path: Path) -> None:
    plain = gzip.compress(numbered(3))
    fields = b""
    for flag, field in ((4, b"\x03\x00abc"), (8, b"name\0"), (16, b"comment\0"), (2, b"xx")):
        fields += field if options & flag else b""
    path = tmp_path / "file.gz"
    path.write_bytes(plain[:3] + bytes([options]) + plain[4:10] + fields + plain[10:])
    assert len(load(path)) == 3


@pytest.mark.parametrize(
    "content", [b"", b"\x1f", b"plain http://h.example/ 5\n", b"PK\x03\x04" * 9]
)
def test_no_gzip_at_all_fails(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(content)
    with pytest.raises(LoaderFails):
        load(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(LoaderFails, match="unacceptable"):
        load(tmp_path)
