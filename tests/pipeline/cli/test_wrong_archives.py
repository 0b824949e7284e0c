"""Archives of another sort than a command reads: none of them gives nothing without a word."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from compare_outlinks import Comparison, compare_archive
from support.crawls import crawlrank, ok
from support.inputs.archive_samples import page, warc

from crawlrank.jobs.kernel.errors import BadInput

URI = "http://example.com/"


def wat() -> bytes:
    """A record as ia-web-commons writes it, of a page with one link."""
    links = [{"path": "A@/href", "url": "/x"}]
    http = {"Response-Message": {"Status": "200"}, "HTML-Metadata": {"Links": links}}
    header = {"WARC-Type": "response", "WARC-Target-URI": URI}
    envelope = {
        "WARC-Header-Metadata": header,
        "Payload-Metadata": {"HTTP-Response-Metadata": http},
    }
    body = json.dumps({"Envelope": envelope}).encode()
    return warc(body, URI, "metadata", media_type="application/json")


def wet() -> bytes:
    head = warc(b"software: x\r\n", "", "warcinfo", media_type="application/warc-fields")
    return head + warc(b"the text of a page\n", URI, "conversion", media_type="text/plain")


def wacz() -> bytes:
    """With pages and an index, and without archives."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("datapackage.json", "{}")
        file.writestr("indexes/index.cdx", "com,example)/ 2024 {}\n")
    return stream.getvalue()


CDX = b" CDX N b a m s k r M S V g\ncom,example)/ 20240101000000 http://example.com/ text/html\n"
NOT_READ: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "x.wet.gz": (
        lambda: gzip.compress(wet()),
        "a WET file, with the text of pages and no links",
        "the WARC or the WAT",
    ),
    "x.wacz": (wacz, "a zip file with nothing in archive/", "Unzip it"),
    "x.cdx": (lambda: CDX, "not one readable record", "Leave it out"),
}


@pytest.mark.parametrize("command", ["run", "run inline", "extract-links", "inspect"])
@pytest.mark.parametrize("name", NOT_READ)
def test_no_links_in_it(name: str, command: str, tmp_path: Path) -> None:
    make, found, cure = NOT_READ[name]
    path = tmp_path / name
    path.write_bytes(make())
    outputs = ("--output", tmp_path / "links.txt", "--captures", tmp_path / "captures.txt")
    more: dict[str, tuple[object, ...]] = {
        "run": ("--work", tmp_path / "work", "--jobs", 1),
        "run inline": ("--work", tmp_path / "work", "--runner", "inline"),
        "extract-links": (*outputs, "--runner", "inline"),
        "inspect": ("--jobs", 1),
    }
    said = crawlrank(command.split()[0], path, "--quiet", *more[command])
    assert said.code == 3
    assert f"{path}: " in said.err
    assert found in said.err
    assert cure in said.err


def test_conversions_beside_captures(tmp_path: Path) -> None:
    """Some crawlers keep pictures of pages beside them."""
    path = tmp_path / "both.warc"
    path.write_bytes(page("<a href=/x>x</a>", URI) + wet())
    outputs = ("--output", tmp_path / "l.txt", "--captures", tmp_path / "c.txt")
    ok("step", "extract-links", path, *outputs, "--quiet", "--runner", "inline")


NOT_COMPARED: dict[str, tuple[Callable[[], bytes], str]] = {
    "wat": (wat, "a WAT file, without the text of its pages"),
    "wet": (wet, "a WET file, with the text of pages and no links"),
    "another crawler's": (lambda: page("x", URI), "nothing to compare: 1 HTML page without"),
    "cdx": (lambda: CDX, "not one readable record"),
    "wacz": (wacz, "a zip file with nothing in archive/"),
}


@pytest.mark.parametrize("name", NOT_COMPARED)
def test_nothing_to_compare(name: str, tmp_path: Path) -> None:
    make, found = NOT_COMPARED[name]
    path = tmp_path / "x.warc"
    path.write_bytes(make())
    comparison = Comparison()
    with pytest.raises(BadInput) as refused:
        compare_archive(path, comparison)
        comparison.require_pages(str(path))
    said = str(refused.value)
    assert str(path) in said and found in said and "expected" in said
