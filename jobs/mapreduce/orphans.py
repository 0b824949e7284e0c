"""Jobs that an earlier driver left at work on a folder of data: ended before a new one starts."""

from __future__ import annotations

from jobs.kernel.errors import JobFailed
from jobs.mapreduce.job import Job
from jobs.mapreduce.launch import with_cures
from jobs.mapreduce.launcher import CLUSTERS, Launcher
from jobs.mapreduce.runners.applications import tag_of


def end_orphans(launcher: Launcher) -> int:
    """End what bears the tag of the launcher's folder of data, and wait until it writes no more;
    how many there were. To be called once, before anything in that folder is read or changed.

    By runner: hadoop, applications of YARN; emr, clusters, and steps of the cluster that the
    configuration names; spark, applications where its master is YARN. Other runners, and launchers
    without such a folder, leave nothing. Raises JobFailed where that cannot be known or done.
    """
    if launcher.runner not in CLUSTERS or not launcher.data:
        return 0
    options = ["--runner", launcher.runner, "--quiet", "--local-tmp-dir", str(launcher.tmp)]
    if launcher.conf:
        options += ["--conf-path", str(launcher.conf)]
    runner = launcher.job_class(Job)(options).make_runner()
    try:
        return int(runner.end_orphans(tag_of(launcher.data)))
    except OSError as error:
        said = f"jobs of an earlier run cannot be looked for: {error}"
        raise JobFailed(with_cures(said)) from error
