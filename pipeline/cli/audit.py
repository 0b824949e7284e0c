"""`audit-precedence` and `verify-precedence`: comparisons with what Heritrix did, or will do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from crawlrank.jobs.kernel.storage.binary_files import require_text
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import (
    STDOUT,
    check_files,
    json_option,
    require_ending,
    show,
    write_json,
)
from crawlrank.pipeline.cli.parameters.groups import Decorator, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT, memory_option
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.terminal import printable

if TYPE_CHECKING:
    from crawlrank.pipeline.heritrix.verification import Verification

VERIFY_SCHEMA = "crawlrank-verify-precedence/1"


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
    """PRECEDENCE is the file, LOGS are the crawl.log files of one crawl, plain or gzip, or the
    folder of a job: then those of its last launch.

    The report says which URIs were fetched and which were listed, why others were not, how well the
    order was kept, and what to change.
    """
    from crawlrank.pipeline.analysis.audit import audit_json, findings
    from crawlrank.pipeline.analysis.audit.advice import advise
    from crawlrank.pipeline.analysis.audit.crawl_log import logs_in
    from crawlrank.pipeline.analysis.audit.tables import tables
    from crawlrank.pipeline.analysis.pictures import FORMATS

    paths = logs_in(logs)
    check_files(output, picture, inputs=[precedence, *paths])
    if picture:
        require_ending(picture, "--plot", FORMATS, packed=False)
    threads = os.cpu_count() or 1
    audit = findings.audit(precedence, paths, budget=memory.budget, threads=threads, by=by)
    write_json(audit_json.SCHEMA, audit_json.as_data(audit), output)
    if picture:
        from crawlrank.pipeline.analysis.audit.picture import plot

        plot(audit, picture)
    show(tables(audit), output)
    advice = advise(audit)
    if advice and output != STDOUT:
        click.echo("what to change")
        for number, sentence in enumerate(advice, 1):
            click.echo(printable(f"{number}. {sentence}"))
    if strict:
        findings.require_unharmed(audit)


def heritrix_option(**attributes: bool) -> Decorator:
    return option(
        "--heritrix",
        type=OUTPUT,
        envvar="HERITRIX_HOME",
        show_envvar=True,
        help="Folder of the distribution of Heritrix 3, with lib in it.",
        **attributes,
    )


@command("verify-precedence")
@click.argument("precedence", type=OUTPUT)
@click.argument("lists", nargs=-1, type=OUTPUT)
@option("--state", type=OUTPUT, required=True, help="The job's folder `state`.")
@heritrix_option(required=True)
@json_option
def verify_precedence(
    precedence: Path, lists: tuple[Path, ...], state: Path, heritrix: Path, output: Path | None
) -> None:
    """PRECEDENCE is the file that was loaded. LISTS are further URIs: files with one in each line,
    or crawl.log files. Every line and URI is looked up by Heritrix's own policy, as a crawl does.
    Exit code 4 if a line does not count as the file says.
    """
    from crawlrank.pipeline.heritrix.home import HeritrixHome
    from crawlrank.pipeline.heritrix.verification import verify

    check_files(output, inputs=[precedence, *lists])
    for path in (precedence, *lists):
        require_file(path)
    require_text(precedence, "a precedence file")
    verification = verify(HeritrixHome(heritrix), state, precedence, lists)
    write_json(VERIFY_SCHEMA, verification.as_data(), output)
    show(verification.tables(), output)
    warn(verification)
    verification.require(state)


def warn(verification: Verification) -> None:
    if warning := verification.warning():
        click.echo(printable(f"crawlrank: {warning}"), err=True)
