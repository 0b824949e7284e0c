"""Commands and Python blocks in README.md and docs/ run, and what the README shows is printed.

Commands run in this process, and what needs a shell in one. The commands of the README are
processes of their own. Large samples are replaced by their beginnings; `make test-slow` takes them
whole.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

import pytest
from hadoop.node import Node
from support.crawls import FORKED, ok
from support.paths import ROOT, SAMPLES, SCRIPTS
from support.runs import copy_of, finished
from support.systems.hadoop_node import hadoop_around  # noqa: F401 - the fixture `hadoop`

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY"))]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NODE = re.compile(r"^```sh node\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # inside a Hadoop
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```sh\n([^\n]*)\n```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: words of pages that need the large samples
LARGE = re.compile(r"sample_data/aut-example|sample_data/\*|sample_data ")
BEGINNING = 30_000  # bytes of a large sample, about
#: what a shell has to read
SIGNS = re.compile(r"[|<>;&$*`]")
RUN = re.compile(
    r"crawlrank run (?P<archives>sample_data[^\s*]*(?: sample_data[^\s*]*)*)"
    r" --work (?P<work>\S+)(?P<options>.*)"
)

LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
COMMANDS = {"crawlrank": shlex.join(FORKED), "python": shlex.quote(sys.executable)}


def commands(page: Path) -> list[str]:
    """The shell lines of a page, in order."""
    return [line for block in SHELL.findall(page.read_text()) for line in block.splitlines()]


def script(page: Path) -> str:
    """The Python blocks of a page as one program; its line numbers are the page's."""
    text = page.read_text()
    lines = [""] * text.count("\n")
    for block in PYTHON.finditer(text):
        begin = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[begin : begin + len(code)] = code
    return "\n".join(lines)


@cache
def beginning(archive: Path) -> bytes:
    """The first members of a gzip file."""
    data, at = archive.read_bytes(), 0
    while at < BEGINNING:
        member = zlib.decompressobj(31)
        member.decompress(data[at:])
        at = len(data) - len(member.unused_data)
    return data[:at]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the pages think that they are; the current folder."""
    place = tmp_path / "folder"
    (place / "sample_data").mkdir(parents=True)
    for path in SAMPLES.iterdir():
        if path.name.startswith("aut-example"):
            (place / "sample_data" / path.name).write_bytes(beginning(path))
        else:
            (place / "sample_data" / path.name).symlink_to(path)
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment with the command `crawlrank` and this Python first on PATH."""
    place = tmp_path / "bin"
    place.mkdir()
    for name, command in COMMANDS.items():
        (place / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (place / name).chmod(0o755)
    configuration = place / "crawlrank.toml"
    configuration.write_text("jobs = 1\n")
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    more = {"PATH": path, "PYTHONPATH": str(ROOT), "CRAWLRANK_CONFIG": str(configuration)}
    return {**os.environ, **more}


def printed(line: str, shell: dict[str, str]) -> str:
    """What a line of a page prints, in the current folder."""
    if line.startswith("python -c "):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(shlex.split(line)[2], line, "exec"), {"__name__": "__main__"})
        return said.getvalue()
    if line.startswith("crawlrank ") and not SIGNS.search(line):
        return ok(*shlex.split(line)[1:]).out
    return printed_by_shell(line, shell)


def printed_by_shell(line: str, shell: dict[str, str]) -> str:
    done = subprocess.run(line, shell=True, env=shell, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout


def make_run(line: str, page: str) -> bool:
    """Whether a line is a run of which the page shows nothing. It is made in one process, and with
    others' if the page does not use it again."""
    if not line.startswith("crawlrank run ") or SIGNS.search(line):
        return False
    asked = RUN.fullmatch(line)
    archives = [Path(word).resolve() for word in asked["archives"].split()] if asked else []
    again = asked and len(re.findall(rf" run .*--work {asked['work']}\b", page)) > 1
    if asked and not again and all(SAMPLES in path.parents for path in archives):
        options = asked["options"].replace("--quiet", "").split()
        copy_of(finished(archives, *options), Path(asked["work"]))
    else:
        ok(*shlex.split(line)[1:], "--jobs", 1)
    return True


def run_all(page: Path, shell: dict[str, str]) -> None:
    """The commands of a page, in order; what the page shows of them is printed."""
    shown = dict(SHOWN.findall(page.read_text()))
    for line in commands(page):
        if line in shown:
            assert printed(line, shell).rstrip() == shown[line].rstrip(), f"{page.name} is old"
        elif page.name == "README.md":
            printed_by_shell(line, shell)
        elif not make_run(line, page.read_text()):
            printed(line, shell)


WITH_COMMANDS = [page for page in PAGES if commands(page)]
#: what takes seconds and has tests of its own
LONG = (
    *("agree.md", "aopic-lab.md", "archives.md", "audit.md", "estimate.md", "hosts.md"),
    *("inspect.md", "plan.md", "rankings.md", "several-crawls.md", "site.md", "take.md"),
    *("text-files.md", "harmonic.md", "opic.md", "opic-hits.md", "hits.md", "link-weight.md"),
    *("personalized.md", "compare.md", "elsewhere.md", "graphs.md", "rank-a-crawl.md"),
)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in LONG))
        for page in WITH_COMMANDS
    ],
)
def test_the_commands_of_a_page_run_in_order(
    page: Path, folder: Path, shell: dict[str, str]
) -> None:
    run_all(page, shell)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        page
        for page in WITH_COMMANDS
        if LARGE.search("\n".join(commands(page))) and page.name not in LONG
    ],
    ids=lambda page: page.name,
)
def test_they_run_on_whole_samples(page: Path, folder: Path, shell: dict[str, str]) -> None:
    for path in (folder / "sample_data").glob("aut-example*"):
        path.unlink()
        path.symlink_to(SAMPLES / path.name)
    run_all(page, shell)


@pytest.mark.hadoop
def test_the_commands_of_the_page_on_hadoop_run_in_a_node(
    hadoop: Node, folder: Path, shell: dict[str, str]
) -> None:
    (block,) = NODE.findall((ROOT / "docs" / "hadoop.md").read_text())
    done = subprocess.run(
        ["sh", "-ec", block], cwd=folder, env=shell, capture_output=True, text=True, timeout=900
    )
    subprocess.run(["hadoop", "fs", "-rm", "-r", "/crawl"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "/crawl/archives/heritrix-loopback.warc.gz" in done.stdout


WITH_PYTHON = [page for page in PAGES if script(page).strip()]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_blocks_of_a_page_run_in_order(
    page: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    exec(compile(script(page), page.name, "exec"), {"__name__": page.stem})
    assert capfd.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_they_run_as_programs(page: Path, folder: Path, shell: dict[str, str]) -> None:
    Path("page.py").write_text(script(page))
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "page.py"]
    done = subprocess.run(command, env=shell, capture_output=True, text=True, timeout=900)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
def test_the_readme_shows_what_the_sample_run_prints() -> None:
    script = SCRIPTS / "docs" / "make_readme_result"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script, "--check"], env=env, timeout=900)
    assert done.returncode == 0, "README.md is old: run scripts/docs/make_readme_result"
