"""No output of any command replaces what a run has written, or gets into one of its datasets."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK

from crawlrank.pipeline.cli.commands import COMMANDS, loaded
from crawlrank.pipeline.cli.parameters.command import OUTPUTS

#: what commands need besides a work folder and one output
NEEDED = {
    "run": (LOOPBACK, "--force"),
    "rank": ("--method", "hits", "--name", "h"),
    "explain": ("http://127.0.0.1/",),
    "plan": ("--budget", "5/day"),
}
SAFE = {("plan", "--json"): "--output", ("export", "--json"): "--output"}  # also needed
CASES = [
    (name, parameter.opts[0])
    for name in COMMANDS
    for parameter in loaded(name).params
    if {*parameter.opts} & OUTPUTS
    and any(each.name in ("work", "works") for each in loaded(name).params)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("own") / "work"
    ok("run", LOOPBACK, "--work", work, "--quiet", "--no-validate")
    return work


def contents(work: Path) -> dict[Path, bytes]:
    files = (path for path in work.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(work): path.read_bytes() for path in files}


def test_there_are_commands_to_check() -> None:
    assert {"export", "hosts", "report", "plan", "diff"} <= {name for name, _ in CASES}


def place(name: str, work: Path) -> tuple[object, ...]:
    """The work folder as the command takes it."""
    return ("--work", work) if name == "run" else (work, work) if name == "diff" else (work,)


@pytest.mark.few(8)
@pytest.mark.parametrize(("name", "option"), CASES)
def test_outputs_in_a_work_folder(name: str, option: str, made: Path, tmp_path: Path) -> None:
    work = shutil.copytree(made, tmp_path / "work")
    where = place(name, work)
    other = SAFE.get((name, option))
    before = contents(work)
    for target in (
        "scores/part-0.csv",
        "precedence.txt",
        "precedence.summary.json",
        "manifest.json",
        ".lock",
    ):
        more = (other, tmp_path / "safe") if other else ()
        said = crawlrank(*name.split(), *where, *NEEDED.get(name, ()), *more, option, work / target)
        assert (said.code, "a path of its own" in said.err) == (3, True), said
        assert contents(work) == before


@pytest.mark.parametrize(("name", "option"), CASES)
def test_outputs_that_are_links(name: str, option: str, made: Path, tmp_path: Path) -> None:
    """One that leads to itself is refused. Through others, what they lead to is written."""
    where = place(name, made)
    more = (other, tmp_path / "safe") if (other := SAFE.get((name, option))) else ()
    loop = tmp_path / "loop.csv"
    loop.symlink_to(tmp_path / "pool.csv")
    (tmp_path / "pool.csv").symlink_to(loop)
    for target in (loop, loop / "file.csv"):
        said = crawlrank(*name.split(), *where, *NEEDED.get(name, ()), *more, option, target)
        assert (said.code, "a link that leads to itself" in said.err) == (3, True), said
    assert loop.is_symlink()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("command", ["export-precedence", "hosts"])
def test_an_output_through_a_link(command: str, made: Path, tmp_path: Path) -> None:
    option = "--json" if command == "hosts" else "--output"
    (tmp_path / "far").mkdir()
    for name, target in (("link", "far/file"), ("new", "far/new")):
        (tmp_path / name).symlink_to(target)
        ok(command, "--work", made, option, tmp_path / name)
        assert (tmp_path / name).is_symlink()
        ok(command, "--work", made, option, tmp_path / "plain")
        assert (tmp_path / target).read_bytes() == (tmp_path / "plain").read_bytes()


@pytest.mark.parametrize("output", ["other.txt", "rankings/r/other.txt"])
def test_beans_of_a_run_are_not_replaced(output: str, made: Path, tmp_path: Path) -> None:
    """A precedence file gets beans beside it, of the name that those of a run have."""
    work = shutil.copytree(made, tmp_path / "work")
    (work / "rankings").mkdir()
    shutil.copytree(made, work / "rankings" / "r")
    before = contents(work)
    said = crawlrank("export", "--work", work, "--output", work / output, "--bins", 2)
    assert (said.code, contents(work) == before) == (3, True)
    assert "crawler-beans-fragment.xml" in said.err
    ok("export", "--work", work, "--output", work / "mine" / "other.txt")


def test_a_work_folder_that_is_not_named(made: Path, tmp_path: Path) -> None:
    """An output of scores that were given as a file."""
    work = shutil.copytree(made, tmp_path / "work")
    before = contents(work)
    for output in (work / "scores" / "p.txt", work / "p.txt", work / "precedence.txt"):
        said = crawlrank("step", "export-precedence", work / "scores", "--output", output)
        assert (said.code, contents(work) == before) == (3, True), said
    said = crawlrank("plan", "--work", work, "--budget", "5/day", "--output", work)
    assert (said.code, contents(work) == before) == (3, True), said
