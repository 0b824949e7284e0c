"""What a body is: by type, by beginning, by name."""

from __future__ import annotations

import gzip

import pytest

from jobs.kernel.links.documents import document, unpacked

RSS = b"<?xml version='1.0'?><rss>"
XHTML = b"<?xml version='1.0'?><!DOCTYPE html><html xmlns='x'>"
CASES = [
    ("text/css", b"a{}", "", "css"),
    ("text/css", b"", "", ""),
    ("application/rss+xml", RSS, "", "feed"),
    ("application/atom+xml; charset=utf-8", b"<feed>", "", "feed"),
    ("text/xml", RSS, "", "feed"),
    ("text/html", RSS, "", "feed"),
    ("", RSS, "", "feed"),
    ("application/xml", b"<urlset>", "", "sitemap"),
    ("text/html", b"<sitemapindex>", "", "sitemap"),
    ("text/xml", XHTML, "", "html"),
    ("text/xml", "<html>".encode("utf-16"), "", "html"),
    ("text/xml", "<rss>".encode("utf-16"), "", "feed"),
    ("application/xml", b"<!DOCTYPE html PUBLIC ''><html>", "", "html"),
    ("application/xml", b"<svg>", "", "svg"),
    ("image/svg+xml", b"<?xml version='1.0'?><!-- x --><svg:svg>", "", "svg"),
    ("image/svg+xml", b"<html>", "", "html"),
    ("text/html", b"<svg>", "", "html"),
    ("image/png", b"<svg>", "", ""),
    ("text/plain", b"http://h/", "http://h/a/sitemap-2.txt", "sitemap"),
    ("text/plain; charset=utf-8", b"http://h/", "http://h/SiteMap.TXT?x", "sitemap"),
    ("", b"http://h/", "http://h/site-map.txt", "sitemap"),
    ("text/plain", b"http://h/", "http://h/sitemap/list.txt", ""),
    ("text/plain", b"http://h/", "http://h/mysitemap.txt", ""),
    ("text/html", b"http://h/", "http://h/sitemap.txt", "html"),
    ("text/plain", b"Sitemap: /x", "http://h/ROBOTS.txt", ""),
    ("text/plain", RSS, "", ""),
    ("text/plain", b"Sitemap: /x", "http://h/robots.txt", "robots"),
    ("", b"Sitemap: /x", "http://h/robots.txt?x", "robots"),
    ("text/plain", b"Sitemap: /x", "http://h/a/robots.txt", ""),
    ("text/html", b"<p>", "http://h/robots.txt", "html"),
    ("application/pdf", b"%PDF-1.4", "", "pdf"),
    ("application/octet-stream", b"%PDF-1.4", "", "pdf"),
    ("image/png", b"\x89PNG", "", ""),
]


@pytest.mark.parametrize(("media_type", "body", "uri", "expected"), CASES)
def test_documents(media_type: str, body: bytes, uri: str, expected: str) -> None:
    assert document(media_type, body, uri) == expected


def test_sitemaps_are_unpacked_with_a_limit() -> None:
    packed = gzip.compress(b"<urlset>" + b" " * 10**6)
    for media_type in ("application/x-gzip", "text/xml", "application/octet-stream", ""):
        assert unpacked(media_type, packed, "http://h/s.xml.gz", 100) == b"<urlset>" + b" " * 92
    assert unpacked("image/png", packed, "http://h/s.xml.gz", 100) == packed
    assert unpacked("application/x-gzip", packed, "http://h/s.tar.gz", 100) == packed
    assert unpacked("", packed[:15] + b"\xff" * 99, "http://h/s.xml.gz", 100) is not None
    assert unpacked("", b"<urlset>", "http://h/s.xml.gz", 100) == b"<urlset>"


PAGES = [
    ("text/html", b"x", True),
    ("Text/HTML; charset=x", b"x", True),
    ("application/xhtml+xml", b"x", True),
    ("text/html", b"", False),
    ("text/html", b"%PDF-1.4", False),
    ("text/html", b"GIF89a", False),
    ("text/plain", b"<html>", False),
    ("image/gif", b"<html>", False),
    ("application/json", b"<html>", False),
    ("", b"<!DOCTYPE html>", True),
    ("", b"\xef\xbb\xbf \n<!-- x --><HTML lang=en>", True),
    ("", b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC ''>", True),
    ("", b"<?xml version='1.0'?><rss>", False),
    ("", b"hello", False),
    ("no-type", b"<html>", True),
    ("application/octet-stream", b"<html>", True),
    ("application/octet-stream", b"\0\1", False),
    ("; charset=utf-8", b"<body>", True),
    ("", b"<!--" + b"--><!--" * 9999, False),
]


@pytest.mark.parametrize(("media_type", "body", "expected"), PAGES)
def test_pages(media_type: str, body: bytes, expected: bool) -> None:
    assert (document(media_type, body) == "html") is expected
