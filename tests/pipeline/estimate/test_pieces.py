"""Pieces of archives: together they are the archive, whatever its format."""

from __future__ import annotations

import zipfile
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
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

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.estimate.pieces import BEGINNING, Piece, PieceTask, take_piece
from crawlrank.pipeline.estimate.sample import write_archives
from crawlrank.pipeline.estimate.windows import Window

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


def taken(
    archive: PathOrUrl, size: int, count: int, folder: Path, beginning: int = BEGINNING
) -> list[Piece]:
    """The whole archive in so many windows, one after the other."""
    options = ExtractionOptions()
    folder.mkdir()
    cuts = [size * n // count for n in range(count + 1)]
    return [
        take_piece(
            PieceTask(n, (Window(archive, begin, end, size, n),), folder, options, beginning),
            lambda far: None,
        )
        for n, (begin, end) in enumerate(pairwise(cuts))
    ]


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


@pytest.mark.parametrize(
    ("form", "count"),
    [
        pytest.param(form, count, marks=[pytest.mark.slow] * (count != (2, 7, 40)[number % 3]))
        for number, form in enumerate(CUT)
        for count in (2, 7, 40)
    ],
)
def test_windows_of_an_archive_are_the_archive(form: str, count: int, tmp_path: Path) -> None:
    """Each record is in the window that it begins in or in the one before, and in no other."""
    archive = tmp_path / "crawl"
    archive.write_bytes(CUT[form])
    pieces = taken(archive, archive.stat().st_size, count, tmp_path / "pieces")
    expected = contents(archive)
    assert sum(piece.captures for piece in pieces) == len(expected[0]) == COUNT
    assert sum(piece.links for piece in pieces) == len(expected[1])
    assert sum(piece.length for piece in pieces) == archive.stat().st_size
    joined, *others = write_archives(pieces, tmp_path / "joined", 1)
    assert not others
    assert contents(joined) == expected
    if form != "ARC, plain":  # parts of it have the same names as its own
        several = write_archives(pieces, tmp_path / "several", 3)
        of_parts = sorted(link for path in several for link in contents(path)[1])
        assert of_parts == expected[1]


def test_a_wacz_in_windows(tmp_path: Path) -> None:
    archive = tmp_path / "crawl.wacz"
    half = COUNT // 2
    files = {
        "archive/a.warc.gz": each(records()[:half]),
        "archive/b.warc.zst": WRAPPINGS["dictionary"](records()[half:]),
    }
    archive.write_bytes(zipped(files))
    pieces = taken(archive, archive.stat().st_size, 9, tmp_path / "pieces")
    assert sum(piece.captures for piece in pieces) == COUNT
    parts = write_archives(pieces, tmp_path / "joined", 1)
    assert len(parts) == 2
    links = sorted(link for path in parts for link in contents(path)[1])
    assert links == contents(archive)[1]


def test_a_deflated_wacz_gives_its_beginning(tmp_path: Path) -> None:
    archive = tmp_path / "crawl.wacz"
    files = {"archive/a.warc": plain(records())}
    archive.write_bytes(zipped(files, zipfile.ZIP_DEFLATED))
    size = archive.stat().st_size
    pieces = taken(archive, size, 4, tmp_path / "pieces", beginning=0)
    assert 0 < pieces[0].captures < COUNT
    assert 0 < pieces[0].length < size
    assert not any(piece.captures or piece.errors for piece in pieces[1:])


def test_an_archive_without_cuts_gives_its_beginning_once(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(WRAPPINGS["whole"](records()))
    size = archive.stat().st_size
    pieces = taken(archive, size, 4, tmp_path / "pieces", beginning=0)
    assert 0 < pieces[0].captures < COUNT
    assert [piece.length for piece in pieces] == [size // 4, 0, 0, 0]
    assert not any(piece.errors for piece in pieces)


@pytest.mark.parametrize("form", ["whole", "whole-zstd", "whole-lz4"])
def test_a_small_archive_without_cuts_comes_whole(form: str, tmp_path: Path) -> None:
    """A frame of zstd or lz4 gives nothing before its first block is complete."""
    archive = tmp_path / "crawl"
    archive.write_bytes(WRAPPINGS[form](records()))
    size = archive.stat().st_size
    pieces = taken(archive, size, 4, tmp_path / "pieces")
    assert [piece.captures for piece in pieces] == [COUNT, 0, 0, 0]
    assert [piece.length for piece in pieces] == [size, 0, 0, 0]
    assert not any(piece.errors for piece in pieces)


@pytest.mark.slow
def test_a_window_inside_a_large_record_is_empty_and_counts(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    large = Random(1).randbytes(1_000_000)
    archive.write_bytes(each([*records()[:50], page(large, "http://h/large"), *records()[50:]]))
    pieces = taken(archive, archive.stat().st_size, 30, tmp_path / "pieces")
    assert sum(piece.captures for piece in pieces) == COUNT + 1
    inside = [piece for piece in pieces if not piece.captures]
    assert len(inside) > 20
    assert all(piece.length for piece in inside)


def test_uris_are_those_of_captures_and_links(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(CUT["WARC, each"])
    (piece,) = taken(archive, archive.stat().st_size, 1, tmp_path / "pieces")
    captures, links = contents(archive)
    assert len(piece.uris) == len({*captures, *(target for _, target in links)})
    assert [copy.path for copy in piece.archives] == [archive]  # nothing is copied


@pytest.mark.parametrize("content", [b"no archive at all" * 1000, b"PK\x03\x04" + b"x" * 9000])
def test_what_is_no_archive_is_an_error(content: bytes, tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(content)
    pieces = taken(archive, len(content), 3, tmp_path / "pieces")
    assert str(pieces[0].errors[0][1]).startswith(str(archive))


@pytest.mark.slow
def test_pieces_of_an_archive_in_s3(bucket: Any, tmp_path: Path) -> None:
    data = CUT["WARC, each"]
    bucket.put_object(Bucket="crawl", Key="a.warc.gz", Body=data)
    pieces = taken("s3://crawl/a.warc.gz", len(data), 5, tmp_path / "pieces")
    assert sum(piece.captures for piece in pieces) == COUNT
    assert all(piece.fetching > 0 for piece in pieces)
    (joined,) = write_archives(pieces, tmp_path / "joined", 1)
    assert len(contents(joined)[0]) == COUNT


def test_the_dictionary_comes_with_a_piece(tmp_path: Path) -> None:
    archive = tmp_path / "crawl"
    archive.write_bytes(CUT["WARC, dictionary"])
    pieces = taken(archive, archive.stat().st_size, 5, tmp_path / "pieces")
    (copy,) = pieces[3].archives
    assert copy.path.read_bytes()[: copy.head].find(DICTIONARY.as_bytes()) == 8
