"""mrjob's inline and local runners, made fit for archives and for a driver that shows progress.

Changed against mrjob 0.7.4:

- The local runner gives a task the path of its archive. mrjob copies the archive, in a shell script
  that breaks on blanks in its path, and inflates every .gz with gunzip, which fails on damaged
  archives and shifts all offsets.
- Many small files share a map task. mrjob starts at least one process for each.
- A truncated .gz is an error. mrjob reads it as if it ended there.
- Paths are paths, not globs.
- The local runner forks tasks from a server (task_server.py). mrjob starts a program for each.
- Threads wait for tasks. mrjob has a pool of processes, each of which prints a traceback when it is
  interrupted.
- The last lines of a failed task are in `failure`, of a traceback only the error.
- A task that dies while it reads an archive is an error of that archive.
- The bytes of archives that tasks have read so far are known from the status of each task. A status
  is a line `reporter:status:…` in the task's stderr, as Hadoop knows it; the last counts.
"""

from __future__ import annotations

import contextlib
import mmap
import re
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import IO, Any

from mrjob.inline import InlineMRJobRunner
from mrjob.local import LocalMRJobRunner, _TaskFailedException
from mrjob.step import StepFailedException

import crawlrank
from crawlrank.jobs.kernel.errors import CrawlrankError, died
from crawlrank.jobs.kernel.formats.reading import read_lines
from crawlrank.jobs.kernel.formats.side_lines import ARCHIVE, READ, to_json
from crawlrank.jobs.kernel.machine.shortage import shortage_of
from crawlrank.jobs.kernel.storage.while_reading import repeated
from crawlrank.jobs.mapreduce.runners import LOOKS
from crawlrank.jobs.mapreduce.runners.task_server import ForkedTask, Task, is_importable

_CHUNK = 1 << 20  # bytes in memory


def cut_lines(lines: Iterable[bytes], size: int, files: Iterator[IO[bytes]]) -> list[str]:
    """Write the lines to files, each until it has `size` bytes; the first is made also without
    lines. Returns the names of the files."""
    file = next(files)
    names, written = [file.name], 0
    for line in lines:
        if written and written >= size:
            file.close()
            file = next(files)
            names.append(file.name)
            written = 0
        written += file.write(line)
    file.close()
    return names


def cut_by_key(sorted_lines: Path, size: int, files: Iterator[IO[bytes]]) -> int:
    """Copy sorted lines to files, as cut_lines does, but all lines of a key, the bytes before the
    first tab, to one file. Returns the number of files."""
    count = 0
    with sorted_lines.open("rb") as source:
        for begin, end in _ranges(source, size):
            with next(files) as file:
                source.seek(begin)
                for at in range(begin, end, _CHUNK):
                    file.write(source.read(min(_CHUNK, end - at)))
            count += 1
    return count


def _ranges(source: IO[bytes], size: int) -> Iterator[tuple[int, int]]:
    """The first byte of each file and the one after its last."""
    whole = source.seek(0, 2)
    if not whole:
        yield 0, 0
        return
    with mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        begin = 0
        while begin < whole:
            end = _end_of_line(lines, max(begin, min(begin + size, whole) - 1))
            key = _key(lines, lines.rfind(b"\n", begin, end - 1) + 1 or begin, end)
            while end < whole and _key(lines, end, after := _end_of_line(lines, end)) == key:
                end = after
            yield begin, end
            begin = end


def _end_of_line(lines: mmap.mmap, position: int) -> int:
    return lines.find(b"\n", position) + 1 or len(lines)


def _key(lines: mmap.mmap, begin: int, end: int) -> bytes:
    return lines[begin:end].partition(b"\t")[0]


_LAST = 1000  # bytes from the end of a stderr in which its last status is
_STATUS = re.compile(b"reporter:status:%s\n" % READ.encode().replace(b"%d", b"([0-9]+)"))


class BytesRead:
    """The bytes read by tasks that have ended and by tasks at work."""

    def __init__(self) -> None:
        self._before = 0
        self._at_work: set[Path] = set()  # the stderr of each
        self._lock = threading.Lock()

    def total(self) -> int:
        with self._lock:
            return self._before + sum(map(bytes_read, self._at_work))

    @contextmanager
    def by_task(self, stderr: str) -> Iterator[None]:
        """Count the task with this stderr, which works while the block runs."""
        path = Path(stderr)
        with self._lock:
            self._at_work.add(path)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(path)
                self._before += bytes_read(path)

    @contextmanager
    def reported_to(self, on_read: Callable[[int], None] | None, looks: float) -> Iterator[None]:
        """Call `on_read` with the total now and then, and once at the end. looks: seconds between
        two looks."""
        if on_read is None:
            yield
            return
        with repeated(lambda: on_read(self.total()), looks):
            yield
        on_read(self.total())


