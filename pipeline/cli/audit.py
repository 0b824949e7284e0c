"""`audit-precedence`, `compare-outlinks`: what a crawl made of its file, Heritrix of its pages."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import click
from rich.table import Table

from jobs.kernel.errors import BadInput
from jobs.kernel.storage.opening import Place
from pipeline.cli.archive_arguments import archives_argument
from pipeline.cli.options import OUTPUT, max_record_option, memory_option
from pipeline.cli.outputs import check_files
from pipeline.data.datasets import replacing
from pipeline.data.memory import Memory, half_of_machine
from pipeline.terminal import console, lines, printable
from pipeline.version import crawlrank_version

STDOUT = Path("-")
JSON = "Also write it as JSON; `-`: to standard output, in place of the tables."


@click.command("audit-precedence")
@click.argument("precedence", type=OUTPUT)
@click.argument("logs", nargs=-1, required=True, type=OUTPUT)
@click.option("--json", "output", type=OUTPUT, help=JSON)
@click.option(
    "--plot", "picture", type=OUTPUT, help="Draw the places of fetches by class: FILE.png or .svg."
)
@click.option(
    "--by",
    type=click.Choice(["begin", "line"]),
    default="begin",
    show_default=True,
    help="The order of fetches: when they began, or the lines of the logs, in the order given.",
)
@click.option("--strict", is_flag=True, help="A line that cannot be used is an error (exit 3).")
@memory_option
def audit_precedence(
    precedence: Path,
    logs: tuple[Path, ...],
    output: Path | None,
    picture: Path | None,
    by: Literal["begin", "line"],
    strict: bool,
    memory: Memory | None,
) -> None:
    """How well a crawl kept to the file PRECEDENCE, by its crawl.log files, plain or gzip.

    Tells what was fetched, listed or not and why not, in which order, and what to change.
    """
    from pipeline.analysis.audit import findings
    from pipeline.analysis.audit.document import document
    from pipeline.analysis.audit.tables import advice_lines, sections

    targets = [path for path in (output, picture) if path and path != STDOUT]
    check_files(*targets, inputs=[precedence, *logs])
    if picture:
        _check_picture(picture)
    memory = memory or half_of_machine()
    found = findings.audit(
        precedence, logs, budget=memory.budget, threads=os.cpu_count() or 1, by=by
    )
    write_json(document(found, crawlrank_version()), output)
    if picture:
        _draw(found, picture)
    if output != STDOUT:
        show(sections(found))
        if advice := list(advice_lines(found)):
            click.echo("what to change")
            click.echo(printable("\n".join(advice)))
    if strict:
        findings.require_unharmed(found)


def _check_picture(path: Path) -> None:
    from pipeline.analysis.plots.pictures import FORMATS

    if path.suffix.lower().removeprefix(".") not in FORMATS:
        raise click.UsageError(f"--plot {path} must end in .png or .svg")


def _draw(found: Any, path: Path) -> None:
    from pipeline.analysis.audit.picture import plot
    from pipeline.analysis.plots.pictures import NoMatplotlib

    try:
        plot(found, path)
    except NoMatplotlib as error:
        raise click.UsageError(str(error)) from error


def write_json(data: dict[str, Any], output: Path | None) -> None:
    """One document to a file, in place when it is complete, or to standard output."""
    if output is None:
        return
    text = json.dumps(data, indent=1) + "\n"
    if output == STDOUT:
        sys.stdout.write(text)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing(output) as place:
        place.write_text(text)


def show(sections: Iterable[tuple[str, Table]]) -> None:
    """Tables with their titles on standard output, each row on one line."""
    width = console().width
    for title, table in sections:
        click.echo("\n".join([title, *lines(table, width), ""]))


@click.command("compare-outlinks")
@archives_argument
@click.option("--json", "output", type=OUTPUT, help=JSON)
@max_record_option
def compare_outlinks(archives: tuple[Place, ...], output: Path | None, max_record: int) -> None:
    """Heritrix's outlinks in ARCHIVES against the links of the same pages' HTML.

    Each difference is explained by category, with how many would be edges with
    --outlinks metadata. An archive that cannot be read is told at the end.
    """
    from pipeline.analysis.audit.outlinks import Comparison, compare_archive
    from pipeline.analysis.audit.outlinks_report import document, sections

    if output and output != STDOUT:
        check_files(output, inputs=archives)
    found, failed = Comparison(), list[BadInput]()
    for archive in archives:
        try:
            compare_archive(archive, found, max_record=max_record)
        except BadInput as error:
            failed.append(error)
    write_json(document(found, crawlrank_version()), output)
    if output != STDOUT:
        show(sections(found))
    if failed:
        raise failed[0]
    found.require_pages(", ".join(map(str, archives)))
