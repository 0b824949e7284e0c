"""Text with URIs of no page, and with byte order marks: every reader leaves out the former, counted
by reason, and the latter are no part of a line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.inputs.archive_samples import extracted, warc
from support.paths import LOOPBACK
from support.systems.cluster import cluster, dataset

from crawlrank.jobs.canonicalize import Canonicalize
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.mapreduce.launch import launch

GOOD = b"http://c.example/ http://b.example/\n"
LINKS = (
    b"javascript:alert(1) http://b.example/\n/relative http://b.example/ I\n"
    b"http://b.example/ mailto:x@b.example\ndata:,x data:,y L\nhttp:///x http://b.example/ E\n"
    b"FTP://a.example/ http://b.example/\nhttp://a.example/\xff javascript:x\n1 2\n"
    b"HTTPS://d.example/ http://b.example/\n"
)
CAPTURES = (
    b"dns:b.example\t-\t-\t-\t-\tresponse\tx.warc\t0\n"
    b"http://b.example/\t-\t-\t-\t-\tresponse\tx.warc\t0\n"
    b"http://d.example/\t-\t-\ttext/\xff\t-\tresponse\tx.warc\t0\n"
)
REASONS = {
    "dropped.invalid": 3,
    "dropped.not-utf-8": 2,
    "dropped.scheme.data": 1,
    "dropped.scheme.javascript": 1,
    "dropped.scheme.mailto": 1,
    "dropped.scheme.other": 2,
}
CANONICAL = [b"example,c)/ example,b)/", b"example,d)/ example,b)/"]
BY_HAND = ("--runner", "inline")


def files(folder: Path, links: bytes = GOOD + LINKS) -> tuple[Path, Path]:
    (folder / "links.txt").write_bytes(links)
    (folder / "captures.txt").write_bytes(CAPTURES)
    return folder / "links.txt", folder / "captures.txt"


def told_by(said: str) -> dict[str, int]:
    """The counts of what was left out, of a command's table."""
    rows = [line.split() for line in said.splitlines()]
    return {row[0]: int(row[1]) for row in rows if row and row[0].startswith("dropped.")}


@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_canonicalize(runner: str, tmp_path: Path) -> None:
    links, captures = files(tmp_path)
    outputs = ("--output", tmp_path / "canonical.txt", "--uris", tmp_path / "uris.txt")
    said = ok("step", "canonicalize", links, "--captures", captures, *outputs, "--runner", runner)
    assert told_by(said.err) == REASONS
    assert (tmp_path / "canonical.txt").read_bytes().splitlines() == CANONICAL


def test_canonicalize_on_a_cluster(tmp_path: Path) -> None:
    inputs, side = list(files(tmp_path)), {"uris": tmp_path / "uris"}
    outcome = launch(Canonicalize, inputs, tmp_path / "links", cluster(tmp_path, 3), side=side)
    dropped = {name: n for name, n in outcome.counters.items() if name.startswith("dropped.")}
    assert dropped == REASONS
    assert sorted(dataset(tmp_path / "links")) == CANONICAL
    examples = Counter(note.value.split(b"\t")[0].decode() for note in outcome.notes["dropped"])
    assert {f"dropped.{reason}": count for reason, count in examples.items()} == REASONS


def test_import_text(tmp_path: Path) -> None:
    links, captures = files(tmp_path)
    work, out = tmp_path / "work", tmp_path / "out"
    said = ok("step", "import-text", "--links", links, "--captures", captures, "--work", work)
    assert told_by(said.err) == REASONS
    ok("run", "--work", work, "--no-validate", "--quiet", "--jobs", 1)
    ok("export", "--format", "text", "--work", work, "--out", out)
    assert (out / "canonicalized_links.txt").read_bytes().splitlines() == CANONICAL


@pytest.mark.parametrize("links", [LINKS.replace(b"HTTPS:", b"x:"), b"1 2\n2 3\n3 1\n"])
def test_nothing_else_is_there(links: bytes, tmp_path: Path) -> None:
    path, _ = files(tmp_path, links)
    work, outputs = tmp_path / "work", (tmp_path / "c.txt", tmp_path / "u.txt")
    for words in (
        ("import-text", "--links", path, "--work", work),
        ("canonicalize", path, "--output", outputs[0], "--uris", outputs[1], *BY_HAND),
    ):
        said = crawlrank(*words)
        assert said.code == 3
        assert f"{path}: no line has URIs of pages (left out: " in said.err
        assert "invalid" in said.err
        assert "http:// or https://" in said.err
        assert "--canonical-links" in said.err
    assert not [output for output in outputs if output.exists()]


def test_numbers_are_ranked_where_they_are_keys(tmp_path: Path) -> None:
    """What the message tells to do."""
    edges = tmp_path / "edges.txt"
    edges.write_bytes(b"1 2\n2 3\n3 1\n")
    ok("step", "import-text", "--canonical-links", edges, "--work", tmp_path / "work")
    ok("run", "--work", tmp_path / "work", "--no-validate", "--quiet", "--jobs", 1)


def test_folds_are_of_pages(tmp_path: Path) -> None:
    links, captures = tmp_path / "links.txt", tmp_path / "captures.txt"
    when = b"20240101000000"
    rows = (
        (b"javascript:alert(1)", b"http://b.example/"),
        (b"http://c.example/", b"1"),
        (b"http://d.example/", b"http://b.example/d"),
    )
    links.write_bytes(b"".join(b"%s %s R %s\n" % (*row, when) for row in rows))
    line = b"%s\t%s\t302\t-\t-\tresponse\tx.warc\t0\t-\t-\t-\t-\t-\t-\n"
    captures.write_bytes(b"".join(line % (source, when) for _, source in rows))
    words = ("--captures", captures, "--fold", "redirects", "--folds", tmp_path / "folds.txt")
    ok("step", "select-links", links, *words, *BY_HAND)
    (fold,) = (tmp_path / "folds.txt").read_bytes().splitlines()
    assert fold.split(b"\t")[:2] == [b"example,b)/d", b"example,d)/"]


