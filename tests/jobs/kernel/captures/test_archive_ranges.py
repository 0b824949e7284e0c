"""Ranges of an archive that fit give together what the archive gives as a whole."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import pytest
from support.drawing import examples
from support.inputs.archive_samples import (
    DICTIONARY,
    FRAME_A_RECORD,
    ID,
    LINES,
    WRAPPINGS,
    arc,
    arc_head,
    each,
    metadata,
    page,
    plain,
    skippable,
    warc,
    zipped,
    zstd,
)
from support.inputs.mutations import mutation

from crawlrank.jobs.kernel.archive.run_reader import ArchiveRange
from crawlrank.jobs.kernel.captures.archive_ranges import fit, ranges_of
from crawlrank.jobs.kernel.captures.extraction import extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import DEFAULTS, ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import Capture, LinkRun

Kinds = tuple[list[Any], list[Any], list[Any], Counter[str]]
PAGES = [
    page(f'<a href="/{n}/x">' + f"{n * n * 7919:x} " * 60, f"http://h{n}/{n}/") for n in range(24)
]
HERITRIX = warc(
    b"software: Heritrix/3.4.0\r\n", kind="warcinfo", media_type="application/warc-fields"
)
CUTTABLE = ("plain", *FRAME_A_RECORD)


def extracted(
    data: bytes, options: ExtractionOptions = DEFAULTS, part: ArchiveRange | None = None
) -> Kinds:
    """Links, captures, damage and counters."""
    counters: Counter[str] = Counter()
    rows = list(extract_runs(io.BytesIO(data), "x.warc", options, counters, part=part))
    links = [row for row in rows if isinstance(row, LinkRun)]
    captures = [row for row in rows if isinstance(row, Capture)]
    return links, captures, [r for r in rows if r not in links and r not in captures], counters


def cut(data: bytes, count: int, options: ExtractionOptions = DEFAULTS) -> list[ArchiveRange]:
    return ranges_of(io.BytesIO(data), options.max_record, max(1, len(data) // count))


def joined(
    data: bytes, ranges: list[ArchiveRange], options: ExtractionOptions = DEFAULTS
) -> Kinds | None:
    """What the ranges give, None where they do not fit."""
    links: list[Any] = []
    captures: list[Any] = []
    damage: list[Any] = []
    counters: Counter[str] = Counter()
    try:
        for part in ranges:
            more = extracted(data, options, part)
            links += more[0]
            captures += more[1]
            damage += more[2]
            for name, count in more[3].items():
                counters[name] += count
    except BadInput:
        return None
    return (links, captures, damage, counters) if fit(ranges) else None


@pytest.mark.parametrize("wrapping", sorted(WRAPPINGS))
def test_ranges_of_every_container(wrapping: str) -> None:
    data = WRAPPINGS[wrapping]([HERITRIX, *PAGES])
    ranges = cut(data, 5)
    assert (len(ranges) > 1) == (wrapping in CUTTABLE)
    assert [part.begin for part in ranges][1:] == [part.end for part in ranges][:-1]
    assert joined(data, ranges) == extracted(data)
    assert all(part.as_heritrix for part in ranges)


def test_ranges_of_an_arc() -> None:
    data = each([arc_head(), *(arc(b"HTTP/1.0 200 OK\r\n\r\n<a href=/x>", f"http://a{n}/")
                               for n in range(50))])  # fmt: skip
    ranges = cut(data, 4)
    assert len(ranges) > 1
    assert joined(data, ranges) == extracted(data)


def test_what_belongs_to_a_capture_stays_with_it() -> None:
    records = []
    for n in range(30):
        records += [page("<a href=/a>", f"http://h{n}/", extra=ID.format(n))]
        records += [metadata(n, f"http://h{n}/", LINES + b"via: http://v/\r\nhopsFromSeed: L\r\n")]
    data, options = each(records), ExtractionOptions(outlinks="both")
    for count in range(2, 20):
        assert joined(data, cut(data, count), options) == extracted(data, options)


def test_metadata_before_its_capture_is_not_cut() -> None:
    records = []
    for n in range(30):
        records += [metadata(n, f"http://h{n}/"), page("x", f"http://h{n}/", extra=ID.format(n))]
    assert len(cut(each(records), 5)) == 1


def test_metadata_far_from_its_capture_does_not_fit() -> None:
    pages = [page("<a href=/a>", f"http://h{n}/", extra=ID.format(n)) for n in range(30)]
    data = each([*pages, metadata(1, "http://h1/"), *pages[2:]])
    ranges = cut(data, 5)
    assert len(ranges) > 1
    assert joined(data, ranges, ExtractionOptions(outlinks="both")) is None


def test_an_archive_in_a_record_is_not_cut_into() -> None:
    inner = plain(PAGES)
    data = plain([*PAGES[:4], warc(inner, "http://inner/", "resource"), *PAGES[4:8]])
    whole = extracted(data)
    for count in range(2, 12):
        assert joined(data, cut(data, count)) in (None, whole)
    begin = data.index(inner) + inner.index(b"WARC/1.0", 3000)
    ranges = [ArchiveRange(0, begin), ArchiveRange(begin)]
    assert joined(data, ranges) is None


def test_a_warcinfo_within_of_other_software_does_not_fit() -> None:
    data = each([*PAGES[:12], HERITRIX, *PAGES[12:]])
    assert joined(data, cut(data, 4)) is None


def test_two_formats_in_a_plain_file_do_not_fit() -> None:
    records = [arc(b"HTTP/1.0 200 OK\r\n\r\nx" * 50, f"http://a{n}/") for n in range(9)]
    data = plain([arc_head(), *records, *PAGES])
    assert joined(data, cut(data, 4)) in (None, extracted(data))
    assert joined(data, [ArchiveRange(0, len(plain([arc_head(), *records]))),
                         ArchiveRange(len(plain([arc_head(), *records])))]) is None  # fmt: skip


def test_a_second_dictionary_does_not_fit() -> None:
    dictionary = skippable(DICTIONARY.as_bytes(), 0x5D)
    frames = b"".join(zstd(record, DICTIONARY) for record in PAGES)
    data = dictionary + frames + dictionary + frames
    ranges = cut(data, 4)
    assert len(ranges) > 1
    assert joined(data, ranges) is None


def test_a_wacz_is_not_cut() -> None:
    data = zipped({"archive/a.warc.gz": each(PAGES), "archive/b.warc.gz": each(PAGES)})
    assert len(cut(data, 4)) == 1


@pytest.mark.slow
def test_mutated_archives_in_ranges() -> None:
    """Whether they fit differs; where they do, nothing is lost, moved or counted twice."""
    fitting, count = 0, examples(150)
    for seed in range(4):
        for number in range(count):
            data, _, options = mutation(seed, number)
            ranges = cut(data, 2 + number % 3, options)
            together = joined(data, ranges, options) if len(ranges) > 1 else None
            if together is not None:
                assert together == extracted(data, options)
                fitting += 1
    assert fitting > 4 * count / 50  # else this would test little
