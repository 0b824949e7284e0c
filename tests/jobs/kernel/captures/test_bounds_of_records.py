"""What many records, large headers and long lists may take: memory that does not grow with them,
and no more records than their bytes can be."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from support.growth import assert_bounded
from support.inputs.archive_samples import extracted, lz4_frame, page, warc, whole, zstd
from support.inputs.mutation_samples import DEFLATED

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.records import Record, records_of
from crawlrank.jobs.kernel.archive.zip_files import EntrySums, FilePart, InflatedPart
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import DEFAULTS, ExtractionOptions
from crawlrank.pipeline.analysis.inspection import inspect_archive
from crawlrank.pipeline.engines.embedded.range_extraction import ArchiveWork, extract_archive
from crawlrank.pipeline.steps import ArchiveTask

EMPTY = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
WITHOUT_LENGTH = b"WARC/1.0\r\nA: b\r\n\r\n"
ARC = b"http://h/ 192.0.2.1 20200101000000 - 0\n\n"
LAST = page("<a href=/end>", "http://h/last")
MANY = 120_000
MIB = 2**20


FLOODS = {
    "gzip, no length": (lambda data: whole([data]), WITHOUT_LENGTH),
    "zstd, empty": (zstd, EMPTY),
    "zstd, ARC": (zstd, ARC),
    "lz4, no length": (lz4_frame, WITHOUT_LENGTH),
}


SMALL = 2000  # records that are no bomb, in these tests


def counted(stream: object, few: int = SMALL) -> tuple[int, str, list[str]]:
    """How many records a stream has, the URI of the last, and the reasons of damage."""
    items = [*records_of(cast(BinaryIO, stream), MIB, few=few)]
    records = [item for item in items if isinstance(item, Record)]
    reasons = [item.reason for item in items if isinstance(item, Damage)]
    return len(records), records[-1].uri, reasons


@pytest.mark.few(2)
@pytest.mark.parametrize("name", FLOODS)
def test_more_records_than_bytes_are_a_bomb(name: str) -> None:
    pack, record = FLOODS[name]
    flood = pack(record * 2 * SMALL)
    count, last, reasons = counted(io.BytesIO(flood + pack(LAST)))
    assert count <= SMALL + 1001
    assert last == "http://h/last"
    assert reasons[-1] == "bomb"


@pytest.mark.slow
def test_how_many_are_a_bomb() -> None:
    _, captures, damage, counters = extracted(whole([WITHOUT_LENGTH * MANY]) + whole([LAST]))
    assert 2**16 < counters["records"] < 70_000
    assert captures[-1].uri == b"http://h/last"
    assert damage[-1].reason == "bomb"
    assert "records" in damage[-1].detail


def test_a_flood_deflated_in_a_zip() -> None:
    data = EMPTY * 2 * SMALL
    compressor = zlib.compressobj(wbits=-15)
    deflated = compressor.compress(data) + compressor.flush()
    part = InflatedPart(
        FilePart(io.BytesIO(deflated), 0, len(deflated)), EntrySums(zlib.crc32(data))
    )
    count, _, reasons = counted(part)
    assert count <= SMALL + 1001
    assert reasons == ["bomb"]


@pytest.mark.slow
def test_a_flood_deflated_in_a_wacz() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", DEFLATED) as archive:
        archive.writestr("archive/a.warc", EMPTY * MANY)
        archive.writestr("archive/b.warc", LAST)
    _, captures, damage, counters = extracted(made.getvalue())
    assert counters["records"] < 70_000
    assert [capture.uri for capture in captures] == [b"http://h/last"]
    assert [item.reason for item in damage] == ["bomb"]


def test_as_many_in_a_file_of_their_size_are_read() -> None:
    assert counted(io.BytesIO(EMPTY * 2 * SMALL)) == (2 * SMALL, "", [])


def test_records_of_a_crawl_in_one_frame_are_no_bomb() -> None:
    """However alike they are."""
    records = [warc(b"", f"http://h/{number}", "request") for number in range(2 * SMALL)]
    assert counted(io.BytesIO(whole(records))) == (2 * SMALL, f"http://h/{2 * SMALL - 1}", [])


BIG = "x" * (MIB // 2)


def header_of(kind: str, number: int) -> bytes:
    """A record with half a megabyte in its header."""
    if kind == "id":
        return warc(b"", f"http://h/{number}", extra=f"WARC-Record-ID: <{number}{BIG}>\r\n")
    if kind == "fragment":
        return warc(b"", f"http://h/{number}#{BIG}")
    if kind == "media type":
        block = f"HTTP/1.1 200 OK\r\nContent-Type: text/{number}{BIG[: MIB // 5]}\r\n\r\n<p>"
        return warc(block.encode(), f"http://h/{number}")
    extra = f"WARC-Concurrent-To: <{number}{BIG}>\r\n" if kind == "metadata" else ""
    uri = f"http://h/{number}" + ("#" + BIG if kind == "metadata's URI" else "")
    return warc(b"via: http://h/\r\n", uri, "metadata", media_type="text/anvl", extra=extra)


@pytest.mark.parametrize(
    "kind",
    [
        *("id", "fragment", "media type", "metadata"),
        pytest.param("metadata's URI", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_large_headers_are_not_kept(kind: str, tmp_path: Path) -> None:
    def read(count: int) -> None:
        path = tmp_path / f"{count}.warc"
        if not path.exists():
            with path.open("wb") as file:
                file.writelines(header_of(kind, number) for number in range(count))
        read_all(path, ExtractionOptions(timestamps=True))

    many = 80  # more of them in an eighth than wait for the records after them
    for count in (1, many // 8, many):
        read(count)
    kept = 33 * MIB / 70 if kind.startswith("metadata") else 2**15  # 32 MiB of metadata may wait
    assert_bounded(read, many, kept)


def read_all(path: Path, options: ExtractionOptions = DEFAULTS) -> None:
    with path.open("rb") as stream:
        for _ in extract(stream, "x", options, Counter(), {}):
            pass


@pytest.mark.slow
def test_entries_of_a_wacz(tmp_path: Path) -> None:
    def read(count: int) -> None:
        path = tmp_path / f"{count}.wacz"
        if not path.exists():
            with zipfile.ZipFile(path, "w") as archive:
                for number in range(count):
                    archive.writestr(zipfile.ZipInfo(f"archive/{number}"), b"")
                archive.writestr("archive/last.warc", LAST)
        read_all(path)

    for count in (1, 250, 2000):
        read(count)
    assert_bounded(read, 2000, 64)


@pytest.mark.parametrize("reader", ["run", "inspect"])
@pytest.mark.slow
def test_damage_is_listed_up_to_a_bound(reader: str, tmp_path: Path) -> None:
    def read(count: int) -> None:
        path = tmp_path / f"{count}.warc"
        path.write_bytes(WITHOUT_LENGTH * count)
        if reader == "inspect":
            assert inspect_archive(path, DEFAULTS).counters["damage"] == count
            return
        work = ArchiveWork(ArchiveTask("x", path, "x"), tmp_path, DEFAULTS)
        report = extract_archive(work, lambda far: None)
        assert (report.counters["damage"], len(report.damage)) == (count, min(1000, count))

    if reader == "run":
        assert_bounded(read, 5_000, 50)
    else:  # lists ten thousand
        read(11_000)
        assert len(inspect_archive(tmp_path / "11000.warc", DEFAULTS).damage) == 10_000
