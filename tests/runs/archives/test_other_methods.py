"""Whole runs of archives with answers to HEAD, POST and others, beside runs without them: links,
precedence and captures are the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import ok, write_records

METHODS = ("HEAD", "OPTIONS", "POST", "DELETE")


def answer(number: int, method: str, path: str, minute: int, targets: str) -> bytes:
    """A response and the request that names it."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {{}}\r\nWARC-Target-URI: http://paper.example{path}\r\n"
        f"WARC-Date: 2024-03-01T10:{minute:02}:00Z\r\nContent-Type: application/http\r\n"
        "Content-Length: {}\r\n{}\r\n{}\r\n\r\n"
    )
    links = "" if method in ("HEAD", "OPTIONS") else "".join(f"<a href={t}>x</a>" for t in targets)
    page = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{links}"
    asked = f"{method} {path} HTTP/1.1\r\nHost: paper.example\r\n\r\n"
    own = f"WARC-Record-ID: <urn:{number}>\r\n"
    named = f"WARC-Record-ID: <urn:q{number}>\r\nWARC-Concurrent-To: <urn:{number}>\r\n"
    records = [
        head.format("response", len(page), own, page),
        head.format("request", len(asked), named, asked),
    ]
    return "".join(records).encode()


def made(folder: Path, archive: Path, runner: str) -> list[str]:
    work = folder / f"work-{archive.stem}"
    options = ("--captures", "latest", "--nodes", "all", "--runner", runner, "--no-validate")
    ok("run", archive, "--work", work, *options, "--iterations", 2, "--quiet")
    ok("export", "--format", "text", "--work", work, "--out", folder / f"text-{archive.stem}")
    text = folder / f"text-{archive.stem}" / "canonicalized_links.txt"
    return [text.read_text(), (work / "precedence.txt").read_text()]


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", pytest.param("inline", marks=pytest.mark.slow)])
def test_other_methods_change_nothing(tmp_path: Path, runner: str) -> None:
    pages = [
        answer(n, "GET", path, n, "abc") for n, path in enumerate(["/", "/a", "/b", "/c", "/d"])
    ]
    others = [
        answer(10 + n, method, "/" if n % 2 else "/a", 10 + n, "xyz")
        for n, method in enumerate(METHODS)
    ]
    alone = write_records(tmp_path / "alone.warc", pages)
    mixed = write_records(tmp_path / "mixed.warc", [*pages[:3], *others, *pages[3:]])
    right = made(tmp_path, alone, runner)
    assert "paper" in right[0]
    assert made(tmp_path, mixed, runner) == right
