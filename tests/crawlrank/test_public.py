"""The package `crawlrank`, in the process of its caller, from a project that has folders named jobs
and pipeline itself."""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.crawls import MORE_WEB, WEB, environment, ok, write_warc
from support.paths import ROOT

import crawlrank

FOREIGN = 'NAME = "theirs"\n'
PROGRAM = """
import os, signal, sys
before = set(sys.modules)
import crawlrank
heavy = {"subprocess", "click", "duckdb", "pyarrow", "numpy"}
assert not (heavy | {"crawlrank.pipeline", "crawlrank.jobs"}) & (set(sys.modules) - before)
import pipeline, jobs
assert pipeline.NAME == jobs.NAME == "theirs"
signals = (2, 15)
state = lambda: (dict(os.environ), os.getcwd(), *map(signal.getsignal, signals), *sys.argv)
first = state()
CALLS
assert state() == first
assert pipeline.NAME == jobs.NAME == "theirs"
print("end")
"""
#: a run whose pool has processes, which must not begin this program again
IN_POOL = """
crawlrank.run(["crawl/web.warc.gz", "crawl/more.warc.gz"], work="work", jobs=2)
print(crawlrank.open("work").explain("http://a.example/")["standing"]["position"])
"""
ALL_IN_TASKS = """
crawlrank.run("crawl/*.warc.gz", work="work", runner="local")
best = crawlrank.open("work").scores().to_pylist()[0]
print(best["class"])
"""
#: as in a notebook, whose cells are executed in one namespace, and in a thread
IN_CELLS = """
import threading
cells = ["import crawlrank as c", "c.run('crawl/*.warc.gz', work='work', jobs=2)",
         "print(c.open('work').scores(top=1)['class'][0].as_py())"]
space = {"__name__": "__main__"}
def run_cells():
    for cell in cells:
        exec(cell, space)
thread = threading.Thread(target=run_cells)
thread.start()
thread.join()
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
    """The project's own folder comes first on the path, that of crawlrank after it."""
    path = f"{project}:{environment()['PYTHONPATH']}"
    return subprocess.run(
        [sys.executable, *words], cwd=project, env=environment(PYTHONPATH=path),
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("calls", [IN_POOL, IN_CELLS, ALL_IN_TASKS], ids=["pool", "cells", "tasks"])
@pytest.mark.parametrize("script", [True, False], ids=["script", "-c"])
def test_a_program_runs_once_and_stays_as_it_is(project: Path, calls: str, script: bool) -> None:
    """A script without `if __name__ == "__main__"`, and one that is no file."""
    program = PROGRAM.replace("CALLS", calls)
    (project / "program.py").write_text(program)
    done = in_project(project, *(["program.py"] if script else ["-c", program]))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\nend\n", "")


def test_the_command_as_a_module(project: Path) -> None:
    done = in_project(project, "-m", "crawlrank", "inspect", "crawl/web.warc.gz", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["total"]["captures"]["count"] == len(WEB)


def test_all_names_are_there_and_say_what_they_are() -> None:
    homes = {name for names in crawlrank._HOMES.values() for name in names}
    assert homes == set(crawlrank.__all__) <= set(dir(crawlrank))
    assert all(getattr(crawlrank, name).__doc__ for name in crawlrank.__all__)


def test_editors_see_the_names() -> None:
    tree = ast.parse((ROOT / "crawlrank/__init__.py").read_text())
    typed = next(node for node in tree.body if isinstance(node, ast.If)).body
    imports = [node for node in typed if isinstance(node, ast.ImportFrom)]
    homes = {str(node.module): sorted(alias.name for alias in node.names) for node in imports}
    assert homes == {module: sorted(names) for module, names in crawlrank._HOMES.items()}


@pytest.mark.slow
def test_results_are_those_of_the_commands(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    work, archives = project / "w", sorted((project / "crawl").glob("*.gz"))
    crawlrank.run(archives, work, nodes="all", jobs=1)
    crawlrank.rank(work, method="hits", name="mine")
    assert capfd.readouterr() == ("", "")
    expected = json.loads(ok("diff", work, "--json", "-").out)
    assert crawlrank.agree(work) == expected
    capfd.readouterr()
    assert crawlrank.diff(work, work)["common"] == len(crawlrank.open(work).scores())
    crawlrank.export(work, project / "p.txt", ranking="mine")
    assert (project / "p.txt").read_text().count("\n") > 5
    assert crawlrank.hosts(work, top=1) == json.loads(
        ok("hosts", "--work", work, "--top", 1, "--json", "-").out
    )
    page = project / "report.html"
    numbers = crawlrank.report(work, page, ranking=["run", "mine"])
    assert [other["label"] for other in numbers["rankings"]] == ["mine"]
    assert page.read_text().startswith("<!doctype html>")
    assert crawlrank.inspect(archives[0], jobs=1)["total"]["archives"] == 1
    plan = crawlrank.plan(work, "10/day", project / "plan", format=["csv", "jsonl"])
    assert (plan["schema"], (project / "plan/precedence.txt").exists()) == (
        "crawlrank-plan/1",
        True,
    )
    crawlrank.rank(work, combine={"run": 2, "mine": 1.5}, combine_by="probability", name="both")
    assert crawlrank.open(work, "both").parameters["--combine"] == "run=2,mine=1.5"
    crawlrank.export(work, project / "p.csv", format="csv", host="b.example")
    assert crawlrank.estimate(archives, jobs=1)["rows"]
    assert capfd.readouterr() == ("", "")


def test_a_run_of_a_program_is_recorded_as_one_of_the_command(project: Path) -> None:
    work = project / "w"
    crawlrank.run(project / "crawl", work, jobs=1, validate=False, fold=["redirects", "canonical"])
    parameters = crawlrank.open(work).parameters
    assert parameters["--fold"] == "redirects canonical"
    status = crawlrank.open(work).status()
    assert "validate-opic" not in {
        each["step"] for each in status["steps"] if each["state"] == "done"
    }
    assert {"run", "--no-validate"} <= {*status["run"]["arguments"]}


def test_progress_is_told_by_events(project: Path) -> None:
    events: list[crawlrank.ProgressEvent] = []
    crawlrank.run(project / "crawl", project / "w", jobs=1, progress=events.append)
    steps = [event.step for event in events if event.kind == "step"]
    assert steps[0] == "extract-links"
    assert steps == [event.step for event in events if event.kind == "done"]
    rounds = [event for event in events if event.kind == "round"]
    assert [event.done for event in rounds] == list(range(1, len(rounds) + 1))
    assert rounds[-1].details["certificate"] <= 1e-9
    archives = [event for event in events if event.kind == "archive"]
    assert [(event.done, event.total) for event in archives] == [(1, 2), (2, 2)]
    again: list[crawlrank.ProgressEvent] = []
    crawlrank.run(project / "crawl", project / "w", jobs=1, progress=again.append)
    assert {event.kind for event in again} == {"skipped"}


def states(work: Path) -> dict[str, str]:
    return {each["step"]: each["state"] for each in crawlrank.open(work).status()["steps"]}


def test_an_interrupt_leaves_the_folder_to_be_continued(project: Path) -> None:
    """The interrupt is like Ctrl-C, while the graph is made; nothing is at work in the folder
    afterwards."""
    work, archives = project / "w", project / "crawl"

    def interrupt(event: crawlrank.ProgressEvent) -> None:
        if (event.kind, event.step) == ("step", "gen-graph"):
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        crawlrank.run(archives, work, jobs=1, progress=interrupt)
    assert signal.getsignal(signal.SIGINT) is before
    status = crawlrank.open(work).status()
    assert (status["run"]["state"], status["run"]["process"]["lives"]) == ("interrupted", False)
    assert states(work)["assign-ids"] == "done"
    assert states(work)["page-rank"] == "to do"
    events: list[crawlrank.ProgressEvent] = []
    crawlrank.run(archives, work, jobs=1, progress=events.append)
    assert "assign-ids" in {event.step for event in events if event.kind == "skipped"}
    assert set(states(work).values()) == {"done"}


def test_an_error_of_the_callback_ends_the_run(project: Path) -> None:
    def fail(event: crawlrank.ProgressEvent) -> None:
        if event.step == "page-rank":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        crawlrank.run(project / "crawl", project / "w", jobs=1, progress=fail)
    assert states(project / "w")["gen-graph"] == "done"


@pytest.mark.slow
def test_two_threads_run_at_the_same_time(project: Path) -> None:
    errors: list[BaseException] = []

    def run(work: Path) -> None:
        try:
            crawlrank.run([*(project / "crawl").glob("*.gz")], work, jobs=2)
        except BaseException as error:  # noqa: BLE001 - looked at below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(project / name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    a, b = (crawlrank.open(project / name).scores() for name in "ab")
    assert a.equals(b)


def test_faults_are_raised(project: Path) -> None:
    with pytest.raises(crawlrank.BadInput, match="no manifest") as fault:
        crawlrank.open(project)
    assert fault.value.exit_code == 3
    with pytest.raises(crawlrank.BadInput, match="missing"):
        crawlrank.run(project / "missing.warc.gz", project / "w")
    with pytest.raises(crawlrank.WrongUsage, match="exclude each other") as usage:
        crawlrank.run(project / "crawl", project / "w", iterations=3, tolerance=1e-3)
    assert (usage.value.exit_code, isinstance(usage.value, ValueError)) == (2, True)
    with pytest.raises(crawlrank.WrongUsage, match=r"--ties.*'none' is not one of"):
        crawlrank.run(project / "crawl", project / "w", ties="none")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no_such"):
        crawlrank.estimate(project / "crawl", no_such=1)
    with pytest.raises(crawlrank.NotConverged, match="after 1 round") as stopped:
        crawlrank.run(project / "crawl", project / "w", tolerance=1e-12, max_rounds=1, jobs=1)
    assert stopped.value.exit_code == 4


def test_no_configuration_is_read_that_is_not_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    Path("crawlrank.toml").write_text("[run]\nbins = 3\n")
    crawlrank.run("crawl", "w", jobs=1)
    assert crawlrank.open("w").parameters["--bins"] == 5
    crawlrank.run("crawl", "w", jobs=1, config="crawlrank.toml", force=True)
    assert crawlrank.open("w").parameters["--bins"] == 3


def test_small_graphs_start_no_thread() -> None:
    """A thread takes longer than they do; scripts/docs/bench_library.py measures both."""
    edges = ([k % 250 for k in range(1000)], [k * k % 251 for k in range(1000)])
    crawlrank.pagerank(edges)
    events = list[object]()
    threading.setprofile(lambda *event: events.append(event))
    try:
        crawlrank.pagerank(edges)
        assert not events
        thread = threading.Thread(target=list)  # which the profile sees
        thread.start()
        thread.join()
        assert events
    finally:
        threading.setprofile(None)
