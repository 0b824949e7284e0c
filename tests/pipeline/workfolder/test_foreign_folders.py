"""What may not become a work folder: files of others are never mixed up with those of a run."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from support.crawls import MORE_WEB, WEB, crawlrank, ok, write_warc
from support.paths import LOOPBACK
from support.runs import finished

from crawlrank.pipeline.cli.commands import COMMANDS, loaded
from crawlrank.pipeline.cli.parameters.configuration import is_path, key_of

QUICK = ("--quiet", "--no-validate", "--iterations", 2, "--jobs", 1)
PATHS = [
    (command, parameter)
    for command in COMMANDS
    for parameter in loaded(command).params
    if isinstance(parameter, click.Argument) or is_path(key_of(parameter), parameter)
]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_warc(tmp_path / "a.warc.gz", {**WEB, **MORE_WEB})


@pytest.fixture
def links(tmp_path: Path) -> Path:
    path = tmp_path / "links.txt"
    path.write_text("http://b.example/ http://a.example/ L\n")
    return path


@pytest.mark.few(40)
@pytest.mark.parametrize(("command", "parameter"), PATHS)
def test_an_empty_path_is_refused(
    command: str, parameter: click.Parameter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--work "$W"` gives an empty path where W is not set."""
    monkeypatch.chdir(tmp_path)
    loading = loaded(command)
    given: list[str] = []
    for each in loading.params:
        if isinstance(each, click.Argument):
            count = max(each.nargs, 1) if each.required or each is parameter else 0
            given += ["" if each is parameter else "x"] * count
        elif each is parameter:
            given += [each.opts[0], ""]
    said = crawlrank(*command.split(), *given)
    assert said.code == 2, said
    assert list(tmp_path.iterdir()) == []


def test_the_empty_path_is_named(
    archive: Path, links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for words in (
        ("run", archive, "--work", ""),
        ("run", "", "--work", "w"),
        ("inspect", ""),
        ("status", "--work", ""),
        ("export-precedence", "", "--output", "p.txt"),
        ("export-precedence", archive, "--uris", "", "--output", "p.txt"),
        ("step", "import-text", "--links", "", "--work", "w"),
        ("step", "import-text", "--links", links, "--work", ""),
    ):
        said = crawlrank(*words)
        assert (said.code, "an empty text is no path" in said.err) == (2, True), (words, said)
    assert list(folder.iterdir()) == []
    Path("crawlrank.toml").write_text('work = ""\n')
    said = crawlrank("status")
    assert (said.code, "crawlrank.toml, line 1: work: an empty text" in said.err) == (2, True)


@pytest.mark.slow
def test_the_folder_of_all_is_no_work_folder(archive: Path, links: Path) -> None:
    work = finished(LOOPBACK)
    for words in (
        ("run", archive, "--work", "/"),
        ("step", "import-text", "--links", links, "--work", "/"),
        ("export", "--format", "text", "--work", work, "--out", "/"),
        ("plan", "--work", work, "--budget", "5/day", "--output", "/"),
    ):
        said = crawlrank(*words)
        assert (said.code, "/: the folder that all others are in" in said.err) == (3, True), said
    assert not any(Path("/", name).exists() for name in (".lock", "manifest.json", "links"))


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["a.warc.gz", "links/", "thesis.txt", "folder/", "plots/"])
def test_files_of_others_are_left_alone(
    name: str, links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    write_warc(tmp_path / "a.warc.gz", WEB)
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        (folder / name).write_bytes((tmp_path / "a.warc.gz").read_bytes())
    monkeypatch.chdir(folder)
    for words in (("run", "../a.warc.gz", *QUICK), ("step", "import-text", "--links", links)):
        for work in (".", folder):
            said = crawlrank(*words, "--work", work)
            assert said.code == 3, said
            assert f"holds `{name.rstrip('/')}`, but no manifest.json" in said.err
            assert f"such as {Path(work) / 'work'}." in said.err
    assert [path.name for path in folder.iterdir()] == [name.rstrip("/")]
    ok("run", "../a.warc.gz", *QUICK, "--work", "work")


def test_what_may_be_there_before_the_first_run(archive: Path, tmp_path: Path) -> None:
    """A configuration, a log, and what a run leaves that is killed as it begins."""
    work = tmp_path / "work"
    work.mkdir()
    for name in (".lock", ".crawlrank-tmp/x", "crawlrank.toml", "out.log"):
        path = work / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    ok("run", archive, "--work", work, "--log", work / "run.log", *QUICK)
    ok("status", "--check", "--work", work)
