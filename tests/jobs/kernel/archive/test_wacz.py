"""WACZ: its archives in place, whatever is broken in the zip."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from support.drawing import examples
from support.inputs.archive_samples import (
    FILES,
    PAGES,
    WRAPPINGS,
    each,
    extracted,
    page,
    plain,
    zipped,
)
from support.inputs.samples import needs_reference
from support.paths import REFERENCE

from crawlrank.jobs.kernel.archive.damage import REASONS, Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.archive.zip_files import Bomb, EntrySums, FilePart, InflatedPart
from crawlrank.jobs.kernel.errors import BadInput

URIS = [f"http://h/{n}" for n in range(6)]
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def uris(data: bytes) -> tuple[list[str], list[str]]:
    _, captures, damage, _ = extracted(data)
    return [capture.uri.decode() for capture in captures], [item.reason for item in damage]


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_the_archives_in_a_wacz(method: int) -> None:
    links, captures, damage, counters = extracted(zipped(FILES, method))
    assert [capture.uri.decode() for capture in captures] == URIS
    assert [link.source.decode() for link in links] == URIS
    assert [capture.archive.decode() for capture in captures] == [
        f"test.warc!{name}" for name in FILES for _ in range(2)
    ]
    offsets = [int(capture.offset) for capture in captures]
    assert (offsets[0], offsets[1], offsets[5]) == (0, len(each(PAGES[:1])), len(PAGES[4]))
    assert (damage, counters["captures"]) == ([], 6)


def test_a_list_that_was_cut() -> None:
    for method in (STORED, DEFLATED):
        data = zipped(FILES, method)
        found, reasons = uris(data[: data.rindex(b"PK\x03\x04")])
        assert found == URIS
        assert reasons == ["bad-zip"]
        for cut in range(60, len(data), 97):
            try:
                found, reasons = uris(data[:cut])
            except BadInput:
                continue
            assert found == URIS[: len(found)]
            assert reasons[0] == "bad-zip"


@pytest.mark.parametrize("before", [0, 1, 4, 29, 30, 37, 38, 39])
def test_a_header_across_blocks(before: int) -> None:
    """A header, with the name up to the first byte in archive/, has 39 bytes."""
    begin = zipped({"first": b"", **FILES}).index(b"archive/a") - 30
    data = zipped({"first": bytes(2**20 - before - begin), **FILES})
    assert data[2**20 - before :].startswith(b"PK\x03\x04")
    assert uris(data[: data.rindex(b"PK\x03\x04")])[0] == URIS


def test_entries_that_cannot_be_read() -> None:
    files = {"archive/junk": b"hello", **FILES, "archive/empty": b""}
    found, reasons = uris(zipped(files))
    assert (found, reasons) == (URIS, ["bad-header", "bad-zip", "bad-zip"])
    data = bytearray(zipped(files))
    begin = data.index(b"archive/a.warc.gz") - 30
    data[begin + 6] |= 1
    assert uris(bytes(data)) == (URIS[2:], ["bad-header"] + ["bad-zip"] * 3)
    data[begin + 6], data[begin + 8] = 0, 12
    damage = extracted(bytes(data))[2]
    assert "method 12" in damage[2].detail
    assert damage[2].offset == begin
    data[begin] = 0
    found, reasons = uris(bytes(data))
    assert found == URIS[2:]
    assert reasons[0] == "bad-zip"


def test_deflate_that_breaks_keeps_what_is_before() -> None:
    rng = random.Random(2)
    large = [page(rng.randbytes(100_000).hex(), uri) for uri in URIS]
    data = bytearray(zipped({"archive/a.warc": plain(large), **FILES}, DEFLATED))
    place = data.index(b"archive/a.warc") + 400_000
    data[place : place + 3000] = b"\xff" * 3000
    found, reasons = uris(bytes(data))
    assert found[:3] == URIS[:3]
    assert found[-6:] == URIS
    assert "bad-zip" in reasons


def test_entries_in_one_another() -> None:
    data = zipped({"archive/a.warc": plain(PAGES), "archive/b.warc": plain(PAGES)})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        first, second = (archive.getinfo(f"archive/{n}.warc").header_offset for n in "ab")
    listed = data.rindex(b"PK\x01\x02", 0, data.rindex(b"archive/b.warc"))
    assert data[listed + 42 : listed + 46] == second.to_bytes(4, "little")
    false = data[: listed + 42] + first.to_bytes(4, "little") + data[listed + 46 :]
    assert uris(false) == (URIS, ["bad-zip"])


def packaged(files: dict[str, bytes], hashes: dict[str, str], method: int = STORED) -> bytes:
    """A WACZ whose datapackage.json gives its files these hashes."""
    resources = [{"name": name, "path": name, "hash": text} for name, text in hashes.items()]
    package = json.dumps({"profile": "data-package", "resources": resources}).encode()
    return zipped({**files, "datapackage.json": package}, method)


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_digests_of_the_package(method: int) -> None:
    hashes = {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    assert uris(packaged(FILES, hashes, method)) == (URIS, [])
    first = next(iter(FILES))
    hashes[first] = "sha256:" + "0" * 64
    data = packaged(FILES, hashes, method)
    assert uris(data) == (URIS, ["bad-zip"])
    assert "is not what datapackage.json says" in extracted(data)[2][0].detail
    for other in ("md5:" + "0" * 32, "", "sha256:" + "0" * 63):
        assert uris(packaged(FILES, {**hashes, first: other}, method)) == (URIS, [])


@pytest.mark.parametrize(
    "package", [b"", b"[]", b"{", b'{"resources": 7}', b"\xff", b"[" * 100_000, b" " * (2**24 + 1)]
)
def test_a_package_that_cannot_be_read(package: bytes) -> None:
    data = zipped({**FILES, "datapackage.json": package})
    assert uris(data) == (URIS, ["bad-zip"])
    assert "datapackage.json: " in extracted(data)[2][0].detail


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_a_wrong_checksum(method: int) -> None:
    data = bytearray(zipped(FILES, method))
    name = list(FILES)[1].encode()
    listed = data.rindex(b"PK\x01\x02", 0, data.rindex(name))
    data[listed + 16] ^= 1
    assert uris(bytes(data)) == (URIS, ["bad-zip"])
    assert "fails its checksum" in extracted(bytes(data))[2][0].detail


@pytest.mark.parametrize("false", [2**32, 2**63 - 1, 2**63, 2**64 - 1])
@pytest.mark.parametrize("what", ["size", "offset"])
def test_numbers_of_64_bits_that_are_false(what: str, false: int) -> None:
    """One entry has them: it goes up to the next, or is found by its header; the others are
    read."""
    data = bytearray(zipped(FILES))
    name = list(FILES)[1].encode()
    listed = data.rindex(b"PK\x01\x02", 0, data.rindex(name))
    at = listed + (20 if what == "size" else 42)
    data[at : at + 4] = b"\xff" * 4
    extra = struct.pack("<HHQ", 1, 8, false)
    data[listed + 30 : listed + 32] = len(extra).to_bytes(2, "little")
    behind = listed + 46 + len(name)
    data[behind:behind] = extra
    end = data.rindex(b"PK\x05\x06")
    size = int.from_bytes(data[end + 12 : end + 16], "little") + len(extra)
    data[end + 12 : end + 16] = size.to_bytes(4, "little")
    found, reasons = uris(bytes(data))
    assert {*reasons} == ({"bad-zip"} if what == "offset" else set())
    assert {*URIS} == {*found}


def test_bombs() -> None:
    bomb = {"archive/bomb": b"\0" * 60_000_000, **FILES}
    assert uris(zipped(bomb, DEFLATED)) == (URIS, ["bomb"])


@pytest.mark.parametrize("limits", [(), (2**12,), (2**12, 10_000)])
def test_what_is_before_the_window_is_inflated_again(limits: tuple[int, ...]) -> None:
    rng = random.Random(3)
    frames = [each([page(rng.randbytes(70_000), uri)]) for uri in URIS]
    broken = bytearray(b"".join(frames))
    broken[100_000] ^= 1
    compressor = zlib.compressobj(wbits=-15)
    deflated = compressor.compress(broken) + compressor.flush()
    part, sums = FilePart(io.BytesIO(deflated), 0, len(deflated)), EntrySums(zlib.crc32(broken))
    stream = InflatedPart(part, sums, *limits)
    with pytest.raises(Bomb) if limits[1:] else contextlib.nullcontext():
        items = [*read_records(cast(BinaryIO, stream), "a")]
        assert [item.uri for item in items if isinstance(item, Record)] == URIS
        assert [item.reason for item in items if isinstance(item, Damage)][-1] == "bad-gzip"
        assert stream.problem == ""


@pytest.mark.parametrize("data", [zipped({}), b"PK\x05\x06" + b"\0" * 18, b"PK\x03\x04xxx"])
def test_a_zip_without_archives(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"nothing in archive/.*Unzip"):
        extracted(data)


def test_a_zip_of_unreadable_ones() -> None:
    with pytest.raises(BadInput, match="not one readable record"):
        extracted(zipped({"archive/\x1b[31m": b"hello"}))


@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    files = {f"archive/{name}": wrap(PAGES) for name, wrap in WRAPPINGS.items()}
    whole = [zipped(files, method) for method in (STORED, DEFLATED)]
    for _ in range(examples(25)):
        data = bytearray(rng.choice(whole))
        listed = data.rindex(b"PK\x01\x02")
        for _ in range(rng.choice([1, 3, 9])):
            place = rng.choice([rng.randrange(len(data)), rng.randrange(listed, len(data))])
            if rng.random() < 0.9:
                data[place] = rng.randrange(256)
            else:
                del data[place : place + rng.choice([1, 99])]
                listed = min(listed, len(data) - 1)
        path = tmp_path / "x.wacz"
        path.write_bytes(data)
        damage = extracted(path)[2]
        assert {item.reason for item in damage} <= set(REASONS)
        assert all(item.detail.isprintable() for item in damage)


@needs_reference
def test_a_real_wacz() -> None:
    name = "samples__wacz__cef06b79_my-collection.wacz"
    found, reasons = uris((REFERENCE / "archives" / "oduwsdl-ipwb" / name).read_bytes())
    assert len(found) > 5
    assert reasons == []
