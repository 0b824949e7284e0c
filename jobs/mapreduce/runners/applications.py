"""Tags of jobs, and applications that drivers have left on YARN: those of a driver that is killed
go on, and two that write the same datasets spoil both. All jobs on a folder of data bear a tag of
it, by which the next driver finds what is left, and ends it."""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
import time
from collections.abc import Sequence

from jobs.kernel.errors import JobFailed
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.runners.local import last_lines

CLUSTER_TAG = "crawlrank-data"  # key of the tag that a cluster of EMR bears
AT_WORK = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
LISTED = r"^application_[0-9]+_[0-9]+"
_CLIENT = ("org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application")
_TRIES = 20  # of ending all
_BACK = (5, 10, 15, 30)  # seconds between looks for a YARN that is restarting
_HEARTBEATS = 3  # seconds, in which nodes learn that containers are to end; by default every second


def tag_of(data: Place) -> str:
    """Of a folder of datasets; YARN wants letters in lower case, a hundred at most."""
    return "crawlrank-" + hashlib.sha256(str(data).rstrip("/").encode()).hexdigest()[:24]


def marks(runner: str, tag: str, name: str) -> list[str]:
    """Options of mrjob by which a job of that name bears the tag: its applications on YARN, and on
    EMR its cluster, by a tag; there the names of clusters and steps begin with it."""
    if runner == "spark":
        return ["-D", f"spark.yarn.tags={tag}"]
    on_yarn = ["-D", f"mapreduce.job.tags={tag}"]
    if runner == "emr":
        return [*on_yarn, "--tag", f"{CLUSTER_TAG}={tag}", "--label", f"{tag}-{name}"]
    return on_yarn


def end_left(tag: str, hadoop: Sequence[str]) -> int:
    """End the applications that bear a tag, and wait until they have; how many there were.

    hadoop: the command. Raises JobFailed where YARN does not answer, or does not end them: nobody
    knows then what is written beside a new run. OSError where there is no such command.
    """
    ended = set[str]()
    for _ in range(_TRIES):
        left = _left(tag, hadoop)
        if not left:
            if ended:
                time.sleep(_HEARTBEATS)
            return len(ended)
        ended.update(left)
        for application in left:
            _ask(hadoop, "-kill", application)
    raise JobFailed(
        f"the jobs of an earlier run go on and cannot be ended: {', '.join(left)}\n"
        f"End them as their owner: yarn application -kill {left[0]}"
    )


def end_left_when_back(tag: str, hadoop: Sequence[str]) -> int:
    """The same of a YARN that may be restarting: it is asked again for about a minute."""
    for seconds in _BACK:
        with contextlib.suppress(JobFailed):
            return end_left(tag, hadoop)
        time.sleep(seconds)
    return end_left(tag, hadoop)


def _left(tag: str, hadoop: Sequence[str]) -> list[str]:
    asked = _ask(hadoop, "-list", "-appTags", tag, "-appStates", AT_WORK)
    if asked.returncode:
        said = last_lines((asked.stderr or asked.stdout).splitlines())
        raise JobFailed(f"YARN does not say whether an earlier run left jobs at work:\n{said}")
    return re.findall(LISTED, asked.stdout, re.MULTILINE)


def _ask(hadoop: Sequence[str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*hadoop, *_CLIENT, *words], capture_output=True, text=True)
