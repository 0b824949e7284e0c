"""The command `crawlrank`: one command a step, and those that chain and explain them.

Every error becomes one message and an exit code here: 0 done, 2 wrong usage, 3 bad input, 4 not
converged or validation below its threshold, 5 a job failed, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import click

from jobs.kernel.errors import BadInput, CrawlrankError
from pipeline.cli import inspect as inspect_commands
from pipeline.cli import results as result_commands
from pipeline.cli import run as run_commands
from pipeline.cli import steps as step_commands
from pipeline.cli import text as text_commands
from pipeline.inspection import UNEXPECTED
from pipeline.manifest import crawlrank_version
from pipeline.terminal import escape_unwritable, printable

DISK = {28: "the disk is full", 30: "the file system is read-only", 122: "the quota is used up"}


class Group(click.Group):
    """Commands in the order of the steps, errors as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False
        escape_unwritable()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _interrupt)  # end as Ctrl-C does, leaving nothing behind
        try:
            code = super().main(*args, **kwargs)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = _say("interrupted; what was finished is kept", 130)
        except CrawlrankError as error:
            code = _say(str(error), error.exit_code)
        except OSError as error:
            code = _say(_os_error(error), BadInput.exit_code)
        except Exception as error:  # no traceback reaches a user
            if "CRAWLRANK_DEBUG" in os.environ:
                raise
            code = _say(f"{UNEXPECTED}: {type(error).__name__}: {error}", 1)
        sys.exit(code if isinstance(code, int) else 0)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _say(message: str, code: int) -> int:
    """The message on stderr, without anything that could steer a terminal."""
    click.echo(f"crawlrank: {printable(message)}", err=True)
    return code


def _os_error(error: OSError) -> str:
    where = error.filename2 or error.filename
    place = f"{os.fsdecode(where)}: " if isinstance(where, str | bytes) else ""
    what = DISK.get(error.errno or 0, error.strerror or str(error))
    cure = " Make room, or write elsewhere." if error.errno in DISK else ""
    return f"{place}{what}.{cure}"


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(crawlrank_version(), prog_name="crawlrank")
def main() -> None:
    """Rank the pages of a web crawl and write the precedence file for the next one.

    `crawlrank run ARCHIVE… --work DIR` does everything; the other commands are its steps.
    """


for commands in (run_commands, text_commands, inspect_commands, step_commands, result_commands):
    for command in commands.COMMANDS:
        main.add_command(command)
