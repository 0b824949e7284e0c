"""The list of entries of a zip, beside Python's zipfile."""

from __future__ import annotations

import contextlib
import io
import random
import zipfile
from functools import partial

import pytest
from support.inputs.archive_samples import page

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.archive.wacz import Wacz
from crawlrank.jobs.kernel.archive.zip_files import NoList, ZipList

Entry = tuple[str, int, int, int]


def zipped(names: list[str], *, comment: bytes = b"", before: bytes = b"") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.comment = comment
            archive.writestr(info, name.encode())
        archive.comment = comment
    return before + made.getvalue()


def of_zipfile(data: bytes) -> list[Entry]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if info.filename.startswith("archive/")]
    infos = sorted((i for i in infos if not i.is_dir()), key=lambda info: info.header_offset)
    return [(i.filename, i.header_offset, i.compress_size, i.CRC) for i in infos]


def of_ours(data: bytes) -> list[Entry]:
    return [tuple(entry) for entry in ZipList(io.BytesIO(data), "archive/")]  # type: ignore[misc]


NAMES = ["archive/a", "x", "archive/é", "archive/", "archive/b/", "archive/b/c"]


@pytest.mark.parametrize("comment", [b"", b"a comment"])
@pytest.mark.parametrize("before", [b"", b"something in front of it"])
def test_as_zipfile_lists_them(comment: bytes, before: bytes) -> None:
    data = zipped(NAMES, comment=comment, before=before)
    assert of_ours(data) == of_zipfile(data)
    assert len(of_ours(data)) == 3


def test_a_list_in_another_order() -> None:
    """By offset, so that entries in one another are seen."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number in range(9):
            archive.writestr(f"archive/{number}", b"x" * number)
        random.Random(3).shuffle(archive.filelist)
    data = made.getvalue()
    assert of_ours(data) == of_zipfile(data)
    assert [entry[0] for entry in of_ours(data)] == [f"archive/{number}" for number in range(9)]


def test_numbers_of_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 20)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    data = zipped(NAMES)
    assert b"PK\x06\x06" in data
    assert of_ours(data) == of_zipfile(data)


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_told_and_nothing_else_raised(seed: int) -> None:
    rng, data = random.Random(seed), bytearray(zipped(NAMES))
    begin = data.index(b"PK\x01\x02")
    for _ in range(3):
        data[rng.randrange(begin, len(data))] = rng.randrange(256)
    with contextlib.suppress(NoList):
        list(ZipList(io.BytesIO(bytes(data[: rng.choice([len(data), -9])])), "archive/"))


def test_more_entries_than_are_read() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for number in range(5):
            archive.writestr(f"archive/{number}.warc", page("x", f"http://h/{number}"))
    reader = partial(read_records, name="test.wacz")
    archives = Wacz(made, "test.wacz", reader, most=3).archives()
    damage, *records = (item for archive in archives for item in archive.items)
    assert [record.uri for record in records] == [f"http://h/{number}" for number in range(3)]
    said = "list of entries: 'more than 3 entries; the others are not read'"
    assert damage == Damage(0, "bad-zip", said)


@pytest.mark.parametrize("size", range(22))
def test_a_file_that_is_shorter_than_any_list(size: int) -> None:
    with pytest.raises(NoList):
        ZipList(io.BytesIO(b"PK\x05\x06"[:size] + bytes(max(0, size - 4))), "archive/")
