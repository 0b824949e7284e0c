"""Why a job failed, with the cures that are known, and jobs that an earlier driver left at work.

If nodes of the cluster or servers of YARN were lost, no task is to blame, and the same job may well
end when it is launched again.
"""

from __future__ import annotations

import re

from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.applications import tag_of

CURE = (
    "Nodes of the cluster, or servers of it, were lost or started anew: run the same command "
    "again, it continues where this one stopped."
)
#: words of a failed job's message -> cure
_CURES = {
    "No space left on device": (
        "The disk is full: make room, or put the work folder (--work) elsewhere."
    ),
    "is exceeded: quota": "HDFS has no more room for this folder: make room, or ask for more.",
    "could only be written to 0 of": "HDFS is full, or its DataNodes are gone: make room there.",
    "No such file or directory: 'hadoop'": (
        "Hadoop's command is not there: put its bin folder on PATH, or set HADOOP_HOME."
    ),
    "is in safe mode": "HDFS takes no changes until it leaves safe mode: run again when it has.",
}
#: what Hadoop and Spark say of lost nodes: output of map tasks that no node serves any more,
#: containers that went with their node (exit codes -100 and -106; 143 of a NodeManager that was
#: shut down), application masters that sent no heartbeat, servers that do not answer
_WORDS = (
    r"MAX_FAILED_UNIQUE_FETCHES",
    r"Exceeded the abort failure limit; bailing-out",
    r"released on a \*?lost\*? node",
    r"(?i:\bnode manager (?:was|is) lost|\blost nodes?\b)",
    r"ApplicationMaster for attempt \S+ timed out",
    r"due to AM Container for \S+ exited with\s+exitCode: (?:-100|-106|143)\b",
    r"Application with id '\S+' doesn't exist in RM",
    r"ConnectException: Connection refused",
    r"ApplicationMasterNotRegisteredException",
    r"(?i:\b(?:worker|slave) lost\b)",
)
_LOST = re.compile("|".join(_WORDS))
#: the error of a task in Python, without a package before its name as those of Java have
_OF_A_TASK = re.compile(r"^\w+(?:Error|Exception): ", re.MULTILINE)


class NodesLost(JobFailed):
    """A failure after which another attempt makes sense."""


def nodes_were_lost(message: str) -> bool:
    """Whether the last lines of a failed job blame the cluster rather than the job."""
    return bool(_LOST.search(message)) and not _OF_A_TASK.search(message)


def failure(job: str, message: str) -> str:
    return f"the job {job} failed; its last lines:\n{with_cures(message)}"


def with_cures(message: str) -> str:
    """The message, and below it the cures that are known for it."""
    return "\n".join([message, *(cure for words, cure in _CURES.items() if words in message)])


def end_orphans(launcher: Launcher) -> int:
    """End what bears the tag of the launcher's folder of data, and wait until it writes no more;
    returns their number. To be called once, before anything in that folder is read or changed.

    By runner: hadoop, applications of YARN; emr, clusters, and steps of the cluster that the
    configuration names; spark, applications where its master is YARN. Other runners, and launchers
    without such a folder, leave nothing. Raises JobFailed where jobs cannot be found or ended.
    """
    if not (launcher.traits.on_cluster and launcher.data):
        return 0
    options = ["--runner", launcher.runner, "--quiet", "--local-tmp-dir", str(launcher.tmp)]
    if launcher.conf:
        options += ["--conf-path", str(launcher.conf)]
    runner = launcher.job_class(Job)(options).make_runner()
    try:
        return int(runner.end_orphans(tag_of(launcher.data)))
    except OSError as error:
        message = f"jobs of an earlier run cannot be looked for: {error}"
        raise JobFailed(with_cures(message)) from error
