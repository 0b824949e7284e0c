"""The recipe's own files, from a work folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.crawls import INLINE, MORE_WEB, WEB, crawlrank, datasets, ok
from support.runs import copy_of, finished, shared_warc

RUN = ("--iterations", 3, "--no-validate", *INLINE)


def run() -> Path:
    web, more = shared_warc("web.warc.gz", WEB), shared_warc("more.warc.gz", MORE_WEB)
    return finished([web, more], *RUN)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    out = tmp_path / "new" / "text"
    said = ok("export", "--format", "text", "--work", run(), "--out", out)
    assert said.out.splitlines() == [str(out / name) for name in NAMES]
    return out


NAMES = (
    "links.txt", "captures.txt", "canonicalized_links.txt", "input_links.txt", "map.txt", "pr0.txt",
    "pr3.txt", "pr.txt", "score_uri.txt", "precedence.txt",
)  # fmt: skip
LINES = {
    "links.txt": r"\S+ \S+",
    "captures.txt": r"\S+\t\d{14}\t\d{3}(\t[^\t]+){7}",
    "canonicalized_links.txt": r"\S+ \S+",
    "input_links.txt": r"\d+ \S+ \S+",
    "map.txt": r"\d+ \S+",
    "pr0.txt": r"(\d+|dummy)\t1\.0\tO:(dummy|\d+(,\d+)*)",
    "pr3.txt": r"(\d+|dummy)\t\d+\.\d+\tO:(dummy|\d+(,\d+)*)",
    "pr.txt": r"\d+\t\d+\.\d+",
    "score_uri.txt": r"\d+\.\d+\t\S+",
    "precedence.txt": r"\S+ [1-5]",
}


@pytest.mark.slow
def test_lines(text: Path) -> None:
    for name in NAMES:
        lines = (text / name).read_text().splitlines()
        assert lines
        assert [line for line in lines if not re.fullmatch(LINES[name], line)] == [], name


def test_the_files_are_the_datasets(text: Path) -> None:
    found = datasets(run())
    assert (text / "captures.txt").read_bytes() == found["captures"]
    assert (text / "canonicalized_links.txt").read_bytes() == found["canonical_links"]
    assert (text / "pr3.txt").read_bytes() == found["ranks"]
    assert (text / "pr0.txt").read_bytes() == found["graph"]
    assert (text / "pr0.txt").read_bytes().endswith(b"\ndummy\t1.0\tO:dummy\n")
    assert (text / "precedence.txt").read_bytes() == found["precedence.txt"]
    ids = [int(line.split()[0]) for line in (text / "map.txt").read_text().splitlines()]
    assert ids == list(range(len(ids)))
    scores = [
        float(line.split("\t")[0]) for line in (text / "score_uri.txt").read_text().splitlines()
    ]
    assert scores == sorted(scores, reverse=True)
    by_id = [float(line.split("\t")[1]) for line in (text / "pr.txt").read_text().splitlines()]
    assert sorted(by_id) == sorted(scores)


def test_the_steps_read_these_files(text: Path, tmp_path: Path) -> None:
    ok("step", "gen-graph", text / "input_links.txt", "--output", tmp_path / "pr0.txt", *INLINE)
    assert (tmp_path / "pr0.txt").read_bytes() == (text / "pr0.txt").read_bytes()
    ok("step", "export-precedence", text / "score_uri.txt", "--output", tmp_path / "p.txt")
    listed = {line.split()[0] for line in (tmp_path / "p.txt").read_text().splitlines()}
    assert len(listed) == len((text / "map.txt").read_text().splitlines())


def test_no_work_folder(tmp_path: Path) -> None:
    (copy_of(run(), tmp_path / "work") / "manifest.json").unlink()
    said = crawlrank(
        "export", "--format", "text", "--work", tmp_path / "work", "--out", tmp_path / "text"
    )
    assert said.code == 3
    assert "no manifest.json in it" in said.err
    assert not (tmp_path / "text").exists()


def test_a_graph_of_uris_has_links(tmp_path: Path) -> None:
    edges, work, out = tmp_path / "edges.csv", tmp_path / "work", tmp_path / "text"
    edges.write_text("source,target\nhttp://a.org/,http://b.org/\nhttp://b.org/,http://a.org/\n")
    ok("run", edges, "--work", work, "--no-validate", "--quiet")
    ok("export", work, "--format", "text", "--output", out)
    links = (out / "links.txt").read_text().splitlines()
    assert sorted(links) == ["http://a.org/ http://b.org/", "http://b.org/ http://a.org/"]
