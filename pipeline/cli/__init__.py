"""The command `crawlrank`: a command for each step, for all of them, and for their results.

Every error becomes one message and an exit code here: 0 done, 2 wrong usage, 3 bad input, 4 not
converged or validation below its threshold, 5 a job failed, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from crawlrank.jobs.kernel.errors import (
    DEBUG,
    UNEXPECTED,
    BadInput,
    CrawlrankError,
    NoNodes,
    Shortage,
)
from crawlrank.jobs.kernel.machine.shortage import require_addresses, shortage_of, with_folder
from crawlrank.pipeline.cli.commands import COMMANDS, GROUPS, PURPOSES, REMOVED, loaded
from crawlrank.pipeline.cli.interruption import ARGUMENTS, Interruption
from crawlrank.pipeline.cli.parameters.command import HELP
from crawlrank.pipeline.cli.parameters.words import renamed
from crawlrank.pipeline.terminal import escape_unwritable, name_output, outlive_reader, printable
from crawlrank.pipeline.terminal.streams import give_up, give_up_unwritten, reader_has_left

INTERRUPTED = "interrupted; what was finished is kept"
#: bytes of addresses to load the libraries, which crash if they get a part of them, and to begin
#: work: threads that get no memory at all wait for ever
TO_LOAD, TO_BEGIN = 320 << 20, 64 << 20


class _Broken(Exception):
    """A pipe that nobody reads any more; its cause says which."""


class LazyGroup(click.Group):
    """A group whose commands are loaded when they are called."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in REMOVED:
            raise click.UsageError(f"'{args[0]}' was removed. {REMOVED[args[0]]}", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        words = name or "" if self.name in (None, "main") else f"{self.name} {name}"
        if words in COMMANDS:
            require_addresses(TO_LOAD + TO_BEGIN)
            command = loaded(words)
            require_addresses(TO_BEGIN)
        if isinstance(ctx.obj, Interruption):
            ctx.obj.begin()
        return name, command, rest

    def sections(self) -> dict[str, dict[str, str]]:
        """What help lists: headings, names, first sentences."""
        return {"Commands": {name: each.help or "" for name, each in self.commands.items()}}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in self.sections().values() for name in section]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with the whole first sentence of its help; click would cut it."""
        widest = max(map(len, self.commands))
        for heading, section in self.sections().items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), first) for name, first in section.items()])


class CommandGroup(LazyGroup):
    """Lists commands by what they are for, and turns errors into messages."""

    def sections(self) -> dict[str, dict[str, str]]:
        return {
            purpose: {name: self.commands[name].help or "" for name in names}
            for purpose, names in PURPOSES.items()
        }

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # or Python would notice at its exit that the reader has left
        except BrokenPipeError as error:  # of which click makes an exit code of its own
            raise _Broken from error
        return result

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False
        name_output()
        escape_unwritable()
        outlive_reader()
        interruption, fault = Interruption(), ""
        try:
            code = super().main(*args, **kwargs, obj=interruption)
        except click.ClickException as error:
            with _unheard():
                error.show()
            code, fault = error.exit_code, error.format_message()
        except (click.Abort, KeyboardInterrupt):
            code, fault = _interrupted()
        except _Broken as error:
            code, fault = _reader_left(error.__cause__)
        except Exception as error:  # no traceback reaches a user
            if interruption.came:  # an import or DuckDB may turn it into another error
                code, fault = _interrupted()
            elif failure := _failed(error, args[0] if args else sys.argv[1:]):
                code, fault = failure
            else:
                raise
        code = code if isinstance(code, int) else 0
        for end in interruption.at_end:
            end(code, fault)
        give_up_unwritten()
        sys.exit(code)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args, warning = renamed(args)
        if warning and not ctx.resilient_parsing:
            click.echo(f"crawlrank: {printable(warning)}", err=True)
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)


def _interrupted() -> tuple[int, str]:
    # Python kills itself with SIGINT at its exit if a KeyboardInterrupt has left an exec of text,
    # which libraries run when they are imported; an exec that ends well clears that state.
    exec("")
    return _say(INTERRUPTED, 130)


def _reader_left(error: BaseException | None) -> tuple[int, str]:
    """Where nobody reads standard output any more, which needs no message."""
    from crawlrank.pipeline.data.datasets import CLOSED

    if not reader_has_left():
        return _say(f"{error}", BadInput.exit_code)
    give_up(sys.stdout, sys.stderr)  # both may be the same pipe
    return CLOSED, ""


def _failed(error: Exception, words: Sequence[str]) -> tuple[int, str] | None:
    """Print the message; exit code and message, or None if the user wants the traceback."""
    shortage = error if isinstance(error, Shortage) else None
    if isinstance(error, CrawlrankError) and not shortage:
        return _say(_message(error), error.exit_code)
    if shortage := shortage or shortage_of(error):
        return _say(str(with_folder(shortage, _written(words))), shortage.exit_code)
    if isinstance(error, OSError):
        return _say(_os_error(error), BadInput.exit_code)
    if DEBUG in os.environ:
        return None
    return _say(f"{UNEXPECTED}: {type(error).__name__}: {error}", 1)


def _written(words: Sequence[str]) -> Iterator[Path]:
    """The folders that a command may have written to, of its words and of the system."""
    for word in words:
        path = Path(word.rpartition("=")[2])
        yield from (folder for folder in (path, path.parent) if folder.is_dir())
    import tempfile  # not for commands that end well

    yield from (Path(), Path(tempfile.gettempdir()))


def _message(error: CrawlrankError) -> str:
    if not isinstance(error, BadInput) or isinstance(error, NoNodes):
        return str(error)
    from crawlrank.pipeline.workfolder.results.dataset_folders import UnusableDataset
    from crawlrank.pipeline.workfolder.results.opened import as_text_cure

    if isinstance(error, UnusableDataset):
        return str(error)
    cure = as_text_cure(error.where)
    return str(BadInput(error.where, error.found, error.expected, cure) if cure else error)


def _say(message: str, code: int) -> tuple[int, str]:
    """The message on stderr, without anything that could control a terminal."""
    with _unheard():
        click.echo(f"crawlrank: {printable(message)}", err=True)
    return code, message


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """Let a message go nowhere if nobody reads standard output and error any more."""
    try:
        yield
    except BrokenPipeError:
        give_up(sys.stdout, sys.stderr)


def _os_error(error: OSError) -> str:
    path = error.filename2 or error.filename
    name = f"{os.fsdecode(path)}: " if isinstance(path, str | bytes) else ""
    return f"{name}{error.strerror or error}."


def _show_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from crawlrank.pipeline.version import crawlrank_version, extraction_form

        click.echo(f"crawlrank, version {crawlrank_version()}, extraction: {extraction_form()}")
        ctx.exit()


def _stubs(prefix: str) -> dict[str, click.Command]:
    """The commands with these first words, without their options."""
    return {
        words.removeprefix(prefix): click.Command(words.removeprefix(prefix), help=first)
        for words, (_, first) in COMMANDS.items()
        if words.startswith(prefix) and " " not in words.removeprefix(prefix)
    }


SETTINGS = {"help_option_names": list(HELP)}
SUBGROUPS = {
    name: LazyGroup(name, _stubs(f"{name} "), help=first, context_settings=SETTINGS)
    for name, first in GROUPS.items()
}


@click.group(cls=CommandGroup, context_settings=SETTINGS, commands={**_stubs(""), **SUBGROUPS})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Rank the pages of a web crawl and write the precedence file for the next one.

    `crawlrank run ARCHIVE… --work DIR` does everything. Other commands do one of its steps, or show
    and check results.
    """
