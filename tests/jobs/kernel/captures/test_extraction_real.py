"""Extraction from real archives, as others count them."""

from __future__ import annotations

import runpy
import time
from collections import Counter

import pytest
from support.growth import assert_in_proportion
from support.inputs.archive_samples import extracted
from support.inputs.samples import needs_reference
from support.paths import DATA, REFERENCE, SAMPLES, SCRIPTS, SMALL_ARCHIVES

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Capture, Link
from crawlrank.jobs.kernel.links.documents import document
from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.storage.opening import opened


def test_the_links_of_a_real_crawl_by_heritrix() -> None:
    truth = set()
    for line in (DATA / "heritrix" / "truth.tsv").read_text().splitlines()[1:]:
        source, target, _, hop = line.split("\t")
        truth.add((target.partition("#")[0].encode(), source.encode(), hop.encode()))
    assert len(truth) == 172
    script = {link for link in truth if link[2] == b"X"}  # that only a script makes
    data = (DATA / "heritrix" / "first.warc.gz").read_bytes()
    for outlinks in ("metadata", "both", "auto"):
        links, _, _, counters = extracted(data, outlinks=outlinks, links="all")
        assert {link[:3] for link in links} == truth
        assert counters["dropped.base"] == (outlinks != "auto")  # it is on one page
    links = extracted(data, outlinks="html", links="all")[0]
    assert {link[:3] for link in links} == truth - script
    assert len(script) == 1


@pytest.mark.slow
def test_an_arc_and_a_warc_of_one_crawl_give_the_same() -> None:
    data = [(SAMPLES / f"aut-example.{kind}.gz").read_bytes() for kind in ("arc", "warc")]
    (links, captures, _, counters), (links2, captures2, _, _) = (
        extracted(each_, outlinks="html", links="all") for each_ in data
    )
    assert links == links2
    assert len(links) > 20_000
    assert {name for name in counters if name.startswith("links.from.")} == {
        *("links.from.html", "links.from.feed", "links.from.header", "links.from.robots"),
    }
    same = [capture[:4] for capture in captures]
    assert same == [capture[:4] for capture in captures2]


RESPONSE = ("response", 200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("arc", marks=pytest.mark.slow), "warc"])
def test_anchors_are_as_many_as_others_count(kind: str) -> None:
    """The Archives Unleashed Toolkit counts `a[href]` of pages with status 200, whatever it is, in
    a tree. Twelve of these are elements that the tree opens again, after a block; a scan does not
    see them."""
    for scanned, expected in ((False, 37_826), (True, 37_814)):
        anchors = 0
        options = HtmlOptions(scanned=scanned)
        with opened(SAMPLES / f"aut-example.{kind}.gz") as stream:
            for record in read_records(stream, kind):
                if not isinstance(record, Record) or (record.kind, record.status) != RESPONSE:
                    continue
                if document(record.media_type, record.body) == "html":
                    text = PageText(record.body, record.media_type)
                    runs = Document(text, options).references
                    anchors += sum(len(run) for run, kind in runs if kind[1] == "a/@href")
        assert anchors == expected


SCRIPT = SCRIPTS / "docs" / "make_extraction_table.py"
TABLE = DATA / "extraction_table.tsv"


@needs_reference
@pytest.mark.slow
def test_the_table_of_the_reference_archives(capfd: pytest.CaptureFixture[str]) -> None:
    """scripts/docs/make_extraction_table.py printed the table; nothing is printed, and
    no archive takes time out of proportion."""
    script = runpy.run_path(str(SCRIPT))
    row = script["row"]
    lines = TABLE.read_text().splitlines()
    assert lines[0] == script["HEADER"]
    took: dict[str, float] = {}
    for line in lines[1:]:
        began, name = time.process_time(), line.split("\t")[0]
        assert row(REFERENCE / "archives", name) == line
        took[name] = time.process_time() - began
    assert_in_proportion(
        took, {name: (REFERENCE / "archives" / name).stat().st_size for name in took}
    )
    assert len(lines) == 1 + sum(path.is_file() for path in (REFERENCE / "archives").glob("*/*"))
    assert capfd.readouterr() == ("", "")


def test_real_archives_in_all_modes() -> None:
    for path in sorted(SMALL_ARCHIVES.glob("*arc*")):
        for outlinks in ("auto", "html", "metadata", "both"):
            counters: Counter[str] = Counter()
            with opened(path) as stream:
                items = list(extract(stream, path.name, ExtractionOptions(outlinks), counters))  # type: ignore[arg-type]
            assert counters["links"] == sum(isinstance(item, Link) for item in items)
            assert counters["captures"] == sum(isinstance(item, Capture) for item in items)
