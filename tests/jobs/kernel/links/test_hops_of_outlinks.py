"""The letters of Heritrix in `outlink:` lines: what each counts as, on pages, sitemaps, robots."""

from __future__ import annotations

import random
from string import ascii_uppercase

import pytest
from support.drawing import examples
from support.inputs.archive_samples import FIELDS, extracted, targets, warc

from crawlrank.jobs.kernel.formats.rows import HERITRIX_HOPS, HOPS, LINK_HOPS
from crawlrank.pipeline.analysis.audit.report import HOP_NAMES
from crawlrank.pipeline.terminal.counter_meanings import meaning_of

PAGE, SITEMAP, ROBOTS = "http://h/p", "http://h/sitemap.xml", "http://h/robots.txt"
#: as Heritrix 3.13 has them (org.archive.modules.extractor.Hop)
ALL = "LPEXRIMS"
#: page -> letter -> the hop of the link
COUNTED = {page: dict(zip("LRE", "LRE", strict=True)) | {"X": "X"} for page in (PAGE, SITEMAP)}
COUNTED[PAGE]["M"] = COUNTED[SITEMAP]["M"] = "L"
COUNTED[ROBOTS] = COUNTED[PAGE] | {"M": "X"}


def record(uri: str, *lines: str) -> bytes:
    body = "".join(f"outlink: {line}\r\n" for line in lines).encode()
    return warc(body, uri, "metadata", media_type=FIELDS)


def captured(uri: str, media_type: str, body: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n"
    return warc((head + body).encode(), uri)


def test_the_table_has_all_letters_of_heritrix() -> None:
    assert sorted(HERITRIX_HOPS) == sorted(ALL)
    assert {hop.counts_as for hop in HOPS.values()} == {*LINK_HOPS, ""}
    assert HOP_NAMES["S"] == "submitted forms"
    assert HOP_NAMES["M"] == "manifests"
    assert "H" not in HOP_NAMES


@pytest.mark.parametrize("source", COUNTED)
@pytest.mark.parametrize("letter", ascii_uppercase)
def test_what_a_letter_counts_as(source: str, letter: str) -> None:
    data = record(source, f"http://h/t {letter} =SOME_MISC")
    links, _, _, counters = extracted(data, outlinks="metadata", links="all", forms=True)
    hop = COUNTED[source].get(letter)
    assert [(link.target, link.hop.decode()) for link in links] == (
        [(b"http://h/t", hop)] * bool(hop)
    )
    assert counters[f"dropped.hop.{letter}"] == (hop is None)
    dropped = meaning_of(f"dropped.hop.{letter}")
    assert dropped.endswith(": never links") == (letter in "IPSC")
    assert ("does not have" in dropped) == (letter not in ALL + "C")


def test_under_nav_a_manifest_is_followed_in_sitemaps_alone() -> None:
    lines = ("http://h/t M =MANIFEST_MISC",)
    assert targets(record(SITEMAP, *lines), outlinks="metadata") == [("http://h/t", "L")]
    assert targets(record(ROBOTS, *lines), outlinks="metadata") == []
    assert targets(record(ROBOTS + "?x=/", *lines), outlinks="metadata") == []
    assert targets(record("http://h/a/robots.txt", *lines), outlinks="metadata") != []


def drawn(seed: int) -> tuple[bytes, bytes]:
    """A sitemap and a robots.txt, and what Heritrix writes of both."""
    draw = random.Random(seed)
    pages = [f"http://{draw.choice('hgk')}/{draw.randrange(50)}" for _ in range(draw.randrange(9))]
    maps = [f"http://h/{draw.randrange(9)}.xml" for _ in range(draw.randrange(4))]
    root = draw.choice(("urlset", "sitemapindex"))
    locations = "".join(f"<url><loc>{uri}</loc></url>" for uri in pages)
    bodies = (
        captured(SITEMAP, draw.choice(("text/xml", "text/html")), f"<{root}>{locations}</{root}>")
        + captured(ROBOTS, "text/plain", "".join(f"Sitemap: {uri}\n" for uri in maps) or "#")
    )  # fmt: skip
    marks = [draw.choice(("=MANIFEST_MISC", "MANIFEST_MISC")) for _ in (*pages, *maps)]
    lines = [f"{uri} M {mark}" for uri, mark in zip((*pages, *maps), marks, strict=True)]
    return bodies, record(SITEMAP, *lines[: len(pages)]) + record(ROBOTS, *lines[len(pages) :])


@pytest.mark.parametrize("kept", ["nav", "all"])
def test_lines_of_manifests_are_the_links_that_are_read(kept: str) -> None:
    some = 0
    for seed in range(examples(100)):
        bodies, lines = drawn(seed)
        read = sorted(extracted(bodies, links=kept)[0])
        assert sorted(extracted(lines, links=kept, outlinks="metadata")[0]) == read
        assert {*extracted(bodies + lines, links=kept, outlinks="both")[0]} == {*read}
        some += len(read)
    assert some > examples(100)
