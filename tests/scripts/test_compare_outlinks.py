"""The script that compares outlinks: every difference explained, no false link an edge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from compare_outlinks import (
    MAX_OUTLINKS,
    Comparison,
    Difference,
    compare_archive,
)
from described_pages import DescribedPages
from support.crawls import crawlrank
from support.inputs.archive_samples import page, warc
from support.paths import HERITRIX, LOOPBACK, REFERENCE, SAMPLES, SCRIPTS
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD
from crawlrank.jobs.kernel.archive.sources import read_archives
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Link

AUT = SAMPLES / "aut-example.warc.gz"
SAMPLE_1 = REFERENCE / "archives" / "oduwsdl-ipwb" / "samples__warcs__sample-1.warc.gz"


def compared(*archives: Path) -> Comparison:
    found = Comparison()
    for archive in archives:
        compare_archive(archive, found)
    return found


def metadata(*lines: str, uri: str = "http://example.com/", **more: Any) -> bytes:
    body = "".join(f"{line}\r\n" for line in lines).encode()
    return warc(body, uri, "metadata", media_type="application/warc-fields", **more)


def of_page(tmp_path: Path, html: str, *lines: str) -> Comparison:
    """A page and what Heritrix says of it."""
    path = tmp_path / "page.warc"
    path.write_bytes(page(html) + metadata(*(f"outlink: {line}" for line in lines)))
    return compared(path)


def categories(side: dict[str, Difference]) -> dict[str, int]:
    return {name: found.pairs for name, found in side.items()}


# ---- real crawls -----------------------------------------------------------------------------


def pairs_by_warcio(path: Path) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """(page, target without fragment) -> (hop, context) of the lines of all metadata records."""
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            if record.rec_type != "metadata":
                continue
            uri = record.rec_headers.get_header("WARC-Target-URI")
            for line in record.content_stream().read().decode("latin-1").splitlines():
                if line.startswith("outlink: "):
                    target, hop, context = line[9:].split(" ", 2)
                    found.setdefault((uri, target.partition("#")[0]), set()).add((hop, context))
    return found


@pytest.mark.slow
def test_the_aut_crawl() -> None:
    """Some 3,960 of 22,835 pairs that Heritrix calls L are in no page: values of options."""
    lines = pairs_by_warcio(AUT)
    called = {pair for pair, places in lines.items() if any(hop == "L" for hop, _ in places)}
    options = {
        pair for pair in called if {context for _, context in lines[pair]} == {"option/@value"}
    }
    assert (len(called), len(options)) == (22_835, 3_955)
    found = compared(AUT)
    assert (found.pages, found.lines, found.outlinks, found.links) == (135, 38_182, 23_694, 21_662)
    assert categories(found.only_metadata) == {
        "value": 3_956, "script": 3, "attribute": 5, "not markup": 1,
    }  # fmt: skip
    assert found.only_metadata["value"].contexts["option/@value"] == len(options)
    assert found.outlinks - found.shared == 3_965
    assert categories(found.only_html) == {"limit": 1_933}
    assert {one for one, _ in found.only_html["limit"].examples} == {
        "http://www.archive.org/iathreads/forum-display.php?poster=bluedevil"
    }


def test_the_loopback_crawl_has_all_true_links_on_both_sides() -> None:
    found = compared(LOOPBACK)
    assert categories(found.only_metadata) == {"inferred": 56, "base": 1}
    assert found.only_html == {}
    rows = [line.split("\t") for line in (HERITRIX / "truth.tsv").read_text().splitlines()[1:]]
    true = {(source, target.partition("#")[0]) for source, target, _, hop in rows if hop in "LR"}
    links = edges(LOOPBACK, "auto")
    assert {(s, t) for s, t in true if s in {source for source, _ in links}} <= links
    assert found.navigation_shared == found.navigation >= len(true) - 10


def edges(archive: Path, outlinks: Any) -> set[tuple[str, str]]:
    """The links that the extraction gives, page and target."""
    with archive.open("rb") as stream:
        items = extract(stream, archive.name, ExtractionOptions(outlinks=outlinks), Counter())
        return {
            (item.source.decode(), item.target.decode()) for item in items if isinstance(item, Link)
        }


@pytest.mark.parametrize("archive", [AUT, LOOPBACK], ids=lambda path: path.name)
@pytest.mark.slow
def test_no_false_link_becomes_an_edge(archive: Path) -> None:
    found = Comparison(most_examples=1_000_000)
    compare_archive(archive, found)
    false = {pair for each in found.only_metadata.values() for pair in each.examples}
    assert len(false) == found.outlinks - found.shared
    assert false & edges(archive, "auto") == set()
    assert false & edges(archive, "html") == set()
    by_metadata = false & edges(archive, "metadata")
    assert len(by_metadata) == sum(each.edges for each in found.only_metadata.values())
    assert by_metadata == (
        {("http://www.archive.org/about/faqs.php",
          "http://www.archive.org/iathreads/forum-display.php?forum=news")}
        if archive == AUT else set()
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not SAMPLE_1.exists(), reason="no reference data here")
def test_a_crawl_of_many_sites() -> None:
    found = compared(SAMPLE_1)
    assert (found.pages, found.links, found.shared) == (64, 11_329, 11_329)
    assert found.navigation == found.navigation_shared
    assert set(found.only_metadata) == {"inferred", "script", "not markup", "attribute"}
    assert set(found.only_metadata["not markup"].contexts) == {"link/@href"}  # for old browsers


# ---- one difference at a time ----------------------------------------------------------------

CASES = [
    ("<option value=/a>", "http://example.com/a L option/@value", "value", 0),
    ("<param name=x value=/a>", "http://example.com/a X param/@value", "value", 0),
    ("<script>x='/a.html'</script>", "http://example.com/a.html X =JS_MISC", "script", 0),
    ("<p>", "http://example.com/favicon.ico I =INFERRED_MISC", "inferred", 0),
    ("<p>", "http://example.com/login S form/@action", "submitted", 0),
    ("<p>", "http://example.com/none M =MANIFEST_MISC", "attribute", 1),
    ("<base href=/b/>", "http://example.com/b/ L base/@href", "base", 0),
    ("<applet codebase=/c>", "http://example.com/c E applet/@codebase", "attribute", 0),
    ("<!-- <a href=/old> -->", "http://example.com/old L a/@href", "not markup", 1),
    ("<!-- <img src=/old.png> -->", "http://example.com/old.png E img/@src", "not markup", 0),
    ("<!-- <a href='/o?a=1&amp;b'> -->", "http://example.com/o?a=1&b L a/@href", "not markup", 1),
    ("<p>", "http://example.com/none L a/@href", "unexplained", 1),
]


@pytest.mark.parametrize(("html", "line", "category", "edges"), CASES)
def test_only_in_the_metadata(
    html: str, line: str, category: str, edges: int, tmp_path: Path
) -> None:
    found = of_page(tmp_path, html, line)
    assert categories(found.only_metadata) == {category: 1}
    assert found.only_metadata[category].edges == edges
    assert found.only_html == {}


def test_another_spelling_is_on_both_sides(tmp_path: Path) -> None:
    found = of_page(tmp_path, "<a href=/A>", "http://www.example.com/a L a/@href")
    assert categories(found.only_metadata) == categories(found.only_html) == {"spelling": 1}


@pytest.mark.parametrize(
    ("reference", "outlink"),
    [
        ("///host.example/x", "http://example.com/host.example/x"),
        ("http://0x7f.0.0.1/", "http://0x7f.0.0.1/"),
        ("http://0x7f.0.0.1/a", "http://0x7f.0.0.1/a"),
        ("/w7&#160;", "http://example.com/w7"),
        ("/w7&#160;?a=1", "http://example.com/w7?a=1"),
    ],
)
def test_references_that_heritrix_reads_otherwise_are_no_comments(
    reference: str, outlink: str, tmp_path: Path
) -> None:
    html = f"<meta charset=utf-8><a href='{reference}'>x</a>"
    found = of_page(tmp_path, html, f"{outlink} L a/@href")
    assert {*categories(found.only_metadata)} <= {"spelling"}
    assert {*categories(found.only_html)} <= {"spelling", "not found"}
    assert found.shared + len(found.only_metadata) == 1


@pytest.mark.parametrize(("content", "category"), [("nofollow", "nofollow"), ("none", "nofollow"),
                                                   ("noindex", "not found")])  # fmt: skip
def test_a_page_that_asks_not_to_follow_its_links(
    content: str, category: str, tmp_path: Path
) -> None:
    html = f"<meta name=robots content={content}><a href=/a>x</a><a href=/b>y</a>"
    assert categories(of_page(tmp_path, html).only_html) == {category: 2}


def test_what_heritrix_does_not_read_or_has_no_room_for(tmp_path: Path) -> None:
    found = of_page(
        tmp_path, "<img srcset='/a.png 1x'><a href=/b>", "http://example.com/b L a/@href"
    )
    assert categories(found.only_html) == {"not found": 1}
    lines = [f"http://example.com/{number} L a/@href" for number in range(MAX_OUTLINKS)]
    html = "".join(f"<a href=/{number}>" for number in range(MAX_OUTLINKS + 5))
    assert categories(of_page(tmp_path, html, *lines).only_html) == {"limit": 5}


def test_spellings_that_are_one_form_are_one_pair(tmp_path: Path) -> None:
    html = "<a href='http://EXAMPLE.com:80/caf\u00e9'><a href='/a b#c'><a href='?'>"
    lines = ["http://example.com/caf%C3%A9 L a/@href", "http://example.com/a%20b L a/@href",
             "http://example.com/ L a/@href"]  # fmt: skip
    found = of_page(tmp_path, f"<meta charset=utf-8>{html}", *lines)
    assert (found.shared, found.only_html, found.only_metadata) == (3, {}, {})


def test_a_link_that_is_a_guess_too_is_a_link(tmp_path: Path) -> None:
    lines = ["http://example.com/a L option/@value", "http://example.com/a L a/@href"]
    found = of_page(tmp_path, "<!-- <a href=/a> -->", *lines)
    assert categories(found.only_metadata) == {"not markup": 1}


# ---- which metadata is of which page ---------------------------------------------------------


def test_either_order_and_pages_without_counterpart(tmp_path: Path) -> None:
    link = "outlink: http://example.com/x L a/@href"
    records = [
        metadata(link, uri="http://example.com/1"),
        page("<a href=/x>", "http://example.com/1"),
        page("<a href=/x>", "http://example.com/2"),
        metadata(link, uri="http://example.com/2"),
        page("<a href=/x>", "http://example.com/3"),
        metadata(link, uri="http://example.com/4"),
        page("not HTML", "http://example.com/4").replace(b"text/html", b"image/png"),
    ]
    path = tmp_path / "pages.warc"
    path.write_bytes(b"".join(records))
    found = compared(path)
    assert (found.pages, found.shared, found.alone, found.metadata_alone) == (2, 2, 1, 1)


def test_what_waits_is_bounded_and_counted() -> None:
    uris = [f"http://example.com/{number}" for number in range(10)]
    written = [page("<a href=/x>", uri) for uri in uris] + [metadata("a: b", uri=u) for u in uris]
    pages, pairs = DescribedPages(waiting=3), 0
    archive = BytesIO(b"".join(written))
    for _, items, *_ in read_archives(archive, "pages.warc", max_record=MAX_RECORD):
        pairs += sum(len(list(pages.add(item, MAX_RECORD))) for item in items)
    assert (pairs, pages.alone, pages.metadata_alone) == (3, 7, 7)


def test_pages_of_other_statuses_are_compared_and_give_no_edges(tmp_path: Path) -> None:
    record = page("<!-- <a href=/a> -->").replace(b"200 OK", b"404 No")
    path = tmp_path / "page.warc"
    path.write_bytes(record + metadata("outlink: http://example.com/a L a/@href"))
    assert compared(path).only_metadata["not markup"].edges == 0


# ---- the script ------------------------------------------------------------------------------

SCRIPT = SCRIPTS / "compare" / "compare_outlinks.py"


def script(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *words]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_tables_and_json_without_an_archive_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bad.warc").write_bytes(b"nothing")
    said = script(tmp_path / "bad.warc", LOOPBACK, "--json", tmp_path / "found.json")
    assert said.returncode == 3
    assert "added by Heritrix itself, such as favicon.ico" in said.stdout
    assert "bad.warc" in said.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["only_metadata"]["base"]["contexts"] == {"base/@href": 1}
    assert script(LOOPBACK).returncode == 0


def test_the_command_that_was_removed_names_the_script() -> None:
    said = crawlrank("lab", "compare-outlinks", LOOPBACK)
    assert (said.code, "scripts/compare/compare_outlinks.py" in said.err) == (2, True)
    said = crawlrank("lab", "plot", "--work", "w")
    assert (said.code, "crawlrank report" in said.err) == (2, True)
