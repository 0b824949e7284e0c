"""The command `crawlrank`: one command a step, and those that chain and explain them.

Every error becomes one message and an exit code here: 0 done, 2 wrong usage, 3 bad input, 4 not
converged or validation below its threshold, 5 a job failed, 130 interrupted.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from typing import Any

import click

from jobs.kernel.errors import BadInput, CrawlrankError
from jobs.kernel.machine.shortage import shortage_of
from pipeline.analysis.inspect.inspection import UNEXPECTED
from pipeline.cli import audit as audit_commands
from pipeline.cli import compare as compare_commands
from pipeline.cli import inspect as inspect_commands
from pipeline.cli import package as package_commands
from pipeline.cli import results as result_commands
from pipeline.cli import run as run_commands
from pipeline.cli import steps as step_commands
from pipeline.cli import text as text_commands
from pipeline.terminal import escape_unwritable, printable
from pipeline.workfolder.dataset_folders import UnusableDataset, as_text_cure
from pipeline.workfolder.manifest import crawlrank_version

INTERRUPTED = "interrupted; what was finished is kept"


class Group(click.Group):
    """Commands in the order of the steps, errors as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False
        escape_unwritable()
        interruption = _Interruption()
        try:
            code = super().main(*args, **kwargs)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = _interrupted()
        except Exception as error:  # no traceback reaches a user
            if interruption.came:  # and some import or DuckDB made another error of it
                code = _interrupted()
            elif isinstance(error, CrawlrankError):
                code = _say(_message(error), error.exit_code)
            elif shortage := shortage_of(error):
                code = _say(str(shortage), shortage.exit_code)
            elif isinstance(error, OSError):
                code = _say(_os_error(error), BadInput.exit_code)
            elif "CRAWLRANK_DEBUG" in os.environ:
                raise
            else:
                code = _say(f"{UNEXPECTED}: {type(error).__name__}: {error}", 1)
        sys.exit(code if isinstance(code, int) else 0)


class _Interruption:
    """Ctrl-C, and SIGTERM, which ends all as Ctrl-C does, leaving nothing behind.

    came: whether there was one.
    """

    def __init__(self) -> None:
        self.came = False
        if threading.current_thread() is not threading.main_thread():
            return
        if sys.unraisablehook is sys.__unraisablehook__:
            sys.unraisablehook = self._again
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._come)

    def _come(self, *_: object) -> None:
        self.came = True
        raise KeyboardInterrupt

    def _again(self, what: sys.UnraisableHookArgs) -> None:
        """Where it came while an object was being taken down, it is lost, and comes once more."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            _thread.interrupt_main()
        else:
            sys.__unraisablehook__(what)


def _interrupted() -> int:
    # Python ends itself by SIGINT at its exit once a KeyboardInterrupt has come out of an exec of
    # text, as libraries have when they are imported; one that ends well makes it forget.
    exec("")
    return _say(INTERRUPTED, 130)


def _message(error: CrawlrankError) -> str:
    if not isinstance(error, BadInput) or isinstance(error, UnusableDataset):
        return str(error)
    cure = as_text_cure(error.where)
    return str(BadInput(error.where, error.found, error.expected, cure) if cure else error)


def _say(message: str, code: int) -> int:
    """The message on stderr, without anything that could steer a terminal."""
    click.echo(f"crawlrank: {printable(message)}", err=True)
    return code


def _os_error(error: OSError) -> str:
    where = error.filename2 or error.filename
    place = f"{os.fsdecode(where)}: " if isinstance(where, str | bytes) else ""
    return f"{place}{error.strerror or error}."


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(crawlrank_version(), prog_name="crawlrank")
def main() -> None:
    """Rank the pages of a web crawl and write the precedence file for the next one.

    `crawlrank run ARCHIVE… --work DIR` does everything; the other commands are its steps.
    """


for commands in (
    run_commands, compare_commands, text_commands, inspect_commands, step_commands,
    result_commands, audit_commands, package_commands,
):  # fmt: skip
    for command in commands.COMMANDS:
        main.add_command(command)
