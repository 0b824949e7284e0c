"""The command `crawlrank`: one command a step, and those that chain and explain them.

A command is loaded when it is called; its name and the first sentence of its help stand here.

Every error becomes one message and an exit code here: 0 done, 2 wrong usage, 3 bad input, 4 not
converged or validation below its threshold, 5 a job failed, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from jobs.kernel.errors import UNEXPECTED, BadInput, CrawlrankError
from jobs.kernel.machine.shortage import require_addresses, shortage_of
from pipeline.cli.interruption import Interruption
from pipeline.terminal import escape_unwritable, printable

INTERRUPTED = "interrupted; what was finished is kept"
#: bytes of addresses that libraries take, which crash where they get but some of them, and those to
#: begin with: threads that get no memory at all wait for ever
TO_LOAD, TO_BEGIN = 320 << 20, 64 << 20

#: command -> the module of this folder that has it under its name; the first sentence of its help
COMMANDS = {
    "run": ("run", "From ARCHIVES to a precedence file in the work folder."),
    "status": ("workfolder", "Steps, rows, rounds, archives and damage of a work folder."),
    "check": (
        "workfolder",
        "Compare every dataset of a work folder with the sizes and digests in its manifest.",
    ),
    "plot": (
        "workfolder",
        "Pictures of a finished run: distribution of scores, rank against indegree, classes by"
        " host.",
    ),
    "diff": (
        "compare",
        "What has changed from WORK_A to WORK_B: pages, classes, the order, and why pages moved.",
    ),
    "explain": (
        "compare",
        "Why the page of URI has its score, its class and its lines in the precedence file.",
    ),
    "import-text": (
        "text",
        "Text files to a new work folder, from which `crawlrank run --work DIR` goes on.",
    ),
    "export-text": (
        "text",
        "The recipe's own text files, from links.txt to precedence.txt, and captures.txt.",
    ),
    "inspect": ("inspect", "What is in ARCHIVES: records, captures, links, damage."),
    "extract-links": (
        "steps",
        "Links and captures of archives: WARC, ARC, WAT and WACZ files, folders, globs, s3://"
        " URLs.",
    ),
    "select-links": (
        "steps",
        "Of several captures of a page the links that count, and which pages are one.",
    ),
    "canonicalize": ("steps", "URIs to keys (SURT): links between pages, whatever their spelling."),
    "assign-ids": ("steps", "Ids 0…N-1 in byte order of the key."),
    "gen-graph": ("steps", "The graph that PageRank iterates on; dangling pages point to dummy."),
    "page-rank": ("steps", "Rounds of PageRank, until certified or exactly --iterations."),
    "join-scores": ("steps", "Scores with their URIs, best first."),
    "export-precedence": (
        "results",
        "The file that Heritrix loads, and the beans that make it use it as meant.",
    ),
    "validate-opic": (
        "results",
        "Check RANKS against an OPIC run on GRAPH, with a bound for both.",
    ),
    "audit-precedence": (
        "audit",
        "How well a crawl kept to the file PRECEDENCE, by its crawl.log files, plain or gzip.",
    ),
    "compare-outlinks": (
        "audit",
        "Heritrix's outlinks in ARCHIVES against the links of the same pages' HTML.",
    ),
    "package": (
        "package",
        "What tasks on Hadoop, EMR and Spark need: jobs, their libraries, configuration.",
    ),
}


def loaded(name: str) -> click.Command:
    """The command itself, with its options."""
    module = importlib.import_module(f"pipeline.cli.{COMMANDS[name][0]}")
    command: click.Command = getattr(module, name.replace("-", "_"))
    return command


class Group(click.Group):
    """Commands in the order of the steps, errors as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            require_addresses(TO_LOAD + TO_BEGIN)
            command = loaded(name)
            require_addresses(TO_BEGIN)
        if isinstance(ctx.obj, Interruption):
            ctx.obj.begin()
        return name, command, rest

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False
        escape_unwritable()
        interruption = Interruption()
        try:
            code = super().main(*args, **kwargs, obj=interruption)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = _interrupted()
        except Exception as error:  # no traceback reaches a user
            if interruption.came:  # and some import or DuckDB made another error of it
                code = _interrupted()
            elif (code := _failed(error)) is None:
                raise
        sys.exit(code if isinstance(code, int) else 0)


def _interrupted() -> int:
    # Python ends itself by SIGINT at its exit once a KeyboardInterrupt has come out of an exec of
    # text, as libraries have when they are imported; one that ends well makes it forget.
    exec("")
    return _say(INTERRUPTED, 130)


def _failed(error: Exception) -> int | None:
    """The exit code, once the message is on stderr; None where its traceback is asked for."""
    if isinstance(error, CrawlrankError):
        return _say(_message(error), error.exit_code)
    if shortage := shortage_of(error):
        return _say(str(shortage), shortage.exit_code)
    if isinstance(error, OSError):
        return _say(_os_error(error), BadInput.exit_code)
    if "CRAWLRANK_DEBUG" in os.environ:
        return None
    return _say(f"{UNEXPECTED}: {type(error).__name__}: {error}", 1)


def _message(error: CrawlrankError) -> str:
    if not isinstance(error, BadInput):
        return str(error)
    from pipeline.workfolder.dataset_folders import UnusableDataset, as_text_cure

    if isinstance(error, UnusableDataset):
        return str(error)
    cure = as_text_cure(error.where)
    return str(BadInput(error.where, error.found, error.expected, cure) if cure else error)


def _say(message: str, code: int) -> int:
    """The message on stderr, without anything that could steer a terminal."""
    click.echo(f"crawlrank: {printable(message)}", err=True)
    return code


def _os_error(error: OSError) -> str:
    where = error.filename2 or error.filename
    name = f"{os.fsdecode(where)}: " if isinstance(where, str | bytes) else ""
    return f"{name}{error.strerror or error}."


def _show_version(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from pipeline.version import crawlrank_version

        click.echo(f"crawlrank, version {crawlrank_version()}")
        ctx.exit()


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    commands={name: click.Command(name, help=short) for name, (_, short) in COMMANDS.items()},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Rank the pages of a web crawl and write the precedence file for the next one.

    `crawlrank run ARCHIVE… --work DIR` does everything; the other commands are its steps.
    """
