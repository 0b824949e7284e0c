"""`audit`: a precedence file by itself, in the state of a job of Heritrix, and beside the logs of a
crawl."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.storage.opening import require_file, require_text
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import (
    STDOUT,
    check_files,
    json_option,
    require_ending,
    show,
    write_json,
)
from crawlrank.pipeline.cli.parameters.groups import Decorator, on_command_line, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT, memory_option
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.terminal import printable

if TYPE_CHECKING:
    from crawlrank.pipeline.heritrix.verification import Verification

VERIFY_SCHEMA = "crawlrank-verify-precedence/1"
SHOWN = 20  # findings of a kind


def heritrix_option(**attributes: bool) -> Decorator:
    return option(
        "--heritrix",
        type=OUTPUT,
        envvar="HERITRIX_HOME",
        show_envvar=True,
        help="Folder of the distribution of Heritrix 3, with lib in it.",
        **attributes,
    )


@command("audit")
@click.argument("precedence", type=OUTPUT)
@click.argument("logs", nargs=-1, type=OUTPUT)
@option("--state", type=OUTPUT, help="The folder `state` of the job that the file is loaded into.")
@heritrix_option()
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
def audit(
    precedence: Path,
    logs: tuple[Path, ...],
    state: Path | None,
    heritrix: Path | None,
    output: Path | None,
    picture: Path | None,
    by: Literal["begin", "line"],
    strict: bool,
    memory: Memory,
) -> None:
    """PRECEDENCE is the file. Alone it is checked for what Heritrix's loader would refuse or
    misread.

    LOGS are the crawl.log files of one crawl that followed it, plain or gzip, or the folder of a
    job: then those of its last launch. The report says which URIs were fetched and which were
    listed, why others were not, how well the order was kept, and what to change.

    With --state, every line is looked up by Heritrix's own policy, as a crawl does; LOGS are then
    further URIs: files with one in each line, or crawl.log files. Exit code 4 if a line does not
    count as the file says.
    """
    if state is not None:
        _refuse("--state", "by", "strict", "picture")
        if heritrix is None:
            raise click.UsageError("--state needs --heritrix, or the variable HERITRIX_HOME")
        _verify(precedence, logs, state, heritrix, output)
    elif logs:
        _refuse("LOGS", "heritrix")
        _audit(precedence, logs, output, picture, memory, by=by, strict=strict)
    else:
        _refuse("PRECEDENCE alone", "heritrix", "by", "strict", "output", "memory", "picture")
        _lint(precedence)


def _refuse(what: str, *names: str) -> None:
    for name in names:
        if on_command_line(name):
            option_name = {"output": "json", "picture": "plot"}.get(name, name)
            raise click.UsageError(f"--{option_name} does not go with {what}")


def _audit(
    precedence: Path,
    logs: tuple[Path, ...],
    output: Path | None,
    picture: Path | None,
    memory: Memory,
    *,
    by: Literal["begin", "line"],
    strict: bool,
) -> None:
    from crawlrank.pipeline.analysis.audit import findings, report
    from crawlrank.pipeline.analysis.audit.advice import advise
    from crawlrank.pipeline.analysis.audit.crawl_log import logs_in
    from crawlrank.pipeline.analysis.pictures import FORMATS

    paths = logs_in(logs)
    check_files(output, picture, inputs=[precedence, *paths])
    if picture:
        require_ending(picture, "--plot", FORMATS, packed=False)
    threads = os.cpu_count() or 1
    audited = findings.audit(precedence, paths, budget=memory.budget, threads=threads, by=by)
    write_json(report.SCHEMA, report.as_data(audited), output)
    if picture:
        from crawlrank.pipeline.analysis.audit.picture import plot

        plot(audited, picture)
    show(report.tables(audited), output)
    advice = advise(audited)
    if advice and output != STDOUT:
        click.echo("what to change")
        for number, sentence in enumerate(advice, 1):
            click.echo(printable(f"{number}. {sentence}"))
    if strict:
        findings.require_unharmed(audited)


def _verify(
    precedence: Path, lists: tuple[Path, ...], state: Path, heritrix: Path, output: Path | None
) -> None:
    from crawlrank.pipeline.heritrix.home import HeritrixHome
    from crawlrank.pipeline.heritrix.verification import verify

    check_files(output, inputs=[precedence, *lists])
    for path in (precedence, *lists):
        require_file(path)
    require_text(precedence, "a precedence file")
    for path in lists:
        require_text(path, "a list of URIs", inflated=True)
    verification = verify(HeritrixHome(heritrix), state, precedence, lists)
    write_json(VERIFY_SCHEMA, verification.as_data(), output)
    show(verification.tables(), output)
    warn(verification)
    verification.require(state)


def _lint(path: Path) -> None:
    """Print what Heritrix's PrecedenceLoader does with the file. Raises BadInput for errors."""
    from crawlrank.pipeline.precedence.lint import LintSummary
    from crawlrank.pipeline.precedence.lint import lint as findings_of

    expected = "a precedence file: lines of text with a URI and a number"
    require_text(path, expected, inflated=True)  # lint itself has a finding for gzip
    summary = LintSummary()
    for finding in findings_of(path, summary):
        if summary.problems[finding.problem] > SHOWN:
            continue
        position = f"line {finding.line}" if finding.line else "file"
        message = f"{position}: {finding.severity}: {finding.problem}: {finding.text}"
        click.echo(printable(message))
        click.echo(f"    {finding.consequence}")
        click.echo(f"    {finding.cure}")
    for problem, count in summary.problems.items():
        if count > SHOWN:
            click.echo(printable(f"… and {count - SHOWN:,} more: {problem}"))
    lines = count_of(summary.lines, "line")
    if not summary.accepted:
        click.echo(
            f"{lines}; nothing of them is stored, as the loader stops. {summary.entries:,} would"
            " load without the others."
        )
    else:
        click.echo(f"{lines}, {summary.entries:,} of them load")
    if summary.errors:
        outcome = "it loads, not all as meant" if summary.accepted else "Heritrix loads none of it"
        raise BadInput(
            str(path),
            f"has {count_of(summary.errors, 'error')}; {outcome}",
            "no error",
            "Each finding above says how to mend it.",
        )


def warn(verification: Verification) -> None:
    if warning := verification.warning():
        click.echo(printable(f"crawlrank: {warning}"), err=True)