def bytes_read(stderr: Path) -> int:
    """The bytes in the last status of the task with this stderr."""
    with stderr.open("rb") as file:
        file.seek(max(0, stderr.stat().st_size - _LAST))
        statuses = _STATUS.findall(file.read())
    return int(statuses[-1]) if statuses else 0


TasksDone = Callable[[int, int], None]  # called with tasks done and tasks of the phase
TAIL_LINES = 12
INFLATED = 8  # about how much larger lines of links are than their gzip or Parquet


def _text_size(path: Path) -> int:
    return path.stat().st_size * (INFLATED if path.suffix in (".gz", ".parquet") else 1)


class _Watched:
    """Reports finished tasks to `on_task`, and bytes of archives that tasks have read to `on_read`;
    keeps the last lines and the exit code of a failure."""

    least_split = 1 << 18  # bytes
    on_task: TasksDone | None = None
    on_read: Callable[[int], None] | None = None
    looks = LOOKS  # seconds between two calls of it
    failure: str = ""
    exit_code: int = 0  # of the task that failed

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._bytes_read = BytesRead()

    def _split_mapper_input(self, input_paths: Any, step_num: int) -> Any:
        """Cut the input into as many splits as cores, of about equal size, over all input files
        together. A split is large enough that its process does not take longer to start than to
        work."""
        runner: Any = self
        if step_num == 0 and runner._uses_input_manifest():
            return super()._split_mapper_input(input_paths, step_num)  # type: ignore[misc]
        paths = [Path(path) for path in input_paths]
        least = 1 if runner._hadoop_input_format else self.least_split
        size = max(sum(map(_text_size, paths)) // runner._num_cores(), least)
        lines = (line + b"\n" for path in paths for _, _, line in read_lines(path))
        names = cut_lines(lines, size, runner._yield_split_fileobjs("mapper", step_num))
        return [{"file": name, "start": 0, "length": Path(name).stat().st_size} for name in names]

    def _split_reducer_input(self, step_num: int) -> int:
        runner: Any = self
        path = Path(runner._sorted_reducer_input_path(step_num))
        size = path.stat().st_size // (runner._num_reducers(step_num) * 2)
        return cut_by_key(path, size, runner._yield_split_fileobjs("reducer", step_num))

    def _create_input_manifest_if_needed(self) -> None:
        """A line for each archive, with its name as `input_paths` and `writable_names` give it.
        mrjob would look URLs up as globs, with its own clients."""
        runner: Any = self
        if runner._uses_input_manifest() and not runner._input_manifest_path:
            path = Path(runner._get_local_tmp_dir(), "input-manifest.txt")
            path.write_text("".join(f"{name}\n" for name in runner._get_input_paths()), "utf-8")
            runner._input_manifest_path = str(path)

    def _input_paths_for_step(self, step_num: int) -> Any:
        runner: Any = super()
        return (
            runner._get_input_paths() if step_num == 0 else runner._input_paths_for_step(step_num)
        )

    def _tick(self, done: int, total: int) -> None:
        if self.on_task:
            self.on_task(done, total)


class InlineRunner(_Watched, InlineMRJobRunner):  # type: ignore[misc]
    """Runs tasks one after the other in this process."""

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Any = None) -> None:
        tasks = list(funcs)
        with self._bytes_read.reported_to(self.on_read, self.looks):
            for done, task in enumerate(tasks, 1):
                try:
                    task()
                except (CrawlrankError, OSError):
                    raise
                except Exception as error:
                    if shortage_of(error):
                        raise
                    self.failure = "".join(traceback.format_exception_only(error)).rstrip()
                    raise StepFailedException(reason=repr(error)) from error
                self._tick(done, len(tasks))

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Any:
        invoke = super()._invoke_task_func(task_type, step_num, task_num)

        def watched(stdin: Any, stdout: Any, stderr: Any, *more: Any) -> None:
            with self._bytes_read.by_task(stderr.name):
                invoke(stdin, stdout, stderr, *more)

        return watched


