"""What a reader raises that nobody thought of costs the archive that it read, or the links of one
record; on every runner, with its reason, and nothing else is lost."""

from __future__ import annotations

import os
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest
from support.crawls import COMMAND, WEB, Said, checked, crawlrank, environment, ok, write_warc
from support.inputs.archive_samples import page
from support.paths import LOOPBACK
from support.work_folders import manifest_of

from jobs.kernel.captures import extraction
from pipeline.analysis.audit import outlinks

ODD = "http://odd.example/"
ERRORS = {
    "ValueError: a record that nobody thought of": ValueError("a record that nobody thought of"),
    "RecursionError: too deep": RecursionError("too deep"),
    "error: Error -3": zlib.error("Error -3"),
    "UnicodeDecodeError: 'utf-8' codec": UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    "out of memory (MemoryError)": MemoryError(),
}
QUIET = ("--quiet", "--no-validate", "--iterations", 2)


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    """The second has a page before the one that the reader fails on, and one behind it."""
    odd = tmp_path / "odd one.warc"
    uris = ("http://first.example/", ODD, "http://last.example/")
    odd.write_bytes(b"".join(page(f"<a href={uri}x>x</a>", uri) for uri in uris))
    return [write_warc(tmp_path / "a.warc", WEB), odd, LOOPBACK]


def fails(real: Any, error: Exception) -> Any:
    """As the function, but it raises for the odd page."""

    def faulty(*args: Any, **more: Any) -> Any:
        if any(ODD in (arg, getattr(arg, "uri", "")) for arg in args):
            raise error
        return real(*args, **more)

    return faulty


def runner_words(runner: str, folder: Path) -> tuple[object, ...]:
    if runner == "far":  # by lists of archives, as on a cluster
        return ("--runner", "inline", "--data", f"file://{folder}/data")
    return ("--runner", runner, "--jobs", 1)


def precedences(work: Path) -> bytes:
    return (work / "precedence.txt").read_bytes()


@pytest.mark.parametrize("words", ERRORS)
def test_a_reader_that_fails_costs_its_archive(
    words: str, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "described", fails(extraction.described, ERRORS[words]))
    runners = ("embedded", "inline", "far") if words.startswith("Value") else ("embedded",)
    for runner in runners:
        more = (*runner_words(runner, tmp_path / runner), *QUIET)
        work, good = tmp_path / runner / "work", tmp_path / runner / "good"
        (tmp_path / runner).mkdir()
        said = crawlrank("run", *archives, "--work", work, *more)
        assert said.code == 3
        assert str(archives[1]) in said.err
        assert words in said.err
        assert "The results of other archives are kept; --skip-bad-files goes on" in said.err
        ok("run", *archives, "--work", work, "--skip-bad-files", *more)
        if runner == "embedded":
            ok("run", archives[0], archives[2], "--work", good, *more)
            expected = precedences(good)
        assert precedences(work) == expected
        entries = manifest_of(work)["archives"].values()
        (bad,) = [entry for entry in entries if entry["error"]]
        assert bad["counters"] == {}


FAULTY = """
from jobs.kernel.captures import extraction
real = extraction.described
def faulty(item):
    if getattr(item, "uri", "") == %r:
        raise ValueError("a record that nobody thought of")
    return real(item)
extraction.described = faulty
"""


@pytest.mark.parametrize("runner", ["embedded", pytest.param("local", marks=pytest.mark.large)])
def test_in_processes_of_their_own(runner: str, archives: list[Path], tmp_path: Path) -> None:
    """Each loads the fault by itself, as it begins."""
    (tmp_path / "sitecustomize.py").write_text(FAULTY % ODD)
    path = f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}"
    words = ("run", *archives, "--work", tmp_path / "work", "--runner", runner, "--jobs", 2, *QUIET)
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        env=environment() | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    said = checked(Said(done.returncode, done.stdout, done.stderr))
    assert said.code == 3
    found = "reading it failed (ValueError: a record that nobody thought of)"
    assert f"{archives[1]}: {found}" in said.err


@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_links_that_make_a_parser_fail_are_lost_alone(
    runner: str, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = RecursionError("too deep")
    monkeypatch.setattr(extraction, "body_links", fails(extraction.body_links, error))
    work, out = tmp_path / "work", tmp_path / "out"
    ok("run", *archives, "--work", work, *runner_words(runner, tmp_path), *QUIET)
    manifest = manifest_of(work)
    counters = manifest["steps"]["extract-links"]["counters"]
    assert counters["damage.failed"] == counters["damage"] == 1
    (odd,) = [entry for entry in manifest["archives"].values() if entry["damage"]]
    ((_, reason, detail),) = odd["damage"]
    assert (reason, detail) == ("failed", "RecursionError: too deep")
    assert (odd["counters"]["captures"], odd["counters"]["links"]) == (3, 2)
    ok("export-text", "--work", work, "--out", out)
    assert f"\n{ODD}\t".encode() in b"\n" + (out / "captures.txt").read_bytes()
    assert len((out / "links.txt").read_bytes().splitlines()) == counters["links"]
    strict = crawlrank("run", *archives, "--work", work, "--strict",
                       *runner_words(runner, tmp_path), *QUIET)  # fmt: skip
    assert strict.code == 3
    assert "failed (RecursionError: too deep)" in strict.err


def test_what_the_machine_lacks_is_no_fault_of_an_archive(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = RuntimeError("can't start new thread")
    monkeypatch.setattr(extraction, "described", fails(extraction.described, error))
    more = (*runner_words("embedded", tmp_path), "--skip-bad-files", *QUIET)
    said = crawlrank("run", *archives, "--work", tmp_path / "work", *more)
    assert said.code == 3
    assert "no more threads or processes can be started" in said.err
    assert str(archives[1]) not in said.err


def test_of_other_commands(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = ValueError("a record that nobody thought of")
    found = f"{archives[1]}: reading it failed (ValueError: a record that nobody thought of)"
    monkeypatch.setattr(extraction, "described", fails(extraction.described, error))
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
    monkeypatch.setattr(outlinks.DescribedPages, "add", fails(outlinks.DescribedPages.add, error))
    said = crawlrank("compare-outlinks", *archives)
    assert said.code == 3
    assert found in said.err
