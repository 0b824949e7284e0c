"""A run that is watched from outside: by `status` while it runs, after a kill and when it
continues, and by the lines that it leaves in a pipe and in a log."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, WEB, crawlrank, ok, process, response
from support.faults.stopping import interrupt, stopped
from support.paths import LOOPBACK, ROOT, SAMPLES
from support.runs import shared_warc
from support.work_folders import manifest_of

from crawlrank.pipeline.steps import STEPS
from crawlrank.pipeline.workfolder.lock import locked
from crawlrank.pipeline.workfolder.manifest import Manifest

USUAL = [name for name in STEPS if name != "select-links"]
COUNT = 8
STEP_LINE = re.compile(r"([a-z-]+): ([0-9]+\.[0-9] s|[0-9]+:[0-9]{2}:[0-9]{2}|unchanged, kept)")
TOTAL_LINE = re.compile(r"total: ([0-9]+\.[0-9]) s, at most [0-9,]+ MB in a process")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Real archives that differ by a record."""
    folder = tmp_path_factory.mktemp("archives")
    whole = LOOPBACK.read_bytes()
    for number in range(COUNT):
        own = gzip.compress(response(f"http://own.example/{number}", b"<a href='/'>x</a>"))
        (folder / f"{number}.warc.gz").write_bytes(whole + own)
    return sorted(folder.iterdir())


def status(work: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ok("status", "--work", work, "--json", "-").out)
    assert document["schema"] == "crawlrank-status/1"
    return document


@pytest.mark.slow
def test_status_of_a_run_at_work(archives: list[Path], tmp_path: Path) -> None:
    work = tmp_path / "work"
    words = ("run", *archives, "--work", work, "--jobs", 1, "-q", "--no-validate")
    with stopped("extract-links", 2, *words) as run:
        document = status(work)
        shown = ok("status", "--work", work).out
        run.send_signal(signal.SIGCONT)
        assert run.wait() == 0
    about, step = document["run"], document["run"]["step"]
    assert about["state"] == "running"
    assert about["process"]["id"] == run.pid
    assert about["process"]["lives"]
    assert about["arguments"] == list(map(str, words))
    assert (step["name"], step["number"], step["of"]) == ("extract-links", 1, 7)
    assert about["archives"]["total"] == COUNT
    assert 2 <= about["archives"]["done"] < COUNT
    assert step["unit"] == "bytes"
    assert step["total"] == sum(path.stat().st_size for path in archives)
    assert 0 < step["done"] < step["total"]
    assert step["left"] is not None
    assert about["seconds"] >= step["seconds"] > 0
    assert re.search(rf"^State: running, process {run.pid}$", shown, re.MULTILINE)
    assert re.search(r"^Part: archive [2-7] of 8, [0-9.]+ kB of [0-9.]+ kB$", shown, re.MULTILINE)
    assert re.search(r"^Left of this step: about 0:\d\d:\d\d$", shown, re.MULTILINE)
    assert f"Command: crawlrank run {archives[0]}" in shown
    after = status(work)["run"]
    assert (after["state"], after["step"], after["process"]["lives"]) == ("done", None, False)


