"""A cluster of EMR for all jobs of a run. It ends with the run, also where the run fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mrjob.conf import find_mrjob_conf

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.runners import tag_options
from crawlrank.jobs.mapreduce.runners.applications import tag_of


@contextmanager
def cluster_of_run(conf: Path | None, tmp: Path, data: str) -> Iterator[Callable[[], Path]]:
    """A function that returns the configuration of held_cluster. Its first call starts the cluster,
    so that a run in which all steps are done starts none."""
    with ExitStack() as stack:
        held: list[Path] = []

        def configuration() -> Path:
            if not held:
                held.append(stack.enter_context(held_cluster(conf, tmp, data)))
            return held[0]

        yield configuration


@contextmanager
def held_cluster(conf: Path | None, tmp: Path, data: str) -> Iterator[Path]:
    """A configuration of mrjob that adds the cluster to `conf` (where that is None, to the one
    that mrjob finds). A cluster that `conf` names by cluster_id is used and left running. data: the
    folder of the datasets, whose tag a new cluster bears.

    After a kill, or a second interruption while the cluster is being ended, it runs until it has
    been idle for an hour, or until the next run on the same data. Raises JobFailed, BadInput.
    """
    usual = conf or find_mrjob_conf()
    if usual is None:  # mrjob's own defaults are a release of 2020 and a bucket that it makes
        expected = "one such as emr.conf, which `crawlrank cluster package` makes"
        raise BadInput("--runner emr", "no configuration", expected, "Name it: --cluster-conf.")
    options = ["--conf-path", str(usual), "--local-tmp-dir", str(tmp), "--quiet"]
    options += tag_options("emr", tag_of(data), "cluster")
    runner = Job(["--runner", "emr", *options]).make_runner()
    if runner.named():
        yield Path(usual)
        return
    cluster = runner.hold()
    try:
        with_cluster = tmp / "emr-cluster.conf"
        added = {"include": str(usual), "runners": {"emr": {"cluster_id": cluster}}}
        with_cluster.write_text(json.dumps(added))  # JSON is YAML
        yield with_cluster
    finally:
        runner.release()
