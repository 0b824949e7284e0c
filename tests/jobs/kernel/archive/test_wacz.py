"""WACZ: its archives in place, whatever is broken in the zip."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest
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

from jobs.kernel.archive import wacz, zip_parts
from jobs.kernel.archive.damage import REASONS
from jobs.kernel.errors import BadInput

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


def test_a_header_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped(FILES)
    for step in (3, 5, 50):
        monkeypatch.setattr(wacz, "_STEP", step)
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


def test_bombs() -> None:
    bomb = {"archive/bomb": b"\0" * 60_000_000, **FILES}
    assert uris(zipped(bomb, DEFLATED)) == (URIS, ["bomb"])


def test_what_is_behind_the_window_is_inflated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    frames = [each([page(rng.randbytes(70_000), uri)]) for uri in URIS]
    broken = bytearray(b"".join(frames))
    broken[100_000] ^= 1
    for window in (2**24, 2**12):
        monkeypatch.setattr(zip_parts, "WINDOW", window)
        found, reasons = uris(zipped({"archive/a": bytes(broken)}, DEFLATED))
        assert found == URIS
        assert reasons[-1] == "bad-gzip"
    monkeypatch.setattr(zip_parts, "AGAIN", 10_000)
    assert uris(zipped({"archive/a": bytes(broken), **FILES}, DEFLATED))[1][-1] == "bomb"


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
    for _ in range(25):
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
