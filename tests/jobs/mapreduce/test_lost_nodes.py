"""Which failures of a job are the cluster's, so that the job is launched once more: texts of
Hadoop 3 and Spark 3 and 4 as they came, and a runner that fails with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mrjob.step import StepFailedException

from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launch import CURE, launch, nodes_were_lost
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.local import InlineRunner

LOST = {
    "shuffle": (
        "Error: org.apache.hadoop.mapreduce.task.reduce.Shuffle$ShuffleError: error in shuffle in "
        "fetcher#1\nCaused by: java.io.IOException: Exceeded MAX_FAILED_UNIQUE_FETCHES; "
        "bailing-out."
    ),
    "node": "Container released on a *lost* node",
    "application master": (
        "Job job_1795369619011_0031 failed with state FAILED due to: Application "
        "application_1795369619011_0031 failed 2 times due to AM Container for "
        "appattempt_1795369619011_0031_000002 exited with  exitCode: -100\n"
        "Failing this attempt.Diagnostics: Container released on a *lost* node"
    ),
    "silent application master": (
        "Application application_1_0001 failed 2 times due to ApplicationMaster for attempt "
        "appattempt_1_0001_000002 timed out. Failing the application."
    ),
    "resource manager": (
        "Error Launching job : java.net.ConnectException: Call From node/127.0.0.1 to "
        "127.0.0.1:8032 failed on connection exception: java.net.ConnectException: Connection "
        "refused; For more details see:  http://wiki.apache.org/hadoop/ConnectionRefused"
    ),
    "resource manager that forgot": (
        "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException: Application with id "
        "'application_1795369619011_0031' doesn't exist in RM. Please check that the job "
        "submission was successful."
    ),
    "executor": "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) "
    "Reason: Container from a bad node: container_1 on host: n7. Exit status: -100. "
    "Diagnostics: Container released on a *lost* node.",
    "worker": "ExecutorLostFailure (executor 1 exited unrelated to the running tasks) "
    "Reason: worker lost",
}
TASK_OF_A_LOST_NODE = (
    "Error: java.io.IOException: Unable to rename /var/containers/usercache/hadoop/appcache/"
    "application_1795369619011_0026/attempt_1795369619011_0026_m_000000_0_spill_0.out to /var/x"
)
OWN = {
    "exception": "ValueError: a record that nobody thought of",
    "store": "ConnectionRefusedError: [Errno 111] Connection refused",
    "words": "RuntimeError: s3://b/x.warc.gz: Exceeded MAX_FAILED_UNIQUE_FETCHES; bailing-out.",
    "streaming": "PipeMapRed.waitOutputThreads(): subprocess failed with code 137",
    "memory": (
        "Container [pid=9,containerID=container_1] is running beyond physical memory limits. "
        "Current usage: 1.1 GB of 1 GB physical memory used. Killing container.\nContainer killed "
        "on request. Exit code is 143\nContainer exited with a non-zero exit code 143."
    ),
    "memory of the application master": (
        "Application application_1_0001 failed 2 times due to AM Container for "
        "appattempt_1_0001_000002 exited with  exitCode: -104"
    ),
    "memory of an executor": (
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: "
        "Container killed by YARN for exceeding physical memory limits."
    ),
    "configuration": (
        "Application application_1_0001 failed 2 times due to AM Container for "
        "appattempt_1_0001_000002 exited with  exitCode: 1"
    ),
    "input": "Error Launching job : Input path does not exist: hdfs://n/none",
    "quota": "The DiskSpace quota of /x is exceeded: quota = 1 B = 1 MB",
    "silent task": "AttemptID:attempt_1_0001_m_000000_0 Timed out after 600 secs",
}


@pytest.mark.parametrize("said", LOST.values(), ids=LOST)
def test_the_cluster_is_to_blame(said: str) -> None:
    assert nodes_were_lost(said)


@pytest.mark.parametrize("said", OWN.values(), ids=OWN)
def test_the_job_is_to_blame(said: str) -> None:
    assert not nodes_were_lost(said)


def failing(said: str, times: int, state: str = "") -> type[InlineRunner]:
    """A runner whose first jobs write half of their output and fail, saying so; state: of the
    application."""

    class Failing(InlineRunner):
        launched = 0

        def run(self) -> None:
            Failing.launched += 1
            if Failing.launched > times:
                super().run()
                return
            half = Path(self._output_dir, "part-00000")
            half.parent.mkdir(parents=True)
            half.write_bytes(b"half a li")
            self.failure, self.state = said, state
            raise StepFailedException(reason=said)

    return Failing


def graph(tmp: Path, runner: type[InlineRunner]) -> tuple[list[bytes], Launcher]:
    data = f"file://{tmp}/data"
    stores.write(f"{data}/links/part-00000", b"0 a b\n1 b a\n")

    def prepared(job: type[Job]) -> type[Job]:
        return type(job.__name__, (job,), {"_runner_class": lambda self: runner})

    launcher = Launcher("inline", tmp, data=data, ranges=2, job_class=prepared)
    launch(GenGraph, [f"{data}/links"], f"{data}/graph", launcher)
    lines = stores.lines(f"{data}/graph")
    return sorted(line.rstrip() for line in lines if not side_name(line)), launcher


@pytest.mark.parametrize(
    ("said", "state"), [(LOST["shuffle"], ""), (TASK_OF_A_LOST_NODE, LOST["application master"])]
)
def test_a_job_under_which_nodes_were_lost_is_launched_once_more(
    said: str, state: str, tmp_path: Path
) -> None:
    runner = failing(said, 1, state)
    rows, launcher = graph(tmp_path, runner)
    assert rows == [b"0\t1.0\tO:1", b"1\t1.0\tO:0", b"dummy\t1.0\tO:dummy"]
    assert launcher.starting.taken()["launched_again"] == {"GenGraph": 1}
    assert "launched_again" not in launcher.starting.taken()


def test_the_second_time_it_says_what_to_do(tmp_path: Path) -> None:
    runner = failing(LOST["shuffle"], times=2)
    with pytest.raises(JobFailed) as raised:
        graph(tmp_path, runner)
    assert str(raised.value).splitlines()[-1] == CURE
    assert not (tmp_path / "data/graph").exists()
    assert runner.launched == 2


def test_a_tasks_own_failure_is_not_tried_again(tmp_path: Path) -> None:
    runner = failing(OWN["exception"], times=1)
    with pytest.raises(JobFailed, match="a record that nobody thought of"):
        graph(tmp_path, runner)
    assert runner.launched == 1
    assert not (tmp_path / "data/graph").exists()
