"""mrjob's runners, made fit for archives, for clusters and for a driver that shows progress.

RUNNERS is the one table of what each runner is and can do. It loads no runner.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from crawlrank.jobs.kernel.storage.opening import FILE, HDFS, S3, SCHEMES

LOOKS = 0.5  # seconds between two looks at how much tasks have read of archives
CLUSTER_TAG = "crawlrank-data"  # key of the tag that a cluster of EMR bears


@dataclass(frozen=True)
class RunnerTraits:
    """module, class_name: the class, which is loaded for its own jobs only. reached: the URLs of
    datasets that it can read and write. tags: options of mrjob that give a tag to a job of a name,
    to its applications on YARN, and to a cluster of its own; None on this machine. tasks: whether
    several tasks are processes at the same time, which their number limits.

    may_lose_tasks: whether a job can succeed although a few of its map tasks failed, which only
    Hadoop itself allows. stages_in_data: whether the files that a job brings along are to be in the
    folder of the datasets. outlives_loss: whether the application of a job whose nodes were lost
    may still run. held_cluster: whether a run starts a cluster for all of its jobs.
    held_application: whether its jobs share an application, which the first of them starts.
    """

    module: str
    class_name: str
    reached: tuple[str, ...] = SCHEMES
    tags: tuple[str, ...] | None = None
    tasks: bool = True
    may_lose_tasks: bool = False
    stages_in_data: bool = False
    outlives_loss: bool = False
    held_cluster: bool = False
    held_application: bool = False

    @property
    def on_cluster(self) -> bool:
        return self.tags is not None


_OF_HADOOP = ("-D", "mapreduce.job.tags={tag}")
RUNNERS = {
    "local": RunnerTraits("local", "LocalRunner", (FILE,)),
    "inline": RunnerTraits("local", "InlineRunner", (FILE,), tasks=False),
    "hadoop": RunnerTraits(
        "cluster", "HadoopRunner", tags=_OF_HADOOP, may_lose_tasks=True, stages_in_data=True,
        outlives_loss=True,
    ),
    "emr": RunnerTraits(
        "emr", "EmrRunner", (S3, HDFS), may_lose_tasks=True, held_cluster=True,
        # the names of clusters and steps begin with the tag, too
        tags=(*_OF_HADOOP, "--tag", f"{CLUSTER_TAG}={{tag}}", "--label", "{tag}-{name}"),
    ),
    "spark": RunnerTraits(
        "spark", "SparkRunner", tags=("-D", "spark.yarn.tags={tag}"), held_application=True
    ),
}  # fmt: skip


def tag_options(runner: str, tag: str, name: str) -> list[str]:
    """Options of mrjob that give a tag to a job of that name on a cluster."""
    return [option.format(tag=tag, name=name) for option in RUNNERS[runner].tags or ()]


def runner_class(standard: Any) -> Any:
    """Our class in place of mrjob's own, or that one where we have none."""
    if standard.alias not in RUNNERS:
        return standard
    traits = RUNNERS[standard.alias]
    module = import_module(f"crawlrank.jobs.mapreduce.runners.{traits.module}")
    return getattr(module, traits.class_name)
