"""`inspect`: what is in archives, before a big job."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import BadInput
from jobs.kernel.storage.opening import Place
from pipeline.analysis.inspect.inspection import Total
from pipeline.analysis.inspect.inspection_json import Writer
from pipeline.analysis.inspect.inspection_pool import inspect_archives
from pipeline.cli.archive_arguments import archives_argument
from pipeline.cli.options import OUTPUT, extraction_options, jobs_option
from pipeline.cli.outputs import check_files
from pipeline.data.datasets import replacing
from pipeline.progress import reporter
from pipeline.terminal import console, lines
from pipeline.version import crawlrank_version

STDOUT = Path("-")


@click.command()
@archives_argument
@click.option(
    "--json",
    "output",
    type=OUTPUT,
    help="Also write the audit as JSON; `-`: to standard output, in place of the tables.",
)
@click.option(
    "--no-links",
    is_flag=True,
    help="Look at records and their headers only, into no page: two to four times as fast.",
)
@extraction_options()
@click.option("--strict", is_flag=True, help="Damage inside an archive is an error (exit 3).")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@jobs_option
def inspect(
    archives: tuple[Place, ...],
    output: Path | None,
    no_links: bool,
    extraction: ExtractionOptions,
    strict: bool,
    quiet: bool,
    processes: int,
) -> None:
    """What is in ARCHIVES: records, captures, links, damage.

    The options are those of extract-links, and the counts are what it would give. Nothing is
    written but the JSON. An archive that cannot be read is told, and does not stop the others.
    """
    if output and output != STDOUT:
        check_files(output, inputs=archives)
    extraction = extraction._replace(bodies=not no_links)
    total = _inspect(archives, extraction, processes, output, quiet)
    if total.failed:
        first = total.failed[0]
        more = f" (and {len(total.failed) - 1} more archives)" if len(total.failed) > 1 else ""
        raise BadInput(first.path + more, *(first.error or [""]))
    if strict and total.places:
        reason, ((path, damage), *_) = next(iter(total.places.items()))
        raise BadInput(
            f"{path}, offset {damage.offset}",
            f"{reason} ({damage.detail})",
            "no damage, with --strict",
            f"{total.damaged} of {total.archives} archives are damaged.",
        )


def _inspect(
    archives: Sequence[Place],
    options: ExtractionOptions,
    processes: int,
    output: Path | None,
    quiet: bool,
) -> Total:
    from pipeline.analysis.inspect.inspection_report import report, row

    begin = time.perf_counter()
    total, rows, shown = Total(), [], reporter(quiet)
    with _writer(output, options._asdict()) as writer:
        shown.step("inspect")
        try:
            for found in inspect_archives(archives, options, processes):
                total.add(found)
                rows.append(row(found))
                shown.task("inspect", total.archives, len(archives))
                if writer:
                    writer.add(found)
        finally:
            shown.close()
        if writer:
            writer.end(total)
    if output != STDOUT:
        width = console().width
        for title, table in report(rows, total, time.perf_counter() - begin, width):
            click.echo("\n".join([title, *lines(table, width), ""]))
    return total


@contextlib.contextmanager
def _writer(output: Path | None, options: dict[str, Any]) -> Iterator[Writer | None]:
    """Of the JSON, which is put in place when it is complete."""
    if output is None:
        yield None
    elif output == STDOUT:
        yield Writer(sys.stdout, crawlrank_version(), options)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        with replacing(output) as place, place.open("w") as stream:
            yield Writer(stream, crawlrank_version(), options)
