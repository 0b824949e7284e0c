"""Tasks in processes: every answer once, whatever happens to a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.paths import ROOT

from jobs.kernel.errors import BadInput
from pipeline.data.workers import Died, Tell, answers, deaf

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


def is_deaf(task: str, tell: Tell) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def slow(task: Path, tell: Tell) -> None:
    (task.parent / f"{task.name}-{os.getpid()}").touch()
    time.sleep(60)


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_every_task_has_its_answer(processes: int) -> None:
    far: list[tuple[int, int]] = []
    found = dict(answers(doubled, range(7), processes, lambda *what: far.append(what)))
    assert found == {task: 2 * task for task in range(7)}
    assert sorted(far) == [(task, task) for task in range(7)]


def test_no_tasks() -> None:
    assert list(answers(doubled, [], 2)) == []


def test_a_process_that_dies_costs_its_task_alone() -> None:
    found = dict(answers(fragile, range(9), 2))
    dead = {3: Died("SIGSEGV"), 5: Died("exit code 7")}
    assert found == {**{task: task for task in range(9)}, **dead}


def test_an_error_ends_all_and_is_told_as_it_was() -> None:
    with pytest.raises(BadInput) as error:
        list(answers(failing, range(50), 2))
    assert (error.value.found, error.value.cure) == ("found", "cure")


def alive(pids: list[int]) -> list[int]:
    """Those that run; one that has ended and waits to be collected does not."""
    states = {pid: Path(f"/proc/{pid}/stat") for pid in pids}
    return [p for p, stat in states.items() if stat.exists() and " Z " not in stat.read_text()]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_leave_with_the_one_that_started_them(tmp_path: Path, sent: signal.Signals) -> None:
    program = (
        "from pathlib import Path; from test_workers import slow\n"
        "from pipeline.data.workers import answers\n"
        f"tasks = [Path({str(tmp_path)!r}, x) for x in 'ab']\n"
        "if __name__ == '__main__': list(answers(slow, tasks, 2))\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    process = subprocess.Popen([sys.executable, script], env=ENVIRONMENT, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(found := list(tmp_path.glob("?-*"))) < 2:
        assert time.monotonic() < deadline, "the workers did not begin"
        time.sleep(0.05)
    pids = [int(path.name[2:]) for path in found]
    assert alive(pids) == pids
    process.send_signal(sent)
    process.communicate()
    while alive(pids):
        assert time.monotonic() < deadline, "the workers stayed"
        time.sleep(0.05)


def test_a_signal_that_another_thread_takes_waits_too() -> None:
    """The mask is a thread's own, but handlers are called in the first."""
    ended, done = threading.Event(), []
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), deaf():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            done.append("started")
    finally:
        ended.set()
        other.join()
    assert done == ["started"]


def test_no_worker_hears_the_signal_of_the_terminal(tmp_path: Path) -> None:
    """Not the first one either, before which multiprocessing starts a process of its own."""
    script = tmp_path / "program.py"
    script.write_text(
        "from test_workers import is_deaf; from pipeline.data.workers import answers\n"
        "if __name__ == '__main__': print(*[deaf for _, deaf in answers(is_deaf, 'ab', 2)])\n"
    )
    done = subprocess.run(
        [sys.executable, script], env=ENVIRONMENT, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("True True\n", "")
