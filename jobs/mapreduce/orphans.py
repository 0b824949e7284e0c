"""Ends the jobs that an earlier driver left at work on a folder of data."""

from __future__ import annotations

from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.mapreduce.failures import with_cures
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, Launcher
from crawlrank.jobs.mapreduce.runners.applications import tag_of


def end_orphans(launcher: Launcher) -> int:
    """End what bears the tag of the launcher's folder of data, and wait until it writes no more;
    returns their number. To be called once, before anything in that folder is read or changed.

    By runner: hadoop, applications of YARN; emr, clusters, and steps of the cluster that the
    configuration names; spark, applications where its master is YARN. Other runners, and launchers
    without such a folder, leave nothing. Raises JobFailed where jobs cannot be found or ended.
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
        message = f"jobs of an earlier run cannot be looked for: {error}"
        raise JobFailed(with_cures(message)) from error
