"""Tasks in processes: every answer once, whatever happens to a process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.paths import ROOT

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.pipeline.data.workers import (
    READ,
    Died,
    Tell,
    Workers,
    answers,
    deaf,
    worth_starting,
)

#: of a program that imports this module
FOLDERS = (ROOT, ROOT / "tests", Path(__file__).parent)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, FOLDERS))}


def doubled(task: int, tell: Tell) -> int:
    tell(task)
    return 2 * task


def fragile(task: int, tell: Tell) -> int:
    if task == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    if task == 5:
        os._exit(7)
    return task


def failing(task: int, tell: Tell) -> int:
    if task == 2:
        raise BadInput("x", "found", "expected", "cure")
    return task


def process_of(task: int, tell: Tell) -> int:
    if task == 5:
        os._exit(7)
    return os.getpid()


def is_deaf(task: str, tell: Tell) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def endless(task: Path, tell: Tell) -> None:
    """Says so, in a pipe that is open as long as its process is there."""
    with task.open("w") as pipe:
        pipe.write("begun\n")
        pipe.flush()
        threading.Event().wait()


def test_processes_are_for_much_data_unless_they_are_asked_for() -> None:
    assert [worth_starting(None, size) for size in (0, READ - 1, 2 * READ - 1)] == [1, 1, 1]
    assert worth_starting(None, 2 * READ) == min(2, at_a_time())
    assert worth_starting(None, 10**6 * READ) == at_a_time()
    assert [worth_starting(3, size) for size in (0, 10**6 * READ)] == [3, 3]
    assert worth_starting(None, 20, 5) == min(4, at_a_time())


@pytest.mark.few(1)
@pytest.mark.parametrize("processes", [1, 2, 9])
def test_every_task_has_its_answer(processes: int) -> None:
    far: list[tuple[int, int]] = []
    found = dict(answers(doubled, range(3), processes, lambda *what: far.append(what)))
    assert found == {task: 2 * task for task in range(3)}
    assert sorted(far) == [(task, task) for task in range(3)]


def test_no_tasks() -> None:
    assert list(answers(doubled, [], 2)) == []


def test_a_process_that_dies_costs_its_task_alone() -> None:
    found = dict(answers(fragile, range(9), 2))
    dead = {3: Died("SIGSEGV"), 5: Died("exit code 7")}
    assert found == {**{task: task for task in range(9)}, **dead}


@pytest.mark.slow
def test_workers_serve_several_calls_and_end_with_their_context() -> None:
    with Workers() as workers:
        pids = {worker.process.pid for worker in workers.at_least(2)}
        for _ in range(2):
            assert {*dict(answers(process_of, range(5), 2, workers=workers)).values()} <= pids
        assert dict(answers(doubled, range(9), 2, workers=workers)) == {n: 2 * n for n in range(9)}
        assert dict(answers(process_of, range(4, 6), 2, workers=workers))[5] == Died("exit code 7")
        pids = {worker.process.pid for worker in workers.at_least(3)}
        assert len(pids) == 3 and os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid or 0, 0)


def test_an_error_ends_all_and_is_told_as_it_was() -> None:
    with pytest.raises(BadInput) as error:
        list(answers(failing, range(50), 2))
    assert (error.value.found, error.value.cure) == ("found", "cure")


@pytest.mark.parametrize(
    "sent",
    [
        signal.SIGINT,
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_workers_leave_with_the_one_that_started_them(tmp_path: Path, sent: signal.Signals) -> None:
    tasks, script = tmp_path / "tasks", tmp_path / "program.py"
    os.mkfifo(tasks)
    script.write_text(
        "from pathlib import Path; from test_workers import endless\n"
        "from crawlrank.pipeline.data.workers import answers\n"
        f"tasks = [Path({str(tasks)!r})] * 2\n"
        "if __name__ == '__main__': list(answers(endless, tasks, 2))\n"
    )
    process = subprocess.Popen([sys.executable, script], env=ENVIRONMENT, stderr=subprocess.PIPE)
    with tasks.open() as pipe:
        assert [pipe.readline() for _ in range(2)] == ["begun\n"] * 2
        process.send_signal(sent)
        process.communicate()
        assert pipe.read() == ""  # its end: both have left


def test_a_signal_that_another_thread_takes_waits_too() -> None:
    """The mask is a thread's own, but handlers are called in the first."""
    ended, done = threading.Event(), []
    caught, catching = socket.socketpair()
    catching.setblocking(False)
    before = signal.set_wakeup_fd(catching.fileno())
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), deaf():
            os.kill(os.getpid(), signal.SIGINT)
            assert caught.recv(1) == bytes([signal.SIGINT])  # the other thread has taken it
            done.append("started")
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        other.join()
        caught.close()
        catching.close()
    assert done == ["started"]


@pytest.mark.slow
def test_no_worker_hears_the_signal_of_the_terminal(tmp_path: Path) -> None:
    """Not the first one either, before which multiprocessing starts a process of its own. None of
    them begins the program anew, which has no `if __name__ == "__main__"`."""
    script = tmp_path / "program.py"
    script.write_text(
        "from test_workers import is_deaf; from crawlrank.pipeline.data.workers import answers\n"
        "print(*[deaf for _, deaf in answers(is_deaf, 'ab', 2)])\n"
    )
    done = subprocess.run(
        [sys.executable, script], env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.stderr) == ("True True\n", "")
