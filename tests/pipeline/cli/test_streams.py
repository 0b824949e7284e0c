"""Standard streams that are closed, or whose reader leaves."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.crawls import COMMAND, FORKED, WEB, environment, ok
from support.runs import finished, shared_warc
from support.terminals import in_shell


def archive() -> Path:
    return shared_warc("web.warc.gz", WEB)


CLOSED = ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"]
OTHERS = ("<&-", "<&- >&-", ">&- 2>&-")
EXTENDED = pytest.mark.slow


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("closed", "command"),
    [
        (">&-", FORKED),
        ("2>&-", FORKED),
        ("<&- >&- 2>&-", COMMAND),
        *(
            pytest.param(closed, FORKED, marks=EXTENDED)
            for closed in ("<&-", "<&- >&-", ">&- 2>&-")
        ),
    ],
)
def test_a_run_without_streams_is_the_same(
    closed: str, command: Sequence[str], tmp_path: Path
) -> None:
    done = in_shell(
        f"CRAWLRANK run ARCHIVE --work w --jobs 1 {closed}", tmp_path, archive(), command
    )
    assert done.returncode == 0, done.stderr
    assert "not foreseen" not in done.stderr
    expected = (finished(archive()) / "precedence.txt").read_bytes()
    assert (tmp_path / "w" / "precedence.txt").read_bytes() == expected
    status = json.loads(ok("status", "--work", tmp_path / "w", "--json", "-").out)
    assert status["run"]["state"] == "done"
    assert ok("status", "--check", "--work", tmp_path / "w").code == 0


TO_FILES = ("status --json s.json", "export-precedence --output p.txt")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("words", "closed"),
    [
        *(("status", closed) for closed in CLOSED),
        *((words, closed) for words in TO_FILES for closed in (">&-", CLOSED[-1])),
        *(
            pytest.param(words, closed, marks=EXTENDED)
            for words in TO_FILES
            for closed in CLOSED[:-1]
            if closed != ">&-"
        ),
    ],
)
def test_results_without_streams(words: str, closed: str, tmp_path: Path) -> None:
    work = finished(archive())
    done = in_shell(f"CRAWLRANK {words} --work {work} {closed}", tmp_path, archive())
    assert (done.returncode, done.stderr) == (0, done.stderr)
    assert "not foreseen" not in done.stderr
    if "p.txt" in words:
        expected = ok("export", "--work", work, "--output", "-").out
        assert (tmp_path / "p.txt").read_text() == expected
    if "s.json" in words:
        assert json.loads((tmp_path / "s.json").read_text())["run"]["state"] == "done"


def test_a_closed_stream_is_not_the_next_file(tmp_path: Path) -> None:
    """The log would get the number of standard error, and progress would be written into it."""
    line = "CRAWLRANK run ARCHIVE --work w --jobs 1 --log log.jsonl >&- 2>&-"
    assert in_shell(line, tmp_path, archive()).returncode == 0
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert len(events) > 5


@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "inline", pytest.param("local", marks=EXTENDED)])
def test_progress_that_nobody_reads_does_not_end_a_run(runner: str, tmp_path: Path) -> None:
    words = f"run ARCHIVE --work w --runner {runner} --jobs 1 -v"
    done = in_shell(
        f"exec 3>&1; CRAWLRANK {words} 2> >(exec <&-) >out; echo $? >&3", tmp_path, archive()
    )
    assert done.stdout == "0\n", done.stderr
    status = json.loads(ok("status", "--work", tmp_path / "w", "--json", "-").out)
    assert status["run"]["state"] == "done"
    assert "precedence" in (tmp_path / "out").read_text()


def test_a_run_whose_whole_output_nobody_reads_is_interrupted(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["run", str(archive()), "--work", str(tmp_path / "w"), "--jobs", "1"]
    done = subprocess.run(
        [*FORKED, *words], env=environment(), stdout=writing, stderr=writing, check=False
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
            [*FORKED, *words], env=environment(), stdout=writing, stderr=writing, check=False
        ).returncode
        for words in (["status", "--work", str(tmp_path)], ["status", "--no-such"])
    ]
    os.close(writing)
    assert codes == [3, 2]


#: with a buffer, and without one, where a write may be cut short
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "to", "code"),
    [
        ("export --format seeds --output -", "/dev/full", 3),
        ("export --format jsonl --output -", "/dev/full", 3),
        ("status --json -", "/dev/full", 3),
        ("export --format seeds --output -", "few-bytes", 3),
        ("export --format jsonl --output -", "few-bytes", 3),
    ],
)
def test_output_that_is_not_written_is_told(
    words: str, to: str, code: int, unbuffered: str, tmp_path: Path
) -> None:
    line = f"PYTHONUNBUFFERED={unbuffered} CRAWLRANK {words} --work {finished(archive())} >> {to}"
    (tmp_path / "few-bytes").write_bytes(b" " * 1000)  # of 1,024
    done = in_shell(f"ulimit -f 1; {line}", tmp_path, archive(), COMMAND)
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr
    assert done.stderr.startswith("crawlrank: standard output: ")
