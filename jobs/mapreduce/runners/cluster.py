"""mrjob's runners of clusters, made fit for a driver that tells its user what failed.

Changed against mrjob 0.7.4: what a failed task said last is kept in `failure`, of a traceback the
error alone, in place of pages of log; where no task was to blame, what Hadoop's client said.
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
from mrjob.spark.runner import SparkMRJobRunner

from jobs.kernel.storage import stores
from jobs.kernel.storage.opening import HDFS
from jobs.mapreduce.runners.applications import end_left
from jobs.mapreduce.runners.local import last_lines
from jobs.mapreduce.runners.tied import tied

# Commands are started without a terminal of their own: clients of stores in this process have
# threads, for which a fork that goes on in Python, as that for a terminal does, waits for ever.
mrjob.bin.pty = mrjob.hadoop.pty = None

_PERCENT = re.compile(r"map\s+(\d+)%\s+reduce\s+(\d+)%")
_FRAME = re.compile(r"\s*(at [\w.$<>/]+\(|\.\.\. \d+ more)")  # of Java
_STATE = " failed with state "  # of an application: what Hadoop's client tells as news, with why
HEARD = 200  # lines of errors
AT_ONCE = 8  # files that a job brings
_VERSIONS: dict[tuple[str, ...], str] = {}  # of Hadoop, by command
Progress = Callable[[int, int], None]


class _Listener(logging.Handler):
    """Hears what mrjob logs: how far a job is, and errors."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.on_task: Progress | None = None
        self.errors: deque[str] = deque(maxlen=HEARD)
        self.state = ""

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if found := _PERCENT.search(said):
            if self.on_task:
                self.on_task(int(found[1]) + int(found[2]), 200)
        elif _STATE in said:
            self.state = said
        elif record.levelno >= logging.ERROR:
            self.errors.extend(line for line in said.splitlines() if _says_something(line))


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not _FRAME.match(line)


class _Told:
    """Keeps what failed, and tells how far a job is."""

    on_task: Progress | None = None
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
        heard = [*filter(_says_something, self.state.splitlines()), *self._listener.errors]
        return self._picked or last_lines(heard)

    @property
    def state(self) -> str:
        """What Hadoop's client said of a failed application as a whole."""
        return self._listener.state

    def _log_counters(self, log_interpretation: Any, step_num: int) -> None:
        """Not looked for, in logs that are many requests away: jobs tell what they counted in their
        output."""

    def _pick_error(self, log_interpretation: Any, step_type: Any) -> Any:
        error = super()._pick_error(log_interpretation, step_type)  # type: ignore[misc]
        if error:
            said = error.get("task_error", {}).get("message") or _format_error(error)
            self._picked = last_lines(filter(_says_something, said.splitlines()))
        return error


class _Hdfs(HadoopFilesystem):  # type: ignore[misc]
    """What mrjob wants of HDFS at each job, by a client in this process: its own starts a Java
    machine for every file."""

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

    pool: ThreadPool | None = None

    def put(self, src: str, path: str) -> None:
        if not path.startswith(HDFS):
            super().put(src, path)
        elif self.pool:
            self._put.append(self.pool.apply_async(stores.upload, (Path(src), path)))
        else:
            stores.upload(Path(src), path)

    @contextlib.contextmanager
    def all_at_once(self) -> Iterator[None]:
        """Files that are put meanwhile are there at the end: a client waits half a second for the
        name node to hear of the last block of each. Raises OSError."""
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


class HadoopRunner(_Told, HadoopJobRunner):  # type: ignore[misc]
    """YARN, through the `hadoop` command of this machine."""

    def end_orphans(self, tag: str) -> int:
        """Applications; raises what end_left raises."""
        return end_left(tag, self.get_hadoop_bin())

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


class SparkRunner(_Told, SparkMRJobRunner):  # type: ignore[misc]
    """Spark, through `spark-submit`, by a harness of our own."""

    def end_orphans(self, tag: str) -> int:
        """Applications on YARN; elsewhere Spark's work ends with the driver's spark-submit."""
        if not (self._spark_master() or "").startswith("yarn"):
            return 0
        return end_left(tag, self.fs.hadoop.get_hadoop_bin())

    def _run_spark_submit(self, spark_submit_args: list[str], env: Any, **more: Any) -> Any:
        return super()._run_spark_submit(tied(spark_submit_args), env, **more)

    def _spark_harness_path(self) -> str:
        return str(Path(__file__).with_name("spark_harness.py"))

    def _counter_output_dir(self, step_num: int) -> str:
        """Where no counters are: mrjob's harness fails where it has to make this folder itself."""
        return str(Path(self._get_local_tmp_dir(), f"no-counters-{step_num}"))

    def _spark_script_args(self, step_num: int, last_step_num: int | None = None) -> list[str]:
        """With the class by its own name, as it is in the zip of jobs."""
        args: list[str] = super()._spark_script_args(step_num, last_step_num)
        if self._mrjob_cls.__module__.startswith("jobs."):
            args[0] = f"{self._mrjob_cls.__module__}.{self._mrjob_cls.__name__}"
        return args

    def _is_local(self) -> bool:
        return (self._spark_master() or "local").startswith("local")

    def _default_python_bin(self, local: bool = False) -> list[str]:
        found: list[str] = super()._default_python_bin(local=local or self._is_local())
        return found

    def _spark_cmdenv(self, step_num: int) -> dict[str, str]:
        alone = {"SPARK_LOCAL_IP": "127.0.0.1"} if self._is_local() else {}
        return {**alone, **super()._spark_cmdenv(step_num)}


OURS = {"hadoop": HadoopRunner, "spark": SparkRunner}
