"""Hostile pages and bombs: what is cut is counted, what stands before and after it is read.

Memory is measured by scripts/bench/bench_memory.py, time by that and by scripts/fuzz.py; here is a
limit of address space around the worst of them.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import brotli
import lz4.frame
import pytest
import zstandard
from support.inputs.archive_samples import each, extracted, page, warc
from support.inputs.mutation_samples import DEFLATED, answer, wacz

from crawlrank.jobs.kernel.links.header_links import LONGEST_ROBOTS
from crawlrank.jobs.kernel.links.html_documents import MOST_FRAMED, MOST_REFERENCES
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE, MOST_TAGS, pieces

LIMIT = 2**20
ZEROS = bytes(2**24)
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 9, mtime=0),
    "deflate": lambda body: zlib.compress(body, 9),
    "br": lambda body: bytes(brotli.compress(body, quality=5, lgwin=24)),
    "zstd": lambda body: zstandard.ZstdCompressor(3).compress(body),
}
LAST = page("<a href=/end>", "http://h/last")


def ends_well(data: bytes, **options: object) -> tuple[Counter[str], list[str]]:
    """Counters and reasons of damage, once the record after was read."""
    links, captures, damage, counters = extracted(data, **options)
    assert captures[-1].uri == b"http://h/last"
    assert links[-1].target == b"http://h/end"
    return counters, [item.reason for item in damage]


@pytest.mark.parametrize("codings", [["gzip"], ["deflate"], ["br"], ["zstd"], ["gzip", "br"],
                                     ["gzip", "gzip"], ["zstd", "zstd", "gzip"]])  # fmt: skip
def test_a_body_that_is_a_bomb_is_cut(codings: list[str]) -> None:
    body = b"<a href=/first>" + ZEROS
    for coding in codings:
        body = CODINGS[coding](body)
    assert len(body) < 2**17
    bomb = answer(body, "text/html", "http://h/", f"Content-Encoding: {', '.join(codings)}\r\n")
    counters, reasons = ends_well(bomb + LAST, max_record=LIMIT)
    assert (counters["captures"], counters["links"]) == (2, 2)  # its beginning was read
    assert reasons == ["body-too-large"]


@pytest.mark.parametrize("pack", [CODINGS["gzip"], CODINGS["zstd"], lz4.frame.compress])
@pytest.mark.parametrize("inside", ["a record", "nothing"])
def test_a_frame_that_is_a_bomb_is_passed_over(pack: Callable[[bytes], bytes], inside: str) -> None:
    content = warc(ZEROS, "http://h/") if inside == "a record" else ZEROS
    counters, reasons = ends_well(pack(content) + pack(LAST), max_record=LIMIT)
    assert counters["captures"] in (1, 2)
    assert "record-too-large" in reasons or "bomb" in reasons


@pytest.mark.slow
def test_a_wacz_that_is_a_bomb() -> None:
    bomb = warc(bytes(2**26), "http://h/")
    _, captures, damage, _ = extracted(wacz([bomb, b"", b"", b"", LAST], DEFLATED))
    assert captures[-1].uri == b"http://h/last"
    assert [item.reason for item in damage] == ["bad-length", "bomb"]


def test_a_frame_of_zstd_with_a_huge_window() -> None:
    coder = zstandard.ZstdCompressionParameters(window_log=30, enable_ldm=True)
    stream = zstandard.ZstdCompressor(compression_params=coder).compressobj()
    frame = stream.compress(page("<a href=x>", "http://h/")) + stream.flush()
    counters, reasons = ends_well(frame + CODINGS["zstd"](LAST))
    assert counters["captures"] == 1
    assert reasons == ["bad-zstd"]


def test_nested_elements() -> None:
    html = b"<a href=/first>" + b"<div>" * 10**6 + b"<a href=/inside>"
    counters, _ = ends_well(page(html) + LAST)
    assert counters["links"] == 3


def test_elements_that_a_parser_opens_again_and_again() -> None:
    """Their number would take a minute, were they opened as the standard says."""
    paragraphs = b"".join(b"<table><b class=%d>" % number for number in range(250_000))
    html = b"<a href=/first><b style='background: url(/b.png)'>" + paragraphs + b"<a href=/last>"
    counters, _ = ends_well(page(html) + LAST, links="all")
    assert (counters["links"], counters["links.E"]) == (4, 1)


def test_a_page_with_more_links_than_are_read() -> None:
    html = b"".join(b"<a href=/%d>" % number for number in range(10_000))
    counters, _ = ends_well(page(html) + LAST, max_links_per_page=1000)
    assert (counters["links"], counters["dropped.over-limit"]) == (1001, 1)


@pytest.mark.slow
def test_a_page_with_a_quarter_of_a_million_references() -> None:
    counters, _ = ends_well(page(b"<a href=/x>" * MOST_REFERENCES) + LAST)
    assert (counters["links"], counters["dropped.html-tail"]) == (2, 1)  # repeated ones too


@pytest.mark.slow
def test_what_is_behind_the_longest_page_is_counted() -> None:
    assert LONGEST_PAGE >= 5 * 2**20  # what Common Crawl keeps of a page
    for media_type, begin in [("text/html", b""), ("text/css", b""), ("text/xml", b"<urlset>")]:
        inside = {"text/css": b"a{background:url(/x)}"}.get(media_type, b"<a href=/x>")
        inside = b"<loc>http://h/x</loc>" if begin else inside
        body = begin + inside + b" " * LONGEST_PAGE + inside.replace(b"/x", b"/y")
        counters, _ = ends_well(answer(body, media_type) + LAST, links="all")
        assert counters["links"] == 2
        tails = [name for name in counters if name.endswith("-tail")]
        assert len(tails) == 1
    robots = b"Sitemap: http://h/s\n" + b"#" * LONGEST_ROBOTS + b"\nSitemap: http://h/t\n"
    answered = answer(robots, "text/plain", "http://h/robots.txt")
    counters, _ = ends_well(answered + LAST, links="all")
    assert (counters["links"], counters["dropped.robots-tail"]) == (2, 1)


def test_an_attribute_longer_than_any_uri() -> None:
    html = b"<a href=/first><a href='/" + b"x" * 2**22 + b"'><a href=/behind>"
    counters, _ = ends_well(page(html) + LAST)
    assert counters["links"] >= 2


@pytest.mark.slow
def test_pieces_are_small_however_many_attributes_there_are() -> None:
    tag = b"<p " + b" ".join(b"a%d" % number for number in range(1500)) + b">"
    parts = list(pieces(tag * 1500, frozenset([b"href"])))
    assert max(map(len, parts)) < 2**18
    assert sum(part.count(b"<p ") for part in parts) == 1500


def test_entities_are_not_expanded() -> None:
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    xml = f"<!DOCTYPE rss [{entities}]><rss><link>http://h/x</link><link>&e12;</link></rss>"
    counters, _ = ends_well(answer(xml, "application/rss+xml") + LAST)
    assert counters["links"] == 3


@pytest.mark.parametrize(
    "text",
    [
        '{"Envelope": ' * 100_000 + "0" + "}" * 100_000,
        '{"Envelope": ' + "[" * 100_000 + "]" * 100_000 + "}",
        json.dumps({"Envelope": {"Payload-Metadata": [{}] * 2**20}}),
    ],
    ids=["objects", "lists", "many"],
)
def test_json_of_a_wat_that_is_nested_or_large(text: str) -> None:
    record = warc(text.encode(), "http://h/", "metadata", media_type="application/json")
    counters, reasons = ends_well(record + LAST)
    assert (counters["captures"], reasons) == (1, ["bad-wat"])


PROGRAM = """
import resource, sys
from collections import Counter
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
counters = Counter()
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
with open(sys.argv[1], "rb") as stream:
    for _ in extract(stream, "x", ExtractionOptions(links="all", max_record=2**22), counters):
        pass
