"""Jobs in one application of Spark: what is refused before it starts, how it begins and ends.

`make test-spark` runs those that need Spark. tests/systems compares its results.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.crawls import environment, ok
from support.paths import LOOPBACK
from support.systems.spark_cluster import standalone_cluster  # noqa: F401 - the fixture `spark_master`
from support.waiting import awaited

from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.spark import APPLICATION, require_pyspark


def launched(tmp: Path, job: type[Job] = GenGraph, **options: object) -> None:
    """Launch a job on Spark. options: of mrjob's configuration."""
    conf, lines = tmp / "mrjob.conf", tmp / "input_links"
    conf.write_text(json.dumps({"runners": {"spark": options}}))
    lines.write_text("0 a\n")
    launcher = Launcher("spark", tmp, data=f"file://{tmp}/data", ranges=2, conf=conf)
    launch(job, [lines], f"file://{tmp}/data/graph", launcher)


@pytest.mark.parametrize("home", [None, "elsewhere"])
def test_without_spark_the_cure_is_told(
    home: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SPARK_HOME", raising=False)
    if home:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path / home))
    with pytest.raises(BadInput, match=r"no Spark.*pyspark.*Install it with"):
        launched(tmp_path)


def test_a_package_and_a_spark_of_two_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, home = tmp_path / "packages", tmp_path / "spark"
    for folder in (package / "pyspark", package / "pyspark-3.5.9.dist-info", home / "jars"):
        folder.mkdir(parents=True)
    (package / "pyspark/__init__.py").touch()
    (package / "pyspark-3.5.9.dist-info/METADATA").write_text("Name: pyspark\nVersion: 3.5.9\n")
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(package)
    monkeypatch.setenv("SPARK_HOME", str(home))
    jar = home / "jars/spark-core_2.13-3.5.9.jar"
    jar.touch()
    require_pyspark()
    jar.rename(jar.with_name("spark-core_2.13-4.0.1.jar"))
    with pytest.raises(
        BadInput, match=r"spark-core_2\.13-4\.0\.1, and the package pyspark 3\.5\.9"
    ):
        require_pyspark()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spark_deploy_mode": "cluster", "spark_master": "yarn"}, "spark_deploy_mode cluster"),
        ({"setup": ["make"], "spark_master": "yarn"}, "setup commands"),
    ],
)
def test_what_the_configuration_cannot_ask_for(
    options: dict[str, object], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=words):
        launched(tmp_path, **options)


class Failing(Job):
    def map_line(self, line: bytes) -> Iterator[tuple[bytes, bytes]]:
        raise RuntimeError("what the task said")


class Dying(Job):
    def map_line(self, line: bytes) -> Iterator[tuple[bytes, bytes]]:
        os._exit(9)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("job", "words"),
    [
        (Failing, "last lines:\nRuntimeError: what the task said$"),
        (Dying, "Python worker exited unexpectedly"),
    ],
)
def test_the_last_words_of_a_task_are_told(job: type[Job], words: str, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match=words):
        launched(tmp_path, job, cmdenv={"PYTHONPATH": os.pathsep.join(sys.path)})
    assert not (tmp_path / "data/graph").exists()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "java"),
    [
        ({}, "-XX:TieredStopAtLevel=1"),
        ({"jobconf": {"spark.driver.extraJavaOptions": "-Dits=own"}}, "-Dits=own"),
        ({"spark_master": "local[1]"}, "-XX:TieredStopAtLevel=1"),
    ],
)
def test_java_has_its_quick_compiler_unless_the_configuration_says_more(
    options: dict[str, object], java: str, tmp_path: Path
) -> None:
    from pyspark import SparkContext

    launched(tmp_path, cmdenv={"PYTHONPATH": os.pathsep.join(sys.path)}, **options)
    context = SparkContext._active_spark_context
    assert context is not None
    has = str(context.getConf().get("spark.driver.extraJavaOptions"))
    APPLICATION.end()
    assert has.split()[-1] == java  # after Spark's own


