"""The Sitemap lines of robots.txt."""

from __future__ import annotations

from crawlrank.jobs.kernel.links.header_links import robots_references


def test_lines() -> None:
    text = (
        "User-agent: *\nDisallow: /sitemap:x\nSitemap: http://h/a.xml\r"
        "  sitemap :\t/b.xml # the other\r\nSITEMAP:c\n#Sitemap: d\nSitemap:\nSitemap: \n x"
    )
    assert list(robots_references(text)) == ["http://h/a.xml", "/b.xml", "c"]
