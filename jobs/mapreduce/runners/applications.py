"""Tags of jobs, and the applications that earlier drivers left on YARN.

The applications of a driver that is killed continue, and two jobs that write the same datasets
spoil both. So all jobs on a folder of data bear a tag of that folder. The next driver finds
applications by the tag and ends them.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
import time
from collections.abc import Sequence

from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.mapreduce.runners.local import last_lines

AT_WORK = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
LISTED = r"^application_[0-9]+_[0-9]+"
_CLIENT = ("org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application")
_TRIES = 20  # of ending all
_BACK = (5, 10, 15, 30)  # seconds between attempts to reach a YARN that is restarting
_HEARTBEATS = 3  # seconds, in which nodes learn that containers are to end; by default every second


def tag_of(data: PathOrUrl) -> str:
    """The tag of a folder of datasets. YARN wants lower case and at most a hundred characters."""
    return "crawlrank-" + hashlib.sha256(str(data).rstrip("/").encode()).hexdigest()[:24]


def end_left(tag: str, hadoop: Sequence[str]) -> int:
    """End the applications that bear a tag and wait until they have ended; returns their number.

    hadoop: the command. Raises JobFailed where YARN does not answer or does not end them, as they
    may then write beside a new run; OSError where there is no such command.
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
        f"jobs of an earlier run still work and cannot be ended: {', '.join(left)}\n"
        f"End them as their owner: yarn application -kill {left[0]}"
    )


def end_left_when_back(tag: str, hadoop: Sequence[str]) -> int:
    """Call end_left, again for about a minute if it fails, as YARN may be restarting."""
    for seconds in _BACK:
        with contextlib.suppress(JobFailed):
            return end_left(tag, hadoop)
        time.sleep(seconds)
    return end_left(tag, hadoop)


def _left(tag: str, hadoop: Sequence[str]) -> list[str]:
    answer = _ask(hadoop, "-list", "-appTags", tag, "-appStates", AT_WORK)
    if answer.returncode:
        message = last_lines((answer.stderr or answer.stdout).splitlines())
        raise JobFailed(f"YARN does not say whether an earlier run left jobs at work:\n{message}")
    return re.findall(LISTED, answer.stdout, re.MULTILINE)


def _ask(hadoop: Sequence[str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*hadoop, *_CLIENT, *words], capture_output=True, text=True)
