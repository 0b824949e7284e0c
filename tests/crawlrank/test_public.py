"""The package `crawlrank`, from a project that has folders named jobs and pipeline itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawls import MORE_WEB, WEB, environment, ok, write_warc

import crawlrank
from pipeline.cli.commands import COMMANDS

FOREIGN = 'NAME = "theirs"\n'
PROGRAM = """
import sys
before = set(sys.modules)
import crawlrank
assert not {"jobs", "click", "duckdb", "pyarrow", "numpy"} & (set(sys.modules) - before)
import pipeline, jobs
assert pipeline.NAME == jobs.NAME == "theirs"
crawlrank.run("crawl/*.warc.gz", work="work", runner=RUNNER, quiet=True)
best = crawlrank.scores("work").to_pylist()[0]
print(best["url"], best["class"], crawlrank.explain("work", best["url"])["score"] == best["score"])
assert pipeline.NAME == jobs.NAME == "theirs"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("jobs", "pipeline"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(FOREIGN)
    (tmp_path / "crawl").mkdir()
    write_warc(tmp_path / "crawl" / "web.warc.gz", WEB)
    write_warc(tmp_path / "crawl" / "more.warc.gz", MORE_WEB)
    return tmp_path


def in_project(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The project's own folder comes first on the path, that of crawlrank behind it."""
    path = f"{project}:{environment()['PYTHONPATH']}"
    return subprocess.run(
        [sys.executable, *words], cwd=project, env=environment(PYTHONPATH=path),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize("runner", ["embedded", "local"])
def test_a_project_keeps_its_own_packages(project: Path, runner: str) -> None:
    done = in_project(project, "-c", PROGRAM.replace("RUNNER", repr(runner)))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "http://a.example/ 1 True\n"


def test_the_command_as_a_module(project: Path) -> None:
    done = in_project(project, "-m", "crawlrank", "inspect", "crawl/web.warc.gz", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"]["captures"]["count"] == len(WEB)


def test_functions_are_commands(project: Path) -> None:
    public = {name.replace("_", "-") for name in crawlrank.__all__ if name[0].islower()}
    # parts of others
    assert public - {"scores", "estimate", "command"} <= COMMANDS.keys()
    assert all(getattr(crawlrank, name).__doc__ for name in crawlrank.__all__)


def test_results_are_those_of_the_commands(project: Path) -> None:
    work, archives = project / "w", sorted((project / "crawl").glob("*.gz"))
    crawlrank.run(archives, work=work, nodes="all", quiet=True)
    crawlrank.rank(work, method="hits", quiet=True)
    expected = json.loads(ok("agree", work, "--json", "-").out)
    assert crawlrank.agree(work) == expected
    assert crawlrank.diff(work, work)["common"] == len(crawlrank.scores(work))
    crawlrank.export_precedence(work, project / "p.txt", ranking="hits")
    assert (project / "p.txt").read_text().count("\n") > 5
    assert crawlrank.hosts(work, top=1) == json.loads(
        ok("hosts", "--work", work, "--top", 1, "--json", "-").out
    )
    best = crawlrank.scores(work, host="b.example", top=1, ranking="hits")
    assert best["host"].to_pylist() == ["b.example"]
    page = project / "report.html"
    numbers = crawlrank.report(work, page, ranking=["run", "hits"], quiet=True)
    assert [other["label"] for other in numbers["rankings"]] == ["hits"]
    assert page.read_text().startswith("<!doctype html>")
    assert crawlrank.inspect(archives[0])["total"]["archives"] == 1


def test_progress_is_passed_on(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    crawlrank.run(project / "crawl", work=project / "w")
    said = capfd.readouterr()
    assert "page-rank" in said.err
    assert said.out == ""


INTERRUPTED = """
import os, signal, sys
import crawlrank

class Progress:
    def write(self, line):
        if line.startswith("gen-graph"):
            os.kill(os.getpid(), signal.SIGINT)

    def flush(self):
        pass

sys.stderr = Progress()
try:
    crawlrank.run("crawl/web.warc.gz", work="work", iterations=100_000_000)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_of_the_program_alone_ends_the_run_too(project: Path) -> None:
    """As by `os.kill`, which reaches no other process, unlike Ctrl-C."""
    done = in_project(project, "-c", INTERRUPTED)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
    status = json.loads(ok("status", "--work", project / "work", "--json", "-").out)
    assert status["run"]["state"] == "interrupted"
    assert not status["run"]["process"]["lives"]
    states = {each["step"]: each["state"] for each in status["steps"]}
    assert states["gen-graph"] == "done"
    assert states["page-rank"] in ("to do", "begun")


def test_faults_are_raised(project: Path) -> None:
    with pytest.raises(crawlrank.CommandFailed, match="no manifest") as fault:
        crawlrank.scores(project)
    assert fault.value.exit_code == 3
    with pytest.raises(crawlrank.CommandFailed, match=r"No such option.*--no-such") as fault:
        crawlrank.explain(project, "http://a.example/", no_such=1)
    assert fault.value.exit_code == 2
    with pytest.raises(crawlrank.CommandFailed, match="missing") as fault:
        crawlrank.run(project / "missing.warc.gz", work=project / "w")
    assert fault.value.exit_code == 3


def test_any_command_is_a_function(project: Path) -> None:
    crawlrank.run(project / "crawl", work=project / "w", quiet=True)
    crawlrank.command("export-text", work=project / "w", out=project / "text")
    crawlrank.command(
        "page-rank", project / "text/pr0.txt", output=project / "r", iterations=3, runner="inline"
    )
    assert len(list((project / "r").iterdir())) > 0
    checked = crawlrank.command("check", work=project / "w")
    assert checked == ok("check", "--work", project / "w").out