@pytest.mark.slow
def test_totals_go_on_after_a_kill_and_with_more_archives(
    archives: list[Path], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    common = ("--work", work, "--jobs", 1, "-q", "--no-validate")
    with stopped("extract-links", 3, "run", *archives[:5], *common) as run:
        run.kill()
        run.wait()
    killed = status(work)
    assert killed["run"]["state"] == "killed"
    assert not killed["run"]["process"]["lives"]
    assert killed["run"]["step"]["name"] == "extract-links"
    assert "process" in ok("status", "--work", work).out
    assert f"killed, process {run.pid} is gone" in ok("status", "--work", work).out
    with stopped("extract-links", 4, "run", *archives, *common) as run:
        again = status(work)
        run.send_signal(signal.SIGCONT)
        assert run.wait() == 0
    assert again["run"]["archives"]["total"] == COUNT
    kept = again["archives"]["read"]
    assert kept >= 2
    assert again["run"]["runs"]["count"] == 2
    assert (
        again["run"]["runs"]["seconds"] > killed["run"]["seconds"] + again["run"]["seconds"] - 0.1
    )
    step, before = again["run"]["step"], killed["run"]["step"]
    assert step["total"] == sum(path.stat().st_size for path in archives)
    assert step["done"] >= before["done"] * 0.5  # bytes of the archive that was cut are read again
    assert step["seconds_before"] == pytest.approx(before["seconds"], abs=0.01)
    done = manifest_of(work)["steps"]["extract-links"]["seconds"]
    assert done > step["seconds_before"] + step["seconds"] - 0.01
    (extraction,) = (each for each in status(work)["steps"] if each["step"] == "extract-links")
    whole = tmp_path / "whole"
    ok("run", *archives, "--work", whole, "-q", "--no-validate", "--jobs", 1)
    assert extraction["rows"] == manifest_of(whole)["steps"]["extract-links"]["rows"]


def test_status_before_the_first_manifest(tmp_path: Path) -> None:
    """Identifying many archives takes a while."""
    work = tmp_path / "work"
    with locked(work) as lock:
        lock.write({
            "process": os.getpid(), "state": "running", "started": "2026-01-01T00:00:00.000Z",
            "updated": "2026-01-01T00:00:01.000Z", "seconds": 1.0, "arguments": ["run", "x"],
        })  # fmt: skip
        shown = ok("status", "--work", work).out
    assert "State: running" in shown
    assert "Left of this step: not known" in shown
    assert "Command: crawlrank run x" in shown


@pytest.mark.slow
def test_a_ranking_that_is_being_made_is_named(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for words in (("run", LOOPBACK, "--no-validate"), ("rank", "--method", "degree")):
        assert process(*words, "--work", work, "-q").code == 0
    with locked(work), locked(work / "rankings" / "degree"):
        about = status(work)["run"]
        shown = ok("status", "--work", work).out
    assert (about["state"], about["making_ranking"]) == ("done", "degree")
    assert f"the ranking degree is in use by process {os.getpid()}; the last run: done" in shown
    assert status(work)["run"]["arguments"][0] == "run"
    own = json.loads(ok("status", "--work", work, "--ranking", "degree", "--json", "-").out)
    assert own["run"]["arguments"][0] == "rank"


def test_secrets_in_arguments_are_kept_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder whose path reads like a URL stands for one that a run can reach."""
    monkeypatch.chdir(tmp_path)
    conf = tmp_path / "https:" / "user:secret@host" / "conf.yml?key=secret"
    conf.parent.mkdir(parents=True)
    conf.touch()
    url, log, work = "https://user:secret@host/conf.yml?key=secret", "log.jsonl", Path("work")
    ok("run", LOOPBACK, "--work", work, "--cluster-conf", url, "--log", log, "-q")
    for kept in (Path(log), work / ".lock", work / "manifest.json"):
        assert "secret" not in kept.read_text()
        assert "https://***@host/conf.yml?***" in kept.read_text()
    assert "https://***@host/conf.yml?***" in ok("status", "--work", work).out


@pytest.mark.slow
def test_lines_of_a_run_in_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    monkeypatch.setenv("FORCE_COLOR", "1")  # which makes no terminal of a pipe
    said = process("run", LOOPBACK, "--work", work, "--jobs", 1)
    assert said.code == 0
    *steps, total = said.err.splitlines()
    assert [match[1] for line in steps if (match := STEP_LINE.fullmatch(line))] == USUAL
    assert len(steps) == len(USUAL)
    assert TOTAL_LINE.fullmatch(total)
    assert not re.search(r"[\r\x1b\x08]", said.err + said.out)
    assert [line for line in said.err.splitlines() if line != line.strip()] == []
    again = process("run", LOOPBACK, "--work", work, "--jobs", 1)
    assert again.err.splitlines()[:-1] == [f"{name}: unchanged, kept" for name in USUAL]


@pytest.mark.slow
def test_quiet_says_nothing_and_verbose_more(tmp_path: Path) -> None:
    web = shared_warc("web.warc.gz", WEB)
    quiet = ok("run", web, "--work", tmp_path / "a", "-q")
    assert (quiet.out, quiet.err) == ("", "")
    said = ok("run", LOOPBACK, "--work", tmp_path / "b", "-v")
    assert "extract-links: archive 1 of 1: " in said.err
    assert "captures 64, links 166" in said.err
    assert "dropped.self-links" in said.err
    assert "eta" in said.err
    briefly = ("-v", *INLINE, "--no-validate", "--iterations", 1)
    jobs = ok("run", web, "--work", tmp_path / "c", *briefly)
    assert re.search(r"^canonicalize: \w+: part 1 of \d+$", jobs.err, re.MULTILINE)
    both = crawlrank("run", LOOPBACK, "--work", tmp_path / "d", "-q", "-v")
    assert both.code == 2
    assert "--quiet and --verbose exclude each other" in both.err


def events(log: Path | str) -> list[dict[str, Any]]:
    text = log if isinstance(log, str) else log.read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_the_log_agrees_with_the_manifest(runner: str, tmp_path: Path) -> None:
    work, log = tmp_path / "work", tmp_path / "logs" / "log.jsonl"
    archives = (LOOPBACK, SAMPLES / "damaged" / "truncated.warc")
    how = ("--runner", runner, "--jobs", 1, "--no-validate", "--log", log)
    words = ("run", *archives, "--work", work, *how)
    ok(*words, "-q")
    first, *_, last = logged = events(log)
    assert (first["event"], first["schema"]) == ("begin", "crawlrank-log/1")
    assert first["arguments"] == [*map(str, words), "-q"]
    assert (last["event"], last["exit_code"]) == ("end", 0)
    assert [each["time"] for each in logged] == sorted(each["time"] for each in logged)
    manifest = Manifest(work)
    ended = {each["step"]: each for each in logged if each["event"] == "step-end"}
    assert list(ended) == [name for name in USUAL if name != "validate-opic"]
    for name, entry in manifest.steps.items():
        for field in ("rows", "counters", "seconds", "memory"):
            assert ended[name].get(field) == entry.get(field), (name, field)
    rounds = [each["round"] for each in logged if each["event"] == "round"]
    assert rounds == [each["round"] for each in manifest.steps["page-rank"]["rounds"]]
    read = {each["path"]: each for each in logged if each["event"] == "archive"}
    for entry in manifest.archives.values():
        assert read[entry["path"]]["counters"] == entry["counters"]
        assert read[entry["path"]]["damage"] == len(entry["damage"])
    assert {each["done"] for each in read.values()} == {1, 2}
    ok(*words, "-q")
    appended = events(log)[len(logged) :]
    assert [each["step"] for each in appended if each["event"] == "step-kept"] == list(ended)


@pytest.mark.slow
def test_the_page_has_all_events_and_fields(tmp_path: Path) -> None:
    work, log = tmp_path / "work", tmp_path / "log.jsonl"
    page = (ROOT / "docs" / "output.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", page, re.MULTILINE))
    common = ("--work", work, "--log", log, "-q", "--no-validate", "--jobs", 1)
    ok("run", LOOPBACK, *common)
    ok("run", LOOPBACK, shared_warc("web.warc.gz", WEB), *common)
    assert crawlrank("run", LOOPBACK, *common).code == 3
    assert len({each["event"] for each in events(log)}) >= 9
    for each in events(log):
        own = each.keys() - {"time", "event"}
        if each["event"] == "round":
            own = {"step"}  # the page names the manifest for the others
        assert {name for name in own if f"`{name}`" not in rows[each["event"]]} == set()
    document = status(work)
    for name in document["run"].keys() | document.keys() - {"run", "schema", "version"}:
        assert f"`{name}`" in page or f"`run.{name}`" in page, name


def test_the_log_has_errors_and_their_codes(tmp_path: Path) -> None:
    log, bad = tmp_path / "log.jsonl", tmp_path / "bad.warc"
    bad.write_bytes(b"no archive at all")
    said = crawlrank("run", bad, "--work", tmp_path / "work", "--log", log)
    assert said.code == 3
    error, end = events(log)[-2:]
    assert error["event"] == "error"
    assert f"crawlrank: {error['text']}" in said.err
    assert (error["exit_code"], end["event"], end["exit_code"]) == (3, "end", 3)
    assert status(tmp_path / "work")["run"]["state"] == "failed"


def test_an_interrupt_is_in_the_log(archives: list[Path], tmp_path: Path) -> None:
    work, log = tmp_path / "work", tmp_path / "log.jsonl"
    words = ("run", *archives, "--work", work, "--jobs", 1, "-q", "--log", log)
    with stopped("extract-links", 2, *words) as run:
        assert all(line.endswith("\n") for line in log.read_text().splitlines(keepends=True))
        assert any(each["event"] == "archive" for each in events(log))  # each line at once
        interrupt(run)
        assert run.wait() == 130
    assert events(log)[-1]["exit_code"] == 130
    assert status(work)["run"]["state"] == "interrupted"


REFUSED = [
    (["{a}", "--links", "all"], "--links"),
    (["no.warc.gz"], "no.warc.gz"),
    (["{b}"], "was in this work folder before"),
    (["{a}", "--runner", "inline"], "runner"),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("before", ["done", "failed"])
def test_a_refused_command_leaves_the_state_of_the_run(before: str, tmp_path: Path) -> None:
    work, bad = tmp_path / "work", tmp_path / "bad.warc.gz"
    bad.write_bytes(b"no archive")
    given = (LOOPBACK, bad) if before == "failed" else (LOOPBACK,)
    again = ("run", *given, "--work", work, "--jobs", 1, "-q")
    crawlrank(*again)
    for count, (words, why) in enumerate(REFUSED, 2):
        then = status(work)
        assert then["run"]["state"] == before and then["run"]["refused"] is None
        other = [word.format(a=LOOPBACK, b=SAMPLES / "aut-example.warc.gz") for word in words]
        assert crawlrank("run", *other, "--work", work).code == 3
        now = status(work)
        assert why in now["run"]["refused"]["error"]
        assert now["run"]["refused"]["arguments"][:2] == ["run", other[0]]
        now["run"] |= {"refused": None, "process": then["run"]["process"]}
        assert now == then
        shown = crawlrank("status", "--work", work).out
        assert f"State: {before}\n" in shown and "Refused since, without any change: crawl" in shown
        crawlrank(*again)
        run = status(work)["run"]
        assert (run["refused"], run["runs"]["count"]) == (None, count)


def test_a_log_on_standard_output_is_alone_there(tmp_path: Path) -> None:
    said = ok("run", LOOPBACK, "--work", tmp_path / "work", "--log", "-")
    assert [each["event"] for each in events(said.out)][-1] == "end"


def test_a_log_cannot_harm_data(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc.gz"
    archive.write_bytes(LOOPBACK.read_bytes())
    work = tmp_path / "work"
    ok("run", archive, "--work", work, "-q", "--no-validate")
    kept = (archive, work / "manifest.json")
    before = [path.read_bytes() for path in kept]
    for log in (*kept, work / "links" / "log.jsonl"):
        said = crawlrank("run", archive, "--work", work, "--log", log)
        assert said.code in (2, 3)
        assert [path.read_bytes() for path in kept] == before


def test_single_steps_have_the_same_options(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    out = ("--output", tmp_path / "links.txt", "--captures", tmp_path / "captures.txt")
    said = ok("step", "extract-links", LOOPBACK, *out, "--log", log, "-v")
    assert re.search(r"^extract-links: (?:[0-9.]+ s|[0-9:]+)$", said.err, re.MULTILINE)
    assert [each["event"] for each in events(log)][-2:] == ["step-end", "end"]
    assert "inspect" in ok("inspect", LOOPBACK, "--jobs", 1).err
