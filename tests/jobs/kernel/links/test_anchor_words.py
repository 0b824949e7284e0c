"""The words of links: what is read, in which charset, and how much."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from support.crawls import ok, write_warc

from jobs.kernel.links.anchor_words import LONGEST, anchor_words

PAGE = "http://a.example/d/p.html"


def words_of(
    html: str | bytes, content_type: str = "text/html; charset=utf-8"
) -> list[tuple[str, str]]:
    body = html if isinstance(html, bytes) else html.encode()
    found = anchor_words(body, PAGE, content_type, Counter())
    return [(target.decode(), words) for target, words in found]


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
    assert len(words) <= LONGEST


@pytest.mark.parametrize(
    "page",
    [b"<a href=x>" * 9_000, b"<table><a href=x>w" * 3_000, b"<a href=x>" + b"w " * 10**6,
     b"<div>" * 200_000, b"<a href=x><b>" * 4000, b"\xff" * 10_000],
)  # fmt: skip
def test_hostile_pages_take_little_time(page: bytes) -> None:
    begin = time.process_time()
    counters: Counter[str] = Counter()
    found = list(anchor_words(page, PAGE, "text/html", counters))
    assert found or counters["skipped.anchors"] or page[:1] == b"\xff" or b"w" not in page
    assert all(len(words) <= LONGEST for _, words in found)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("name", ["a.txt", "a.parquet", "anchors"])
def test_the_command(name: str, tmp_path: Path) -> None:
    archive = write_warc(
        tmp_path / "w.warc.gz", {"http://a.example/": ["/x"], "http://a.example/x": []}
    )
    outputs = ("--output", tmp_path / "l.txt", "--captures", tmp_path / "c.txt")
    plain = ok("extract-links", archive, *outputs)
    links = (tmp_path / "l.txt").read_bytes()
    with_words = ok("extract-links", archive, *outputs, "--anchors", tmp_path / name)
    assert (tmp_path / "l.txt").read_bytes() == links
    assert "anchors" in with_words.err
    assert "anchors" not in plain.err
    path = tmp_path / name
    if name == "a.parquet":
        import pyarrow.parquet as pq

        assert pq.read_table(path).column_names == ["target", "source", "words"]
        return
    parts = sorted(path.iterdir()) if path.is_dir() else [path]
    lines = [line.split("\t") for part in parts for line in part.read_text().splitlines()]
    assert [line[:2] for line in lines] == [["http://a.example/x", "http://a.example/"]]
    assert lines[0][2]