def test_scores_without_keys_are_of_pages(tmp_path: Path) -> None:
    scores = tmp_path / "scores.txt"
    scores.write_bytes(b"2.0\thttp://a.example/\n1.0\tjavascript:alert(1)\n")
    said = crawlrank("step", "export-precedence", scores, "--output", tmp_path / "precedence.txt")
    assert said.code == 3
    assert f"{scores}, line 2: URI 'javascript:alert(1)'" in said.err


# ---- byte order marks


def test_marks_of_links_and_captures(tmp_path: Path) -> None:
    """At the beginning of a file, and where files were put together."""
    links, captures = files(tmp_path, BOM + GOOD + BOM + GOOD.replace(b"c.", b"d."))
    captures.write_bytes(BOM + CAPTURES.splitlines(keepends=True)[1])
    (tmp_path / "none.txt").write_bytes(BOM)
    outputs = ("--output", tmp_path / "canonical.txt", "--uris", tmp_path / "uris.txt")
    inputs = (links, tmp_path / "none.txt", "--captures", captures)
    said = ok("step", "canonicalize", *inputs, *outputs, *BY_HAND)
    assert told_by(said.err) == {}
    assert (tmp_path / "canonical.txt").read_bytes().splitlines() == CANONICAL
    assert b"\t1\t1\t-" not in (tmp_path / "uris.txt").read_bytes()
    work = tmp_path / "work"
    said = ok("step", "import-text", "--links", links, "--captures", captures, "--work", work)
    assert told_by(said.err) == {}
    ok("run", "--work", work, "--no-validate", "--quiet", "--jobs", 1)
    ok("export", "--format", "text", "--work", work, "--out", tmp_path / "out")
    found = (tmp_path / "out" / "canonicalized_links.txt").read_bytes()
    assert found.splitlines() == CANONICAL


def test_marks_where_tasks_of_a_cluster_read_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "links.txt"
    path.write_bytes(BOM + GOOD)
    job = Canonicalize(["--mapper", "--step-num=0", "--runner", "inline"])
    lines = [value for _, value in job._mapper(None, path.read_bytes().rstrip(b"\n"))]
    lines += [value for _, value in job._mapper_final()]
    assert any(line == b"Vexample,b)/" for line in lines)


@pytest.mark.parametrize("step", ["assign-ids", "gen-graph", "page-rank", "join-scores"])
def test_marks_of_every_other_dataset(step: str, tmp_path: Path) -> None:
    """Files with and without marks give the same."""
    keys = b"example,b)/"
    rows = {
        "canonical": b"%s example,c)/\n" % keys,
        "input": b"0 %s example,c)/\n" % keys,
        "graph": b"0\t1.0\tO:dummy\ndummy\t1.0\tO:dummy\n",
        "map": b"0 %s\n" % keys,
        "uris": b"%s\thttp://b.example/\t1\t1\t-\n" % keys,
    }
    given = {
        "assign-ids": lambda at: (at("canonical"), "--map", at.parent / "m.txt"),
        "gen-graph": lambda at: (at("input"),),
        "page-rank": lambda at: (at("graph"), "--iterations", 2, "--quiet"),
        "join-scores": lambda at: (at("graph"), "--map", at("map"), "--uris", at("uris")),
    }
    found = []
    for mark in (b"", BOM):
        at = _Files(tmp_path / f"with-{len(mark)}", {name: mark + rows[name] for name in rows})
        ok(step, *given[step](at), "--output", at.parent / "out.txt", *BY_HAND)
        found.append((at.parent / "out.txt").read_bytes())
    assert found[0] == found[1] != b""


class _Files:
    def __init__(self, parent: Path, contents: dict[str, bytes]) -> None:
        self.parent = parent
        parent.mkdir()
        for name, data in contents.items():
            self(name).write_bytes(data)

    def __call__(self, name: str) -> Path:
        return self.parent / f"{name}.txt"


def test_marks_of_a_list_of_archives(tmp_path: Path) -> None:
    listed = tmp_path / "archives.txt"
    listed.write_bytes(BOM + bytes(LOOPBACK) + b"\r\n")
    ok("inspect", "--archives-from", listed, "--quiet", "--jobs", 1)


def test_marks_of_a_crawl_log(tmp_path: Path) -> None:
    log = (LOOPBACK.parent / "heritrix-loopback.crawl.log").read_bytes()
    precedence = tmp_path / "precedence.txt"
    precedence.write_bytes(b"http://a.example/ 1\n")
    told = []
    for mark in (b"", BOM):
        (tmp_path / "crawl.log").write_bytes(mark + log)
        out = ok("audit", precedence, tmp_path / "crawl.log", "--json", "-").out
        told.append(json.loads(out))
    assert told[0] == told[1]


def test_marks_of_sitemaps_and_robots_in_archives() -> None:
    """Their first lines count, too."""
    text = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + BOM
    data = warc(
        text + b"http://h.example/first\nhttp://h.example/2\n", "http://h.example/sitemap.txt"
    )
    links, *_ = extracted(data, links="all")
    assert [link.target for link in links] == [b"http://h.example/first", b"http://h.example/2"]
    data = warc(text + b"Sitemap: /s.xml\n", "http://h.example/robots.txt")
    links, *_ = extracted(data, links="all")
    assert [link.target for link in links] == [b"http://h.example/s.xml"]
