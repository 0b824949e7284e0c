"""The words of links: what is read, in which charset, and how much; by a scan, and by a parser."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.crawls import INLINE, ok, write_warc
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.html_documents import HtmlOptions
from crawlrank.jobs.kernel.links.html_links import WordsOfLinks, document_links, html_document
from crawlrank.jobs.kernel.markup.link_words import LONGEST_WORDS

PAGE = "http://a.example/d/p.html"


def read(
    body: bytes, content_type: str, *, scanned: bool = True, most: int = 10**6
) -> list[tuple[bytes, str]]:
    options, words = HtmlOptions(words=True, scanned=scanned), WordsOfLinks()
    page = html_document(body, content_type, Counter(), options)
    for _ in document_links(page, PAGE, Counter(), {}, most, words):
        pass
    pairs = [pair for each, texts, _ in words for pair in zip(each, texts.lines, strict=True)]
    return [pair for pair in dict.fromkeys(pairs) if all(pair)]


def words_of(
    html: str | bytes, content_type: str = "text/html; charset=utf-8"
) -> list[tuple[str, str]]:
    body = html if isinstance(html, bytes) else html.encode()
    words = read(body, content_type)
    assert read(body, content_type, scanned=False) == words
    assert read(body, content_type, most=1) == words  # each reference by itself
    return [(target.decode(), text) for target, text in words]


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<a href=x>Hello</a>", "Hello"),
        ("<a href=x> Hello\n <b>big</b>\tworld </a>", "Hello big world"),
        ("<a href=x><img src=i alt='A  logo'></a>", "A logo"),
        ("<a href=x>one<img src=i alt=two>three</a>", "one two three"),
        ("<a href=x><script>no()</script>yes<style>b{}</style></a>", "yes"),
        ("<a href=x>a&amp;b &eacute;</a>", "a&b é"),
        ("<a href=x>a\u0000\u200bb</a>", "a b"),
    ],
)
def test_the_words_of_a_link(html: str, words: str) -> None:
    (only,) = words_of(html)
    assert only == ("http://a.example/d/x", words)


@pytest.mark.parametrize(
    "html",
    ["<a href=x></a>", "<a href=x> <img src=i></a>", "<a name=x>no link</a>", "<p>text</p>", "",
     "<a href='javascript:go()'>go</a>", "<!-- <a href=x>y</a> -->"],
)  # fmt: skip
def test_no_words(html: str) -> None:
    assert words_of(html) == []


def test_the_base_and_the_charset_of_the_page() -> None:
    html = "<base href='//b.example/e/'><a href='?q=é'>Café</a>".encode("latin-1")
    assert words_of(html, "text/html; charset=iso-8859-1") == [
        ("http://b.example/e/?q=%E9", "Café")
    ]


def test_long_words_are_cut() -> None:
    ((_, words),) = words_of(f"<a href=x>{'word ' * 1000}</a>")
    assert words == ("word " * 40).strip()
    assert len(words) <= LONGEST_WORDS


def around(html: str, most: int = 10**6) -> list[str]:
    options, words = HtmlOptions(words=True, around=True), WordsOfLinks()
    page = html_document(html.encode(), "text/html; charset=utf-8", Counter(), options)
    for _ in document_links(page, PAGE, Counter(), {}, most, words):
        pass
    for targets, texts, more in words:
        assert len(targets) == len(texts.lines) == len(more.lines)
    return [text for *_, texts in words for text in texts.lines]


W = "word " * 40
MANY = W.strip()[:99]  # as many whole words as there are in 100 characters


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<a href=x>Hello</a>", ["Hello"]),
        ("see <a href=x>this</a><p>and <b>that</b>", ["see this and that"]),
        ("<title>no</title><script>no</script>a<!-- no --> <a href=x></a>b", ["a b"]),
        (f"{W}<a href=x>it</a> {W}", [f"{MANY} it {MANY}"]),
        ("語" * 200 + "<a href=x>it</a>" + "文" * 200, [f"{'語' * 100} it {'文' * 100}"]),
        ("a\u0000\u200bb <a href=x>it</a>\u200bc", ["a b it c"]),
        ("<a href=x>one</a> and <a href=y rel=nofollow>two</a>", ["one and two"] * 2),
        ("<a href=x>one</a> <area href=y> <a name=n>two</a>", ["one two", ""]),
        ("a <a href=x><svg><title>icon</title></svg></a> b", ["a icon b"]),
        (f"a <a href=x>{'k' * 198} elephants</a> b c", [f"a {'k' * 198} e b c"]),
        ("<a href=''>here</a> <a href='' rel=z>there</a>", ["here there"] * 2),
    ],
)
def test_words_around_a_link(html: str, texts: list[str]) -> None:
    assert around(html) == around(html, most=0) == texts


def test_large_pages_are_cut_outside_of_links() -> None:
    """Pages that are parsed in pieces: by their size, for their number of tags, in a table."""
    long = "<img alt=pict src='data:" + "A" * 2**17 + "'>"
    for begin, count in (("y " * 66_000, 2), ("y<br>" * 11_000, 2), ("<table>", 4_000)):
        cell = "<tr><td>" if begin == "<table>" else ""
        links = "".join(f"{cell}<a href=p{n}>word{n} <b>b</b></a> w{n} " for n in range(count))
        texts = [*filter(None, around(begin + links + f"<a href=i>{long}</a>"))]
        assert len(texts) == count + 1
        for number, text in enumerate(texts[:-1]):
            assert f" word{number} b " in f" {text} "
        with_next = sum(f"b w{number}" in text for number, text in enumerate(texts))
        assert count - 30 < with_next <= count
        assert "pict" in texts[-1].split()
        assert not any("x" in text.split() for text in texts)


@pytest.mark.parametrize(
    "some", ["<a href=x>", "w<a href=x>w", "w", "<div>", "<a href=x><b>w", "&"]
)
def test_words_around_are_read_in_linear_time(some: str) -> None:
    assert_linear(lambda count: around(f"<a href=x>{some * count}<a href=y>"), 4_000)


@pytest.mark.parametrize(("begin", "some", "count"), [
    (b"", b"<a href=x>", 9_000), (b"", b"<table><a href=x>w", 3_000),
    (b"<a href=x>", b"w ", 10**6), (b"", b"<div>", 200_000), (b"", b"<a href=x><b>", 4000),
    (b"", b"\xff", 10_000),
])  # fmt: skip
def test_hostile_pages_take_linear_time(begin: bytes, some: bytes, count: int) -> None:
    def read_many(count: int) -> None:
        words = read(begin + some * count, "text/html")
        assert all(len(text) <= LONGEST_WORDS for _, text in words)

    assert_linear(read_many, count)


def test_the_command(tmp_path: Path) -> None:
    """A file of lines, a table, and a folder of lines."""
    web = {"http://a.example/": ["/x"], "http://a.example/x": []}
    path = tmp_path.__truediv__
    archive, links, captures = write_warc(path("w.warc.gz"), web), path("l.txt"), path("c.txt")
    words = ("step", "extract-links", archive, "--output", links, "--captures", captures, *INLINE)
    assert "anchors" not in ok(*words).err
    without = links.read_bytes()
    for name in ("a.txt", "a.parquet", "anchors"):
        assert "anchors" in ok(*words, "--anchors", path(name)).err
        assert links.read_bytes() == without
    assert pq.read_table(path("a.parquet")).column_names == [
        "target",
        "source",
        "words",
        "timestamp",
    ]
    for part in (path("a.txt"), *path("anchors").iterdir()):
        (line,) = part.read_text().splitlines()
        target, source, text, _ = line.split("\t")
        assert (target, source) == ("http://a.example/x", "http://a.example/")
        assert text
