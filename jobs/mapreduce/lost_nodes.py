"""Jobs that failed as nodes of the cluster, or YARN's servers, were lost under them: no task of
theirs was to blame, so that the same job may well end when it is launched again."""

from __future__ import annotations

import re

from jobs.kernel.errors import JobFailed

CURE = (
    "Nodes of the cluster, or servers of it, were lost or started anew: run the same command "
    "again, it goes on where this one stopped."
)
#: what Hadoop and Spark say of it: output of map tasks that nobody serves any more, containers that
#: went with their node (exit codes -100 and -106; 143 of a NodeManager that was shut down),
#: application masters that were not heard of, servers that do not answer
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
    """Of a job that is worth another attempt."""


def nodes_were_lost(said: str) -> bool:
    """Whether a failed job's last words blame the cluster rather than the job."""
    return bool(_LOST.search(said)) and not _OF_A_TASK.search(said)
