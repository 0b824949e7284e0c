"""The words of links in a run: what `explain`, the report and lists make of them."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
from support.crawls import INLINE, crawlrank, ok, response, write_records
from support.paths import SAMPLES
from support.runs import finished

import crawlrank as library

HOW = {"columns": (), "text": INLINE}
ARC = SAMPLES / "aut-example.arc.gz"
HOSTILE = "<b onclick=x()>=1+1"
#: by page: its links, each a target and words
WEB = {
    "http://a.example/": [
        ("/x", "Home"),
        ("/x", "Home"),
        ("/y", "news"),
        ("http://b.example/", ""),
    ],
    "http://a.example/p": [
        ("/x", "Home"),
        ("/x", "Start page"),
        ("http://a.example:80/x", "again"),
    ],
    "http://a.example/x": [("/x", "me"), ("/y", HOSTILE)],
    "http://b.example/": [("http://a.example/x", "Home"), ("http://a.example/y", "news")],
    "http://c.example/": [("http://a.example/x", "the start"), ("http://a.example/never", "gone")],
}

#: a page that no other capture replaces
PLAIN = {"http://b.example/": [("http://a.example/t", "plain")]}


def body(links: list[tuple[str, str]]) -> bytes:
    escaped = ((uri, words.replace("&", "&amp;").replace("<", "&lt;")) for uri, words in links)
    return "".join(f"<a href='{uri}'>{words}</a>\n" for uri, words in escaped).encode()


def archive_of(web: dict[str, list[tuple[str, str]]], path: Path) -> Path:
    return write_records(path, [response(uri, body(links)) for uri, links in web.items()])


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return archive_of(WEB, tmp_path_factory.mktemp("made") / "made.warc")


@pytest.fixture(scope="module", params=HOW)
def work(request: pytest.FixtureRequest, archive: Path) -> Path:
    return finished(archive, "--anchor-text", "--no-validate", *HOW[request.param])


def used(page: str) -> list[tuple[str, int, int]]:
    """What a plain reading of WEB says: words, pages, hosts."""
    users = defaultdict[str, set[str]](set)
    for source, links in WEB.items():
        for target, words in links:
            uri = f"http://{urlsplit(source).netloc}{target}" if target[0] == "/" else target
            if uri.replace(":80/", "/") == page != source and words:
                users[words].add(source)
    rows = [(words, len(by), len({urlsplit(u).netloc for u in by})) for words, by in users.items()]
    return sorted(rows, key=lambda row: (-row[2], -row[1], row[0]))


def explained(work: Path, page: str, *more: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        ok("explain", page, "--work", work, "--json", "-", *more).out
    )
    return document


@pytest.mark.parametrize("page", ["http://a.example/x", "http://a.example/y", "http://b.example/"])
def test_texts_are_counted_by_pages_and_hosts(page: str, work: Path) -> None:
    document = explained(work, page)
    texts = [tuple(text.values()) for text in document["anchor_texts"]["texts"]]
    assert texts == used(page)
    assert document["anchor_texts"]["count"] == len(texts)
    shown = ok("explain", page, "--work", work).out
    assert (f"texts of links to it ({len(texts)})" in shown) == bool(texts)
    assert all(f"{words} " in shown for words, _, _ in texts)


def test_the_most_used_come_first(work: Path) -> None:
    named = explained(work, "http://a.example/x", "--links", 1)["anchor_texts"]
    assert [text["words"] for text in named["texts"]] == ["Home"]
    assert named["count"] == 4


def test_the_report_names_pages(work: Path, tmp_path: Path) -> None:
    ok("report", work, "--output", tmp_path / "r.html", "--json", tmp_path / "r.json")
    best = json.loads((tmp_path / "r.json").read_text())["scores"]["best"]
    named = {row["uri"]: row["anchor_texts"] for row in best}
    assert [tuple(text.values()) for text in named["http://a.example/x"]] == used(
        "http://a.example/x"
    )[:3]
    page = (tmp_path / "r.html").read_text()
    assert "called <bdi>“Home” by 3 pages of 2 hosts; “Start page” by 1 page of 1 host" in page
    assert HOSTILE not in page


def rows_in(path: Path) -> list[tuple[Any, ...]]:
    if path.suffix == ".parquet":
        return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]
    if path.suffix == ".jsonl":
        return [tuple(json.loads(line).values()) for line in path.read_text().splitlines()]
    with path.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [tuple(row) for row in rows]


def kept() -> Iterator[tuple[str, str, str]]:
    """Source, target and words of all links, each once a page."""
    for source, links in WEB.items():
        for target, words in dict.fromkeys(links):
            uri = f"http://{urlsplit(source).netloc}{target}" if target[0] == "/" else target
            if words:
                yield source, uri.replace(":80/", "/"), words


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_lists_have_the_columns_of_archives_unleashed(
    ending: str, work: Path, tmp_path: Path
) -> None:
    output = tmp_path / f"anchors.{ending}"
    ok("export", work, "--format", "anchors", "--output", output)
    rows = rows_in(output)
    assert {row[0] for row in rows} == {"20240506070809"}
    assert sorted(row[1:] for row in rows) == sorted(kept())
    if ending == "csv":
        assert output.read_text().splitlines()[0] == "crawl_date,src,dest,anchor"


@pytest.mark.slow
def test_engines_agree_on_a_real_crawl(tmp_path: Path) -> None:
    lists = []
    for name, how in HOW.items():
        work = finished(ARC, "--anchor-text", "--no-validate", *how)
        ok("export", work, "--format", "anchors", "--output", tmp_path / f"{name}.csv")
        lists.append(sorted(rows_in(tmp_path / f"{name}.csv")))
    assert lists[0] == lists[1]
    assert len(lists[0]) > 1000


def test_without_the_option_nothing_is_kept(archive: Path, tmp_path: Path) -> None:
    plain = finished(archive, "--no-validate")
    assert not (plain / "anchors").exists()
    assert explained(plain, "http://a.example/x")["anchor_texts"] is None
    refused = crawlrank("export", plain, "--format", "anchors", "--output", tmp_path / "a.csv")
    assert refused.code == 3
    assert "--anchor-text" in refused.err


@pytest.mark.parametrize("how", ["columns", pytest.param("text", marks=pytest.mark.slow)])
def test_they_come_and_go_with_the_option(how: str, archive: Path, tmp_path: Path) -> None:
    words = ("run", archive, "--work", tmp_path / "work", "--no-validate", "--quiet", *HOW[how])
    anchors = tmp_path / "work" / "anchors"
    ok(*words)
    assert not anchors.exists()
    ok(*words, "--anchor-text", "--force")
    assert len(list(anchors.iterdir())) == 1
    more = archive_of(
        {"http://d.example/": [("http://a.example/x", "later")]}, tmp_path / "more.warc"
    )
    ok(*words, more, "--anchor-text")
    assert len(list(anchors.iterdir())) == 2
    texts = explained(tmp_path / "work", "http://a.example/x")["anchor_texts"]["texts"]
    assert {"words": "later", "pages": 1, "hosts": 1} in texts
    ok(*words, more, "--force")
    assert not anchors.exists()


AROUND = b"""<title>No word of it</title><script>nor this</script>
<p>Some words come <i>before</i> <a href=/x>the link <img alt=picture></a>, others after it.
<a href=/y>next</a>"""


def test_words_around_links(tmp_path: Path) -> None:
    """The same by all engines, in the library, and in the list."""
    archive = write_records(tmp_path / "a.warc", [response("http://a.example/", AROUND)])
    page, before, after = "http://a.example/", "Some words come before the link picture", "next"
    wanted = [
        (f"{page}x", page, "the link picture", f"{before} , others after it. {after}"),
        (f"{page}y", page, "next", f"{before} , others after it. {after}"),
    ]
    for name, how in HOW.items():
        work, options = tmp_path / name, ("--anchor-text", "--words-around", "--no-validate")
        ok("run", archive, "--work", work, *options, *how)
        ok("export", work, "--format", "anchors", "--output", work / "anchors.csv")
        with (work / "anchors.csv").open(newline="") as lines:
            rows = [(r["dest"], r["src"], r["anchor"], r["around"]) for r in csv.DictReader(lines)]
        assert sorted(rows) == wanted
    found = library.extract(archive, anchor_text=True, words_around=True).anchors()
    assert sorted((row.target, row.source, row.words, row.around or "") for row in found) == wanted
    assert {row.around for row in library.extract(archive, anchor_text=True).anchors()} == {None}
    with pytest.raises(ValueError, match="words_around goes with anchor_text"):
        library.extract(archive, words_around=True)
    alone = crawlrank("run", archive, "--work", tmp_path / "no", "--words-around")
    assert (alone.code, "--anchor-text" in alone.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
def test_where_the_latest_capture_counts_so_do_its_words(how: str, tmp_path: Path) -> None:
    """Not those of a link that is gone, or that has other words by now."""
    old = {"http://a.example/": [("/t", "film"), ("/u", "old")], **PLAIN}
    new = {"http://a.example/": [("/u", "new")]}
    dated = [response(uri, body(links)) for uri, links in old.items()]
    dated += [
        response(uri, body(links)).replace(b"2024-05-06", b"2025-05-06")
        for uri, links in new.items()
    ]
    archive = write_records(tmp_path / "two.warc", dated)
    options = ("--anchor-text", "--no-validate", "--nodes", "all", *HOW[how])
    for latest in ((), ("--captures", "latest")):
        work = tmp_path / f"work{len(latest)}"
        ok("run", archive, "--work", work, *options, *latest)
        texts = {
            page: {text["words"] for text in explained(work, page)["anchor_texts"]["texts"]}
            for page in ("http://a.example/t", "http://a.example/u")
        }
        assert texts["http://a.example/t"] == ({"plain"} if latest else {"plain", "film"})
        assert texts["http://a.example/u"] == ({"new"} if latest else {"old", "new"})


def test_a_damaged_part_is_read_again(archive: Path, tmp_path: Path) -> None:
    words = (
        "run",
        archive,
        "--work",
        tmp_path / "work",
        "--no-validate",
        "--quiet",
        "--anchor-text",
    )
    ok(*words)
    (part,) = (tmp_path / "work" / "anchors").iterdir()
    whole = part.read_bytes()
    part.write_bytes(whole[:-1])
    damaged = crawlrank("explain", "http://a.example/x", "--work", tmp_path / "work")
    assert (damaged.code, "Traceback" in damaged.err) == (3, False)
    assert str(part.name) in damaged.err
    ok(*words)
    assert part.read_bytes() == whole


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"nofollow": "drop"}, ["one", "three"]),
        ({"max_links_per_page": 1}, ["one"]),
        ({}, ["one", "two", "three"]),
    ],
)
def test_links_that_are_left_out_have_no_words(
    asked: dict[str, Any], left: list[str], tmp_path: Path
) -> None:
    links = "<a href=/1>one</a><a href=/2 rel=nofollow>two</a><a href=/3>three</a>"
    archive = write_records(tmp_path / "a.warc", [response("http://a.example/", links.encode())])
    anchors = library.extract(archive, anchor_text=True, **asked).anchors()
    assert [anchor.words for anchor in anchors] == left


def test_pages_of_metadata_have_the_words_of_their_html(tmp_path: Path) -> None:
    archive = write_records(
        tmp_path / "a.warc", [response("http://a.example/", b"<a href=/1>one</a>")]
    )
    extraction = library.extract(archive, anchor_text=True, outlinks="metadata")
    assert [anchor.words for anchor in extraction.anchors()] == ["one"]
    assert extraction.counters["links"] == 0


def test_the_library_gives_them(archive: Path) -> None:
    extraction = library.extract(archive, anchor_text=True)
    assert Counter(row[:3] for row in extraction.anchors()) == Counter(kept())
    (batch,) = extraction.batches("anchors")
    assert batch.schema.names == ["source", "target", "words", "around"]
    assert not list(library.extract(archive).anchors())
