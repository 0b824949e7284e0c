"""Jobs that drivers have left on YARN: one that is killed leaves its job running, and two that
write the same datasets spoil both. All jobs on a folder of data bear a tag of it, by which the next
driver finds what is left, and ends it."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence

from jobs.kernel.opening import Place

TAGS = "mapreduce.job.tags"
_CLIENT = ("org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application")
_AT_WORK = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
_LISTED = re.compile(r"^application_\d+_\d+", re.MULTILINE)


def tag_of(data: Place) -> str:
    """Of a folder of datasets; YARN wants letters in lower case, a hundred at most."""
    return "crawlrank-" + hashlib.sha256(str(data).rstrip("/").encode()).hexdigest()[:24]


def end_left(tag: str, hadoop: Sequence[str]) -> int:
    """End the applications that bear a tag, and wait until they have; how many there were.

    hadoop: the command. Where YARN does not answer there are none: the next job will say so.
    """
    asked = _ask(hadoop, "-list", "-appTags", tag, "-appStates", _AT_WORK)
    left = _LISTED.findall(asked)
    for application in left:
        _ask(hadoop, "-kill", application)
    return len(left)


def _ask(hadoop: Sequence[str], *words: str) -> str:
    command = [*hadoop, *_CLIENT, *words]
    return subprocess.run(command, capture_output=True, text=True).stdout
