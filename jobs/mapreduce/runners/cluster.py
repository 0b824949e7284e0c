"""mrjob's runners of clusters, made fit for a driver that tells its user what failed.

Changed against mrjob 0.7.4: `failure` has the last lines of a failed task, of a traceback only the
error. Where no task failed, it has what Hadoop's client said.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import mrjob.bin
import mrjob.hadoop
from mrjob.fs.composite import CompositeFilesystem
from mrjob.fs.hadoop import HadoopFilesystem
from mrjob.fs.local import LocalFilesystem
from mrjob.hadoop import HadoopJobRunner
from mrjob.logs.errors import _format_error

from crawlrank.jobs.kernel.machine.processes import tied
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import HDFS
from crawlrank.jobs.mapreduce.runners.applications import end_left
from crawlrank.jobs.mapreduce.runners.local import TasksDone, last_lines

# Commands are started without a terminal of their own. The fork for a terminal continues in Python,
# where it may wait for ever for a thread of a store's client in this process.
mrjob.bin.pty = mrjob.hadoop.pty = None

_PERCENT = re.compile(r"map\s+(\d+)%\s+reduce\s+(\d+)%")
_FRAME = re.compile(r"\s*(at [\w.$<>/]+\(|\.\.\. \d+ more)")  # of Java
_STATE = " failed with state "  # in what Hadoop's client logs as INFO of a failed application
HEARD = 200  # lines of errors
_CONTAINERS = "attempt_to_container_id"  # in what mrjob reads from a history log
AT_ONCE = 8  # files that a job brings
_VERSIONS: dict[tuple[str, ...], str] = {}  # of Hadoop, by command


class _Listener(logging.Handler):
    """Takes from mrjob's log how far a job is, and errors."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.on_task: TasksDone | None = None
        self.errors: deque[str] = deque(maxlen=HEARD)
        self.state = ""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if percent := _PERCENT.search(message):
            if self.on_task:
                self.on_task(int(percent[1]) + int(percent[2]), 200)
        elif _STATE in message:
            self.state = message
        elif record.levelno >= logging.ERROR:
            self.errors.extend(_informative(message))


def _informative(message: str) -> list[str]:
    """The lines of a message that are neither blank nor frames of Java."""
    return [line for line in message.splitlines() if line.strip() and not _FRAME.match(line)]


class WatchedCluster:
    """Reports how far a job is, and keeps what failed."""

    on_task: TasksDone | None = None
    on_read: Callable[[int], None] | None = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._picked = ""
        self._listener = _Listener()

    def run(self) -> None:
        log = logging.getLogger("mrjob")
        level, self._listener.on_task = log.level, self.on_task
        log.setLevel(logging.INFO)
        log.addHandler(self._listener)
        try:
            super().run()  # type: ignore[misc]
        finally:
            log.removeHandler(self._listener)
            log.setLevel(level)

    @property
    def failure(self) -> str:
        return self._picked or last_lines([*_informative(self.state), *self._listener.errors])

    @property
    def state(self) -> str:
        """What Hadoop's client said about a failed application as a whole."""
        return self._listener.state

    def _log_counters(self, log_interpretation: Any, step_num: int) -> None:
        """Does nothing. The output of a job has its counters, and logs take many requests."""

    def _pick_error(self, log_interpretation: Any, step_type: Any) -> Any:
        error = super()._pick_error(log_interpretation, step_type)  # type: ignore[misc]
        if error:
            message = error.get("task_error", {}).get("message") or _format_error(error)
            self._picked = last_lines(_informative(message))
        return error


class _Hdfs(HadoopFilesystem):  # type: ignore[misc]
    """HDFS by a client in this process. mrjob's own starts a Java machine for every file.

    pool: uploads files while all_at_once continues.
    """

    pool: ThreadPool | None = None

    def get_hadoop_version(self) -> str:
        binary = tuple(self.get_hadoop_bin())
        if binary not in _VERSIONS:
            _VERSIONS[binary] = super().get_hadoop_version()
        return _VERSIONS[binary]

    def mkdir(self, path: str) -> None:
        if path.startswith(HDFS):
            stores.make_folder(path)
        else:
            super().mkdir(path)

    def put(self, src: str, path: str) -> None:
        if not path.startswith(HDFS):
            super().put(src, path)
        elif self.pool:
            self._put.append(self.pool.apply_async(stores.upload, (Path(src), path)))
        else:
            stores.upload(Path(src), path)

    @contextlib.contextmanager
    def all_at_once(self) -> Iterator[None]:
        """Files that are put in the block are there at its end. One after the other, each would
        wait half a second until the name node knows its last block. Raises OSError."""
        self._put = list[Any]()
        with ThreadPool(AT_ONCE) as self.pool:
            try:
                yield
                for put in self._put:
                    put.get()
            finally:
                self.pool = None

    def rm(self, path_glob: str) -> None:
        if path_glob.startswith(HDFS):
            stores.remove(path_glob)
        else:
            super().rm(path_glob)


class HadoopRunner(WatchedCluster, HadoopJobRunner):  # type: ignore[misc]
    """YARN, through the `hadoop` command of this machine."""

    def end_orphans(self, tag: str) -> int:
        """End applications; returns their number. Raises what end_left raises."""
        return end_left(tag, self.get_hadoop_bin())

    def _interpret_history_log(self, log_interpretation: dict[str, Any]) -> None:
        """Look again if the log was not found: the history server moves it when a job ends."""
        super()._interpret_history_log(log_interpretation)
        if not log_interpretation.get("history", {}).get(_CONTAINERS):
            log_interpretation.pop("history", None)
            super()._interpret_history_log(log_interpretation)

    def _interpret_task_logs(
        self, log_interpretation: dict[str, Any], step_type: str, attempts: Any = (), **more: Any
    ) -> None:
        """Read the logs of all tasks if the history log does not name the failed containers."""
        known = attempts if log_interpretation.get("history", {}).get(_CONTAINERS) else ()
        super()._interpret_task_logs(log_interpretation, step_type, known, **more)

    def _run_hadoop(self, hadoop_args: list[str], env: Any, record_callback: Any) -> Any:
        return super()._run_hadoop(tied(hadoop_args), env, record_callback)

    def _upload_local_files(self) -> None:
        with self.fs.hadoop.all_at_once():
            super()._upload_local_files()

    @property
    def fs(self) -> Any:
        runner: Any = self
        if runner._fs is None:
            runner._fs = CompositeFilesystem()
            runner._fs.add_fs("hadoop", _Hdfs(runner._opts["hadoop_bin"] or None))
            runner._fs.add_fs("local", LocalFilesystem())
        return runner._fs