class LocalRunner(_Watched, LocalMRJobRunner):  # type: ignore[misc]
    """Runs tasks as processes, `num_cores` at a time. job_class: the job, which its tasks run.
    forks: whether tasks are forked, which the libraries of macOS do not allow."""

    job_class: type
    forks = sys.platform != "darwin"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._running: set[subprocess.Popen[bytes] | ForkedTask] = set()
        self._stopped = threading.Event()

    def _cmdenv(self) -> dict[str, str]:
        """The variables of tasks, with PYTHONPATH: tasks run in other folders and find this package
        by it."""
        env = {"PYTHONPATH": str(Path(crawlrank.__file__).absolute().parents[1])}
        if sys.version_info < (3, 12):  # the older distutils loads in a third of the time
            env["SETUPTOOLS_USE_DISTUTILS"] = "stdlib"
        return {**super()._cmdenv(), **env}

    def _num_reducers(self, step_num: int) -> int:
        """Half the reduce tasks, as mrjob makes twice as many. At most one for each core, and each
        large enough that its process does not take longer to start than to work."""
        size = Path(self._sorted_reducer_input_path(step_num)).stat().st_size
        return max(1, min(int(self._num_cores()), size // self.least_split) // 2)

    def _manifest_download_content(self) -> list[str]:
        return ["ARCHIVE=$(cut -f 2-)", 'exec "$@" "$ARCHIVE" "$ARCHIVE"']

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Any:
        return partial(self._run_process, (task_type, step_num, task_num))

    def _run_process(
        self,
        task: tuple[str, int, int],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
        wd: str,
        env: dict[str, str],
    ) -> None:
        if self._stopped.is_set():
            return
        with self._bytes_read.by_task(stderr.name):
            process = self._start(task, (stdin, stdout, stderr), wd, env)
            self._running.add(process)
            if self._stopped.is_set():
                process.terminate()
            try:
                code = process.wait()
            finally:
                self._running.discard(process)
        if code < 0 and self._reads_an_archive(task) and not self._stopped.is_set():
            _give_up(stdin, stdout, signal.Signals(-code).name)
        elif code and not self._stopped.is_set():
            self.failure, self.exit_code = tail(Path(stderr.name)), code
            raise _TaskFailedException(
                reason=f"{task[0]} {task[2]} ended with {code}",
                step_num=task[1],
                num_steps=self._num_steps(),
                task_type=task[0],
                task_num=task[2],
            )

    def _start(
        self, task: tuple[str, int, int], streams: Any, wd: str, env: dict[str, str]
    ) -> subprocess.Popen[bytes] | ForkedTask:
        """Fork the task, or start it as a program where it cannot be forked."""
        task_type, step_num, _ = task
        stdin, stdout, stderr = streams
        if not (self.forks and is_importable(self.job_class)):
            args = self._substep_args(step_num, task_type)
            return subprocess.Popen(
                args, stdin=stdin, stdout=stdout, stderr=stderr, cwd=wd, env=env
            )
        args = self._args_for_task(step_num, task_type)
        if self._reads_an_archive(task):
            args += [_archive_of(stdin)] * 2
        job = self.job_class
        return ForkedTask(Task(job.__module__, job.__name__, args, wd, env), *streams)

    def _reads_an_archive(self, task: tuple[str, int, int]) -> bool:
        return task[:2] == ("mapper", 0) and bool(self._uses_input_manifest())

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Any = None) -> None:
        tasks = list(funcs)
        pool = ThreadPool(max(1, min(self._num_cores(), len(tasks))))
        try:
            with self._bytes_read.reported_to(self.on_read, self.looks):
                for done, _ in enumerate(pool.imap_unordered(_call, tasks), 1):
                    self._tick(done, len(tasks))
        except BaseException:
            self._stop_tasks()
            raise
        finally:
            pool.close()
            pool.join()

    def _stop_tasks(self) -> None:
        self._stopped.set()
        for process in list(self._running):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()

    def _log_cause_of_error(self, ex: Exception) -> None:
        """Does nothing, as `failure` has the cause."""


def _give_up(stdin: IO[bytes], stdout: IO[bytes], signal_name: str) -> None:
    """Replace the output of a task that died by an error of its archive; other tasks continue."""
    report = {"archive": _archive_of(stdin), "counters": {}, "error": died(signal_name)}
    stdout.seek(0)
    stdout.truncate()
    stdout.write(ARCHIVE + b"\t" + to_json(report) + b"\n")


def _archive_of(stdin: IO[bytes]) -> str:
    """The archive of a task with this input, a line of a position and a name."""
    stdin.seek(0)
    return stdin.readline().rstrip(b"\n").partition(b"\t")[2].decode()


def _call(task: Callable[[], None]) -> None:
    task()


def tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a task's stderr, without counters, statuses and traces of the shell."""
    messages = path.read_text(errors="backslashreplace").splitlines()
    ours = (line for line in messages if line.strip() and not line.startswith(("reporter:", "+ ")))
    return last_lines(ours, lines)


def last_lines(messages: Iterable[str], lines: int = TAIL_LINES) -> str:
    """The last of the lines. Of tracebacks only the error of the last one, which begins where the
    indented lines end."""
    kept = list(messages)
    frames = [number for number, line in enumerate(kept) if line.startswith("Traceback (most")]
    if frames:
        kept = [line for line in kept[frames[-1] + 1 :] if not line.startswith("  ")]
    return "\n".join(kept[-lines:])
