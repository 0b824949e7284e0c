"""What enters the scope with new seeds: as Heritrix makes prefixes of seeds."""

from __future__ import annotations

import pytest

from crawlrank.pipeline.heritrix.pages import Growth, surt_prefix


@pytest.mark.parametrize(
    ("uri", "prefix"),
    [
        ("http://example.org/", "http://(org,example,)/"),
        ("https://example.org/news/1.html", "http://(org,example,)/news/"),
        ("http://example.org", "http://(org,example,)/"),
        ("http://me@Example.org:8080/a/b/c?d=/e/f", "http://(org,example,:8080)/a/b/c?d=/e/"),
        ("http://192.0.2.1/x", "http://(192.0.2.1)/"),
        ("http://[2001:db8::1]:80/x", "http://([2001:db8::1]:80)/"),
    ],
)
def test_prefixes_of_seeds(uri: str, prefix: str) -> None:
    assert surt_prefix(uri) == prefix


def test_what_no_seed_has_enters() -> None:
    growth = Growth(["http://a.example/news/", "http://b.example"])
    for uri in (
        "http://a.example/news/deep/1", "https://a.example/news/2", "http://b.example/x/y/z",
        "http://a.example/shop/1", "http://a.example/shop/2", "http://a.example/",
        "http://c.example/1",
    ):  # fmt: skip
        growth.add(uri)
    assert growth.hosts == {"c.example": 1}
    assert growth.prefixes == {
        "http://(example,a,)/shop/": 2, "http://(example,a,)/": 1, "http://(example,c,)/": 1,
    }  # fmt: skip
