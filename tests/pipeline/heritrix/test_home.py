"""Programs of Heritrix that end well, badly, late or not at all, played by scripts of a shell."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.waiting import awaited

from crawlrank.jobs.kernel.errors import BadInput, Shortage
from crawlrank.pipeline.heritrix.home import HeritrixFails, HeritrixHome
from crawlrank.pipeline.heritrix.verification import (
    LOCK,
    Lookups,
    load_precedences,
    require_unlocked,
)

LOCKED = "com.sleepycat.je.EnvironmentLockedException: The environment cannot be locked"
TRACE = """Exception in thread "main" java.lang.ExceptionInInitializerError
\tat a.b(C.java:1)
Caused by: java.lang.RuntimeException: between
\tat a.b(C.java:2)
Caused by: java.lang.E: the own cause
\tat a.b(C.java:3)
\t... 2 more"""
FEW_FREE = """Exception in thread "main" com.sleepycat.je.DiskLimitException: (JE 7.5.11) Disk:
 maxDiskLimit=0 freeDiskLimit=5,368,709,120 freeDiskShortage=5,159,018,496 diskFreeSpace=209,690,624
\tat a.b(C.java:1)"""
NO_ROOM = "Caused by: java.io.IOException: No space left on device"


@pytest.fixture
def home(tmp_path: Path) -> HeritrixHome:
    (tmp_path / "heritrix" / "lib").mkdir(parents=True)
    (tmp_path / "heritrix" / "lib" / "heritrix-engine-3.13.0.jar").touch()
    return HeritrixHome(tmp_path / "heritrix")


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that stands for Java, to be written."""
    (tmp_path / "java" / "bin").mkdir(parents=True)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    return tmp_path / "java" / "bin" / "java"


def says(java: Path, script: str) -> None:
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)


def test_lines_come_with_what_the_program_reads(home: HeritrixHome, java: Path) -> None:
    says(java, 'echo "$@"; cat')
    words, *lines = home.run("Main", "a b", where=Path("x"), limit=600, text=["é\n", "2\n"])
    assert words.endswith(f"-cp {home.folder / 'lib' / '*'} Main a b")
    assert lines == ["é", "2"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo one; echo two >&2; exit 7", "Main: exit code 7: one two"),
        ("seq 1 1000; exit 1", "exit code 1: 991 992"),
        ("kill -9 $$", "exit code -9"),
        (f"echo '{LOCKED}' >&2; exit 1", "a job of Heritrix has it open"),
        (f"cat <<'END' >&2\n{TRACE}\nEND\nexit 1", "exit code 1: java.lang.E: the own cause; exp"),
    ],
)
def test_programs_that_fail(home: HeritrixHome, java: Path, script: str, message: str) -> None:
    says(java, script)
    with pytest.raises(HeritrixFails) as caught:
        list(home.run("org.Main", where=Path("jobs/x/state"), limit=600))
    assert message in str(caught.value)
    assert str(caught.value).startswith("jobs/x/state: ")


def test_a_program_that_does_not_end_in_time(home: HeritrixHome, java: Path) -> None:
    """The message has what it had said by then. It is given more time until it has begun."""
    says(java, "echo begun; sleep 900")
    for limit in (1, 10, 600):
        with pytest.raises(HeritrixFails) as caught:
            list(home.run("org.Main", where=Path("jobs/x/state"), limit=limit))
        said = str(caught.value)
        assert said.startswith(f"jobs/x/state: Main: not at its end after {limit} s: ")
        if "begun" in said:
            break
    assert f"after {limit} s: begun" in said


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (FEW_FREE, "209 MB are free on this disk, and Heritrix wants 5,368 MB. Make room, then"),
        (NO_ROOM, "the disk is full. Make room"),
    ],
)
def test_a_full_disk(home: HeritrixHome, java: Path, said: str, message: str) -> None:
    says(java, f"cat <<'END' >&2\n{said}\nEND\nexit 1")
    with pytest.raises(Shortage, match="jobs/x/state: " + message):
        list(home.run("org.Main", where=Path("jobs/x/state"), limit=600))


