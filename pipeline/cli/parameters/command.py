"""What all commands are: their help is in groups, and a configuration file may give options.

What a command reads of work folders stays the same from its beginning to its end, or it says so. A
command that only reads takes no lock: it may look at a folder for hours, and a run should not
wait for it. A run replaces datasets by others under the same names. So a reader looks at the
manifest, which a run saves with each change, before and after.
"""

from __future__ import annotations

import contextlib
import errno
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.configuration import (
    NAME,
    VARIABLE,
    Configured,
    configure,
    is_path,
    key_of,
)
from crawlrank.pipeline.cli.parameters.groups import GroupedCommand
from crawlrank.pipeline.cli.parameters.types import LocalPath, require_utf_8, require_word
from crawlrank.pipeline.cli.parameters.words import spelled_out, work_option_of
from crawlrank.pipeline.data.datasets import STDOUT
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.lock import looked_at
from crawlrank.pipeline.workfolder.rankings import RANKINGS
from crawlrank.pipeline.workfolder.work_folder import MANIFEST, refuse_own_file

CONFIGURED = "crawlrank.configured"  # where the context keeps what a file has given
#: options and arguments that name work folders, and options that name what a command writes
WORKS = frozenset({"--work", "--against", "works"})
OUTPUTS = frozenset({"--output", "--plot", "--json", "--log"})
#: commands that take the lock of their work folder, and that show a run which is at work
WRITERS, SHOW_UNFINISHED = frozenset({"run", "rank", "import-text"}), {"status", "report"}
#: command and its option that was removed -> what takes its place
REMOVED_OPTIONS = {
    ("hosts", "--plot"): "crawlrank report shows the hosts as a page, --output as a table.",
}
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

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        options, *arguments = super().collect_usage_pieces(ctx)
        work = work_option_of(self)
        return [options, *([work.usage] if work else []), *arguments]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = spelled_out(self, args)
        try:
            if not ctx.resilient_parsing and not {*ctx.help_option_names} & {*args}:
                ctx.meta[CONFIGURED] = configure(self, ctx, args)
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if cure := REMOVED_OPTIONS.get((str(self.name), error.option_name)):
                text = f"{error.option_name} was removed. {cure}"
                raise click.UsageError(text, ctx) from error
            raise

    def invoke(self, ctx: click.Context) -> Any:
        configured: Configured | None = ctx.meta.get(CONFIGURED)
        if configured and not ctx.params.get("quiet"):
            names = ", ".join(configured.values)
            echo(printable(f"Options from {configured.path}: {names}"), err=True)
        _refuse_words(self, ctx)
        _refuse_loops(ctx)
        works, outputs = _paths(self, ctx)
        for output in outputs:
            refuse_own_file(output, works)
        if ctx.info_name in WRITERS:
            return super().invoke(ctx)
        with reading(works, unfinished=ctx.info_name in SHOW_UNFINISHED):
            return super().invoke(ctx)


def _refuse_words(command: click.Command, ctx: click.Context) -> None:
    """Refuse paths that are texts to click, and arguments, without a word; and texts, but for
    paths, that are no UTF-8, which no URI and no name is. Raises BadParameter."""
    for param in command.params:
        argument = isinstance(param, click.Argument)
        path = is_path(key_of(param), param) or (argument and param.name != "uri")
        for value in _listed(ctx.params.get(str(param.name))):
            if argument or path:
                require_word(value, param, ctx)
            if isinstance(value, str) and not path and not value.isprintable():
                require_utf_8(value, param, ctx)


def _refuse_loops(ctx: click.Context) -> None:
    """Refuse links that lead nowhere but to each other. Raises BadInput."""
    for value in ctx.params.values():
        for path in (each for each in _listed(value) if isinstance(each, Path)):
            try:
                path.stat()
            except OSError as error:
                if error.errno == errno.ELOOP:
                    what, cure = "a link that leads to itself", "Look at what it should lead to."
                    raise BadInput(str(path), what, "a file or folder", cure) from error
            except ValueError:
                continue  # a name that no file can have, of which others tell


def _paths(command: click.Command, ctx: click.Context) -> tuple[list[Path], list[Path]]:
    """The work folders of a command, and its outputs."""
    works, outputs = list[Path](), list[Path]()
    for param in command.params:
        values = ctx.params.get(str(param.name))
        paths = [each for each in _listed(values) if isinstance(each, Path) and each != STDOUT]
        works += paths if not WORKS.isdisjoint([*param.opts, param.name]) else ()
        outputs += paths if not OUTPUTS.isdisjoint(param.opts) else ()
    return works, outputs


def _listed(values: Any) -> Sequence[Any]:
    return values if isinstance(values, tuple) else (values,)


Stamp = tuple[int, int, int]  # of a manifest: its file, its time and its size


@contextlib.contextmanager
def reading(works: Sequence[Path], *, unfinished: bool = False) -> Iterator[None]:
    """Around a command that reads these work folders. unfinished: whether it also shows a run that
    is at work, of which the manifest changes. Raises BadInput for what has changed, and errors of
    the command with the name of another that is at work there."""
    before = {work: _stamps(work) for work in works}
    shown = unfinished and any(map(_at_work, works))
    try:
        yield
    except (BadInput, OSError) as error:
        for work in works:
            if words := _at_work(work):
                raise _with_worker(error, work, words) from error
            if _stamps(work) != before[work]:
                raise _changed(work) from error
        raise
    for work in () if shown else works:
        if _stamps(work) != before[work]:
            raise _changed(work)


def _stamps(work: Path) -> dict[Path, Stamp]:
    """The stamps of a work folder and the rankings in it."""
    stamps = dict[Path, Stamp]()
    for path in (work / MANIFEST, *(work / RANKINGS).glob(f"*/{MANIFEST}")):
        with contextlib.suppress(OSError):
            status = path.stat()
            stamps[path] = status.st_ino, status.st_mtime_ns, status.st_size
    return stamps


def _at_work(work: Path) -> str:
    """The command that is at work in a folder, with its process; '' if none is."""
    content, held = looked_at(work)
    if not held:
        return ""
    words = shlex.join(["crawlrank", *content.state.get("arguments", [])])
    return f"`{words}` (process {content.owner})"


def _with_worker(error: BadInput | OSError, work: Path, words: str) -> CrawlrankError:
    cure = f"{words} is at work in {work}: give this command again when that has ended."
    if isinstance(error, BadInput):
        return BadInput(error.where, error.found, error.expected, cure)
    what = f"has changed while it was read ({error})"
    return BadInput(str(work), what, "a work folder in which no command is at work", cure)


def _changed(work: Path) -> BadInput:
    what = "was changed by another command while this one read it"
    cure = "Give this command again; what it has written may be of two states."
    return BadInput(str(work), what, "the same from beginning to end", cure)
