"""What a reader raises that nobody thought of costs the archive that it read, or the links of one
record; on every runner, with its reason, and nothing else is lost."""

from __future__ import annotations

import gzip
import os
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from support.crawls import WEB, crawlrank, environment, ok, process
from support.inputs.archive_samples import page, warc
from support.paths import LOOPBACK
from support.runs import finished, shared_warc
from support.work_folders import manifest_of

ODD = "http://odd.example/sitemap.xml.gz"
NEVER = ValueError("a record that nobody thought of")
ERRORS = {
    "ValueError: a record that nobody thought of": NEVER,
    "RecursionError: too deep": RecursionError("too deep"),
    "error: Error -3": struct.error("Error -3"),
    "UnicodeDecodeError: 'utf-8' codec": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    "out of memory (MemoryError)": MemoryError(),
}
QUIET = ("--quiet", "--no-validate", "--iterations", 2)
#: a page that only the library brotli can read, and a file that only zlib can
BY_BROTLI = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\nbr"
PACKED = gzip.compress(b"<urlset/>")
BY_ZLIB = b"HTTP/1.1 200 OK\r\nContent-Type: application/gzip\r\n\r\n" + PACKED


def archives_with(folder: Path, response: bytes) -> list[Path]:
    """The second has a page before the one that the reader fails on, and one after it."""
    odd = folder / "odd one.warc"
    first, last = (
        page(f"<a href={uri}x>x</a>", uri)
        for uri in ("http://first.example/", "http://last.example/")
    )
    odd.write_bytes(first + warc(response, ODD) + last)
    return [shared_warc("web.warc.gz", WEB), odd, LOOPBACK]


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    return archives_with(tmp_path, BY_BROTLI)


def let_brotli_raise(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> None:
        raise error

    monkeypatch.setattr("brotli.Decompressor", failing)


class Inflater:
    """An inflater like zlib's that fails on PACKED."""

    def __init__(self, real: Any, error: Exception) -> None:
        self.real, self.error = real, error

    def decompress(self, data: bytes, *limit: int) -> Any:
        if data == PACKED:
            raise self.error
        return self.real.decompress(data, *limit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def runner_words(runner: str, folder: Path) -> tuple[object, ...]:
    if runner == "far":  # by lists of archives, as on a cluster
        return ("--runner", "inline", "--data", f"file://{folder}/data")
    return ("--runner", runner, "--jobs", 1)


def precedences(work: Path) -> bytes:
    return (work / "precedence.txt").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", "inline", "far"])
@pytest.mark.few(1)
def test_a_reader_that_fails_costs_its_archive(
    runner: str, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_brotli_raise(NEVER, monkeypatch)
    work, more = tmp_path / "work", (*runner_words(runner, tmp_path), *QUIET)
    said = crawlrank("run", *archives, "--work", work, *more)
    assert said.code == 3
    assert str(archives[1]) in said.err
    assert "ValueError: a record that nobody thought of" in said.err
    assert "The results of other archives are kept; --skip-bad-files continues" in said.err
    ok("run", *archives, "--work", work, "--skip-bad-files", *more)
    good = finished([archives[0], archives[2]], "--no-validate", "--iterations", 2)
    assert precedences(work) == precedences(good)
    (bad,) = [entry for entry in manifest_of(work)["archives"].values() if entry["error"]]
    assert bad["counters"] == {}


@pytest.mark.parametrize("words", ERRORS)
def test_whatever_it_raises_is_told(
    words: str, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_brotli_raise(ERRORS[words], monkeypatch)
    more = (*runner_words("embedded", tmp_path), *QUIET)
    said = crawlrank("run", archives[1], "--work", tmp_path / "work", *more)
    assert said.code == 3
    assert f"{archives[1]}: " in said.err
    assert words in said.err


FAULTY = """
import brotli
def failing():
    raise ValueError("a record that nobody thought of")
brotli.Decompressor = failing
"""


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", pytest.param("local", marks=pytest.mark.slow)])
def test_in_processes_of_their_own(runner: str, archives: list[Path], tmp_path: Path) -> None:
    """Each loads the fault by itself, as it begins, and so does the server that forks tasks."""
    (tmp_path / "sitecustomize.py").write_text(FAULTY)
    path = f"PYTHONPATH={tmp_path}{os.pathsep}{environment()['PYTHONPATH']}"
    words = (*archives, "--work", tmp_path / "work", "--runner", runner, "--jobs", 2, *QUIET)
    said = process("run", *words, command=["env", path, sys.executable, "-m", "crawlrank"])
    assert said.code == 3
    found = "reading it failed (ValueError: a record that nobody thought of)"
    assert f"{archives[1]}: {found}" in said.err


@pytest.mark.parametrize("runner", ["embedded", "inline"])
@pytest.mark.few(1)
def test_links_that_make_a_parser_fail_are_lost_alone(
    runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inflater, error = zlib.decompressobj, RecursionError("too deep")
    monkeypatch.setattr(zlib, "decompressobj", lambda *bits: Inflater(inflater(*bits), error))
    archives, work, out = archives_with(tmp_path, BY_ZLIB), tmp_path / "work", tmp_path / "out"
    ok("run", *archives, "--work", work, *runner_words(runner, tmp_path), *QUIET)
    manifest = manifest_of(work)
    counters = manifest["steps"]["extract-links"]["counters"]
    assert counters["damage.failed"] == counters["damage"] == 1
    (odd,) = [entry for entry in manifest["archives"].values() if entry["damage"]]
    ((_, reason, detail),) = odd["damage"]
    assert (reason, detail) == ("failed", "RecursionError: too deep")
    assert (odd["counters"]["captures"], odd["counters"]["links"]) == (3, 2)
    ok("export", "--format", "text", "--work", work, "--out", out)
    assert f"\n{ODD}\t".encode() in b"\n" + (out / "captures.txt").read_bytes()
    assert len((out / "links.txt").read_bytes().splitlines()) == counters["links"]
    strict = crawlrank("run", *archives, "--work", work, "--strict",
                       *runner_words(runner, tmp_path), *QUIET)  # fmt: skip
    assert strict.code == 3
    assert "failed (RecursionError: too deep)" in strict.err


def test_what_the_machine_lacks_is_no_fault_of_an_archive(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_brotli_raise(RuntimeError("can't start new thread"), monkeypatch)
    more = (*runner_words("embedded", tmp_path), "--skip-bad-files", *QUIET)
    said = crawlrank("run", *archives, "--work", tmp_path / "work", *more)
    assert said.code == 3
    assert "no more threads or processes can be started" in said.err
    assert str(archives[1]) not in said.err


def test_of_other_commands(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_brotli_raise(NEVER, monkeypatch)
    found = f"{archives[1]}: reading it failed (ValueError: a record that nobody thought of)"
    outputs = ("--output", tmp_path / "links.txt", "--captures", tmp_path / "captures.txt")
    for words in (
        ("extract-links", *archives, *outputs, "--runner", "inline"),
        ("inspect", *archives, "--jobs", 1),
    ):
        said = crawlrank(*words, "--quiet")
        assert said.code == 3
        assert found in said.err
    assert b"first.example" not in (tmp_path / "links.txt").read_bytes()
    assert b"a.example" in (tmp_path / "links.txt").read_bytes()
