"""The sample: windows spread over archives, whose pieces together are the archive, whatever its
format."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.archive_samples import (
    DICTIONARY,
    FRAME_A_RECORD,
    WRAPPINGS,
    arc,
    arc_head,
    each,
    extracted,
    page,
    plain,
    warc,
    zipped,
)

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.estimate.sample import (
    LONGEST_HEAD,
    USUAL,
    Piece,
    Sample,
    SampleSize,
    Window,
    take_sample,
    windows_of,
)

COUNT = 300
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
INFO = warc(b"software: made\r\n", "", "warcinfo", media_type="application/warc-fields")


def bodies() -> list[tuple[str, bytes]]:
    draw = Random(5)
    links = [
        "".join(f'<a href="/{draw.randrange(900)}">{draw.random()}</a>' for _ in range(9))
        for _ in range(COUNT)
    ]
    return [
        (f"http://h{n % 7}/{n}", f"<!doctype html>{text}".encode()) for n, text in enumerate(links)
    ]


def records() -> list[bytes]:
    return [INFO, *(page(body, uri) for uri, body in bodies())]


def arcs() -> list[bytes]:
    return [arc_head(), *(arc(HTML + body, uri) for uri, body in bodies())]


def taken(archive: PathOrUrl, count: int, folder: Path, beginning: int = USUAL.beginning) -> Sample:
    """The whole archive in a number of windows, which follow each other."""
    size = SampleSize(share=1.0, small=0, windows=count, length=1, beginning=beginning)
    sample = take_sample([archive], folder, MAX_RECORD, size)
    sample.pieces.sort(key=lambda piece: piece.begin)
    return sample


def contents(path: Path) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    links, captures, damage, _ = extracted(path)
    assert not damage
    return sorted(c.uri for c in captures), sorted((x.source, x.target) for x in links)


CUT = {
    **{f"WARC, {name}": WRAPPINGS[name](records()) for name in FRAME_A_RECORD},
    "WARC, plain": plain(records()),
    "ARC, each": each(arcs()),
    "ARC, plain": plain(arcs()),
}


def of_pieces(pieces: Sequence[Piece]) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    each_piece = [contents(piece.path) for piece in pieces]
    captures = sorted(uri for uris, _ in each_piece for uri in uris)
    return captures, sorted(link for _, links in each_piece for link in links)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("form", "count"),
    [
        pytest.param(form, count, marks=[pytest.mark.slow] * (count != (8, 15, 40)[number % 3]))
        for number, form in enumerate(CUT)
        for count in (8, 15, 40)
    ],
)
def test_windows_of_an_archive_are_the_archive(form: str, count: int, tmp_path: Path) -> None:
    """Each record is in the window that it begins in or in the one before, and in no other."""
    archive = tmp_path / "crawl"
    archive.write_bytes(CUT[form])
    sample = taken(archive, count, tmp_path / "pieces")
    expected = contents(archive)
    assert len(expected[0]) == COUNT
    assert of_pieces(sample.pieces) == expected
    assert sample.whole
    assert not sample.unreadable


def test_a_wacz_in_windows(tmp_path: Path) -> None:
    archive = tmp_path / "crawl.wacz"
    half = COUNT // 2
    files = {
        "archive/a.warc.gz": each(records()[:half]),
        "archive/b.warc.zst": WRAPPINGS["dictionary"](records()[half:]),
    }
    archive.write_bytes(zipped(files))
    assert of_pieces(taken(archive, 9, tmp_path / "pieces").pieces) == contents(archive)


UNCUT = {
    "deflated WACZ": zipped({"archive/a.warc": plain(records())}, zipfile.ZIP_DEFLATED),
    "whole": WRAPPINGS["whole"](records()),
}


@pytest.mark.parametrize("form", UNCUT)
def test_an_archive_without_cuts_gives_its_beginning_once(form: str, tmp_path: Path) -> None:
    archive = tmp_path / ("crawl.wacz" if "WACZ" in form else "crawl")
    archive.write_bytes(UNCUT[form])
    sample = taken(archive, 8, tmp_path / "pieces", beginning=3000)
    (piece,) = sample.pieces
    captures, _, *_ = contents_of_beginning(piece.path)
    assert 0 < captures < COUNT
    assert 0 < piece.length < archive.stat().st_size
    assert not sample.unreadable


def contents_of_beginning(path: Path) -> tuple[int, int]:
    """Captures and links of an archive that is cut short."""
    links, captures, _, _ = extracted(path)
    return len(captures), len(links)


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["whole", "whole-zstd", "whole-lz4"])
def test_a_small_archive_without_cuts_comes_whole(form: str, tmp_path: Path) -> None:
    """A frame of zstd or lz4 gives nothing before its first block is complete."""
    archive = tmp_path / "crawl"
    archive.write_bytes(WRAPPINGS[form](records()))
    sample = taken(archive, 8, tmp_path / "pieces")
    (piece,) = sample.pieces
    assert piece.length == archive.stat().st_size
    assert of_pieces(sample.pieces) == contents(archive)


def test_a_window_inside_a_large_record_gives_no_piece(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    large = Random(1).randbytes(1_000_000)
    archive.write_bytes(each([*records()[:50], page(large, "http://h/large"), *records()[50:]]))
    sample = taken(archive, 30, tmp_path / "pieces")
    assert len(of_pieces(sample.pieces)[0]) == COUNT + 1
    assert len(sample.pieces) < 10


def test_a_whole_archive_is_not_copied(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(CUT["WARC, each"])
    (piece,) = take_sample([archive], tmp_path / "pieces", MAX_RECORD).pieces
    assert (piece.path, piece.length) == (archive, archive.stat().st_size)


def test_a_zip_without_archives_is_an_error(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(b"PK\x03\x04" + b"x" * 9000)
    with pytest.raises(BadInput, match="crawl: "):
        taken(archive, 8, tmp_path / "pieces")


def test_pieces_of_an_archive_in_s3(bucket: Any, tmp_path: Path) -> None:
    bucket.put_object(Bucket="crawl", Key="a.warc.gz", Body=CUT["WARC, each"])
    sample = taken("s3://crawl/a.warc.gz", 8, tmp_path / "pieces")
    assert len(of_pieces(sample.pieces)[0]) == COUNT
    assert all(piece.fetching > 0 for piece in sample.pieces)


def test_the_dictionary_comes_with_a_piece(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(CUT["WARC, dictionary"])
    piece = taken(archive, 8, tmp_path / "pieces").pieces[3]
    assert piece.path.read_bytes()[:LONGEST_HEAD].find(DICTIONARY.as_bytes()) == 8


# ---- where the windows are -------------------------------------------------------------------

Sizes = list[tuple[PathOrUrl, int]]


def of_sizes(*sizes: int) -> Sizes:
    return [(Path(f"{n}.warc.gz"), size) for n, size in enumerate(sizes)]


@given(st.lists(st.integers(1, 3_000_000), min_size=1, max_size=30), st.floats(0.01, 1))
def test_nothing_is_taken_twice(given_sizes: list[int], share: float) -> None:
    sizes = of_sizes(*given_sizes)
    wanted = SampleSize(share=share, least=0, small=1 << 18)
    windows = windows_of(sizes, wanted)
    assert all(0 <= window.begin < window.end <= window.size for window in windows)
    for path, size in sizes:
        own = sorted(window[1:3] for window in windows if window.archive == path)
        assert all(before[1] <= after[0] for before, after in pairwise(own))
        assert size in {window.size for window in windows if window.archive == path} or not own
    taken_bytes = sum(window.end - window.begin for window in windows)
    assert 0 < taken_bytes <= sum(given_sizes)
    if sum(given_sizes) <= wanted.small:
        assert taken_bytes == sum(given_sizes)


def test_as_much_as_asked_for() -> None:
    for sizes, expected in (
        (of_sizes(10**9), 5e7),
        (of_sizes(*[10**9] * 1000), USUAL.most),
        (of_sizes(*[10**7] * 3), USUAL.least),
    ):
        windows = windows_of(sizes)
        bytes_taken = sum(window.end - window.begin for window in windows)
        assert bytes_taken == pytest.approx(expected, rel=0.05)


def test_a_small_crawl_is_taken_as_a_whole() -> None:
    windows = windows_of(of_sizes(100, USUAL.small - 100))
    assert [window.end for window in windows] == [100, USUAL.small - 100]
    assert all(window.whole for window in windows)


def test_small_archives_come_whole() -> None:
    windows = windows_of(of_sizes(*[20_000] * 1000))
    assert len(windows) == 16
    assert all(window.whole for window in windows)
    assert windows == [Window(window.archive, 0, 20_000, 20_000) for window in windows]
