"""mrjob's inline and local runners, made fit for archives and for a driver that shows progress.

Changed against mrjob 0.7.4: the local runner hands an archive to its task where it lies (mrjob
copies it, in a shell script that breaks on blanks in its path, and inflates every .gz with gunzip,
which fails on the damaged ones and shifts all offsets); many small files share a map task (mrjob
starts at least one process for each) and a truncated .gz is an error (mrjob reads it as if it
ended there); paths are paths, not globs; tasks are awaited by threads, not by a
pool of processes that each print a traceback when interrupted; a task that fails leaves what it
said last in `failure`, of a traceback the error alone; one that dies while it reads an archive is
that archive's error.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import IO, Any

from mrjob.inline import InlineMRJobRunner
from mrjob.local import LocalMRJobRunner, _TaskFailedException
from mrjob.sim import _split_records
from mrjob.step import StepFailedException

from jobs.kernel.errors import CrawlrankError, died
from jobs.kernel.formats.reading import read_lines
from jobs.kernel.formats.side_lines import ARCHIVE, to_json
from jobs.kernel.machine.shortage import shortage_of
from jobs.mapreduce.runners.bytes_read import BytesRead

Progress = Callable[[int, int], None]
TAIL_LINES = 12
INFLATED = 8  # about how much larger lines of links are than their gzip or Parquet


def _text_size(path: Path) -> int:
    return path.stat().st_size * (INFLATED if path.suffix in (".gz", ".parquet") else 1)


class _Watched:
    """Counts finished tasks for whoever set `on_task`, and the bytes of archives that tasks have
    read for whoever set `on_read`; keeps the last lines and the exit code of a failure."""

    least_split = 1 << 18  # bytes
    on_task: Progress | None = None
    on_read: Callable[[int], None] | None = None
    failure: str = ""
    exit_code: int = 0  # of the task that failed

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._bytes_read = BytesRead()

    def _split_mapper_input(self, input_paths: Any, step_num: int) -> Any:
        """As many splits as cores, of about equal size, over all input files together; none so
        small that its process would take longer to start than to work."""
        runner: Any = self
        if step_num == 0 and runner._uses_input_manifest():
            return super()._split_mapper_input(input_paths, step_num)  # type: ignore[misc]
        paths = [Path(path) for path in input_paths]
        least = 1 if runner._hadoop_input_format else self.least_split
        size = max(sum(map(_text_size, paths)) // runner._num_cores(), least)
        lines = (line + b"\n" for path in paths for _, _, line in read_lines(path))
        places = runner._yield_split_fileobjs("mapper", step_num)
        splits = []
        for group in _split_records(lines, size):
            with next(places) as file:
                file.writelines(group)
                splits.append({"file": file.name, "start": 0, "length": file.tell()})
        return splits

    def _create_input_manifest_if_needed(self) -> None:
        """The archives as they are named: mrjob would look URLs up as globs, with clients of its
        own. One a line, as `input_paths` in launch.py and `writable_names` give them."""
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
    """Tasks one after the other in this process."""

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Any = None) -> None:
        tasks = list(funcs)
        with self._bytes_read.told_to(self.on_read):
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
    """Tasks as processes of their own, `num_cores` at a time."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = threading.Event()

    def _cmdenv(self) -> dict[str, str]:
        """Tasks run in other folders: they find this package by PYTHONPATH, installed or not."""
        env = {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
        if sys.version_info < (3, 12):  # the older distutils loads in a third of the time
            env["SETUPTOOLS_USE_DISTUTILS"] = "stdlib"
        return {**super()._cmdenv(), **env}

    def _num_reducers(self, step_num: int) -> int:
        """mrjob makes twice as many reduce tasks as this says. A task for each core is enough, and
        none should be so small that its process takes longer to start than to work."""
        size = Path(self._sorted_reducer_input_path(step_num)).stat().st_size
        return max(1, min(int(self._num_cores()), size // self.least_split) // 2)

    def _manifest_download_content(self) -> list[str]:
        return ["ARCHIVE=$(cut -f 2-)", 'exec "$@" "$ARCHIVE" "$ARCHIVE"']

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Any:
        args = self._substep_args(step_num, task_type)
        return partial(self._run_process, (task_type, step_num, task_num), args)

    def _run_process(
        self,
        task: tuple[str, int, int],
        args: list[str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
        wd: str,
        env: dict[str, str],
    ) -> None:
        if self._stopped.is_set():
            return
        with (
            self._bytes_read.by_task(stderr.name),
            subprocess.Popen(
                args, stdin=stdin, stdout=stdout, stderr=stderr, cwd=wd, env=env
            ) as process,
        ):
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

    def _reads_an_archive(self, task: tuple[str, int, int]) -> bool:
        return task[:2] == ("mapper", 0) and bool(self._uses_input_manifest())

    def _run_multiple(self, funcs: Iterable[Callable[[], None]], num_processes: Any = None) -> None:
        tasks = list(funcs)
        pool = ThreadPool(max(1, min(self._num_cores(), len(tasks))))
        try:
            with self._bytes_read.told_to(self.on_read):
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
        """Nothing to log: `failure` has it."""


def _give_up(stdin: IO[bytes], stdout: IO[bytes], how: str) -> None:
    """Where the task of an archive died: that it did, in place of what it gave; others go on."""
    stdin.seek(0)
    archive = stdin.readline().rstrip(b"\n").partition(b"\t")[2]
    told = {"archive": archive.decode(), "counters": {}, "error": died(how)}
    stdout.seek(0)
    stdout.truncate()
    stdout.write(ARCHIVE + b"\t" + to_json(told) + b"\n")


def _call(task: Callable[[], None]) -> None:
    task()


def tail(path: Path, lines: int = TAIL_LINES) -> str:
    """The last lines of a task's stderr, without the counters that it reports there."""
    return last_lines(_said(path), lines)


def last_lines(of: Iterable[str], lines: int = TAIL_LINES) -> str:
    """The last of the lines; of tracebacks the error of the last alone, which begins where the
    indented lines end."""
    said = list(of)
    frames = [number for number, line in enumerate(said) if line.startswith("Traceback (most")]
    if frames:
        said = [line for line in said[frames[-1] + 1 :] if not line.startswith("  ")]
    return "\n".join(said[-lines:])


def _said(path: Path) -> Iterator[str]:
    for line in path.read_text(errors="backslashreplace").splitlines():
        if line.strip() and not line.startswith(("reporter:", "+ ")):
            yield line


OURS = {"inline": InlineRunner, "local": LocalRunner}
