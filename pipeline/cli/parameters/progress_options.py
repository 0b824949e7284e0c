"""The options of commands that take their time: how much they say, and where."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

import click

from crawlrank.pipeline.cli.interruption import ARGUMENTS, Interruption
from crawlrank.pipeline.cli.outputs import STDOUT, check_files
from crawlrank.pipeline.cli.parameters.calls import program_call
from crawlrank.pipeline.cli.parameters.command import CONFIGURED
from crawlrank.pipeline.cli.parameters.configuration import Configured
from crawlrank.pipeline.cli.parameters.groups import grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.progress import reporter
from crawlrank.pipeline.progress.log_lines import Log
from crawlrank.pipeline.progress.reporter import Reporter, ReporterGroup
from crawlrank.pipeline.terminal.text import masked, masked_all
from crawlrank.pipeline.workfolder.manifest import Invocation


class Progress(NamedTuple):
    """reporter: of the command's work. logs: whether standard output is for the log."""

    reporter: Reporter
    quiet: bool
    logs: bool

    @property
    def tables(self) -> bool:
        """Whether to show tables that --quiet leaves out."""
        return not self.quiet and not self.logs


def _progress(quiet: bool, verbose: bool, log: Path | None) -> Progress:
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    call = program_call()
    shown = call.reporter if call else reporter(quiet, verbose=verbose)
    if log:
        shown = ReporterGroup(_logged(log), shown)
    return Progress(shown, quiet or call is not None, log == STDOUT)


def _logged(path: Path) -> Log:
    """The log, which has the begin of this command and gets its end. Raises BadInput, OSError."""
    ctx = click.get_current_context()
    if path == STDOUT:
        stream = sys.stdout
    else:
        check_files(path, inputs=ctx.params.get("archives") or ())
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("a")
    log = Log(stream)
    log.begin(ctx.meta.get(ARGUMENTS, []))
    if isinstance(ctx.obj, Interruption):
        ctx.obj.at_end.append(log.end)
    return log


OPTIONS = (
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Show each archive, job and round, and the counters of each step.",
    ),
    option(
        "--log",
        type=OUTPUT,
        metavar="FILE",
        help="Append steps, counters, warnings and errors to FILE, as JSON lines; `-`: to standard"
        " output, without the tables.",
    ),
)
progress_options = grouped(
    "progress",
    _progress,
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no tables."),
    *OPTIONS,
)
#: of commands whose tables are their result, or which have none
plain_progress_options = grouped(
    "progress",
    _progress,
    click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
    *OPTIONS,
)


def invocation() -> Invocation:
    """The command that runs, without secrets."""
    ctx = click.get_current_context()
    arguments = masked_all(ctx.meta.get(ARGUMENTS, []))
    configured: Configured | None = ctx.meta.get(CONFIGURED)
    if configured is None:
        return Invocation(arguments)
    values = json.loads(masked(json.dumps(configured.values, default=str)))
    return Invocation(arguments, str(configured.path), values)
