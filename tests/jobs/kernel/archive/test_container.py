"""What kind of archive a file is, told by its content."""

from __future__ import annotations

import io
import random

import pytest
from support.inputs.archive_samples import (
    FILES,
    FRAME_A_RECORD,
    WRAPPINGS,
    arc,
    arc_head,
    page,
    skippable,
    warc,
    zipped,
    zstd,
)

from crawlrank.jobs.kernel.archive.sources import Container, container

RECORDS = [warc(b"software: x\r\n", "", "warcinfo"), page("a"), page("b" * 200)]
PACKINGS = {
    **dict.fromkeys(("each", "whole", "blocks"), "gzip"),
    **dict.fromkeys(("each-zstd", "whole-zstd", "zstd-blocks", "dictionary"), "zstd"),
    **dict.fromkeys(("each-lz4", "whole-lz4"), "lz4"),
}


def told(data: bytes) -> Container:
    stream = io.BytesIO(data)
    found = container(stream)
    assert stream.tell() == 0
    return found


@pytest.mark.parametrize("name", PACKINGS)
def test_packings(name: str) -> None:
    frames = "record" if name in FRAME_A_RECORD else "shared"
    assert told(WRAPPINGS[name](RECORDS)) == (PACKINGS[name], "WARC/1.0", frames)


@pytest.mark.parametrize("version", ["0.17", "0.18", "1.0", "1.1"])
def test_versions_of_warc(version: str) -> None:
    assert told(page("x", version=version)) == ("plain", f"WARC/{version}", "")


@pytest.mark.parametrize("version", [1, 2])
def test_versions_of_arc(version: int) -> None:
    data = arc_head(version) + arc(b"x", version=version)
    assert told(data) == ("plain", f"ARC/{version}", "")


def test_a_wacz() -> None:
    assert told(zipped(FILES)).packing == "zip"


def test_other_frames_before_the_first() -> None:
    data = skippable(b"index", 0x50) + b"".join(map(zstd, RECORDS))
    assert told(data)[1:] == ("WARC/1.0", "")  # a skippable frame tells of no packing


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"%PDF-1.4", random.Random(1).randbytes(999)])
def test_what_is_none(data: bytes) -> None:
    assert told(data) == ("", "", "")


def test_a_length_that_is_false_says_nothing_of_frames() -> None:
    data = WRAPPINGS["each"]([page("x", length=10**9), page("y")])
    assert told(data) == ("gzip", "WARC/1.0", "")
