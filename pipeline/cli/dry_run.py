"""`run --dry-run`: what a run will take, without the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.cli.outputs import STDOUT, check_files, show, write_json
from crawlrank.pipeline.cli.parameters.progress_options import Progress
from crawlrank.pipeline.estimate.estimate import estimate
from crawlrank.pipeline.estimate.report import (
    estimate_document,
    estimate_line,
    estimate_table,
    sentences,
)
from crawlrank.pipeline.options import RunOptions

SCHEMA = "crawlrank-estimate-1"


def show_estimate(
    archives: Sequence[PathOrUrl],
    work: Path,
    options: RunOptions,
    output: Path | None,
    progress: Progress,
) -> None:
    """Print what the run takes, and write it as JSON. Nothing is written into the work folder."""
    check_files(output, inputs=archives)
    result = estimate(archives, options, progress.reporter)
    show([estimate_table(result)], output)
    if output != STDOUT:
        for sentence in sentences(result, work):
            click.echo(sentence)
    write_json(SCHEMA, estimate_document(result, work), output)


def echo_estimate(
    archives: Sequence[PathOrUrl], options: RunOptions, progress: Progress, *, err: bool
) -> None:
    """Print the estimate in one line. err: on standard error."""
    click.echo(estimate_line(estimate(archives, options, progress.reporter)), err=err)
