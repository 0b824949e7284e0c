"""`audit-precedence` and `compare-outlinks`: comparisons with what Heritrix did."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import click

from jobs.kernel.errors import BadInput, unreadable
from jobs.kernel.storage.opening import PathOrUrl
from pipeline.cli.commands import command
from pipeline.cli.outputs import STDOUT, check_files, json_option, require_ending, show, write_json
from pipeline.cli.parameters.archive_arguments import archives_argument
from pipeline.cli.parameters.extraction import max_record_option
from pipeline.cli.parameters.groups import option
from pipeline.cli.parameters.options import OUTPUT, memory_option
from pipeline.data.memory import Memory
from pipeline.terminal import printable


@command("audit-precedence")
@click.argument("precedence", type=OUTPUT)
@click.argument("logs", nargs=-1, required=True, type=OUTPUT)
@json_option
@option(
    "--plot",
    "picture",
    type=OUTPUT,
    help="Draw the positions of fetches by class, to FILE.png or FILE.svg.",
)
@option(
    "--by",
    type=click.Choice(["begin", "line"]),
    default="begin",
    help="Order of fetches. begin: in which they began; line: of the lines of the logs as given.",
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
    memory: Memory,
) -> None:
    """PRECEDENCE is the file, LOGS are the crawl.log files of one crawl, plain or gzip.

    The report says which URIs were fetched and which were listed, why others were not, how well the
    order was kept, and what to change.
    """
    from pipeline.analysis.audit import audit_json, findings
    from pipeline.analysis.audit.advice import advise
    from pipeline.analysis.audit.tables import tables
    from pipeline.analysis.plots.pictures import FORMATS

    check_files(output, picture, inputs=[precedence, *logs])
    if picture:
        require_ending(picture, "--plot", FORMATS, packed=False)
    audit = findings.audit(
        precedence, logs, budget=memory.budget, threads=os.cpu_count() or 1, by=by
    )
    write_json(audit_json.SCHEMA, audit_json.as_data(audit), output)
    if picture:
        from pipeline.analysis.audit.picture import plot

        plot(audit, picture)
    show(tables(audit), output)
    advice = advise(audit)
    if advice and output != STDOUT:
        click.echo("what to change")
        for number, sentence in enumerate(advice, 1):
            click.echo(printable(f"{number}. {sentence}"))
    if strict:
        findings.require_unharmed(audit)


@command("compare-outlinks")
@archives_argument
@json_option
@max_record_option
def compare_outlinks(archives: tuple[PathOrUrl, ...], output: Path | None, max_record: int) -> None:
    """ARCHIVES hold pages and the metadata records in which Heritrix wrote its outlinks.

    Each difference has a category that explains it, and the number of edges that it makes with
    --outlinks metadata. Archives that cannot be read do not stop the others; they are errors at the
    end.
    """
    from pipeline.analysis.audit.outlinks import Comparison, compare_archive
    from pipeline.analysis.audit.outlinks_report import SCHEMA, as_data, tables

    check_files(output, inputs=archives)
    comparison, failed = Comparison(), list[BadInput]()
    for archive in archives:
        try:
            compare_archive(archive, comparison, max_record=max_record)
        except BadInput as error:
            failed.append(error)
    write_json(SCHEMA, as_data(comparison), output)
    show(tables(comparison), output)
    if failed:
        errors = [(error.where, (error.found, error.expected, error.cure)) for error in failed]
        raise unreadable(errors, len(archives))
    comparison.require_pages(", ".join(map(str, archives)))
