"""Two crawls of one site, as Heritrix writes them, through all steps of both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, crawlrank, ok, write_records
from support.inputs.several_crawls import (
    SITE,
    first_crawl,
    html_record,
    second_crawl,
)
from support.work_folders import manifest_of

BRIEFLY = ("--no-validate", "--quiet", "--iterations", 2, "--jobs", 1)
BOTH = ("embedded", "inline")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("crawls")
    return [first_crawl(folder), second_crawl(folder)]


def ranked(
    work: Path, archives: list[Path], *options: object, runners: tuple[str, ...] = BOTH
) -> dict[str, bytes]:
    """The recipe's files of a run on the embedded engine, which the jobs have as well."""
    found = []
    for runner in runners:
        place = work / runner
        how = ("--runner", runner, "--nodes", "all", *BRIEFLY)
        ok("run", *archives, "--work", place, *how, *options)
        ok("export", "--format", "text", "--work", place, "--out", work / f"{runner}-text")
        files = {path.name: path.read_bytes() for path in (work / f"{runner}-text").iterdir()}
        files["links.txt"] = b"".join(sorted(files["links.txt"].splitlines(keepends=True)))
        found.append(files)
    told = [selection(work / runner) for runner in runners]
    assert found == [found[0]] * len(runners)
    assert told == [told[0]] * len(runners)
    return found[0]


def selection(work: Path) -> Any:
    steps = manifest_of(work)["steps"]
    entry = steps.get("select-links", {})
    return {name: entry.get(name) for name in ("rows", "counters")}


def links(files: dict[str, bytes]) -> set[tuple[str, str]]:
    """(source, target) by the paths of their keys."""
    rows = [line.split() for line in files["canonicalized_links.txt"].decode().splitlines()]
    return {(source.partition(")")[2], target.partition(")")[2]) for target, source in rows}


def from_page(files: dict[str, bytes], path: str) -> set[str]:
    return {target for source, target in links(files) if source == path}


def precedences(files: dict[str, bytes]) -> dict[str, str]:
    rows = [line.split() for line in files["precedence.txt"].decode().splitlines()]
    return {uri.removeprefix(SITE): number for uri, number in rows}


@pytest.mark.slow
def test_all_links_of_a_page_count_by_default(archives: list[Path], tmp_path: Path) -> None:
    files = ranked(tmp_path / "union", archives)
    assert from_page(files, "/a") == {"/b", "/news"}
    assert {"/a", "/only-in-metadata"} <= from_page(files, "/")
    assert selection(tmp_path / "union" / "inline")["rows"] is None
    assert not (tmp_path / "union" / "embedded" / "folds").exists()


def test_the_latest_capture_and_what_a_revisit_stands_for(
    archives: list[Path], tmp_path: Path
) -> None:
    files = ranked(tmp_path / "latest", archives, "--captures", "latest")
    assert from_page(files, "/a") == {"/news"}
    assert from_page(files, "/") == {"/old-news", "/a", "/kept", "/print/a"}
    assert from_page(files, "/kept") == {"/gone", "/a"}
    assert from_page(files, "/lost") == {"/a"}
    assert from_page(files, "/gone") == {"/"}
    assert from_page(files, "/b") == set()
    counters = selection(tmp_path / "latest" / "inline")["counters"]
    assert counters["revisits"] == 3
    assert counters["revisits.original"] == 2
    assert counters["revisits.own-outlinks"] == 1
    assert counters["folds.gone"] == 1
    said = ok("status", "--work", tmp_path / "latest" / "embedded")
    assert "whose latest capture is a revisit" in said.out


CHOICES = (
    ("--captures", "latest"),
    ("--fold", "redirects"),
    ("--captures", "latest", "--fold", "redirects"),
    ("--captures", "latest", "--fold", "redirects", "--fold", "canonical"),
)
NODES = ("linked", "all")


def gone_cases() -> Iterator[Any]:
    """Each rule, choice and kind of nodes; all pairs of a rule and a choice are slow."""
    rules = ("last", "drop", "keep")
    for number, options in enumerate(CHOICES):
        yield pytest.param(rules[number % 3], options, NODES[number % 2])
    for number, (options, gone) in enumerate(product(CHOICES, rules)):
        yield pytest.param(gone, options, NODES[number % 2], marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("gone", "options", "nodes"), [*gone_cases()])
