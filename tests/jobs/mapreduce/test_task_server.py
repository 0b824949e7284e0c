"""Tasks of the local runner are forked from a server, and do what tasks that are programs do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.faults.odd_tasks import OddTasks, as_programs
from support.inputs.samples import write
from support.systems.cluster import dataset
from support.waiting import awaited

import crawlrank.jobs
from crawlrank.jobs.kernel.errors import CrawlrankError
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.task_server import (
    ForkedTask,
    Task,
    is_importable,
    peak_of_tasks,
)

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def forked(tmp: Path, word: str) -> ForkedTask:
    """A map task of OddTasks with one line."""
    line = write(tmp / "line", [word.encode()])
    task = Task(OddTasks.__module__, "OddTasks", ["--mapper"], str(tmp), dict(os.environ))
    with line.open("rb") as stdin, (tmp / "out").open("wb") as out, (tmp / "err").open("wb") as err:
        return ForkedTask(task, stdin, out, err)


def is_alive(process: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def run(tmp: Path, word: str, *, programs: bool = False) -> list[bytes] | CrawlrankError:
    """What a job of one line leaves, or its error."""
    (tmp / "tmp").mkdir(exist_ok=True)
    lines = write(tmp / "lines", [word.encode()])
    launcher = Launcher("local", tmp / "tmp", 1)
    if programs:
        launcher = Launcher("local", tmp / "tmp", 1, job_class=as_programs)
    try:
        launch(OddTasks, [lines], tmp / f"out-{programs}", launcher)
    except CrawlrankError as error:
        return error
    return dataset(tmp / f"out-{programs}")


def told_by_a_task(tmp: Path, *, programs: bool) -> dict[str, Any]:
    lines = run(tmp, "tell", programs=programs)
    assert isinstance(lines, list)
    facts: dict[str, Any] = json.loads(lines[0])
    return facts


@LINUX
def test_a_forked_task_finds_what_a_program_finds(tmp_path: Path) -> None:
    facts, expected = (told_by_a_task(tmp_path, programs=programs) for programs in (False, True))
    assert facts.pop("interrupt") == str(signal.SIG_DFL)  # Python ends itself so, after all
    del expected["interrupt"]
    expected["files"] += 1  # the pipe by which its supervisor knows that it is at work
    assert facts == expected


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("word", ["exit 7", "exit 28"])
def test_errors_are_those_of_a_program(word: str, tmp_path: Path) -> None:
    errors = [run(tmp_path, word, programs=programs) for programs in (False, True)]
    assert [type(error) for error in errors] == [type(errors[0])] * 2
    assert str(errors[0]) == str(errors[1])
    assert isinstance(errors[0], CrawlrankError)


def test_exit_codes(tmp_path: Path) -> None:
    assert forked(tmp_path, "nothing").wait() == 0
    assert forked(tmp_path, "exit 7").wait() == 7


def test_the_peak_of_memory_is_known(tmp_path: Path) -> None:
    assert forked(tmp_path, f"hold {300 << 20}").wait() == 0
    assert peak_of_tasks() > 300 << 10


@LINUX
def test_a_task_that_is_stopped(tmp_path: Path) -> None:
    task = forked(tmp_path, f"wait {tmp_path / 'pid'}")
    process = int(awaited(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    task.terminate()
    assert task.wait() == -signal.SIGTERM
    assert not is_alive(process)
    task.terminate()  # does nothing


def of_server(process: int) -> tuple[int, int]:
    """The supervisor and the server of a task."""
    supervisor, server = 0, 0
    for level in range(2):
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
        supervisor, server = (process, 0) if level == 0 else (supervisor, process)
    return supervisor, server


@pytest.mark.slow
@LINUX
def test_a_server_that_is_killed_is_replaced(tmp_path: Path) -> None:
    task = forked(tmp_path, f"wait {tmp_path / 'pid'}")
    process = int(awaited(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    supervisor, server = of_server(process)
    os.kill(server, signal.SIGKILL)
    awaited(lambda: not is_alive(server))
    assert forked(tmp_path, "exit 7").wait() == 7
    os.kill(supervisor, signal.SIGKILL)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(ChildProcessError, match="was killed"):
        task.wait()


DRIVER = """
import os, signal, sys
from pathlib import Path
from support.faults.odd_tasks import OddTasks
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
folder = Path(sys.argv[1])
signal.signal(signal.SIGINT, getattr(signal, sys.argv[2]))
launch(OddTasks, [folder / "lines"], folder / "out", Launcher("local", folder, 1))
"""


def driver(tmp: Path, word: str, interrupt: str = "default_int_handler") -> subprocess.Popen[bytes]:
    """A process that runs a job of one line. interrupt: what it does on Ctrl-C."""
    write(tmp / "lines", [word.encode()])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp), interrupt], env=env)


@LINUX
def test_tasks_and_server_end_with_a_killed_driver(tmp_path: Path) -> None:
    process = driver(tmp_path, f"wait {tmp_path / 'pid'}")
    task = int(awaited(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    all_of_them = [task, *of_server(task)]
    process.kill()
    process.wait()
    awaited(lambda: not any(map(is_alive, all_of_them)))


@pytest.mark.slow
@LINUX
def test_tasks_ignore_what_their_driver_ignores(tmp_path: Path) -> None:
    assert driver(tmp_path, "tell", "SIG_IGN").wait() == 0
    (line,) = dataset(tmp_path / "out")
    assert json.loads(line)["interrupt"] == str(signal.SIG_IGN)


@LINUX
def test_the_server_has_one_thread_with_all_jobs_imported() -> None:
    """A fork in a process with more may wait for ever for a lock."""
    names = [path.stem for path in Path(crawlrank.jobs.__file__).parent.glob("[a-z]*.py")]
    assert len(names) > 10
    program = "import os\n" + "".join(f"import crawlrank.jobs.{name}\n" for name in names)
    program += "print(len(os.listdir('/proc/self/task')))"
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True)
    assert done.stdout == b"1\n"


def test_what_the_server_cannot_import() -> None:
    assert is_importable(OddTasks)
    assert not is_importable(as_programs(OddTasks))
    assert not is_importable(type("OddTasks", (OddTasks,), {"__module__": "__main__"}))


def test_threads_start_one_server(tmp_path: Path) -> None:
    codes: list[int] = []

    def start(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        codes.append(forked(folder, f"exit {number}").wait())

    threads = [threading.Thread(target=start, args=(number,)) for number in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [1, 2, 3, 4, 5]
