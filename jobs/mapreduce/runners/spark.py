"""Jobs on Spark: one application for all jobs, which the first of them starts.

The driver of the application is this process, so Spark's deploy mode is `client`. pyspark starts
Java, which ends when this process does, however it ends, and with it the application. A process
that has a Spark of its own, such as a notebook or a program of spark-submit, shares it.

mrjob reads the configuration, and knows the job. Its own runner starts an application for each job
by spark-submit, and a start takes as long as a small crawl.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import IO, Any, NamedTuple

from mrjob.spark.runner import SparkMRJobRunner
from mrjob.step import StepFailedException

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.extras import cure_of
from crawlrank.jobs.mapreduce.runners import LOOKS
from crawlrank.jobs.mapreduce.runners.applications import end_left
from crawlrank.jobs.mapreduce.runners.local import TasksDone, last_lines
from crawlrank.jobs.mapreduce.runners.spark_tasks import JobLines, SharedFile, TaskJob, run_job

#: frames of Java, and what says no more than that a task failed
_SAYS_NOTHING = re.compile(
    r"\s*(at [\w.$<>/]+\(|\.\.\. \d+ more|Driver stacktrace:|Caused by: )|"
    r".*(: Job aborted\.|: Task failed while writing rows|PythonException: )$"
)
_TRACEBACK = "Traceback (most recent call last)"
SUBMITTED = "PYSPARK_GATEWAY_PORT"  # in the environment of a program of spark-submit
_LOGGED = 20_000  # bytes of what Java has said last
# Of Spark in one Java: no server that nobody looks at, and no second, slower compilation, which
# takes longer than what it saves: the work is done in Python
_ALONE = {
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
_OWN_MASTERS = ("local", "spark://127.0.0.1", "spark://localhost")


class Settings(NamedTuple):
    """Those of an application. properties: of Spark. py_files: zips that tasks import from. words:
    of spark-submit's command line. environment: of this process while Spark starts."""

    properties: tuple[tuple[str, str], ...]
    py_files: tuple[str, ...]
    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]


