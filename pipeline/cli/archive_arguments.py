"""The argument ARCHIVES: files, folders, globs, URLs, and lists of these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from jobs.kernel.storage.opening import Place
from pipeline.cli.groups import together
from pipeline.cli.parameter_types import Archive
from pipeline.terminal import printable
from pipeline.workfolder.finding import find_archives, read_list

ARCHIVE = Archive(path_type=Path)
EXAMPLES = 3


def _listed(ctx: click.Context, param: click.Parameter, lists: tuple[str, ...]) -> None:
    ctx.meta["archives"] = [name for where in lists for name in read_list(where)]


def _searched(
    ctx: click.Context, param: click.Parameter, names: tuple[Place, ...]
) -> tuple[Place, ...]:
    named = [*names, *ctx.meta.get("archives", ())]
    if not named:
        raise click.MissingParameter(ctx=ctx, param=param)
    return _archives_of(named)


def _searched_if_any(
    ctx: click.Context, param: click.Parameter, names: tuple[Place, ...]
) -> tuple[Place, ...]:
    named = [*names, *ctx.meta.get("archives", ())]
    return _archives_of(named) if named else ()


def _archives_of(named: Sequence[Place]) -> tuple[Place, ...]:
    given = find_archives(named)
    if given.left_out:
        click.echo(
            f"{len(given.left_out)} files in folders left out, as they have no archive's name: "
            + ", ".join(map(printable, given.left_out[:EXAMPLES]))
            + (", …" if len(given.left_out) > EXAMPLES else ""),
            err=True,
        )
    return tuple(given.archives)


_archives_from = click.option(
    "--archives-from",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_listed,
    help="A file of more archives, a path or URL a line; - for standard input.",
)

archives_argument = together(
    click.argument("archives", nargs=-1, type=ARCHIVE, callback=_searched), _archives_from
)

run_archives_argument = together(
    click.argument("archives", nargs=-1, type=ARCHIVE, callback=_searched_if_any), _archives_from
)
