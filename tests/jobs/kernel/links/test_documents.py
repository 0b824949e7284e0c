"""What a body is: by type, by beginning, by name."""

from __future__ import annotations

import gzip

import pytest

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.links.documents import document, inflated, readable, unread

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
    ("text/html; charset=x", b"\n <!DOCTYPE\tHTML>", "", "html"),
    ("text/html", b"<!doctype rss><rss>", "", "feed"),
    ("text/html", b"<!doctype html><rss>", "", "html"),
    ("text/html", b"\r\n<html lang='en'>", "http://h/robots.txt", "html"),
    ("image/png", b"<svg>", "", ""),
    ("text/plain", b"http://h/", "http://h/a/sitemap-2.txt", "sitemap"),
    ("text/plain; charset=utf-8", b"http://h/", "http://h/SiteMap.TXT?x", "sitemap"),
    ("", b"http://h/", "http://h/site-map.txt", "sitemap"),
    ("text/plain", b"http://h/", "http://h/sitemap/list.txt", ""),
    ("text/plain", b"http://h/", "http://h/mysitemap.txt", ""),
    ("text/html", b"http://h/", "http://h/sitemap.txt", "html"),
    ("text/plain", b"Sitemap: /x", "http://h/ROBOTS.txt", ""),
    ("text/plain", RSS, "", "feed"),
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
    record = Record("response", uri, "", media_type, body, 0)
    read = body.replace(b"<svg:svg", b"<svg")
    assert readable(record, 1000) == (read, expected, [])


def test_sitemaps_are_unpacked_with_a_limit() -> None:
    packed = gzip.compress(b"<urlset>" + b" " * 10**6)
    body, damage = inflated(packed, "application/gzip", "http://h/s.xml.gz", 100)
    assert body == b"<urlset>" + b" " * 92
    assert [reason for reason, _ in damage] == ["body-too-large"]
    for body in (b"dir/" + bytes(508), b"<html>", b"{}"):
        archive = gzip.compress(body)
        read = inflated(archive, "application/gzip", "http://h/s.xml.gz", 100)
        assert read == (archive, [])


UNREAD = [
    ("text/plain", b"<!doctype html><p>", "html"),
    ("image/png", b"\n<?xml version='1.0'?><svg>", "svg"),
    ("application/x-thing", b"<?xml version='1.0'?><a/>", "xml"),
    ("application/x-thing", b"<a thing", "html"),
    ("text/xml", b"<html>", ""),
    ("image/png", b"\x89PNG", ""),
    ("application/json", b"{}", ""),
    ("text/plain", b"< 7", ""),
]


@pytest.mark.parametrize(("media_type", "body", "expected"), UNREAD)
def test_what_is_unread_for_its_type(media_type: str, body: bytes, expected: str) -> None:
    assert unread(media_type, body) == expected
