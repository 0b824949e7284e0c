"""Commands that a program calls in its own process: they print nothing, and their progress and
their JSON go to the program."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import click

from crawlrank.pipeline.progress.reporter import Reporter

CALL = "crawlrank.call"  # where the context keeps the call


@dataclass
class ProgramCall:
    """reporter: of the progress of the command. document: the JSON that the command writes to
    standard output elsewhere."""

    reporter: Reporter
    document: io.StringIO = field(default_factory=io.StringIO)


def program_call() -> ProgramCall | None:
    """The call by which the command of this thread runs; None for one of a command line."""
    context = click.get_current_context(silent=True)
    call: ProgramCall | None = context.meta.get(CALL) if context else None
    return call


def echo(text: str, *, err: bool = False) -> None:
    """Print a line for a user, unless a program calls."""
    if program_call() is None:
        click.echo(text, err=err)
