"""The package `crawlrank`, from a project that has folders named jobs and pipeline itself.

In processes of their own where the packages are the subject; other calls are forked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawls import MORE_WEB, WEB, environment, ok, write_warc
from support.library import fork_calls

import crawlrank

FOREIGN = 'NAME = "theirs"\n'
PROGRAM = """
import sys
before = set(sys.modules)
import crawlrank
heavy = {"subprocess", "click", "duckdb", "pyarrow", "numpy"}
assert not (heavy | {"crawlrank.commands", "crawlrank.jobs"}) & (set(sys.modules) - before)
import pipeline, jobs
assert pipeline.NAME == jobs.NAME == "theirs"
CALLS
assert pipeline.NAME == jobs.NAME == "theirs"
"""
#: a run, whose pool has processes, and a job, whose tasks are some
FEW_CALLS = """
crawlrank.run("crawl/*.warc.gz", work="work", jobs=2, quiet=True)
crawlrank.command("gen-graph", "links.txt", output="graph.txt", runner="local")
print(crawlrank.explain("work", "http://a.example/")["standing"]["position"])
print(open("graph.txt").readline())
"""
ALL_IN_TASKS = """
crawlrank.run("crawl/*.warc.gz", work="work", runner="local", quiet=True)
best = crawlrank.scores("work").to_pylist()[0]
print(best["url"], best["class"], crawlrank.explain("work", best["url"])["score"] == best["score"])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("jobs", "pipeline"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(FOREIGN)
    (tmp_path / "crawl").mkdir()
    write_warc(tmp_path / "crawl" / "web.warc.gz", WEB)
    write_warc(tmp_path / "crawl" / "more.warc.gz", MORE_WEB)
    (tmp_path / "links.txt").write_text("1 a b\n2 b a\n")
    return tmp_path


@pytest.fixture
def forked(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project, while calls are forked."""
    fork_calls(monkeypatch, project)
    return project


def in_project(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The project's own folder comes first on the path, that of crawlrank behind it."""
    path = f"{project}:{environment()['PYTHONPATH']}"
    return subprocess.run(
        [sys.executable, *words], cwd=project, env=environment(PYTHONPATH=path),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.slow
def test_a_project_keeps_its_own_packages(project: Path) -> None:
    done = in_project(project, "-c", PROGRAM.replace("CALLS", FEW_CALLS))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n1\t1.0\tO:2\n\n"


@pytest.mark.slow
def test_it_does_where_all_is_done_by_tasks(project: Path) -> None:
    done = in_project(project, "-c", PROGRAM.replace("CALLS", ALL_IN_TASKS))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "http://a.example/ 1 True\n"


def test_the_command_as_a_module(project: Path) -> None:
    done = in_project(project, "-m", "crawlrank", "inspect", "crawl/web.warc.gz", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"]["captures"]["count"] == len(WEB)


def test_all_names_are_there_and_say_what_they_are() -> None:
    homes = {name for names in crawlrank._HOMES.values() for name in names}
    assert homes == set(crawlrank.__all__) <= set(dir(crawlrank))
    assert all(getattr(crawlrank, name).__doc__ for name in crawlrank.__all__)


def test_results_are_those_of_the_commands(forked: Path) -> None:
    work, archives = forked / "w", sorted((forked / "crawl").glob("*.gz"))
    crawlrank.run(archives, work=work, nodes="all", jobs=1, quiet=True)
    crawlrank.rank(work, method="hits", quiet=True)
    expected = json.loads(ok("diff", work, "--json", "-").out)
    assert crawlrank.agree(work) == expected
    scores = crawlrank.scores(work)
    assert crawlrank.diff(work, work)["common"] == len(scores)
    first = scores.to_pylist()[0]
    assert crawlrank.explain(work, first["url"])["score"] == first["score"]
    crawlrank.export_precedence(work, forked / "p.txt", ranking="hits")
    assert (forked / "p.txt").read_text().count("\n") > 5
    assert crawlrank.hosts(work, top=1) == json.loads(
        ok("hosts", "--work", work, "--top", 1, "--json", "-").out
    )
    best = crawlrank.scores(work, host="b.example", top=1, ranking="hits")
    assert best["host"].to_pylist() == ["b.example"]
    page = forked / "report.html"
    numbers = crawlrank.report(work, page, ranking=["run", "hits"], quiet=True)
    assert [other["label"] for other in numbers["rankings"]] == ["hits"]
    assert page.read_text().startswith("<!doctype html>")
    assert crawlrank.inspect(archives[0], jobs=1)["total"]["archives"] == 1


def test_progress_is_passed_on(forked: Path, capfd: pytest.CaptureFixture[str]) -> None:
    crawlrank.run(forked / "crawl", work=forked / "w", jobs=1)
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


@pytest.mark.slow
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


def test_faults_are_raised(forked: Path) -> None:
    with pytest.raises(crawlrank.CommandFailed, match="no manifest") as fault:
        crawlrank.scores(forked)
    assert fault.value.exit_code == 3
    with pytest.raises(crawlrank.CommandFailed, match=r"No such option.*--no-such") as fault:
        crawlrank.explain(forked, "http://a.example/", no_such=1)
    assert fault.value.exit_code == 2
    with pytest.raises(crawlrank.CommandFailed, match="missing") as fault:
        crawlrank.run(forked / "missing.warc.gz", work=forked / "w")
    assert fault.value.exit_code == 3


def test_any_command_is_a_function(forked: Path) -> None:
    crawlrank.run(forked / "crawl", work=forked / "w", jobs=1, quiet=True)
    crawlrank.command("export", work=forked / "w", format="text", output=forked / "text")
    crawlrank.command(
        "page-rank", forked / "text/pr0.txt", output=forked / "r", iterations=3, runner="inline"
    )
    assert len(list((forked / "r").iterdir())) > 0
    checked = crawlrank.command("status", check=True, work=forked / "w")
    assert checked == ok("status", "--check", "--work", forked / "w").out
