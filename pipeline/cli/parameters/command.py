"""What all commands are: their help is in groups, and a configuration file may give options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.cli.parameters.configuration import (
    NAME,
    VARIABLE,
    Configured,
    configure,
    is_path,
    key_of,
)
from pipeline.cli.parameters.help_groups import GroupedCommand
from pipeline.cli.parameters.types import LocalPath, require_word
from pipeline.data.output.standard_output import STDOUT
from pipeline.terminal import printable
from pipeline.workfolder.work_folder import refuse_own_file

CONFIGURED = "crawlrank.configured"  # where the context keeps what a file has given
#: options and arguments that name work folders, and options that name what a command writes
WORKS = frozenset({"--work", "--against", "work", "work_a", "work_b"})
OUTPUTS = frozenset({"--output", "--out", "--plot", "--json", "--log"})
HELP = ("-h", "--help")  # options of the group and of all commands
CONFIG_OPTION = click.option(
    "--config",
    type=LocalPath(),
    metavar="FILE",
    expose_value=False,
    help=f"File with more options (default: {NAME} in the current folder, or the file that"
    f" {VARIABLE} names).",
)


class ConfiguredCommand(GroupedCommand):
    """A command that takes options from a file, and says which, unless it is quiet."""

    def __init__(self, name: str, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        holder = CONFIG_OPTION(click.Command("holder", callback=lambda: None))
        self.params += holder.params

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Also in a context without the group: click keeps the option that it made for the first
        context."""
        ctx.help_option_names = list(HELP)
        return super().get_help_option_names(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            if not ctx.resilient_parsing and not {*ctx.help_option_names} & {*args}:
                ctx.meta[CONFIGURED] = configure(self, ctx, args)
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise self._with_argument(ctx, error) from error

    def _with_argument(self, ctx: click.Context, error: click.NoSuchOption) -> click.UsageError:
        """Most commands have --work; the error of one that has arguments instead names them."""
        arguments = [param for param in self.params if isinstance(param, click.Argument)]
        folders = [each for each in arguments if str(each.name).startswith("work")]
        if error.option_name != "--work" or not folders:
            return error
        words = " ".join(str(each.name).upper() for each in folders)
        which = "folder" if len(folders) == 1 else "folders"
        cure = f"Give the {which} without it: {ctx.command_path} {words}"
        return click.UsageError(f"No such option: --work. {cure}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        configured: Configured | None = ctx.meta.get(CONFIGURED)
        if configured and not ctx.params.get("quiet"):
            names = ", ".join(configured.values)
            click.echo(printable(f"Options from {configured.path}: {names}"), err=True)
        _refuse_empty(self, ctx)
        _refuse_own_files(self, ctx)
        return super().invoke(ctx)


def _refuse_empty(command: click.Command, ctx: click.Context) -> None:
    """Refuse paths that are texts to click, and arguments, without a word. Raises BadParameter."""
    for param in command.params:
        if isinstance(param, click.Argument) or is_path(key_of(param), param):
            for value in _listed(ctx.params.get(str(param.name))):
                require_word(value, param, ctx)


def _refuse_own_files(command: click.Command, ctx: click.Context) -> None:
    """Refuse outputs that would replace what a run has written. Raises BadInput."""
    works, outputs = list[Path](), list[Path]()
    for param in command.params:
        values = ctx.params.get(str(param.name))
        paths = [each for each in _listed(values) if isinstance(each, Path) and each != STDOUT]
        works += paths if not WORKS.isdisjoint([*param.opts, param.name]) else ()
        outputs += paths if not OUTPUTS.isdisjoint(param.opts) else ()
    for output in outputs:
        refuse_own_file(output, works)


def _listed(values: Any) -> Sequence[Any]:
    return values if isinstance(values, tuple) else (values,)