@pytest.mark.spark
def test_jobs_share_the_spark_that_a_process_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the jobs of both, and stays open."""
    from pyspark import SparkContext

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    APPLICATION.end()
    own = SparkContext("local[1]", "of the user")
    try:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            launched(tmp_path / name)
        tracker = own.statusTracker()
        assert len(tracker.getJobIdsForGroup(None)) >= 2
        APPLICATION.end()
        assert own.parallelize([1, 2]).sum() == 3
    finally:
        own.stop()


@pytest.mark.spark
def test_a_job_starts_spark_anew_after_its_java_died(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from pyspark import SparkContext

    APPLICATION.end()
    try:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            launched(tmp_path / name)
            if name == "a":
                SparkContext._gateway.proc.kill()
    finally:
        APPLICATION.end()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.spark
def test_options_of_spark_submit_say_where_spark_is(tmp_path: Path) -> None:
    import pyspark

    program, events = tmp_path / "rank.py", tmp_path / "events"
    events.mkdir()
    program.write_text("from crawlrank.pipeline.__main__ import main\nmain()\n")
    logged = {"enabled": "true", "dir": str(events), "compress": "false"}
    done = subprocess.run(
        [
            str(Path(pyspark.__file__).with_name("bin") / "spark-submit"), "--master", "local[1]",
            *(f"--conf=spark.eventLog.{name}={value}" for name, value in logged.items()),
            str(program), *run_on_spark(tmp_path / "work")[3:],
        ],
        env={**environment(), "PYSPARK_PYTHON": sys.executable},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "work/precedence.txt").read_bytes()
    logs = [path.read_bytes() for path in events.rglob("*") if path.is_file()]
    assert any(b'"spark.master":"local[1]"' in log for log in logs)


@pytest.mark.spark
def test_a_killed_driver_takes_its_application_along(tmp_path: Path) -> None:
    """The same command continues, and gives the same bytes as a run that was left alone."""
    sign = f"-Dcrawlrank.test={uuid.uuid4().hex}"
    env = {**environment(), "SPARK_SUBMIT_OPTS": sign}
    killed, left = (run_on_spark(tmp_path / name) for name in ("killed", "left"))
    with subprocess.Popen(killed, env=env, stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr
        for line in driver.stderr:
            if line.startswith("canonicalize: "):
                driver.kill()
                break
        driver.stderr.read()
    assert driver.returncode == -signal.SIGKILL
    awaited(lambda: not any(sign in command for command in commands_at_work().values()))
    for command in (killed, left):
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "killed/precedence.txt").read_bytes() == (
        tmp_path / "left/precedence.txt"
    ).read_bytes()


@pytest.mark.spark
def test_ctrl_c_ends_a_run_and_its_application(tmp_path: Path) -> None:
    sign = f"-Dcrawlrank.test={uuid.uuid4().hex}"
    env = {**environment(), "SPARK_SUBMIT_OPTS": sign}
    with subprocess.Popen(
        run_on_spark(tmp_path / "work"), env=env, stderr=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stderr
        for line in driver.stderr:
            if line.startswith("canonicalize: "):
                driver.send_signal(signal.SIGINT)
                break
        said = driver.stderr.read()
    assert driver.returncode == 130, said
    assert "Traceback" not in said
    awaited(lambda: not any(sign in command for command in commands_at_work().values()))


@pytest.mark.spark
def test_executors_of_a_cluster_die_and_the_run_continues(
    spark_master: str, tmp_path: Path
) -> None:
    """Executors of their own fetch the jobs, and the files that jobs bring."""
    conf, work, near = tmp_path / "mrjob.conf", tmp_path / "work", tmp_path / "near"
    own = {"spark_master": spark_master, "python_bin": sys.executable}
    conf.write_text(json.dumps({"runners": {"spark": own}}))
    command = [*run_on_spark(work), "--cluster-conf", str(conf), "--method", "trustrank"]
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://127.0.0.1:18081/\n")
    command += ["--seeds", str(seeds)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as driver:
        assert driver.stderr
        lines = []
        for line in driver.stderr:
            lines.append(line)
            if line.startswith(("canonicalize: ", "gen-graph: ")):
                executors = [pid for pid, words in commands_at_work().items() if EXECUTOR in words]
                assert executors
                for pid in executors:
                    os.kill(pid, signal.SIGKILL)
    assert driver.returncode == 0, "".join(lines)
    method = ("--method", "trustrank", "--seeds", seeds, "--iterations", 2, "--no-validate")
    ok("run", LOOPBACK, "--work", near, *method)
    assert (work / "precedence.txt").read_bytes() == (near / "precedence.txt").read_bytes()


EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


def run_on_spark(work: Path) -> list[str]:
    words = ["run", LOOPBACK, "--work", work, "--data", f"file://{work}-data", "--iterations", 2]
    words += ["--runner", "spark", "--reducers", 2, "--no-validate"]
    return [sys.executable, "-m", "crawlrank", *map(str, words)]


def commands_at_work() -> dict[int, str]:
    """The command lines of processes, by their ids."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found[int(path.parent.name)] = path.read_bytes().decode(errors="replace")
    return found
