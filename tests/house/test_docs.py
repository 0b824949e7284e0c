"""Commands and Python blocks in README.md and docs/ run, and what the README shows is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hadoop.node import Node
from support.paths import ROOT, SCRIPTS
from support.systems.hadoop_node import hadoop_around  # noqa: F401 - the fixture `hadoop`

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NODE = re.compile(r"^```sh node\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # inside a Hadoop
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```sh\n([^\n]*)\n```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: pages with many commands
LARGE = ("audit.md", "compare.md", "rank-a-crawl.md", "several-crawls.md", "text-files.md")

LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
COMMAND = '#!/bin/sh\nexec "{python}" -m pipeline "$@"\n'


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the pages think that they are."""
    place = tmp_path / "folder"
    place.mkdir()
    (place / "sample_data").symlink_to(ROOT / "sample_data")
    return place


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment with the command `crawlrank` and this Python first on PATH."""
    place = tmp_path / "bin"
    place.mkdir()
    for name, text in (("crawlrank", COMMAND), ("python", '#!/bin/sh\nexec "{python}" "$@"\n')):
        (place / name).write_text(text.format(python=sys.executable))
        (place / name).chmod(0o755)
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def test_some_pages_have_commands() -> None:
    with_commands = {page.name for page in PAGES if commands(page)}
    assert {"README.md", "rank-a-crawl.md", "heritrix.md"} <= with_commands
    assert script(ROOT / "docs" / "library.md").strip()
    assert len(SHOWN.findall((ROOT / "docs" / "compare.md").read_text())) == 2


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.large] * (page.name in LARGE))
        for page in PAGES
        if commands(page)
    ],
)
def test_the_commands_of_a_page_run_in_order(
    page: Path, folder: Path, shell: dict[str, str]
) -> None:
    shown = dict(SHOWN.findall(page.read_text()))
    for command in commands(page):
        done = subprocess.run(
            command, shell=True, cwd=folder, env=shell, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if command in shown:
            assert done.stdout.rstrip() == shown[command].rstrip(), f"{page.name} shows another"


@pytest.mark.hadoop
@pytest.mark.long
def test_the_commands_of_the_page_on_hadoop_run_in_a_node(
    hadoop: Node, folder: Path, shell: dict[str, str]
) -> None:
    (block,) = NODE.findall((ROOT / "docs" / "hadoop.md").read_text())
    done = subprocess.run(
        ["sh", "-ec", block], cwd=folder, env=shell, capture_output=True, text=True, timeout=600
    )
    subprocess.run(["hadoop", "fs", "-rm", "-r", "/crawl"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "/crawl/archives/heritrix-loopback.warc.gz" in done.stdout


@pytest.mark.parametrize("page", [p for p in PAGES if script(p).strip()], ids=lambda p: p.name)
def test_the_python_blocks_of_a_page_run_in_order(
    page: Path, folder: Path, shell: dict[str, str]
) -> None:
    (folder / "page.py").write_text(script(page))
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "page.py"]
    done = subprocess.run(
        command, cwd=folder, env=shell, capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.large
def test_the_readme_shows_what_the_sample_run_prints() -> None:
    script = SCRIPTS / "docs" / "make_readme_result"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script, "--check"], env=env, timeout=300)
    assert done.returncode == 0, "README.md is old: run scripts/docs/make_readme_result"
