"""The argument ARCHIVES: files, folders, globs, URLs, and lists of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from jobs.kernel.errors import count_of
from jobs.kernel.storage.opening import PathOrUrl
from pipeline.cli.parameters.groups import Command, together
from pipeline.cli.parameters.types import PathOrUrlType
from pipeline.terminal import printable
from pipeline.workfolder.finding import find_archives, read_list

EXAMPLES = 3


def _archives(*, required: bool) -> Callable[[Command], Command]:
    def read_lists(ctx: click.Context, param: click.Parameter, lists: tuple[str, ...]) -> None:
        ctx.meta["archives"] = [name for path_or_url in lists for name in read_list(path_or_url)]

    def find(
        ctx: click.Context, param: click.Parameter, names: tuple[PathOrUrl, ...]
    ) -> tuple[PathOrUrl, ...]:
        configured = (ctx.default_map or {}).get("archives", ())  # which old clicks pass over
        names = (*(names or configured), *ctx.meta.get("archives", ()))
        if required and not names:
            raise click.MissingParameter(ctx=ctx, param=param)
        return _find(names) if names else ()

    return together(
        click.argument("archives", nargs=-1, type=PathOrUrlType(path_type=Path), callback=find),
        click.option(
            "--archives-from",
            multiple=True,
            is_eager=True,
            expose_value=False,
            callback=read_lists,
            help="File with more archives, a path or URL on each line; - for standard input.",
        ),
    )


def _find(names: Sequence[PathOrUrl]) -> tuple[PathOrUrl, ...]:
    search = find_archives(names)
    if search.left_out:
        click.echo(
            f"{count_of(len(search.left_out), 'file')} in folders left out, without an archive's"
            " name: "
            + ", ".join(map(printable, search.left_out[:EXAMPLES]))
            + (", …" if len(search.left_out) > EXAMPLES else ""),
            err=True,
        )
    return tuple(search.archives)


archives_argument = _archives(required=True)
run_archives_argument = _archives(required=False)
