"""A job file as a program, `python -m crawlrank.jobs.NAME`: one task, or the whole job on this
machine, run as the pipeline runs it."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.job import Job

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.jobs.mapreduce.outcome import Outcome


def main(job_class: type[Job], *stages: type[Job]) -> None:
    """Run the job of a file, or a task of the stage that --stage names.

    stages: the classes that the job launches, if it has several stages.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--stage")
    name = parser.parse_known_args()[0].stage
    by_name = {stage.__name__: stage for stage in stages}
    by_name.get(name, job_class).run(run_alone)


def run_alone(job: Job) -> None:
    """Write datasets to --output-dir (side datasets to its folders `_NAME`), or the main one to
    stdout; rows and counters to stderr. On a cluster the side lines stay in the output."""
    from crawlrank.jobs.mapreduce.launcher import RUNNERS

    if (job.options.runner or "inline") in RUNNERS:
        _run_here(job)
    elif not hasattr(job, "run_with") and job.options.args:
        job.run_job()
    else:
        job.arg_parser.error("needs input files, and -r local or -r inline")


def _run_here(job: Job) -> None:
    from crawlrank.jobs.mapreduce.launcher import (
        Launcher,  # tasks load this file, and start sooner without
    )

    options = job.options
    with temporary_folder() as tmp:
        launcher = Launcher(options.runner or "inline", tmp, options.num_cores, options.reducers)
        output = Path(options.output_dir) if options.output_dir else Path(tmp, "output")
        try:
            if output.exists():
                raise BadInput(str(output), "exists already", "a new folder", "Remove it first.")
            outcome = _run_with(job, options.args, output, launcher)
            job.report(outcome.notes)
        except CrawlrankError as error:
            sys.stderr.write(f"{type(job).__name__}: {error}\n")
            sys.exit(error.exit_code)
        if not options.output_dir:
            for part in sorted(output.glob("part-*")):
                with part.open("rb") as lines:
                    shutil.copyfileobj(lines, job.stdout)
        counts = {**outcome.rows, **outcome.counters}
        counts[job.DATASET] = counts.pop("main", 0)
        sys.stderr.write("".join(f"{name}\t{counts[name]}\n" for name in sorted(counts)))


def _run_with(job: Any, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
    """Run with the options of the command line; a job of several stages has a `run_with`."""
    from crawlrank.jobs.mapreduce.launch import launch

    if hasattr(job, "run_with"):
        outcome: Outcome = job.run_with(inputs, output, launcher)
        return outcome
    side = {name: output / f"_{name}" for name in job.SIDE_DATASETS}
    return launch(type(job), inputs, output, launcher, job.own_args(), side)
