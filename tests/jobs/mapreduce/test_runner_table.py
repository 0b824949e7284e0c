"""The table of runners: its rows name their classes, and what code reads of a row is there."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from crawlrank.jobs.mapreduce.launcher import CLUSTERS
from crawlrank.jobs.mapreduce.launcher import RUNNERS as OWN
from crawlrank.jobs.mapreduce.runners import RUNNERS, runner_class, tag_options


class Standard(NamedTuple):
    """A runner of mrjob."""

    alias: str


@pytest.mark.parametrize("name", RUNNERS)
def test_each_row_names_the_class_of_its_runner(name: str) -> None:
    if name == "emr":
        pytest.importorskip("boto3")
    runner = runner_class(Standard(name))
    assert runner.alias == name
    assert hasattr(runner, "end_orphans") == RUNNERS[name].on_cluster
    assert not RUNNERS[name].outlives_loss or hasattr(runner, "get_hadoop_bin")
    assert hasattr(runner, "hold") == RUNNERS[name].held_cluster


def test_other_runners_are_mrjobs_own() -> None:
    assert runner_class(Standard("dataproc")) == Standard("dataproc")


def test_a_job_on_a_cluster_bears_a_tag() -> None:
    tags = {name: tag_options(name, "crawlrank-1", "PageRank") for name in RUNNERS}
    hadoop = ["-D", "mapreduce.job.tags=crawlrank-1"]
    own = ["--tag", "crawlrank-data=crawlrank-1", "--label", "crawlrank-1-PageRank"]
    assert tags == {
        "local": [], "inline": [], "hadoop": hadoop, "emr": [*hadoop, *own],
        "spark": ["-D", "spark.yarn.tags=crawlrank-1"],
    }  # fmt: skip


def test_runners_are_of_this_machine_or_of_clusters() -> None:
    assert (OWN, CLUSTERS) == (("local", "inline"), ("hadoop", "emr", "spark"))