def test_pages_that_are_gone(
    archives: list[Path],
    tmp_path: Path,
    gone: str,
    options: tuple[str, ...],
    nodes: str,
) -> None:
    """/b answers 404 in the second crawl, and /loop/1 and /loop/2 redirect to each other."""
    rules = (*options, "--gone", gone, "--nodes", nodes, "--bins", 3)
    files = ranked(tmp_path, archives, *rules)
    keys, listed = {path for link in links(files) for path in link}, precedences(files)
    lost = {"/b"} if "latest" in options else set()
    if "redirects" in options and "canonical" not in options:
        lost |= {"/loop/1", "/loop/2", "/into-loop"}
    scored = {
        line.split("\t")[1].removeprefix(SITE)
        for line in files["score_uri.txt"].decode().splitlines()
    }
    for path in lost:
        if gone == "keep":
            assert path in keys
            assert path in scored
        else:
            assert path not in keys
            assert (path in listed) == (gone == "last")
            assert (path in scored) == (gone == "last" and nodes == "all")
    if gone == "last" and nodes == "linked":
        assert {listed[path] for path in lost} <= {"3"}
        for engine in BOTH:
            said = ok("explain", "--work", tmp_path / engine, SITE + min(lost)).out
            assert "no link from or to it counts (--gone)" in said
    assert {"/", "/a", "/news"} <= keys


@pytest.mark.slow
def test_folds(archives: list[Path], tmp_path: Path) -> None:
    options = ("--fold", "redirects", "--fold", "canonical")
    files = ranked(tmp_path / "folds", archives, *options)
    assert "/gone" in {path for link in links(files) for path in link}
    rows = (tmp_path / "folds" / "inline" / "folds").glob("part-*")
    text = b"".join(part.read_bytes() for part in sorted(rows)).decode()
    lines = text.replace("example,site)", "").splitlines()
    assert sorted(line.split("\t") for line in lines) == [
        ["/chain/print", "/a", "redirect", "2"],  # to a page that names another one
        ["/moved-news", "/news", "redirect", "1"],
        ["/old-news", "/news", "redirect", "2"],
        ["/print/a", "/a", "canonical", "1"],
    ]
    assert "/news" in from_page(files, "/")
    keys = {path for link in links(files) for path in link}
    assert not keys & {"/old-news", "/moved-news", "/print/a", "/chain/print"}
    assert {"/loop/1", "/loop/2", "/into-loop"} <= keys
    listed = precedences(files)
    assert listed["/old-news"] == listed["/moved-news"] == listed["/news"]
    assert listed["/chain/print"] == listed["/print/a"] == listed["/a"]
    counters = selection(tmp_path / "folds" / "inline")["counters"]
    assert counters == {"folds.canonical": 1, "folds.redirect": 3, "unfolded.loop": 3}
    for engine in ("embedded", "inline"):
        work = tmp_path / "folds" / engine
        told = json.loads(ok("explain", "--work", work, f"{SITE}/old-news", "--json", "-").out)
        assert told["key"] == "example,site)/news"
        own = {"key": "example,site)/old-news", "kind": "redirect", "hops": 2}
        assert told["asked_fold"] == own
        assert [one["key"].partition(")")[2] for one in told["folded"]] == [
            "/moved-news", "/old-news",
        ]  # fmt: skip
        said = ok("explain", "--work", work, f"{SITE}/a")
        assert "one with it" in said.out
        assert "2 steps away" in said.out


