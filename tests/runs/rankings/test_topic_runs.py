"""A run ranked by a topic: what is of it, and what commands say and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.crawls import crawlrank, ok, response, write_records
from support.runs import copy_of, finished

from crawlrank.pipeline.ranking.topic_words import TopicWords
from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database
from crawlrank.pipeline.workfolder.results.topics import topic_of
from crawlrank.pipeline.workfolder.weight_files import read_words

#: by page: its title, and its links
WEB = {
    "http://a.example/": (
        "Start",
        [("/jam", "Jam"), ("/x", "other"), ("http://b.example/", "news")],
    ),
    "http://a.example/p": ("Menu", [("/jam", "how to make JÂM"), ("/jam", "Jam"), ("/x", "other")]),
    "http://a.example/jam": ("A recipe", [("/deep", "more"), ("/jam", "jam")]),
    "http://b.example/": ("Jam and bread", [("http://a.example/jam", "jam"), ("/y", "bread")]),
    "http://b.example/y": ("y", [("http://b.example/", "start")]),
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = [
        response(
            uri,
            f"<meta charset=utf-8><title>{title}</title>".encode()
            + "".join(f"<a href='{to}'>{words}</a>\n" for to, words in links).encode(),
        )
        for uri, (title, links) in WEB.items()
    ]
    archive = write_records(tmp_path_factory.mktemp("made") / "made.warc", pages)
    given = "--anchor-text", "--titles", "--no-validate", "--nodes", "all"
    return copy_of(finished(archive, *given), tmp_path_factory.mktemp("work") / "work")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("jam\nbread\t0.5\n", encoding="utf-8")
    return path


def scores(work: Path, ranking: str, tmp: Path) -> dict[str, float]:
    output = tmp / f"{ranking}.jsonl"
    ok("export", work, "--ranking", ranking, "--output", output)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    return {row["url"]: row["score"] for row in rows}


def test_pages_and_links_of_a_topic(work: Path, words: Path, tmp_path: Path) -> None:
    ok("rank", work, "--method", "topic", "--words", words, "--name", "jam", "--quiet")
    manifest = json.loads((work / "rankings" / "jam" / "manifest.json").read_text())
    counters = manifest["steps"]["page-rank"]["counters"]
    # the links from both hosts to the recipe, that to y, and the title of b.example
    assert (counters["topic.pages"], counters["topic.links"]) == (3, 4)
    found = scores(work, "jam", tmp_path)
    assert max(found, key=lambda uri: found[uri]) == "http://a.example/jam"
    assert found["http://b.example/y"] > found["http://a.example/x"]
    assert min(found.values()) > 0
    explained = ok("explain", work, "http://a.example/jam", "--ranking", "jam").out
    assert " 1 of " in next(line for line in explained.splitlines() if "position" in line)
    assert "(links to it)" in explained and "links that count" not in explained
    again = ok("rank", work, "--method", "topic", "--words", words, "--name", "jam").err
    assert "unchanged, kept" in again
    words.write_text("bread\n")
    more = ("--quiet", "--force")
    ok("rank", work, "--method", "topic", "--words", words, "--name", "jam", *more)
    assert scores(work, "jam", tmp_path) != found


NEAR = (
    b"""<p>A shop for jam, <a href=/shop>open here</a>. Another page of bread and jam:
<a href=/jam>jam</a>.</p>"""
    + b"<p>Nothing</p>" * 20
    + b"<a href=/x>else</a>"
)


def test_words_around_a_link_count_for_half(words: Path, tmp_path: Path) -> None:
    archive = write_records(tmp_path / "a.warc", [response("http://a.example/", NEAR)])
    given = "--anchor-text", "--words-around", "--no-validate", "--nodes", "all"
    work = finished(archive, *given)
    with temporary_database(1 << 28) as (db, near):
        run = open_finished(work, db, near, "run")
        pages, links = topic_of(run, TopicWords((*read_words(words),), ""))
        ids = dict(run.rows("SELECT key, id FROM {mapped}"))
    found = {key: pages[ids[f"example,a){key}"]] for key in ("/", "/shop", "/jam", "/x")}
    assert found == {"/": 0, "/shop": (0 + 1.5) / 2, "/jam": (1 + 1.5) / 2, "/x": 0}
    assert sorted(links.weights) == [0.75, 1.25]


def refused(work: Path, *more: object) -> str:
    said = crawlrank("rank", work, "--method", "topic", "--name", "no", *more)
    assert said.code == 3, said
    return said.err


def test_what_has_no_topic(work: Path, words: Path, tmp_path: Path) -> None:
    words.write_text("nowhere\n")
    assert "none of 1 word or phrase" in refused(work, "--words", words)
    archive = write_records(
        tmp_path / "a.warc", [response("http://a.example/", b"<a href=/x>x</a>")]
    )
    plain = copy_of(finished(archive, "--no-validate"), tmp_path / "work")
    assert "--anchor-text" in refused(plain, "--words", words)
    ok("rank", plain, "--method", "degree", "--quiet")
    said = ok("diff", plain)
    assert said.err == (
        "crawlrank: the ranking no is left out: it is not finished, or of another graph\n"
    )
    assert "degree" in said.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--method", "topic"), "--method topic needs --words FILE"),
        (("--method", "pagerank", "--words", "{words}"), "--words is not for --method pagerank"),
        (
            ("--method", "topic", "--words", "{words}", "--teleport", "{words}"),
            "exclude each other",
        ),
    ],
)
def test_what_is_no_command(more: tuple[str, ...], said: str, work: Path, words: Path) -> None:
    given: list[Any] = [word.format(words=words) for word in more]
    told = crawlrank("rank", work, "--name", "no", *given)
    assert told.code == 2
    assert said in " ".join(told.err.split())
