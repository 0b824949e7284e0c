"""The pages of docs/ as a site: it is built without a warning, and browsers show what was meant."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.paths import ROOT, SCRIPTS

BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir"]
#: markup that stands in the text of a page only where a table, a link or a block broke
BROKEN = re.compile(r"\x00\s*\||\]\([\w./#-]+\)|^```|^#{1,4} ", re.MULTILINE)


class TextOfPage(HTMLParser):
    """The text of <article>, without code; a zero character begins each paragraph."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.code = self.article = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.code += tag in ("code", "pre", "script", "style")
        self.article += tag == "article"
        self.parts += ["\0"] * (tag == "p")

    def handle_endtag(self, tag: str) -> None:
        self.code -= tag in ("code", "pre", "script", "style")
        self.article -= tag == "article"

    def handle_data(self, data: str) -> None:
        if self.article and not self.code:
            self.parts.append(data)


def built(project: Path, out: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [*BUILD, str(out), "--config-file", str(project / "mkdocs.yml")]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = built(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out


def pages_of(site: Path) -> list[Path]:
    return [path for path in site.rglob("*.html") if path.name != "404.html"]


@pytest.mark.slow
def test_every_page_is_in_the_site(site: Path) -> None:
    expected = {path.stem for path in (ROOT / "docs").rglob("*.md")}
    assert {path.stem for path in pages_of(site)} == expected


@pytest.mark.slow
def test_no_markup_is_left_in_the_text(site: Path) -> None:
    for path in pages_of(site):
        text = "".join(TextOfPage(path.read_text()).parts)
        assert not BROKEN.findall(text), path.name


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in pages_of(site):
        loaded = re.findall(
            r"<(?:script|img|iframe)[^>]*src=\"?(?:https?:)?//[^>]*", path.read_text()
        )
        styles = re.findall(r"<link[^>]*stylesheet[^>]*href=\"?(?:https?:)?//", path.read_text())
        assert not loaded + styles, path.name


FAULTS = {
    "index": "[a](nowhere.md)",
    "other": "[a](index.md#no-heading)",
    "broken": "| a | b |\n|---|---|\n\n| 1 | 2 |",
}


@pytest.mark.slow
def test_faults_are_seen(tmp_path: Path) -> None:
    """A link and an anchor by what builds the site, and a table by what was built."""
    (tmp_path / "docs").mkdir()
    for name, fault in FAULTS.items():
        (tmp_path / f"docs/{name}.md").write_text(f"# Page\n\n{fault}\n")
    text = (ROOT / "mkdocs.yml").read_text()
    (tmp_path / "mkdocs.yml").write_text(text[: text.index("\nnav:")])
    done = built(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    warnings = sorted(line for line in done.stderr.splitlines() if line.startswith("WARNING"))
    assert len(warnings) == 2, done.stderr
    assert "nowhere.md" in warnings[0]
    assert "no-heading" in warnings[1]
    with pytest.raises(AssertionError, match=r"broken\.html"):
        test_no_markup_is_left_in_the_text(tmp_path / "out")


@pytest.mark.parametrize(
    "made, maker", [("man", "make_man_pages"), ("commands.md", "make_commands_page")]
)
def test_what_is_made_from_the_commands_is_current(
    made: str, maker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [maker, "--check"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(SCRIPTS / "docs" / maker), run_name="__main__")
    assert not end.value.code, f"docs/{made} is old: run scripts/docs/{maker}"


def test_what_troubleshooting_quotes_is_what_commands_say() -> None:
    """Each piece of code in its first column is in the source; … stands for what differs."""
    rows = re.findall(r"^\| (.*?) \|", (ROOT / "docs/troubleshooting.md").read_text(), re.MULTILINE)
    quoted = [piece for row in rows for piece in re.findall(r"`([^`]+)`", row)]
    folders = [ROOT / name for name in ("jobs", "pipeline", "Makefile")]
    files = [
        path
        for folder in folders
        for path in (folder.rglob("*.py") if folder.is_dir() else [folder])
    ]
    source = " ".join(" ".join(re.split(r"[\s\"]+", path.read_text())) for path in files)
    assert len(quoted) > 10
    for piece in quoted:
        if not piece.startswith("crawlrank: command"):  # the shell says it
            for part in filter(None, re.split(r"\s*…\s*", piece)):
                assert part in source, piece
