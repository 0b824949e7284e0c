"""Joining by text and by memory gives what the standard's own joining gives, on any reference."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import examples
from support.inputs.made_uris import made_uris
from support.paths import SAMPLES

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.keys.uris import LONGEST, as_crawled, resolve
from crawlrank.jobs.kernel.links.documents import document
from crawlrank.jobs.kernel.links.html_documents import Document
from crawlrank.jobs.kernel.links.html_links import html_link_groups
from crawlrank.jobs.kernel.links.joining import Base
from crawlrank.jobs.kernel.markup.charsets import charset_of
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.storage.opening import opened

BASES = [
    *("http://h.example/d/e?f", "https://h.example/d//e/", "http://h.example", "http://h"),
    *("https://u:p@h:8/d/", "http://h?q/x", "http://h/a/..", "http://h/a/%2e%2E?x"),
    *("http://h\\a\\b/c", "http://h/a\\b", "HTTP://H.example:80/A/b", "http://h/a;b/c'd"),
    *("http://h/\u00e9/\u4e00", "http://h/a%20b/c%zz", "http://xn--/x", "http://1.2/a"),
    *("http:/h/x", "http://h/./.x/y", "http://[::1]/x", "nonsense"),
    *("http://h.example/" + "a" * n + "/b" for n in (500, 600, LONGEST - 30, LONGEST)),
]
PIECES = [
    *("/", "//", "http://", "https://", "HTTP://", "http:", "https:/", "mailto:", "data:"),
    *("a.example", "b-c.example.", "1.2", "0x1", "xn--a", "a--b.example", "H.example"),
    *("?", "#", "..", ".", "%2e", "%2E", "%20", "%", "'", "@", ":80", ":", "&=+,;!$()*"),
    *("\\", "\t", "\n", " ", "\x00", "\u00e9", "\u4e00", "\ud800", "|", "^", "[", "{"),
    *("../", "../../", "./", ".svn/", "//b.example", "...", ".%2e/"),
    *("x", "Y~", "a.b", "-", "_", "javascript:", "file:///", "x" * 250, "y" * 600),
]
MADE = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=12)
SAMPLE = SAMPLES / "aut-example.arc.gz"
CHARSETS = st.sampled_from(["utf-8", "windows-1252", "gb18030", "iso-2022-jp"])


@given(MADE, st.sampled_from(BASES), CHARSETS)
def test_made_references(reference: str, base: str, charset: str) -> None:
    expected = resolve(reference, base, charset)
    assert Base(base, charset).join(reference) == expected
    assert Base(base, charset).join(reference) == expected  # now perhaps remembered


@given(MADE, st.sampled_from(BASES), MADE)
def test_bases_share_what_they_remember_and_no_more(reference: str, base: str, end: str) -> None:
    for other in (base, base + end, base + "?" + end, base + "/" + end):
        assert Base(other).join(reference) == resolve(reference, other)


@given(st.lists(MADE, max_size=5), st.sampled_from(BASES))
def test_references_of_a_page(references: list[str], base: str) -> None:
    """References that only need a beginning are not read as text."""
    written = [reference for reference in references if not {*reference} & {*'"&<\r\0\ud800'}]
    body = "".join(f'<a href="{reference}">' for reference in written).encode()
    counters: Counter[str] = Counter()
    groups = html_link_groups(body, base, "text/html; charset=utf-8", counters)
    expected = [resolve(reference, base) for reference in written]
    assert [one for targets, *_ in groups for one in targets] == [
        target for target in expected if isinstance(target, bytes)
    ]
    reasons = Counter(f"dropped.{target}" for target in expected if isinstance(target, str))
    assert counters == reasons


def test_many_references_on_many_bases() -> None:
    rng = random.Random(7)
    pages = [uri.decode("utf-8", "surrogateescape") for uri in made_uris(300, 3, [b"http://h/"])]
    bases = [*BASES, *(page.decode() for p in pages if isinstance(page := as_crawled(p), bytes))]
    for _ in range(examples(100_000)):
        reference, base = "".join(rng.choices(PIECES, k=rng.randint(1, 5))), rng.choice(bases)
        assert Base(base).join(reference) == resolve(reference, base), (reference, base)


@pytest.mark.slow
def test_the_references_of_a_real_crawl() -> None:
    """Each on its page and, as far as they are relative, on the pages before it."""
    pages: list[str] = []
    joined = 0
    with opened(SAMPLE) as stream:
        for record in read_records(stream, "arc"):
            if not isinstance(record, Record) or document(record.media_type, record.body) != "html":
                continue
            pages = [*pages[-2:], record.uri]
            charset = charset_of(record.body, record.media_type)
            references = [*Document(PageText(record.body, record.media_type)).written()]
            for page in pages:
                base = Base(page, charset)
                for reference in references:
                    assert base.join(reference) == resolve(reference, page, charset)
                    joined += 1
    assert joined > 100_000
