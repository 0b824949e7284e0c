"""The file's bytes at any place, and what inflates before an error, wherever that is."""

from __future__ import annotations

import gzip
import io
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.archive.byte_runs import FIRST, FileBytes, OpenFrame
from crawlrank.jobs.kernel.archive.frames import Broken, CompressedFrames

DATA = random.Random(1).randbytes(700_000)
PLACES = st.integers(0, len(DATA) + 10)


@given(st.lists(st.tuples(PLACES, st.integers(0, 400_000)), max_size=8), st.integers(0, len(DATA)))
def test_any_bytes_in_any_order(wanted: list[tuple[int, int]], size: int) -> None:
    bytes_of = FileBytes(io.BytesIO(DATA[:size]))
    for place, count in wanted:
        assert bytes_of.read(place, count) == DATA[:size][place : place + count]


def _one_by_one(raw: bytes) -> tuple[bytes, int]:
    """(what zlib gives when it is fed byte by byte, place of the byte that it refuses)."""
    inflater, data = zlib.decompressobj(31), bytearray()
    for place in range(len(raw)):
        try:
            data += inflater.decompress(raw[place : place + 1])
        except zlib.error:
            return bytes(data), place
    return bytes(data), len(raw)


def _salvaged(raw: bytes) -> tuple[bytes, int]:
    data = bytearray()
    inflater = CompressedFrames().open(raw)
    assert inflater is not None
    frame = OpenFrame(FileBytes(io.BytesIO(raw)).read, inflater, 0, raw[:FIRST])
    try:
        while part := frame.next():
            data += part
    except Broken as error:
        data += error.data
    return bytes(data), frame.position


WORDS = b"".join(b"<p>%x and words" % random.Random(n).getrandbits(40) for n in range(20_000))
MEMBERS = {
    "small": WORDS[:3_000],
    "dense": DATA[:300_000],
    "text": WORDS,
    "bomb": b"\0" * 3_000_000 + WORDS[:9000],
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", MEMBERS)
def test_all_before_an_error_is_kept(name: str) -> None:
    member = gzip.compress(MEMBERS[name], mtime=0)
    rng = random.Random(name)
    for _ in range(examples(12)):
        broken = bytearray(member)
        broken[rng.randrange(10, len(member))] ^= 1 << rng.randrange(8)
        assert _salvaged(bytes(broken)) == _one_by_one(bytes(broken))
    assert _salvaged(member) == (MEMBERS[name], len(member))
