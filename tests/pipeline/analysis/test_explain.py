"""`crawlrank explain` against what the text of a work folder says, page by page."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.compared import HOW, Plain, made_works, opened
from support.crawls import crawlrank, ok
from support.drawing import examples
from support.inputs.several_crawls import html_record
from support.paths import LOOPBACK
from support.runs import copy_of, finished, shared_warc

from crawlrank.jobs.kernel.formats.order import rounded
from crawlrank.pipeline.analysis.compare.explain import explain, tie_bounds

Works = dict[str, list[Path]]


@pytest.fixture(scope="module")
def works() -> Works:
    return made_works(1)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ["columns", "text"])
def test_every_page_is_what_its_lines_say(engine: str, works: Works) -> None:
    plain = Plain(works["text"][0])
    with opened(works[engine][0]) as (run,):
        for key in Random(1).sample(sorted(plain.score_of), examples(len(plain.score_of))):
            score = plain.score_of[key]
            told = explain(run, plain.uri_of[key], key, top=2)
            assert (told.score, told.shown) == (score, plain.uri_of[key])
            assert told.standing is not None
            assert told.standing.position == plain.place_of[key]
            assert told.standing.precedence == plain.class_of(key)
            assert told.standing.nodes == len(plain.score_of)
            assert told.links == len(plain.sources_of[key])
            by_gift = sorted((-plain.gives(source), source) for source in plain.sources_of[key])
            wanted = [(plain.uri_of[source], -gift) for gift, source in by_gift[:2]]
            assert [(link.uri, pytest.approx(link.gives)) for link in told.given] == wanted
            parts = [told.base, told.others_give, *(link.gives for link in told.given)]
            assert math.fsum(parts) == pytest.approx(score, rel=1e-5)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("over", "ties", "engine"),
    [
        ("captured", "key", "columns"),
        ("captured", "links", "text"),
        ("captured", "together", "columns"),
        ("all", "key", "text"),
        ("all", "links", "columns"),
        ("all", "together", "text"),
    ],
)
def test_classes_are_those_of_the_file(over: str, ties: str, engine: str, tmp_path: Path) -> None:
    """The crawl is one in which many pages have the same score. Every two of the values are
    together."""
    web = {f"http://a.example/{n}": [f"/{n % 5}", f"/{n % 3}", "/x"] for n in range(20)}
    archive = shared_warc("equal.warc.gz", web)
    given = "--iterations", 4, "--no-validate", "--nodes", "all", *HOW[engine]
    work = copy_of(finished(archive, *given), tmp_path / "work")
    asked = "--classes-over", over, "--ties", ties, "--bins", 6, "--quiet", "--force"
    ok("run", archive, "--work", work, *given, *asked)
    lines = (work / "precedence.txt").read_text().splitlines()
    precedence_of = {uri: int(precedence) for uri, precedence in (line.split() for line in lines)}
    with opened(work) as (run,):
        by_links = "sum(links) DESC, sum(captures) DESC, " if ties == "links" else ""
        pages = run.rows(
            "SELECT n.key, n.uri, score FROM {nodes} n JOIN {spelled} USING (key)"
            f" GROUP BY n.key, n.uri, score ORDER BY score DESC, {by_links}n.key"
        )
        for place, (key, uri, score) in enumerate(pages, 1):
            standing = explain(run, uri, key, top=0).standing
            assert standing is not None
            assert (standing.precedence, standing.position) == (precedence_of[uri], place)
            assert standing.equal == sum(rounded(row[2]) == rounded(score) for row in pages)


@given(st.floats(1e-6, 1e9), st.integers(1, 12))
def test_equal_scores_are_those_between_two_bounds(score: float, digits: int) -> None:
    low, high = tie_bounds(score, digits)
    value = rounded(score, digits)
    assert low <= score <= high
    assert rounded(low, digits) == rounded(high, digits) == value
    assert rounded(math.nextafter(low, 0), digits) < value
    assert rounded(math.nextafter(high, math.inf), digits) > value


@pytest.mark.slow
def test_spellings_and_captures(tmp_path: Path) -> None:
    web = {
        "http://a.example/": ["http://www.a.example/p", "http://a.example/P", "/q", "/bad%zz"],
        "http://a.example/p": ["/"],
        "http://a.example/q": ["http://a.example/p", "/"],
    }
    archive = shared_warc("spellings.warc.gz", web)
    told = []
    for how in HOW.values():
        work = finished(archive, "--iterations", 5, "--no-validate", *how)
        output = tmp_path / f"{len(told)}.json"
        shown = ok("explain", "--work", work, "HTTP://A.example/p#top", "--json", output).out
        told.append(json.loads(output.read_text()))
        assert "http://www.a.example/p" in shown and "unlisted, precedence 6" not in shown
    assert told[0] == told[1]
    assert (told[0]["key"], told[0]["shown"]) == ("example,a)/p", "http://a.example/p")
    listed = [(row["uri"], row["captures"], row["links"]) for row in told[0]["spellings"]]
    assert listed == [
        ("http://a.example/p", 1, 1), ("http://a.example/P", 0, 1), ("http://www.a.example/p", 0, 1)
    ]  # fmt: skip
    assert len({row["precedence"] for row in told[0]["spellings"]}) == 1
    assert [row["status"] for row in told[0]["captures"]] == [200]
    asked = told[0]["asked_spelling"]  # Heritrix writes the host in lower case, drops the fragment
    assert (asked["form"], asked["precedence"]) == ("http://a.example/p", listed_class(told[0]))


@pytest.mark.parametrize("engine", HOW)
def test_a_page_of_many_spellings(engine: str, tmp_path: Path) -> None:
    """Its captures are the latest by any of them, and so is its title."""
    session = "http://a.example/p?PHPSESSID={:032}"
    days = [*range(1, 25), 30]
    titles = ["OLD"] * 24 + ["NEW"]
    records = [
        html_record(session.format(99 - day), f"<title>{title}</title><a href=/q>q</a>", day)
        for day, title in zip(days, titles, strict=True)
    ]
    records.append(html_record("http://a.example/q", "<a href=/p>p</a>", 2))
    archive, work = tmp_path / "a.warc", tmp_path / "work"
    archive.write_bytes(b"".join(records))
    ok("run", archive, "--work", work, "--titles", "--no-validate", "--quiet", *HOW[engine])
    told = json.loads(ok("explain", work, "http://a.example/p", "--json", "-").out)
    assert (told["title"], told["spelling_count"], told["capture_count"]) == ("NEW", 26, 25)
    seen = [int(row["timestamp"][6:8]) for row in told["captures"]]
    assert seen == sorted(days, reverse=True)[:10]


def listed_class(told: dict[str, object]) -> object:
    return told["spellings"][0]["precedence"]  # type: ignore[index]


def test_a_captured_page_without_score_tells_why() -> None:
    work = finished(LOOPBACK)
    told = json.loads(
        ok("explain", "--work", work, "2,0,0,127:18082)/robots.txt", "--json", "-").out
    )
    assert told["score"] is None and "--nodes linked" in told["why_no_score"]
    assert [row["precedence"] for row in told["spellings"]] == [5]
    assert told["captures"][0]["archive"] == LOOPBACK.name
    ok("explain", "--work", work, "http://127.0.0.2:18082/robots.txt")


def test_a_folder_without_uris(works: Works, tmp_path: Path) -> None:
    text, work = tmp_path / "text", tmp_path / "work"
    ok("export", "--format", "text", "--work", works["columns"][0], "--out", text)
    ok(
        "step",
        "import-text",
        "--work",
        work,
        "--graph",
        text / "pr0.txt",
        "--map",
        text / "map.txt",
    )
    assert "is not done" in crawlrank("explain", "--work", work, "x)/").err
    ok("run", "--work", work, "--iterations", 5, "--no-validate", "--quiet")
    key = (text / "map.txt").read_text().split()[1]
    told = json.loads(ok("explain", "--work", work, key, "--json", "-").out)
    assert told["shown"] == key and told["spellings"] == [] and told["score"] > 0


@pytest.mark.parametrize("engine", ["columns", "text"])
def test_what_may_have_been_meant(engine: str, works: Works) -> None:
    work = works[engine][0]
    said = crawlrank("explain", "--work", work, "http://h1.example/page-100")
    assert (said.code, "http://h1.example/page-10 or " in said.err) == (3, True)
    said = crawlrank("explain", "--work", work, "http://h9.example/page-1")
    assert (said.code, "http://h1.example/" in said.err) == (3, True)
    said = crawlrank("explain", "--work", work, "http://nothing-like-it.test/")
    assert (said.code, "No host has a similar name" in said.err) == (3, True)


def test_refused(works: Works, tmp_path: Path) -> None:
    work = works["columns"][0]
    for uri in ("not a uri", "ftp://h1.example/", "http://h:99999/"):
        said = crawlrank("explain", "--work", work, uri)
        assert (said.code, "URI" in said.err) == (2, True), said
    assert crawlrank("explain", "--work", tmp_path / "none", "http://a/").code == 3
    (tmp_path / "manifest.json").write_text('{"format": 99}')
    said = crawlrank("explain", "--work", tmp_path, "http://a/")
    assert (said.code, "of another version" in said.err) == (3, True)


@pytest.mark.parametrize("uri", ["http://[::1", "http://", "https:///path", "http://[x/"])
def test_what_looks_like_a_uri(uri: str, works: Works) -> None:
    said = crawlrank("explain", "--work", works["columns"][0], uri)
    assert (said.code, "is no URI" in said.err) == (2, True), said


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["scores/scores.parquet", "map/map.parquet", "graph/offsets.npy"])
def test_broken_datasets(name: str, works: Works, tmp_path: Path) -> None:
    work = copy_of(works["columns"][0], tmp_path / "it's [a] folder")
    uri = Plain(works["text"][0]).uri_of.popitem()[1]
    ok("explain", "--work", work, uri)
    (work / name).write_bytes(b"nothing")
    said = crawlrank("explain", "--work", work, uri)
    assert (said.code, str(work) in said.err) == (3, True), said
    shutil.rmtree((work / name).parent)
    assert crawlrank("explain", "--work", work, uri).code == 3


def test_json_to_a_file(works: Works, tmp_path: Path) -> None:
    work, output = works["text"][0], tmp_path / "new" / "page.json"
    uri = Plain(work).uri_of.popitem()[1]
    assert uri in ok("explain", "--work", work, uri, "--json", output).out
    assert json.loads(output.read_text())["schema"] == "crawlrank-explain-1"
