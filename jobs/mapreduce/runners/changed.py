"""Mrjob's runners, each with the changes that local.py, cluster.py and emr.py say."""

from __future__ import annotations

from typing import Any

from jobs.mapreduce.runners import local


def runner_class(standard: Any) -> Any:
    """The class to use in place of mrjob's own; modules of clusters are loaded for those alone."""
    if standard.alias in local.OURS:
        return local.OURS[standard.alias]
    if standard.alias == "emr":
        from jobs.mapreduce.runners.emr import EmrRunner

        return EmrRunner
    from jobs.mapreduce.runners import cluster

    return cluster.OURS.get(standard.alias, standard)