class Application:
    """The Spark of this process, which can have one at a time."""

    def __init__(self) -> None:
        self._context: Any = None
        self._settings: Settings | None = None
        self._own = True  # whether it was started here
        self._shared: set[str] = set()  # paths of files that tasks have
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # of these files
        self._log: IO[bytes] | None = None  # what Java says

    def run(
        self, settings: Settings, work: Callable[[Any], None], on_task: TasksDone | None
    ) -> None:
        """Call `work` with Spark's context, in a thread: in the main one Spark would take over
        Ctrl-C. on_task: called with the tasks of the stages at work, done and in all. Raises what
        `work` raises."""
        with ThreadPool(1) as thread:
            done = thread.apply_async(lambda: work(self._context_of(settings)))
            try:
                while not done.ready():
                    done.wait(LOOKS)
                    self._report(on_task)
            except BaseException:
                self.end()  # and its tasks
                raise
            done.get()

    def share(self, path: str) -> SharedFile:
        """Bring a file to all tasks. Equal files are sent once."""
        kept = self.kept(path)
        if kept not in self._shared:
            self._context.addFile(kept)
            self._shared.add(kept)
        return SharedFile(Path(kept).name)

    def kept(self, path: str) -> str:
        """The path of a copy that is there as long as the application: a node that joins it fetches
        all files that tasks may need. Equal files have one."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="crawlrank-spark-")
        source = Path(path)
        copy = Path(self._folder.name, f"{_digest(source)}-{source.name}")
        if not copy.exists():
            shutil.copyfile(source, copy)
        return str(copy)

    def end(self) -> None:
        """End the application that was started here. Java remains until this process ends."""
        self._stop()
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def _stop(self) -> None:
        context, self._context, self._settings = self._context, None, None
        self._shared.clear()
        if context is None or not self._own:
            return
        try:
            context.stop()
        except Exception:  # noqa: BLE001 (Java is gone: py4j has many)
            context.stop()  # the rest, without Java
        java = context._gateway.proc
        if java is not None and java.poll() is not None:  # the next application starts its own
            type(context)._gateway = type(context)._jvm = None

    def last_log(self) -> list[str]:
        """The last lines that Java has logged."""
        if not self._log:
            return []
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _LOGGED))
        return self._log.read().decode(errors="replace").splitlines()

    def _context_of(self, settings: Settings) -> Any:
        if self._context is not None and (self._settings != settings or self.is_stopped()):
            self._stop()
        if self._context is None:
            self._context, self._settings = self._started(settings), settings
        return self._context

    def _started(self, settings: Settings) -> Any:
        require_pyspark()
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway

        context: Any = SparkContext._active_spark_context  # its users' own
        self._own = context is None
        if context is None:
            conf = SparkConf().setAll(list(settings.properties))
            words = shlex.join([*settings.words, "pyspark-shell"])
            with _environment({**dict(settings.environment), "PYSPARK_SUBMIT_ARGS": words}):
                gateway = SparkContext._gateway
                if gateway is None:
                    self._log = tempfile.TemporaryFile()  # noqa: SIM115 (for as long as Java lives)
                    gateway = launch_gateway(conf, {"stdout": self._log, "stderr": self._log})
                context = SparkContext(conf=conf, gateway=gateway)
            # where Java dies, they would print tracebacks
            context._accumulatorServer.handle_error = lambda *_: None
            logging.getLogger("py4j").propagate = False
        for file in settings.py_files:
            context.addPyFile(file)
        return context

    def is_stopped(self) -> bool:
        """Whether there is none: none has begun, or it has ended."""
        try:
            return self._context is None or bool(self._context._jsc.sc().isStopped())
        except Exception:  # noqa: BLE001 (Java is gone: py4j has many)
            return True

    def _report(self, on_task: TasksDone | None) -> None:
        if on_task is None or self._context is None:
            return
        with contextlib.suppress(Exception):  # it ends, or has ended
            tracker = self._context.statusTracker()
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            tasks = [(stage.numCompletedTasks, stage.numTasks) for stage in stages if stage]
            if tasks:
                done, total = map(sum, zip(*tasks, strict=True))
                on_task(done, total)


APPLICATION = Application()


def require_pyspark() -> None:
    """Make pyspark importable: the installed package, else that of the Spark in SPARK_HOME, or of
    the spark-submit on PATH. Raises BadInput where there is none, and for a package of another
    version than Spark in SPARK_HOME."""
    home, submit = os.environ.get("SPARK_HOME"), shutil.which("spark-submit")
    if importlib.util.find_spec("pyspark"):
        if home:
            _require_same_version(Path(home))
        return
    if not home and submit:
        home = str(Path(submit).resolve().parent.parent)
    libraries = sorted(Path(home or "", "python", "lib").glob("*.zip"))  # pyspark and py4j
    if not home or not libraries:
        raise BadInput(
            "--runner spark",
            f"no Spark in {home}" if home else "no Spark",
            "the package pyspark, or Spark itself in SPARK_HOME",
            cure_of("spark"),
        )
    os.environ["SPARK_HOME"] = home
    sys.path[:0] = [path for path in map(str, libraries) if path not in sys.path]


def _require_same_version(home: Path) -> None:
    try:
        own = version("pyspark")
    except PackageNotFoundError:  # that of Spark itself
        return
    jars = [jar.stem for jar in home.glob("jars/spark-core_*.jar")]
    if jars and not any(jar.endswith(f"-{own}") for jar in jars):
        raise BadInput(
            f"SPARK_HOME={home}",
            f"{jars[0]}, and the package pyspark {own}",
            "the same version of both",
            "Unset SPARK_HOME, or uninstall pyspark: then that of Spark is used.",
        )


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """These variables while the block runs: pyspark reads them when it starts Java."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class SparkRunner(SparkMRJobRunner):  # type: ignore[misc]
    """failure: the last lines of what failed. state: what the cluster said of the application."""

    on_task: TasksDone | None = None
    on_read: Callable[[int], None] | None = None
    failure = state = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._upload_mgr = None  # Spark itself brings files to tasks

    def end_orphans(self, tag: str) -> int:
        """End applications of YARN if Spark runs there; elsewhere they end with their driver."""
        if not self._master().startswith("yarn"):
            return 0
        return end_left(tag, self.fs.hadoop.get_hadoop_bin())

    def _run(self) -> None:
        try:
            APPLICATION.run(self._settings(), self._work, self.on_task)
        except BadInput:
            raise
        except Exception as error:
            logged = _informative("\n".join(APPLICATION.last_log()))
            message = _said_by(error) + (logged if APPLICATION.is_stopped() else [])
            self.failure, self.state = last_lines(message), "\n".join(logged)
            raise StepFailedException(reason=self.failure, step_num=0, num_steps=1) from error

    def _work(self, context: Any) -> None:
        run_job(context, self._task_job(), self._lines())

    def _master(self) -> str:
        return self._spark_master() or "local[*]"

    def _settings(self) -> Settings:
        if (self._spark_deploy_mode() or "client") != "client":
            mode = f"spark_deploy_mode {self._spark_deploy_mode()}"
            cure = "Run crawlrank itself on the cluster, or leave it out."
            raise BadInput("--cluster-conf", mode, "client", cure)
        if self._setup:
            raise BadInput(
                "--cluster-conf", "setup commands", "none, as Spark has no place for them",
                "Put what tasks need into the archive of `upload_archives`.",
            )  # fmt: skip
        if SUBMITTED in os.environ:
            return self._submitted()
        master, environment = self._master(), self._spark_cmdenv(0)
        names = self._working_dir_mgr.name_to_path("archive")
        archives = ",".join(f"{path}#{name}" for name, path in sorted(names.items()))
        key = "spark.yarn.dist.archives" if master.startswith("yarn") else "spark.archives"
        properties = {
            "spark.master": master, "spark.app.name": "crawlrank",
            "spark.ui.showConsoleProgress": "false",
            **({key: archives} if archives else {}),
            **{f"spark.executorEnv.{name}": value for name, value in environment.items()},
            **self._properties(),
        }  # fmt: skip
        if master.startswith("local"):
            properties = {**_ALONE, **properties}
        if master.startswith(_OWN_MASTERS):
            environment = {"SPARK_LOCAL_IP": "127.0.0.1", **environment}
        return Settings(
            tuple(sorted(properties.items())), tuple(self._py_files()),
            tuple(self._opts["spark_args"]), tuple(sorted(environment.items())),
        )  # fmt: skip

    def _submitted(self) -> Settings:
        """Those of a program of spark-submit, whose options say where Spark is."""
        return Settings(tuple(sorted(self._properties().items())), tuple(self._py_files()), (), ())

    def _properties(self) -> dict[str, str]:
        """The properties of Spark that the configuration has."""
        conf = self._jobconf_for_step(0)
        return {name: str(value) for name, value in conf.items() if name.startswith("spark.")}

    def _py_files(self) -> list[str]:
        """Those that are asked for. mrjob is in the environment of tasks."""
        return [APPLICATION.kept(path) for path in self._opts["py_files"]]

    def _task_job(self) -> TaskJob:
        """The job by the name that its module has in the zip, and its arguments."""
        module = self._mrjob_cls.__module__
        if module == "__main__":
            spec = sys.modules["__main__"].__spec__
            module = spec.name if spec else module
        args = [self._argument(argument) for argument in self._extra_args]
        return TaskJob(module, self._mrjob_cls.__name__, tuple(args))

    def _argument(self, argument: Any) -> str | SharedFile:
        """An argument of the job; mrjob writes files as {"path": …}."""
        return APPLICATION.share(argument["path"]) if isinstance(argument, dict) else str(argument)

    def _lines(self) -> JobLines:
        conf = self._jobconf_for_step(0)
        codec = None
        if conf.get("mapreduce.output.fileoutputformat.compress", "false") != "false":
            codec = conf.get("mapreduce.output.fileoutputformat.compress.codec")
        (step,) = self._get_steps()
        reducers = int(conf.get("mapreduce.job.reduces", 0)) if "reducer" in step else None
        return JobLines(
            ",".join(self._step_input_uris(0)), self._step_output_uri(0),
            bool(self._hadoop_input_format), reducers, codec,
        )  # fmt: skip

    def _default_python_bin(self, local: bool = False) -> list[str]:
        alone = self._master().startswith("local")
        command: list[str] = super()._default_python_bin(local=local or alone)
        return command


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()[:16]


def _said_by(error: Exception) -> list[str]:
    """The lines of an error, and of what caused it in Java."""
    cause, lines = getattr(error, "java_exception", None), list[str]()
    with contextlib.suppress(Exception):  # Java is gone
        while cause is not None:
            lines += _informative(cause.toString())
            cause = cause.getCause()
    return list(dict.fromkeys(lines)) or _informative(str(error))


def _informative(message: str) -> list[str]:
    """The lines of a message that say something. Each traceback of Python begins a line."""
    lines = message.replace(_TRACEBACK, f"\n{_TRACEBACK}").splitlines()
    return [line for line in lines if line.strip() and not _SAYS_NOTHING.match(line)]