@pytest.mark.slow
def test_a_page_that_redirects_now(archives: list[Path], tmp_path: Path) -> None:
    """/gone had a page in the first crawl, so that it is one with its target only if the latest
    captures count."""
    options = ("--captures", "latest", "--fold", "redirects")
    files = ranked(tmp_path / "latest", archives, *options)
    assert "/gone" not in {path for link in links(files) for path in link}
    assert "/" in from_page(files, "/kept")
    listed = precedences(files)
    assert listed["/gone"] == listed["/"]


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_the_steps_by_hand(runner: str, archives: list[Path], tmp_path: Path) -> None:
    """In this process, as a run does them, on the runner `local` with others."""
    options = ("--captures", "latest", "--fold", "redirects", "--fold", "canonical")
    work, path = tmp_path / "work", tmp_path.__truediv__
    ok("run", *archives, "--work", work, *options, *BRIEFLY, "--runner", runner)
    outputs = ("--output", path("l.txt"), "--captures", path("c.txt"))
    ok("step", "extract-links", *archives, *outputs, "--timestamps", "--canonical", *INLINE)
    outputs = ("--output", path("s.txt"), "--folds", path("f.txt"))
    folds = ("--fold", "redirects", "--fold", "canonical")
    inputs = (path("l.txt"), "--captures", path("c.txt"))
    ok("step", "select-links", *inputs, *outputs, "--take", "latest", *folds, *INLINE)
    outputs = ("--output", path("k.txt"), "--uris", path("u.txt"), "--folds", path("f.txt"))
    ok("step", "canonicalize", path("s.txt"), "--captures", path("c.txt"), *outputs, *INLINE)
    for dataset, name in (("canonical_links", "k.txt"), ("uris", "u.txt"), ("folds", "f.txt")):
        parts = (work / dataset).glob("part-*")
        lines = sorted(line for part in parts for line in part.read_bytes().splitlines())
        assert lines == path(name).read_bytes().splitlines(), dataset


@pytest.mark.slow
def test_one_crawl_without_repeats_is_the_same_either_way(
    archives: list[Path], tmp_path: Path
) -> None:
    union = ranked(tmp_path / "union", archives[:1], runners=BOTH[:1])
    assert ranked(tmp_path / "latest", archives[:1], "--captures", "latest") == union


@pytest.mark.slow
def test_clocks_that_disagree(tmp_path: Path) -> None:
    """A record without a date comes before all others, one from the future after them."""

    def captures(path: str) -> list[bytes]:
        future, usual, undated = (
            html_record(SITE + path, f"<a href=/{name}>", day)
            for day, name in ((1, "future"), (2, "usual"), (3, "undated"))
        )
        dates = (b"Date: 2099", b"Date: none")
        return [
            future.replace(b"Date: 2024", dates[0]), usual,
            undated.replace(b"Date: 2024", dates[1]),
        ]  # fmt: skip

    records = [*captures("/1"), *captures("/2")[1:], *captures("/3")[2:]]
    archive = write_records(tmp_path / "a.warc", records)
    files = ranked(tmp_path / "work", [archive], "--captures", "latest")
    found = [from_page(files, page) for page in ("/1", "/2", "/3")]
    assert found == [{"/future"}, {"/usual"}, {"/undated"}]


def test_links_that_do_not_tell_when_they_were_found(archives: list[Path], tmp_path: Path) -> None:
    path = tmp_path.__truediv__
    ok("step", "extract-links", *archives, "--output", path("l"), "--captures", path("c"), *INLINE)
    outputs = ("--output", path("s"), "--folds", path("f"))
    given = ("select-links", path("l"), "--captures", path("c"), *outputs, *INLINE)
    said = crawlrank(*given, "--take", "latest")
    assert said.code == 3
    assert "no link has a timestamp; expected `target source hop timestamp`" in said.err
    assert "extract-links --timestamps" in said.err
    assert not path("s").exists()
    wrong = crawlrank(*given)
    assert wrong.code == 2
    assert "--take latest and --output belong together" in wrong.err


def test_text_files_have_no_choice(archives: list[Path], tmp_path: Path) -> None:
    work, text = tmp_path / "work", tmp_path / "links.txt"
    text.write_text("http://a/ http://b/\n")
    ok("step", "import-text", "--links", text, "--work", work)
    said = crawlrank("run", "--work", work, "--captures", "latest", "--quiet")
    assert said.code == 3
    assert "was made from text files" in said.err


@pytest.mark.slow
def test_another_choice_is_refused_or_done_again(archives: list[Path], tmp_path: Path) -> None:
    work, said = tmp_path / "work", BRIEFLY
    ok("run", *archives, "--work", work, *said)
    plain = (work / "precedence.txt").read_bytes()
    ok("run", *archives, "--work", work, *said)
    options = ("--captures", "latest", "--fold", "canonical")
    refused = crawlrank("run", *archives, "--work", work, *said, *options)
    assert refused.code == 3
    assert "was made with --captures union, now it is run with --captures latest" in refused.err
    ok("run", *archives, "--work", work, *said, *options, "--force")
    assert (work / "selected").exists()
    ok("run", *archives, "--work", work, *said, "--force")
    assert not (work / "selected").exists()
    assert (work / "precedence.txt").read_bytes() == plain
