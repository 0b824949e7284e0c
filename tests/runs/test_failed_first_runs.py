"""What a run that failed early leaves: its folder takes the options that its error advises, and an
archive that cannot be reached costs itself alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.crawls import INLINE, WEB, crawlrank, ok, write_warc
from support.systems.web_server import WebServer
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.storage.web.connections import ALLOW_HTTP, ALLOW_PRIVATE


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    monkeypatch.setenv(ALLOW_HTTP, "1")
    monkeypatch.setenv(ALLOW_PRIVATE, "1")
    with WebServer().running() as server:
        yield server


def run(work: Path, *words: object) -> tuple[int, str]:
    said = crawlrank("run", *words, "--work", work, "--quiet", "--jobs", 1, "--no-validate")
    return said.code, said.err


def test_pages_without_links(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc", {"http://a.org/": [], "http://a.org/b": []})
    code, error = run(tmp_path / "work", archive)
    assert (code, "--nodes all" in error) == (3, True)
    assert run(tmp_path / "work", archive, "--nodes", "all") == (0, "")


def test_wrong_seeds(tmp_path: Path) -> None:
    archive, seeds = write_warc(tmp_path / "a.warc", WEB), tmp_path / "seeds.txt"
    seeds.write_text("three columns here\n")
    words = (archive, "--method", "trustrank", "--seeds", seeds)
    assert run(tmp_path / "work", *words)[0] == 3
    assert run(tmp_path / "work", archive) == (0, "")


def test_an_archive_that_cannot_be_read(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc"
    archive.write_bytes(b"bad\n")
    first = run(tmp_path / "work", archive)
    assert first[0] == 3
    assert run(tmp_path / "work", archive, "--max-record", 1 << 20) == first
    good = write_warc(tmp_path / "b.warc", WEB)
    assert run(tmp_path / "work", archive, good, "--links", "all", "--skip-bad-files") == (0, "")


def test_what_was_read_is_not_read_anew_unasked(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc", {"http://a.org/": [], "http://a.org/b": []})
    assert run(tmp_path / "work", archive)[0] == 3
    code, error = run(tmp_path / "work", archive, "--links", "all")
    assert (code, "was made with --links nav" in error) == (3, True)


@pytest.mark.slow
@pytest.mark.parametrize("runner", [(), INLINE], ids=["embedded", "inline"])
def test_an_archive_that_is_not_on_its_server(
    runner: tuple[str, ...], web: WebServer, tmp_path: Path
) -> None:
    data = write_warc(tmp_path / "a.warc", WEB).read_bytes()
    there, gone, work = web.put("/a.warc", data), web.url("/gone.warc"), tmp_path / "work"
    words = (*runner, "--no-validate", "--quiet", *(() if runner else ("--jobs", 1)))
    said = crawlrank("run", there, gone, "--work", work, *words)
    assert said.code == 3
    assert f"{gone}: HTTP status 404 Not Found" in said.err
    assert "--skip-bad-files" in said.err
    ok("run", there, gone, "--work", work, *words, "--skip-bad-files")
    entries = {entry["path"]: entry for entry in manifest_of(work)["archives"].values()}
    assert not entries[there]["error"]
    assert entries[gone]["error"][0] == "HTTP status 404 Not Found"
    assert "HTTP status 404 Not Found" in ok("status", "--work", work).out
    web.put("/gone.warc", write_warc(tmp_path / "b.warc", {"http://b.org/": ["/c"]}).read_bytes())
    ok("run", there, gone, "--work", work, *words)
    assert "http://b.org/" in (work / "precedence.txt").read_text()
