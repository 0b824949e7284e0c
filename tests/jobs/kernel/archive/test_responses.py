"""Ordinary responses are read as records.py reads them, or left to it."""

from __future__ import annotations

import gzip
import io
import random
import re

import pytest
from support.drawing import examples
from support.inputs.archive_samples import page, response, warc
from support.inputs.mutations import TOKENS
from support.paths import SAMPLES

from crawlrank.jobs.kernel.archive import records

MOST = 2**20
GZIP = "Content-Encoding: gzip\r\n"
ORDINARY = [
    page("<a href=/x>", extra="WARC-Record-ID: <urn:uuid:1>\r\nWARC-Payload-Digest: sha1:ABC\r\n"),
    response(302, b"", "Location: /there\r\nX: y\r\nLink: </a>; rel=canonical\r\n"),
    response(200, gzip.compress(b"<a href=/x>", mtime=0), GZIP),
    response(200, b"no gzip", GZIP),
    response(404, b"b\r\nhello world\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n"),
    response(200, b"x", 'ETag: "a"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n'),
]
OTHERS = [
    warc(b"x", kind="resource", media_type="text/html"),
    warc(b"GET / HTTP/1.1\r\n\r\n", kind="request"),
    response(200, extra="WARC-Concurrent-To: <urn:uuid:2>\r\n"),
    response(200, b"x", "Set-Cookie: a\r\nContent-Type: text/plain\r\n"),  # a second one
    warc(b"http/1.1 200 ok\r\nContent-Type: text/html\r\n\r\nx"),
    warc(b"no HTTP"),
    warc(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"),  # without an end of its own
    page("x", length=3),
    page("x", length="0045"),
]


def read(data: bytes, validators: bool = False) -> tuple[object, object]:
    """By both readers."""
    by_both = records._response, records._read_frame
    one, other = (reader(7, data, MOST, validators) for reader in by_both)
    return one, other


@pytest.mark.parametrize("validators", [False, True])
@pytest.mark.parametrize("data", ORDINARY)
def test_ordinary_responses_are_read(data: bytes, validators: bool) -> None:
    response_read, frame_read = read(data, validators)
    assert response_read is not None
    assert response_read == frame_read


@pytest.mark.parametrize("data", OTHERS)
def test_others_are_left(data: bytes) -> None:
    assert read(data)[0] is None


@pytest.mark.parametrize("size", [0, 43, 44, 45])
def test_large_records_are_left(size: int) -> None:
    data = page("")
    assert (records._response(0, data, size) is None) == (size < 44)


def members() -> list[bytes]:
    """Frames of a real archive, one a record."""
    data = (SAMPLES / "aut-example.warc.gz").read_bytes()
    starts = [match.start() for match in re.finditer(b"\x1f\x8b\x08\0", data)]
    frames = [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    return [gzip.decompress(frame) for frame in frames if whole(frame)]


def whole(frame: bytes) -> bool:
    try:
        return gzip.decompress(frame).startswith(b"WARC/")
    except (OSError, EOFError):
        return False


@pytest.mark.slow
def test_real_and_changed_records_are_the_same() -> None:
    rng, known = random.Random(3), [*members(), *ORDINARY, *OTHERS]
    ordinary = changed = 0
    for data in known:
        response_read, frame_read = read(data)
        assert response_read in (None, frame_read)
        ordinary += response_read is not None
    assert ordinary > len(known) / 4  # a third of the records are responses
    for _ in range(examples(20_000)):
        data = bytearray(rng.choice(known))
        end = data.find(b"\r\n\r\n", data.find(b"\r\n\r\n") + 4)
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(max(1, end))
            what = rng.choice((rng.choice(TOKENS), rng.randbytes(1), b"\r\n", b": ", b"\n\n"))
            data[at : at + rng.choice((0, 0, 1, 5))] = what
        if rng.random() < 0.7:  # most changes make the length false, which leaves little to compare
            head, blank, block = bytes(data).partition(b"\r\n\r\n")
            length = b"Content-Length: %d" % len(block.removesuffix(b"\r\n\r\n"))
            data[:] = re.sub(rb"Content-Length: *[0-9]+", length, head, count=1) + blank + block
        response_read, frame_read = read(bytes(data), validators=rng.random() < 0.5)
        assert response_read in (None, frame_read)
        changed += response_read is not None
    assert changed > examples(1_000)


def test_records_that_are_no_frames_are_read_alike() -> None:
    """Records of an archive without frames are left to the reader of all others."""
    data = (SAMPLES / "aut-example.warc.gz").read_bytes()
    by_both, by_one = (
        [record._replace(offset=0) for record in records.records_of(io.BytesIO(form), MOST)]
        for form in (data, gzip.decompress(data))
    )
    assert len(by_both) > 100
    assert by_both == by_one
