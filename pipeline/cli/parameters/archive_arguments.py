"""The argument ARCHIVES: files, folders, globs, URLs, and lists of these; and what may be read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from crawlrank.jobs.kernel.archive.range_lists import IndexOfRanges, base_of
from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.kernel.storage.web.connections import (
    ALLOW_HTTP,
    ALLOW_PRIVATE,
    WEB_BYTES,
    WEB_TIME,
)
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.groups import Command, together
from crawlrank.pipeline.cli.parameters.types import PathOrUrlType, Size, Whole
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.finding import complete_prefix, find_archives, read_list
from crawlrank.pipeline.workfolder.received import (
    PIPE,
    STDIN,
    Given,
    is_index,
    is_received,
    received,
)

EXAMPLES = 3
#: option -> the variable that the processes of a run inherit, and its help
ALLOWED = {
    "--allow-private": (
        ALLOW_PRIVATE,
        "Read archives from web servers with private addresses, too.",
    ),
    "--allow-http": (ALLOW_HTTP, "Read archives from http:// URLs, too."),
}
#: the same of the options that have a value: what may pass without a record of a file on the web
LIMITED = {
    "--web-time": (
        WEB_TIME,
        "SECONDS",
        Whole(1),
        "Most seconds that a web server is waited for without a record.  [default: 10800]",
    ),
    "--web-bytes": (
        WEB_BYTES,
        "SIZE",
        Size(),
        "Most bytes of an archive on a web server without a record.  [default: 64GB]",
    ),
}


def _archives(*, required: bool) -> Callable[[Command], Command]:
    def find(
        ctx: click.Context, param: click.Parameter, names: tuple[Given, ...]
    ) -> tuple[Given, ...]:
        names = _named(ctx, names)
        if required and not names:
            raise click.MissingParameter(ctx=ctx, param=param)
        archives = _find(names)
        if required and any(map(is_received, archives)):
            folder = ctx.find_root().with_resource(temporary_folder())
            return tuple(received(archives, folder, folder, partial(echo, err=True)))
        return archives

    return together(
        click.argument(
            "archives",
            nargs=-1,
            type=PathOrUrlType(path_type=Path, allow_dash=True),
            callback=find,
        ),
        _before(
            "--archives-from",
            multiple=True,
            type=PathOrUrlType(allow_dash=True),
            metavar="LIST",
            help="File or URL of a list, plain or gzip, with an archive on each line, or of an"
            " index in JSON or CDXJ, of which only the records are read; - for standard input.",
        ),
        _before(
            "--prefix",
            metavar="URL",
            help="What to put before each line of the lists, such as https://data.commoncrawl.org/,"
            " which is the default for archives of an index.",
        ),
        *(_before(name, is_flag=True, help=help) for name, (_, help) in ALLOWED.items()),
        *(
            _before(name, type=type_of_value, metavar=metavar, help=help)
            for name, (_, metavar, type_of_value, help) in LIMITED.items()
        ),
    )


def _named(ctx: click.Context, names: tuple[Given, ...]) -> tuple[Given, ...]:
    """The names of the command line and those of the lists. Raises UsageError."""
    lists, prefix = ctx.meta.get("--archives-from", ()), ctx.meta.get("--prefix") or ""
    if prefix and not lists:
        raise click.UsageError("--prefix is for --archives-from.", ctx)
    configured = (ctx.default_map or {}).get("archives", ())  # which old clicks pass over
    names = tuple(names or configured)
    _require_input(ctx, [*names, *lists].count(STDIN))
    return (*names, *(name for each in lists for name in _listed(each, prefix)))


def _before(name: str, **attributes: Any) -> Callable[[Command], Command]:
    """An option that is known when the archives are looked for, and that no command takes."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        ctx.meta[name] = value
        if value and name in ALLOWED:
            _set(ctx, ALLOWED[name][0], "1")
        if value and name in LIMITED:
            _set(ctx, LIMITED[name][0], str(value.total if isinstance(value, Memory) else value))

    return click.option(name, is_eager=True, expose_value=False, callback=keep, **attributes)


def _set(ctx: click.Context, variable: str, value: str) -> None:
    """Set the variable until the command ends. That of click ends also where another option is
    wrong; that of the command has no end then."""
    before = os.environ.get(variable)

    def restore() -> None:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before

    os.environ[variable] = value
    ctx.find_root().call_on_close(restore)


def _require_input(ctx: click.Context, count: int) -> None:
    """Raises UsageError where standard input is to be read, and cannot be. count: how often."""
    if count > 1:
        raise click.UsageError("Standard input (-) can be read once.", ctx)
    if count and sys.stdin is None:
        raise click.UsageError("Standard input (-) is closed.", ctx)
    if count and sys.stdin.isatty():
        raise click.UsageError(f"Standard input (-) is a terminal. {PIPE}", ctx)


def _listed(list_file: PathOrUrl, prefix: str) -> list[Given]:
    """The archives of a list, or the index that it is."""
    if is_index(list_file):
        return [IndexOfRanges(list_file, base_of(complete_prefix(prefix)))]
    return [*read_list(list_file, prefix)]


def _find(names: Sequence[Given]) -> tuple[Given, ...]:
    named = [name for name in names if not isinstance(name, IndexOfRanges) and name != STDIN]
    others = [name for name in names if is_received(name)]
    if not named:
        return tuple(others)
    search = find_archives(named)
    if search.left_out:
        echo(
            f"{count_of(len(search.left_out), 'file')} in folders left out, without an archive's"
            " name: "
            + ", ".join(map(printable, search.left_out[:EXAMPLES]))
            + (", …" if len(search.left_out) > EXAMPLES else ""),
            err=True,
        )
    return (*search.archives, *others)


archives_argument = _archives(required=True)
run_archives_argument = _archives(required=False)
