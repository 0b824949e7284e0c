"""`make pipeline` on names with blanks, quotes and other signs that shells and make treat apart."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.crawls import FORKED, MORE_WEB, WEB, environment, write_warc
from support.paths import ROOT

COMMAND = f'#!/bin/sh\nexec {shlex.join(FORKED)} "$@"\n'
ODD = 'it\'s a "crawl" (1) & [2]; #3.warc.gz'


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A folder with a blank in its name, and the command in a folder beside it."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "crawlrank"
    command.write_text(COMMAND)
    command.chmod(0o755)
    folder = tmp_path / "my crawl"
    folder.mkdir()
    write_warc(folder / "first part.warc.gz", WEB)
    write_warc(folder / "second part.warc.gz", MORE_WEB)
    shutil.copy(folder / "first part.warc.gz", folder / ODD)
    return folder


def made(crawl: Path, archives: str, work: Path, **values: str) -> subprocess.CompletedProcess[str]:
    """`make pipeline`, without what makes the environment."""
    given = {"ARCHIVES": archives, "WORK": str(work), "BIN": str(crawl.parent / "bin"), **values}
    values_given = [f"{name}={value}" for name, value in given.items()]
    return subprocess.run(
        ["make", "-o", ".venv/.run", "pipeline", *values_given],
        cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip


ONE = {"http://a.example/", "http://a.example/about"}  # of WEB
BOTH = {*ONE, "http://b.example/x"}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("archives", "expected"),
    [
        pytest.param("'{folder}/first part.warc.gz'", ONE, id="quotes"),
        pytest.param("{escaped}/first\\ part.warc.gz", ONE, id="escapes"),
        pytest.param("'{folder}/*part.warc.gz'", BOTH, id="glob in quotes"),
        pytest.param("{escaped}/*part.warc.gz", BOTH, id="glob with escapes"),
        pytest.param(
            "'{folder}/first part.warc.gz' \"{folder}/second part.warc.gz\"", BOTH, id="several"
        ),
        pytest.param('"{folder}"/it*', ONE, id="quotes and a glob outside"),
        pytest.param(
            "'{folder}/it'\\''s a \"crawl\" (1) & [2]; #3.warc.gz'", ONE, id="other signs"
        ),
    ],
)
def test_archives_with_blanks_and_quotes(crawl: Path, archives: str, expected: set[str]) -> None:
    work = crawl.parent / 'it\'s my work; (1) "2"'
    named = archives.format(folder=crawl, escaped=str(crawl).replace(" ", "\\ "))
    options = "--quiet --no-validate --jobs 1"
    done = made(crawl, named, work, RUNNER="embedded", OPTIONS=options)
    assert done.returncode == 0, done.stderr
    lines = (work / "precedence.txt").read_text().splitlines()
    uris = {line.rpartition(" ")[0] for line in lines}
    assert expected <= uris
    assert ("http://b.example/x" in uris) == (expected == BOTH)


@pytest.mark.slow
def test_as_before(crawl: Path) -> None:
    """Names without blanks, a glob without quotes, and options."""
    plain = crawl.rename(crawl.parent / "crawl")
    for path in plain.iterdir():
        path.rename(plain / path.name.replace(" ", "-"))
    work = plain.parent / "work"
    done = made(
        plain, f"{plain}/*part.warc.gz", work, RUNNER="inline",
        OPTIONS="--bins 10 --quiet --no-validate",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"bins": 10' in (work / "precedence.summary.json").read_text()