print(counters["captures"], counters["damage"])
"""


@pytest.mark.slow
def test_memory_is_bounded_whatever_comes(tmp_path: Path) -> None:
    """Bodies and a record of more than the process may hold at all, its libraries included."""
    records = [LAST]
    for coding in ("gzip", "br", "zstd"):
        more = f"Content-Encoding: {coding}\r\n"
        body = CODINGS[coding](b"<p>" + bytes(2**26))
        records.append(answer(body, "text/html", more=more))
    path = tmp_path / "bombs.warc.gz"
    path.write_bytes(each([*records, warc(bytes(2**26)), LAST]))
    command = [sys.executable, "-c", PROGRAM, str(path), str(100 * 2**20)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "6 5\n"), done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("more", [0, 1, 7])
def test_documents_in_srcdoc_up_to_their_bound(more: int) -> None:
    framed = "<iframe srcdoc='<a href=/in>'></iframe>" * (MOST_FRAMED + more)
    counters, damage = ends_well(each([page(framed + "<a href=/behind>"), LAST]))
    assert (counters["dropped.srcdoc"], damage) == (more, [])
    assert counters["links"] == 3  # /in, /after and /end


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 1])
def test_tags_up_to_their_bound(more: int) -> None:
    """A page that is read in pieces has a bound."""
    cut = list[bool]()
    body = b"<math><mi>" + b"<b>" * (MOST_TAGS - 3 + more) + b"<a href=/last>"
    found = b"".join(pieces(body, frozenset([b"href"]), lambda: cut.append(True)))
    assert (b"/last" in found, bool(cut)) == (not more, bool(more))
