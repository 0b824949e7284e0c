"""`inspect`: what is in archives, before a big job."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, unreadable
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.analysis.inspection import Total, inspect_archives
from crawlrank.pipeline.analysis.inspection_report import InspectionWriter
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import STDOUT, check_files, json_option, json_stream, show
from crawlrank.pipeline.cli.parameters.archive_arguments import archives_argument
from crawlrank.pipeline.cli.parameters.options import (
    extraction_options,
    jobs_option,
    strict_option,
)
from crawlrank.pipeline.cli.parameters.progress_options import Progress, plain_progress_options
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.terminal.text import masked
from crawlrank.pipeline.version import crawlrank_version


@command("inspect")
@archives_argument
@json_option
@click.option(
    "--no-links",
    is_flag=True,
    help="Read records and their headers only, no pages: two to four times as fast.",
)
@click.option(
    "--estimate",
    is_flag=True,
    help="Also say in a line what `crawlrank run` with these options will take; a sample is ranked"
    " for it, as by `run --dry-run`.",
)
@extraction_options()
@strict_option
@plain_progress_options
@jobs_option
def inspect(
    archives: tuple[PathOrUrl, ...],
    output: Path | None,
    no_links: bool,
    estimate: bool,
    extraction: ExtractionOptions,
    strict: bool,
    progress: Progress,
    processes: int | None,
) -> None:
    """The report counts records, captures, links and damage, as extract-links with the same options
    would. No file is written but the JSON. An archive that cannot be read does not stop the others.
    """
    check_files(output, inputs=archives)
    of_run = RunOptions(extraction=extraction, processes=processes, skip_bad_files=True)
    extraction = extraction._replace(bodies=not no_links)
    total = _inspect(archives, extraction, processes, output, progress)
    if estimate and total.archives > len(total.failed):
        from crawlrank.pipeline.estimate.estimate import estimate as estimated  # loads both engines
        from crawlrank.pipeline.estimate.report import estimate_line

        line = estimate_line(estimated(archives, of_run, progress.reporter))
        click.echo(line, err=output == STDOUT)
    if total.failed:
        errors = [(masked(archive.path), archive.error or [""]) for archive in total.failed]
        raise unreadable(errors, total.archives)
    if strict and total.places:
        reason, ((path, damage), *_) = next(iter(total.places.items()))
        raise BadInput(
            f"{masked(str(path))}, offset {damage.offset}",
            f"{reason} ({damage.detail})",
            "no damage, with --strict",
            f"Damaged archives: {total.damaged:,} of {total.archives:,}.",
        )


def _inspect(
    archives: Sequence[PathOrUrl],
    options: ExtractionOptions,
    processes: int | None,
    output: Path | None,
    progress: Progress,
) -> Total:
    from crawlrank.pipeline.analysis.inspection_report import archive_row, tables

    begin = time.perf_counter()
    total, rows = Total(), []
    with _writer(output, options) as writer, contextlib.closing(progress.reporter):
        progress.reporter.step("inspect")
        for archive in inspect_archives(archives, options, processes):
            total.add(archive)
            rows.append(archive_row(archive))
            progress.reporter.task("inspect", total.archives, len(archives))
            if writer:
                writer.add(archive)
        if writer:
            writer.end(total)
        progress.reporter.done("inspect", {})
    if not progress.logs:
        show(tables(rows, total, time.perf_counter() - begin), output)
    return total


@contextlib.contextmanager
def _writer(output: Path | None, options: ExtractionOptions) -> Iterator[InspectionWriter | None]:
    if output is None:
        yield None
        return
    with json_stream(output) as stream:
        yield InspectionWriter(stream, crawlrank_version(), options._asdict())
