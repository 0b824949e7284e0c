"""Reading: files, folders and globs, plain or gzip; what cannot be read is named."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import parse_canonical_link
from crawlrank.jobs.kernel.formats.reading import parts, read_all, read_lines, read_rows
from crawlrank.jobs.kernel.formats.rows import CanonicalLink


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of two parts beside what is none: `_SUCCESS`, a checksum, a side dataset."""
    place = tmp_path / "links"
    (place / "_uris").mkdir(parents=True)
    (place / "_uris" / "part-00000").write_bytes(b"no row of links\n")
    (place / "_SUCCESS").write_bytes(b"")
    (place / ".part-00000.crc").write_bytes(b"crc!")
    (place / "part-00001.gz").write_bytes(gzip.compress(b"e f\ng h"))
    (place / "part-00000").write_bytes(b"a b\r\nc d\n")
    return place


ROWS = [CanonicalLink(t, s) for t, s in ((b"a", b"b"), (b"c", b"d"), (b"e", b"f"), (b"g", b"h"))]


def test_a_folder_and_a_glob_of_it_are_the_same_rows(folder: Path) -> None:
    assert list(read_rows(folder, parse_canonical_link)) == ROWS
    assert list(read_rows(f"{folder}/*", parse_canonical_link)) == ROWS
    assert list(read_all([folder, folder], parse_canonical_link)) == ROWS * 2


def test_places_count_lines_from_1_in_each_file(folder: Path) -> None:
    first, second = folder / "part-00000", folder / "part-00001.gz"
    assert list(read_lines(folder)) == [
        (first, 1, b"a b"),
        (first, 2, b"c d"),
        (second, 1, b"e f"),
        (second, 2, b"g h"),
    ]


def test_a_name_with_glob_characters_is_a_name_first(tmp_path: Path) -> None:
    (tmp_path / "links[1].txt").write_bytes(b"a b\n")
    (tmp_path / "links1.txt").write_bytes(b"c d\n")
    assert parts(tmp_path / "links[1].txt") == [tmp_path / "links[1].txt"]
    assert parts(tmp_path / "links?.txt") == [tmp_path / "links1.txt"]


NAMES = st.text("ab[]*?!-", min_size=1, max_size=5)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=3), NAMES)
def test_a_glob_below_folders_of_any_name_finds_its_files(above: list[str], name: str) -> None:
    with tempfile.TemporaryDirectory() as top:
        file = Path(top, *above, f"{name}.txt")
        file.parent.mkdir(parents=True)
        file.touch()
        assert parts(file.parent / "*.txt") == [file]
        assert parts(file.parent / "*.t[x]t") == [file]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert list(read_rows(tmp_path / "empty", parse_canonical_link)) == []


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for where in (tmp_path / "absent", f"{tmp_path}/absent-*"):
        with pytest.raises(BadInput, match="no such file or folder") as refused:
            parts(where)
        assert refused.value.where == str(where)
        assert refused.value.cure
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="a folder without parts"):
        parts(tmp_path / "empty")


def test_a_bad_line_has_file_and_number(folder: Path) -> None:
    (folder / "part-00002").write_bytes(b"a b\n\nc d\n")
    with pytest.raises(BadInput) as refused:
        list(read_rows(folder, parse_canonical_link))
    assert refused.value.where == f"{folder / 'part-00002'}, line 2"
    assert refused.value.found == "an empty line"


@pytest.mark.parametrize("damage", ["cut", "changed", "no gzip"])
def test_a_damaged_gzip_tells_how_far_it_was_read(damage: str, tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d x\n" % (number * 7919) for number in range(20_000)))
    changed = whole[:-8] + b"\0\0\0\0" + whole[-4:]
    bad = {"cut": whole[: len(whole) // 2], "changed": changed, "no gzip": b"a b\n"}[damage]
    path = tmp_path / "links.gz"
    path.write_bytes(bad)
    words = r"links\.gz: cannot be read \(" if damage == "no gzip" else "cannot be read on"
    with pytest.raises(BadInput, match=words) as refused:
        list(read_lines(path))
    where = refused.value.where.removeprefix(str(path))
    read = int(where.removeprefix(", after line ") or 0)
    low, high = {"cut": (1000, 19_000), "changed": (19_000, 20_000), "no gzip": (0, 0)}[damage]
    assert low <= read <= high


def test_a_file_that_is_a_link_to_nothing_is_missing(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no such file"):
        parts(tmp_path / "dangling")
