"""What keys merge and what has none: the table of docs/formats.md, and what a run tells of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.crawls import INLINE, crawlrank, ok, response, write_records, write_warc
from support.paths import ROOT
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.keys.keys import key_of, shared_key_function
from crawlrank.jobs.kernel.keys.surt_keys import surt
from crawlrank.pipeline.data.datasets import ORDER, merged

key_keeping_www = shared_key_function("keep")
SECTION = (ROOT / "docs/formats.md").read_text().partition("## What surt merges")[2]
ROWS = re.findall(r"^\| (.*?) \| `(.*?)` \| `(.*?)` \| `(.*?)` \|$", SECTION, re.MULTILINE)
FIXED = ("--iterations", 2, "--no-validate", *INLINE)


def test_the_table_is_read() -> None:
    assert len(ROWS) == 17


@pytest.mark.parametrize(("what", "one", "another", "key"), ROWS, ids=[row[0] for row in ROWS])
def test_merged_as_documented(what: str, one: str, another: str, key: str) -> None:
    assert one != another
    assert surt.surt(one) == surt.surt(another) == key
    assert key_of(one.encode()) == key_of(another.encode()) == key.encode()
    kept_apart = key_keeping_www(one.encode()) != key_keeping_www(another.encode())
    assert kept_apart == what.startswith("`www")


def keys_of_a_run(archive: Path, work: Path, *args: object) -> set[bytes]:
    ok("run", archive, "--work", work, *FIXED, *args)
    return {line.split()[1] for line in merged(work / "map", ORDER["map"])}


@pytest.mark.slow
def test_a_run_keeps_www_when_asked(tmp_path: Path) -> None:
    links = ["http://www.b.example/", "http://b.example/", "http://www2.b.example/x"]
    archive = write_warc(tmp_path / "a.warc.gz", {"http://a.example/": links})
    work = tmp_path / "work"
    assert keys_of_a_run(archive, work) == {b"example,b)/", b"example,b)/x"}
    refused = crawlrank("run", archive, "--work", work, *FIXED, "--keep-www")
    assert refused.code == 3
    assert "--keep-www" in refused.err
    kept = {b"example,b)/", b"example,b,www)/", b"example,b,www2)/x"}
    assert keys_of_a_run(archive, work, "--keep-www", "--force") == kept
    assert manifest_of(work)["parameters"]["--keep-www"] is True


DOMAINS = ["http://www1.com/", "http://www2.com/", "http://www.b.example/", "http://www.com/a"]
OF_WWW = {
    (): {b"com,www1)/", b"com,www2)/", b"example,b)/", b"com,www)/a"},
    ("--surt-exact",): {b"com)/", b"example,b)/", b"com)/a"},
    ("--surt-exact", "--captures", "latest"): {b"com)/", b"example,b)/", b"com)/a"},
    ("--keep-www",): {b"com,www1)/", b"com,www2)/", b"example,b,www)/", b"com,www)/a"},
}


RUNNERS = {"embedded": ("--iterations", 2, "--no-validate", "--quiet"), "inline": FIXED}


@pytest.mark.slow
@pytest.mark.parametrize("runner", RUNNERS)
def test_registered_domains_are_kept_unless_surt_is_asked(runner: str, tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", {"http://a.example/": DOMAINS})
    for number, (options, keys) in enumerate(OF_WWW.items()):
        work = tmp_path / str(number)
        ok("run", archive, "--work", work, *RUNNERS[runner], *options)
        ok("export", "--format", "text", "--work", work, "--out", work / "text")
        lines = (work / "text/map.txt").read_bytes().splitlines()
        assert {line.split()[1] for line in lines} == keys
        for name in ("--keep-www", "--surt-exact"):
            assert manifest_of(work)["parameters"][name] is (name in options)
    again = ("run", archive, "--work", tmp_path / "0", *RUNNERS[runner], "--surt-exact")
    assert "--surt-exact" in crawlrank(*again).err
    both = crawlrank("run", archive, "--work", tmp_path / "x", "--keep-www", "--surt-exact")
    assert (both.code, "give one" in both.err) == (2, True)


@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_the_command_keeps_www_when_asked(runner: str, tmp_path: Path) -> None:
    links = tmp_path / "links.txt"
    links.write_text("http://www.b.example/ http://a.example/ L\n")
    out = tmp_path / "canonical.txt"
    outputs = ("--output", out, "--uris", tmp_path / "u.txt")
    ok("step", "canonicalize", links, *outputs, "--keep-www", "--runner", runner)
    assert out.read_text() == "example,b,www)/ example,a)/\n"


@pytest.mark.slow
def test_what_has_no_key_is_counted_and_shown(tmp_path: Path) -> None:
    bad = "http://b.example:99999/x"
    page = b'<a href="http://c.example/">'
    archive = write_records(
        tmp_path / "a.warc", [response("http://a.example/", page), response(bad, page)]
    )
    work = tmp_path / "work"
    ok("run", archive, "--work", work, *FIXED)
    entry = manifest_of(work)["steps"]["canonicalize"]
    assert entry["counters"]["dropped.no-key"] == 2  # the capture, and the link of its page
    assert set(entry["examples"]) == {f"no-key\t{bad}"}
    assert bad in ok("status", "--work", work).out
