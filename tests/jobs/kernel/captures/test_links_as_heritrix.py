"""Links in archives of Heritrix and of others: queries of six charsets, and hosts beyond ASCII.

What Heritrix 3.13 asks for was seen on a private site: UTF-8 in every query, hosts by IDNA 2003.
"""

from __future__ import annotations

import io
from collections import Counter
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from support.crawls import ok
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawlrank.jobs.kernel.archive.metadata import is_of_heritrix
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Anchor, Link
from crawlrank.jobs.kernel.keys.idna2003 import as_idna_2003

HERITRIX, BROWSER = "Heritrix/3.13.0 http://crawler.archive.org", "Browsertrix-Crawler 1.5"
PAGE = "http://a.example/"
#: charset of a page -> text of a query that it can have, and Python's codec of the WHATWG name
CHARSETS = {
    "iso-8859-1": ("café", "cp1252"),
    "windows-1252": ("œuvre", "cp1252"),
    "shift_jis": ("検索", "cp932"),
    "gbk": ("搜索", "gbk"),
    "windows-1251": ("поиск", "cp1251"),
    "utf-8": ("naïve", "utf-8"),
}


def archive(path: Path, software: str | None, html: bytes, content_type: str) -> Path:
    with path.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        if software:
            fields = {"software": software, "format": "WARC File Format 1.0"}
            writer.write_record(writer.create_warcinfo_record(path.name, fields))
        headers = StatusAndHeaders("200 OK", [("Content-Type", content_type)], protocol="HTTP/1.1")
        payload = io.BytesIO(html)
        writer.write_record(
            writer.create_warc_record(PAGE, "response", payload=payload, http_headers=headers)
        )
    return path


def targets(path: Path, **options: bool) -> list[bytes]:
    with path.open("rb") as file:
        items = list(extract(file, path.name, ExtractionOptions(**options), Counter()))
    anchors = [item.target for item in items if isinstance(item, Anchor)]
    found = [item.target for item in items if isinstance(item, Link)]
    assert anchors == (found if options else [])
    return found


#: pages in other charsets are read as windows-1252 where nothing says which
UNDECLARED = [(charset, "nowhere") for charset in ("iso-8859-1", "windows-1252", "utf-8")]


@pytest.mark.parametrize("software", [HERITRIX, BROWSER, None])
@pytest.mark.parametrize(
    ("charset", "declared"), [*product(CHARSETS, ("header", "meta")), *UNDECLARED]
)
def test_queries(charset: str, software: str | None, declared: str, tmp_path: Path) -> None:
    text, codec = CHARSETS[charset]
    html = f'<a href="?q={text}#{text}">x</a>'
    meta = f'<meta charset="{charset}">' if declared == "meta" else ""
    content_type = f"text/html; charset={charset}" if declared == "header" else "text/html"
    path = archive(tmp_path / "x.warc.gz", software, (meta + html).encode(codec), content_type)
    asked = "utf-8" if software == HERITRIX else codec
    expected = f"{PAGE}?q={quote(text.encode(asked))}".encode()
    assert targets(path) == [expected]
    assert targets(path, anchor_text=True) == [expected]


@pytest.mark.parametrize(
    ("reference", "by_heritrix", "by_browser"),
    [
        (
            "http://faß.test/ü?ß",
            "http://fass.test/%C3%BC?%C3%9F",
            "http://xn--fa-hia.test/%C3%BC?%C3%9F",
        ),
        ("//me@ΒΌΛΟΣ.test:8080/", "http://me@xn--nxasmq6b.test:8080/", None),
        ("http://büro.test", "http://xn--bro-hoa.test/", "http://xn--bro-hoa.test/"),
        ("/faß", f"{PAGE}fa%C3%9F", f"{PAGE}fa%C3%9F"),
    ],
)
def test_hosts(reference: str, by_heritrix: str, by_browser: str | None, tmp_path: Path) -> None:
    html = f'<meta charset="utf-8"><a href="{reference}">x</a>'.encode()
    for software, expected in ((HERITRIX, by_heritrix), (BROWSER, by_browser)):
        if expected:
            path = archive(tmp_path / "x.warc.gz", software, html, "text/html")
            assert targets(path) == [expected.encode()]


@pytest.mark.parametrize("reference", ["http://\u2488.test/", "http://-ü.test/", "a/ü", "mailto:ü"])
def test_references_that_stay_as_they_are(reference: str) -> None:
    assert as_idna_2003(reference) == reference


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"software: Heritrix/3.4.0\r\nip: 1\r\n", True),
        (b"format: x\r\nSoftware: heritrix 1.14\r\n", True),
        (b"<arc:software>Heritrix @VERSION@ http://x</arc:software>", True),
        (b"<software>Heritrix</software>", True),
        (b"software: Wget\r\ndescription: like Heritrix\r\n", False),
        (b"http-header-user-agent: heritrix\r\nsoftware: Zeno\r\n", False),
        (b"<arc:software>other</arc:software><x>Heritrix</x>", False),
        (b"", False),
        (b"x" * 10**6 + b"\nsoftware: Heritrix", False),
    ],
)
def test_who_wrote_an_archive(body: bytes, expected: bool) -> None:
    assert is_of_heritrix(body) == expected


def test_a_page_in_latin_1_is_ranked_under_the_uri_that_heritrix_fetched(tmp_path: Path) -> None:
    html = '<a href="/s?q=café">x</a>'.encode("latin-1")
    pages = archive(tmp_path / "1.warc.gz", HERITRIX, html, "text/html; charset=iso-8859-1")
    ok("run", pages, "--work", tmp_path / "work", "--quiet", "--no-validate")
    listed = (tmp_path / "work" / "precedence.txt").read_text()
    assert f"{PAGE}s?q=caf%C3%A9 1\n" in listed
    assert "%E9" not in listed
