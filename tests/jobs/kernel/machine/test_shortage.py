"""What the machine has no more of: each want is one message with its cure, whoever met it."""

from __future__ import annotations

import errno
import pickle
import re
import subprocess
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from support.crawls import environment
from support.faults.limits import folder_of_user, within_addresses, within_threads
from support.paths import LOOPBACK, SAMPLES

from crawlrank.jobs.kernel.errors import Shortage
from crawlrank.jobs.kernel.machine.shortage import WANTS, exit_code_of, shortage_in, shortage_of
from crawlrank.pipeline.data.workers import Tell, answers

MIB = 1 << 20
ROUNDS = ("--iterations", "2", "--no-validate", "--quiet", "--jobs", "2")
MEMORY = re.compile(r"crawlrank: (.*: )?out of memory \(.*\)\. Use fewer --jobs or less --memory,")
THREADS = re.compile(r"crawlrank: (.*: )?no more threads or processes can be started\. Use fewer")


def error_of(number: int) -> OSError:
    return OSError(number, "whatever it is called here", "/work/file")


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (MemoryError(), "out of memory (MemoryError)"),
        (pa.ArrowMemoryError("malloc of size 9 failed"), "out of memory (ArrowMemoryError: ma"),
        (ImportError("x.so: failed to map segment from shared object"), "out of memory (Import"),
        (OSError("x.so: failed to map segment from shared object"), "out of memory (OSError: x"),
        (error_of(errno.ENOMEM), "/work/file: out of memory ("),
        (RuntimeError("can't start new thread"), "no more threads or processes"),
        (RuntimeError("setup.sh: 1: Cannot fork"), "no more threads or processes"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "no more threads"),
        (error_of(errno.EMFILE), "/work/file: too many open files"),
        (error_of(errno.ENOSPC), "/work/file: the disk is full. Make room, or write elsewhere."),
        (error_of(errno.EDQUOT), "/work/file: the quota is used up. Make room,"),
        (error_of(errno.EROFS), "/work/file: the file system is read-only. Make room,"),
        (error_of(errno.EFBIG), "/work/file: File too large. Raise the limit (ulimit -f)"),
    ],
)
def test_every_want_has_its_message(error: Exception, found: str) -> None:
    shortage = shortage_of(error)
    assert shortage
    assert str(shortage).startswith(found)
    assert shortage.exit_code == 3
    assert str(pickle.loads(pickle.dumps(shortage))) == str(shortage)
    code = exit_code_of(error)
    assert code
    assert [want.code for want in WANTS].count(code) == 1
    from_task = shortage_in("", code, "/work/file")
    assert from_task
    assert from_task.cure == shortage.cure


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"), OSError("x"), error_of(errno.ENOENT),
        BlockingIOError(errno.EAGAIN, "write could not complete without blocking", 0),
    ],
)  # fmt: skip
def test_other_errors_are_no_want(error: Exception) -> None:
    assert shortage_of(error) is None
    assert exit_code_of(error) is None
    assert shortage_in(f"{type(error).__name__}: {error}", 1, "x") is None


def test_compiled_code_that_does_not_say_why() -> None:
    program = (
        "import resource, sys; from crawlrank.jobs.kernel.machine.shortage import shortage_of\n"
        "limit = int(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "print(shortage_of(SystemError('error return without exception set')))"
    )
    for limit, said in ((1 << 30, "out of memory (SystemError: error return"), (-1, "None")):
        command = [sys.executable, "-c", program, str(limit)]
        run = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
        assert run.stdout.startswith(said)


def test_a_library_that_fails_once_more_while_it_tidies_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of threads, of which not all can be started, tells of a method that it misses."""

    def start(self: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", start)
    with pytest.raises((AttributeError, RuntimeError)) as error:
        ThreadPool(2)
    assert "no more threads" in str(shortage_of(error.value))


def greedy(task: int, tell: Tell) -> int:
    return int(np.ones(1 << 60, "u1").sum()) if task == 3 else task


class Unloadable:
    """Names work that a worker cannot import for want of memory."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise MemoryError",)

    def __call__(self, task: int, tell: Tell) -> int:
        return task


@pytest.mark.slow
def test_a_worker_tells_its_want() -> None:
    with pytest.raises(Shortage, match="out of memory"):
        list(answers(greedy, range(9), 2))


def test_a_worker_that_cannot_import_tells_why(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Shortage, match="out of memory"):
        list(answers(Unloadable(), range(9), 2))
    assert capfd.readouterr().err == ""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("runner", "size"),
    [
        ("embedded", 300), ("embedded", 450),
        *(
            pytest.param(runner, size, marks=pytest.mark.slow)
            for runner, sizes in {
                "embedded": (500, 1300),
                "inline": (450, 2000),
                "local": (500,),
            }.items()
            for size in sizes
        ),
    ],
)  # fmt: skip
def test_few_addresses(runner: str, size: int, tmp_path: Path) -> None:
    words = ("run", LOOPBACK, "--work", tmp_path / "work", *ROUNDS, "--runner", runner)
    said = within_addresses(size * MIB, *words)
    if said.code:
        assert said.code == 3
        assert MEMORY.match(said.err) or THREADS.match(said.err), said.err
        assert said.err.count("\n") == 1
    assert size >= 600 or said.code


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runner", "most"),
    [
        ("embedded", 5),
        *(
            pytest.param(runner, most, marks=pytest.mark.slow)
            for runner, counts in {
                "embedded": (1, 13, 17),
                "inline": (4, 17),
                "local": (3, 8),
            }.items()
            for most in counts
        ),
    ],
)  # fmt: skip
def test_few_threads(runner: str, most: int) -> None:
    with folder_of_user() as folder:
        words = ("run", LOOPBACK, "--work", folder / "work", *ROUNDS, "--runner", runner)
        said = within_threads(most, *words)
    if said.code:
        assert said.code == 3
        assert THREADS.match(said.err), said.err
        assert said.err.count("\n") == 1
    assert most > 5 or said.code


@pytest.mark.slow
@pytest.mark.parametrize("most", [6, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 5, 8))])
def test_few_threads_to_inspect(most: int) -> None:
    """Processes that cannot watch for their parent leave without a traceback."""
    with folder_of_user():
        said = within_threads(
            most, "inspect", LOOPBACK, SAMPLES / "aut-example.warc.gz", "--jobs", "2", "--quiet"
        )
    assert said.code in (0, 3)
    assert said.code == 0 or THREADS.match(said.err) or "perhaps for want of memory" in said.err
    assert said.err.count("\n") <= 1