def test_a_log_file_without_a_header_is_no_store(
    home: HeritrixHome, java: Path, tmp_path: Path
) -> None:
    """A full disk leaves it. The last file alone may be one."""
    state = tmp_path / "state"
    state.mkdir()
    for name, size in (("00000000.jdb", 0), ("00000001.jdb", 40), ("00000002.jdb", 14)):
        (state / name).write_bytes(b"x" * size)
    says(java, "echo '101 entries loaded'")
    assert load_precedences(home, tmp_path / "p.txt", state) == 101
    assert sorted(path.name for path in state.iterdir()) == ["00000000.jdb", "00000001.jdb"]


def test_a_program_ends_with_who_reads_it(home: HeritrixHome, java: Path, tmp_path: Path) -> None:
    says(java, f"echo $$ > {tmp_path}/pid; echo one; sleep 60")
    lines = home.run("Main", where=tmp_path, limit=600)
    assert next(lines) == "one"
    lines.close()  # type: ignore[attr-defined]
    pid = (tmp_path / "pid").read_text().strip()
    assert not Path(f"/proc/{pid}").exists()


def test_a_program_ends_with_who_started_it(home: HeritrixHome, java: Path, tmp_path: Path) -> None:
    """Even where SIGKILL ends that."""
    says(java, f"echo $$ > {tmp_path}/pid; echo one; exec sleep 600")
    reads = (
        "import sys; from pathlib import Path;"
        " from crawlrank.pipeline.heritrix.home import HeritrixHome;"
        " home = HeritrixHome(Path(sys.argv[1]));"
        " [print(line, flush=True) for line in home.run('Main', where=home.folder, limit=600)]"
    )
    command = [sys.executable, "-c", reads, home.folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout
        assert process.stdout.readline() == b"one\n"
        process.kill()
    pid = (tmp_path / "pid").read_text().strip()
    try:
        awaited(lambda: not is_running(pid), "the end of the program")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def is_running(pid: str) -> bool:
    """Whether there is such a process that is not only left for its parent to ask for its code."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_no_java(home: HeritrixHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(BadInput, match="Java 17 or later"):
        list(home.run("Main", where=Path("x"), limit=600))


def test_a_loader_that_does_not_say_how_many(
    home: HeritrixHome, java: Path, tmp_path: Path
) -> None:
    says(java, "echo 'unacceptable source file'")
    with pytest.raises(HeritrixFails, match="PrecedenceLoader says: unacceptable source file"):
        load_precedences(home, tmp_path / "p.txt", tmp_path / "state")
    says(java, "echo '100... '; echo '101 entries loaded'; echo 'more'")
    assert load_precedences(home, tmp_path / "p.txt", tmp_path / "state") == 101


def test_lookups_with_too_few_answers(home: HeritrixHome, java: Path, tmp_path: Path) -> None:
    (tmp_path / "00000000.jdb").touch()
    says(java, "echo 5; echo 1; echo -")
    lookups = Lookups(home, tmp_path, ["http://a/", "b", "c"])
    assert lookups.stored == 5
    assert lookups.some(2) == ["1", "-"]
    with pytest.raises(HeritrixFails, match="0 answers for 1 URI"):
        lookups.some(1)
    says(java, "echo 0")
    with pytest.raises(BadInput, match="no precedences in it"):
        Lookups(home, tmp_path, [])


def test_a_store_that_another_process_has_open(tmp_path: Path) -> None:
    require_unlocked(tmp_path)
    (tmp_path / LOCK).write_bytes(b"x")
    require_unlocked(tmp_path)
    holds = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX, 1);"
        " print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-S", "-c", holds, tmp_path / LOCK],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stdin
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(HeritrixFails, match="a job of Heritrix has it open"):
            require_unlocked(tmp_path)
        process.stdin.close()
    require_unlocked(tmp_path)
