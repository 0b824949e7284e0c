"""Extraction in several threads of a process."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.crawls import response, write_records

import crawlrank


def archive(folder: Path, host: str) -> Path:
    """Pages with plain links alone, and with other tags, each of a host of its own."""
    pages = []
    for number in range(300):
        links = "".join(f"<a href=/{number}/{at}>{host} {at}</a>" for at in range(40))
        more = f"<link rel=canonical href=/c{number}><img src=/i>" if number % 2 else ""
        html = f"<title>{host} {number}</title>{more}{links}"
        pages.append(response(f"http://{host}.example/{number}", html.encode()))
    return write_records(folder / f"{host}.warc", pages)


def read(path: Path) -> list[tuple[object, ...]]:
    return [*crawlrank.extract(path, anchor_text=True, titles=True, links="all")]


def test_each_thread_has_the_links_of_its_archive(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    archives = [archive(tmp_path, host) for host in ("a", "b", "c")]
    alone = [read(path) for path in archives]
    before = sys.getswitchinterval()
    request.addfinalizer(lambda: sys.setswitchinterval(before))
    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(read, archives)] == alone
