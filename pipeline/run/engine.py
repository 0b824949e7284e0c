"""The engine of a run, by its runner."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.cores import at_a_time
from crawlrank.jobs.mapreduce.launcher import Launcher, out_of_reach
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.engines.contract import Engine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder.imported import KEYS
from crawlrank.pipeline.workfolder.manifest import Manifest

MakeEngine = Callable[[Path, RunOptions, Path, Reporter, ExitStack], Engine]


def engine_of(
    work: Path, options: RunOptions, tmp: Path, reporter: Reporter, stack: ExitStack
) -> Engine:
    """The engine. What it starts ends with the stack."""
    if options.runner == EMBEDDED:
        from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine  # slow to import

        processes = at_a_time(options.processes)
        memory = options.memory or half_of_machine()
        keyed = Manifest(work).imported.get("kind") == KEYS
        return EmbeddedEngine(work, tmp, memory, processes, reporter.read, keyed=keyed)
    from crawlrank.pipeline.engines.text.engine import TextEngine  # slow to import, as mrjob is

    launcher = Launcher(
        options.runner, tmp, options.processes, on_task=reporter.task, on_read=reporter.read
    )
    if options.data:
        if why := out_of_reach(options.runner, options.data):
            raise BadInput(options.data, why, "a URL that the runner reaches")
        launcher = replace(
            launcher, data=options.data, ranges=options.reducers, conf=options.conf, on_read=None
        )
        if options.conf:  # its package is in the same folder
            os.environ.setdefault("CRAWLRANK_PACKAGE", str(options.conf.resolve().parent))
        if options.runner == "emr":
            from crawlrank.pipeline.engines.text.emr_cluster import cluster_of_run

            cluster = stack.enter_context(cluster_of_run(options.conf, tmp, options.data))
            launcher = replace(launcher, cluster=cluster)
    return TextEngine(work, launcher)
