"""Standard streams that are closed, or whose reader leaves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.crawls import COMMAND, WEB, environment, ok, write_warc


def in_shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which `crawlrank` is the command."""
    command = " ".join(COMMAND)
    return subprocess.run(
        ["bash", "-c", line.replace("crawlrank", command)],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    write_warc(folder / "a.warc.gz", WEB)
    ok("run", folder / "a.warc.gz", "--work", folder / "work", "--quiet")
    return folder


CLOSED = ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"]


@pytest.mark.parametrize("closed", CLOSED)
def test_a_run_without_streams_is_the_same(closed: str, crawl: Path, tmp_path: Path) -> None:
    done = in_shell(f"crawlrank run {crawl}/a.warc.gz --work w --jobs 1 {closed}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not foreseen" not in done.stderr
    expected = (crawl / "work" / "precedence.txt").read_bytes()
    assert (tmp_path / "w" / "precedence.txt").read_bytes() == expected
    status = json.loads(ok("status", "--work", tmp_path / "w", "--json", "-").out)
    assert status["run"]["state"] == "done"
    assert ok("check", "--work", tmp_path / "w").code == 0


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize(
    "words", ["status", "status --json s.json", "export-precedence --output p.txt"]
)
def test_results_without_streams(closed: str, words: str, crawl: Path, tmp_path: Path) -> None:
    done = in_shell(f"crawlrank {words} --work {crawl}/work {closed}", tmp_path)
    assert (done.returncode, done.stderr) == (0, done.stderr)
    assert "not foreseen" not in done.stderr
    if "p.txt" in words:
        expected = ok("export-precedence", "--work", crawl / "work", "--output", "-").out
        assert (tmp_path / "p.txt").read_text() == expected
    if "s.json" in words:
        assert json.loads((tmp_path / "s.json").read_text())["run"]["state"] == "done"


def test_a_closed_stream_is_not_the_next_file(crawl: Path, tmp_path: Path) -> None:
    """The log would get the number of standard error, and progress would be written into it."""
    line = f"crawlrank run {crawl}/a.warc.gz --work w --jobs 1 --log log.jsonl >&- 2>&-"
    assert in_shell(line, tmp_path).returncode == 0
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert len(events) > 5


@pytest.mark.parametrize("runner", ["embedded", "local"])
def test_progress_that_nobody_reads_does_not_end_a_run(
    runner: str, crawl: Path, tmp_path: Path
) -> None:
    words = f"run {crawl}/a.warc.gz --work w --runner {runner} --jobs 1 -v"
    done = in_shell(f"exec 3>&1; crawlrank {words} 2> >(exec <&-) >out; echo $? >&3", tmp_path)
    assert done.stdout == "0\n", done.stderr
    status = json.loads(ok("status", "--work", tmp_path / "w", "--json", "-").out)
    assert status["run"]["state"] == "done"
    assert "precedence" in (tmp_path / "out").read_text()


def test_a_run_whose_whole_output_nobody_reads_is_interrupted(crawl: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["run", str(crawl / "a.warc.gz"), "--work", str(tmp_path / "w"), "--jobs", "1"]
    done = subprocess.run(
        [*COMMAND, *words], env=environment(), stdout=writing, stderr=writing, check=False
    )
    os.close(writing)
    assert done.returncode == 141
    status = json.loads(ok("status", "--work", tmp_path / "w", "--json", "-").out)
    assert (status["run"]["state"], status["run"]["error"]) == ("interrupted", None)


def test_an_error_that_nobody_reads_keeps_its_exit_code(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    codes = [
        subprocess.run(
            [*COMMAND, *words], env=environment(), stdout=writing, stderr=writing, check=False
        ).returncode
        for words in (["status", "--work", str(tmp_path)], ["status", "--no-such"])
    ]
    os.close(writing)
    assert codes == [3, 2]
