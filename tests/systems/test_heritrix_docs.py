"""docs/recrawl.md, typed as it stands by somebody who has a job that has crawled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from heritrix.job import Job
from heritrix.log import pages
from heritrix.recrawl import first_crawl
from heritrix.running import console, free_port
from heritrix.serving import Served
from support.crawls import environment
from support.paths import ROOT
from support.systems.heritrix_crawls import home, served

__all__ = ["home", "served"]
pytestmark = pytest.mark.heritrix
PAGE = (ROOT / "docs" / "recrawl.md").read_text()
BLOCK = re.compile(r"^```text\n((?:crawlrank|export) .*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [match[1].splitlines() for match in BLOCK.finditer(PAGE)]
COMMAND = f'#!/bin/sh\nexec "{sys.executable}" -m crawlrank "$@"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `jobs` is, with a `crawlrank` to type."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "bin").mkdir()
    (folder / "bin" / "crawlrank").write_text(COMMAND)
    (folder / "bin" / "crawlrank").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def job(home: Path, served: Served, folder: Path) -> Iterator[Job]:
    yield first_crawl(home, folder / "jobs" / "site", served.site)


def type_in(folder: Path, home: Path, line: str, code: int = 0) -> str:
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    known = environment(PATH=path, HERITRIX_HOME=str(home))
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=known, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_the_page_has_the_three_commands_and_no_others() -> None:
    words = [
        [line.split()[1] for line in block if line.startswith("crawlrank")] for block in BLOCKS
    ]
    assert words == [
        ["run", "recrawl", "audit"], ["recrawl"] * 2, ["recrawl"], ["audit"], ["recrawl"],
    ]  # fmt: skip


def test_three_commands_and_the_launch_that_they_print(folder: Path, home: Path, job: Job) -> None:
    (rank, ready, audit), (look_up,) = BLOCKS[0], BLOCKS[3]
    type_in(folder, home, rank)
    made_ready = type_in(folder, home, ready)
    (launch,) = [line for line in made_ready.splitlines() if line.startswith("  java ")]
    port = f" -b 127.0.0.1 -p {free_port()} -a "
    type_in(folder, home, launch.replace(" -a ", port).replace("PASSWORD", "word"))
    assert len(pages(job.crawl_log)) > 340
    said = type_in(folder, home, audit)
    assert re.search(r"within hosts +\d+ +[\d,]+ +[\d,]+ +100.00%", said)
    assert "found late: fetched after a later class      0\n" in said
    (printed,) = [line for line in made_ready.splitlines() if line.startswith("  crawlrank audit")]
    assert type_in(folder, home, printed) == said
    assert re.search(r"that Heritrix does not find +0\n", type_in(folder, home, look_up))


def test_parts_and_budgets(folder: Path, home: Path, job: Job) -> None:
    for number, line in enumerate(BLOCKS[1], 1):
        part = folder / "jobs" / f"site-{number}"
        part.mkdir()
        shutil.copy(job.folder / "crawler-beans.cxml", part)
        assert f"part {number} of 4 of the sites" in type_in(folder, home, line)
    (budget,) = BLOCKS[2]
    said = type_in(folder, home, f"{budget} --dry-run")
    assert re.search(r"^127\.0\.0\.1 +\d", said, re.MULTILINE)


def test_the_launch_over_rest(folder: Path, home: Path, job: Job) -> None:
    export, rest = BLOCKS[4]
    with console(home, folder / "jobs") as (url, login):
        typed = rest.replace("https://127.0.0.1:8443", url)
        known = export.replace("admin:PASSWORD", login)
        without = typed.replace("--certificate SHA256", "")
        refused = type_in(folder, home, f"{known}; {without}", code=3)
        fingerprint = re.findall(r"SHA-256 is ([0-9a-f]{64})", refused)
        said = type_in(folder, home, f"{known}; {typed.replace('SHA256', fingerprint[0])}")
    assert "site: Finished: FINISHED" in said
    assert "found late: fetched after a later class      0\n" in said
