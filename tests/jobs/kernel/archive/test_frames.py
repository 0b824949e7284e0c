"""Frames of zstd and lz4: as gzip members, whatever is broken in them, and dictionaries."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable

import pytest
import zstandard
from support.drawing import examples
from support.inputs.archive_samples import (
    DICTIONARY,
    lz4_frame,
    page,
    read,
    skippable,
    with_dictionary,
    zstd,
)
from zlib_ng import zlib_ng

from crawlrank.jobs.kernel.archive import frames
from crawlrank.jobs.kernel.errors import BadInput

ARCHIVE = [page(f'<a href="/{n}">' + "x" * 50, f"http://h/{n}") for n in range(4)]
BROKEN_FRAMES = {"bad-zstd": zstd, "bad-lz4": lz4_frame}


@pytest.mark.parametrize("reason", BROKEN_FRAMES)
def test_a_broken_frame_costs_itself_only(reason: str) -> None:
    frames = [BROKEN_FRAMES[reason](record) for record in ARCHIVE]
    for place in range(len(frames[1])):
        broken = bytearray(frames[1])
        broken[place] ^= 0x55
        records, damage = read(frames[0] + bytes(broken) + frames[2] + frames[3])
        uris = [record.uri for record in records]
        assert uris[0] == "http://h/0"
        assert uris[-2:] == ["http://h/2", "http://h/3"]
        assert {item.reason for item in damage} <= {reason, "bad-header", "truncated", "bad-length"}
        assert damage or uris[1] == "http://h/1"
    checksum = bytearray(frames[1])
    checksum[-1] ^= 1
    records, damage = read(frames[0] + bytes(checksum) + frames[2])
    assert [record.uri for record in records] == ["http://h/0", "http://h/1", "http://h/2"]
    assert [item.reason for item in damage] == [reason]


@pytest.mark.parametrize("frame", BROKEN_FRAMES.values())
def test_frames_of_large_blocks(frame: Callable[[bytes], bytes]) -> None:
    """Whose first block is longer than what is looked at first, and whose records share frames."""
    rng = random.Random(1)
    large = [page(rng.randbytes(300_000), f"http://h/{n}") for n in range(3)]
    for data in (b"".join(map(frame, large)), b"".join(frame(r) for r in (large[0], *ARCHIVE))):
        records, damage = read(data)
        assert damage == []
        assert len({record.offset for record in records}) == len(records)
    torn = b"".join(frame(large[0][at : at + 200_000]) for at in range(0, len(large[0]), 200_000))
    records, damage = read(torn + frame(ARCHIVE[0]))
    assert (len(records[0].body), damage) == (300_000, [])
    assert [record.offset for record in records] == [0, len(torn)]
    behind = b"x" * 50_000 + frame(large[1])
    assert [record.offset for record in read(frame(large[0]) + behind)[0]] == [
        0,
        len(frame(large[0])) + 50_000,
    ]


def test_dictionaries() -> None:
    for compressed in (False, True):
        data = with_dictionary(ARCHIVE, compressed=compressed)
        records, damage = read(data)
        assert [record.uri for record in records] == [f"http://h/{n}" for n in range(4)]
        assert damage == []
    content = zstandard.ZstdCompressionDict(ARCHIVE[0] * 9)  # any bytes may be one
    raw = skippable(content.as_bytes(), 0x5D) + zstd(ARCHIVE[1], content)
    assert [record.uri for record in read(raw)[0]] == ["http://h/1"]
    both = read(data + raw)[0]  # joined against the specification
    assert [record.uri for record in both] == [f"http://h/{n}" for n in (0, 1, 2, 3, 1)]


BAD_DICTIONARIES = {
    "empty": b"",
    "broken": DICTIONARY.as_bytes()[:40],
    "broken frame": zstd(DICTIONARY.as_bytes())[:-9] + b"x" * 9,
    "a bomb": zstd(b"\0" * 30_000_000),
}


@pytest.mark.parametrize("name", BAD_DICTIONARIES)
def test_bad_dictionaries(name: str) -> None:
    data = skippable(BAD_DICTIONARIES[name], 0x5D) + with_dictionary(ARCHIVE)[8 + 2000 :]
    with pytest.raises(BadInput, match="not one readable record"):
        read(data)
    records, damage = read(skippable(BAD_DICTIONARIES[name], 0x5D) + zstd(ARCHIVE[0]))
    assert [record.uri for record in records] == ["http://h/0"]
    assert [(item.offset, item.reason) for item in damage] == [(0, "bad-zstd")]


def test_a_frame_of_another_dictionary() -> None:
    data = with_dictionary(ARCHIVE[:2]) + zstd(ARCHIVE[2])
    other = zstandard.train_dictionary(1000, [page(f"{n}" * n) for n in range(300)])
    broken = zstd(page("x"), other)
    records, damage = read(
        data + broken + with_dictionary(ARCHIVE[3:])[len(skippable(DICTIONARY.as_bytes(), 0x5D)) :]
    )
    assert [record.uri for record in records] == [f"http://h/{n}" for n in range(4)]
    assert [item.reason for item in damage] == ["bad-zstd"]


@pytest.mark.parametrize("frame", BROKEN_FRAMES.values())
def test_bombs_of_other_frames(frame: Callable[[bytes], bytes]) -> None:
    bomb = frame(ARCHIVE[0] + b"\0" * 30_000_000)
    records, damage = read(bomb + frame(ARCHIVE[1]), max_record=2**20)
    assert [record.uri for record in records] == ["http://h/0", "http://h/1"]
    assert [item.reason for item in damage] == ["bad-header", "bomb"]
    wide = zstandard.ZstdCompressionParameters(window_log=28, compression_level=1)
    large = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    data = large.compress(ARCHIVE[0]) + large.flush()
    records, damage = read(data + frame(ARCHIVE[1]))
    assert ([record.uri for record in records], len(damage)) == (["http://h/1"], 1)


def test_what_is_broken_inflates_as_by_zlib() -> None:
    rng = random.Random(5)
    members = [gzip.compress(b"".join(ARCHIVE) * n, level) for n in (1, 50) for level in (0, 1, 9)]
    for _ in range(examples(300)):
        broken = bytearray(rng.choice(members))
        for _ in range(rng.randint(0, 2)):
            place = rng.randrange(len(broken))
            broken[place : place + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
        step, limit = rng.choice([(2**13, 128), (2**16, 2**16), (7, 500)])
        one, other = (
            inflated(frames.CompressedFrames(library), bytes(broken), step, limit)
            for library in (zlib, zlib_ng)
        )
        assert one == other


def inflated(opener: frames.CompressedFrames, data: bytes, step: int, limit: int) -> list[object]:
    """What comes out of each step, and the error at the end."""
    frame = opener.open(data)
    given: list[object] = []
    rest = b""
    while frame and not frame.eof and (data or rest or frame.full):
        if not rest:
            rest, data = data[:step], data[step:]
        try:
            made, rest = frame.feed(rest, limit)
        except frames.Broken as error:
            return [*given, error.data, error.consumed, str(error)]
        given.append((made, rest))
    return given
