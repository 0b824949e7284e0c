"""Options that several commands share, and the objects made of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from jobs.kernel.captures.choosing import Rules
from jobs.kernel.captures.extraction import DEFAULTS, Options
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.machine.cores import A_CORE, at_a_time
from jobs.kernel.storage.endless import require_file
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.launcher import CLUSTERS, RUNNERS, BytesProgress, Launcher, out_of_reach
from pipeline.cli.parameter_types import Archive, LocalPath, Number, Size
from pipeline.contract import EMBEDDED, TOLERANCE, TOLERANCE_OF_JOBS, Stop
from pipeline.ranking.classes import MAX_BINS
from pipeline.terminal import printable
from pipeline.workfolder.finding import find_archives, read_list

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

OUTPUT = LocalPath(path_type=Path)
ARCHIVE = Archive(path_type=Path)
EXAMPLES = 3
EXTRACTION = tuple(name for name in Options._fields if name != "bodies")


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """One decorator of several, shown in the order given."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def output_option(*names: str, help: str) -> Callable[[Any], Any]:
    """An output: one file when its name has an extension, else a folder of parts."""
    return click.option(*(names or ("--output",)), type=OUTPUT, required=True, help=help)


def _is_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path:
        require_file(path)
    return path


def _listed(ctx: click.Context, param: click.Parameter, lists: tuple[str, ...]) -> None:
    ctx.meta["archives"] = [name for where in lists for name in read_list(where)]


def _found(
    ctx: click.Context, param: click.Parameter, names: tuple[Place, ...]
) -> tuple[Place, ...]:
    named = [*names, *ctx.meta.get("archives", ())]
    if not named:
        raise click.MissingParameter(ctx=ctx, param=param)
    return _searched(named)


def _found_if_any(
    ctx: click.Context, param: click.Parameter, names: tuple[Place, ...]
) -> tuple[Place, ...]:
    named = [*names, *ctx.meta.get("archives", ())]
    return _searched(named) if named else ()


def _searched(named: Sequence[Place]) -> tuple[Place, ...]:
    found = find_archives(named)
    if found.left_out:
        click.echo(
            f"{len(found.left_out)} files in folders left out, as they have no archive's name: "
            + ", ".join(map(printable, found.left_out[:EXAMPLES]))
            + (", …" if len(found.left_out) > EXAMPLES else ""),
            err=True,
        )
    return tuple(found.archives)


_archives_from = click.option(
    "--archives-from",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_listed,
    help="A file of more archives, a path or URL a line; - for standard input.",
)

archives_argument = together(
    click.argument("archives", nargs=-1, type=ARCHIVE, callback=_found), _archives_from
)

run_archives_argument = together(
    click.argument("archives", nargs=-1, type=ARCHIVE, callback=_found_if_any), _archives_from
)

work_option = click.option(
    "--work", type=OUTPUT, required=True, help="Work folder, where everything is kept."
)


def _lowered(ctx: click.Context, param: click.Parameter, asked: int | None) -> int:
    most = at_a_time(asked)
    if asked is not None and most < asked:
        click.echo(f"--jobs {asked}: lowered to {most}, {A_CORE} for each core", err=True)
    return most


jobs_option = click.option(
    "--jobs",
    "processes",
    type=click.IntRange(1),
    callback=_lowered,
    help=f"Processes at a time (default: the machine's cores; at most {A_CORE} for each).",
)

runner_options = together(
    click.option(
        "--runner",
        type=click.Choice(RUNNERS),
        default="local",
        show_default=True,
        help="Where the jobs run: processes of this machine, or this process.",
    ),
    jobs_option,
)

memory_option = click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    help="What the embedded runner's processes may take together, such as 4GB (default: half"
    " of the machine's).",
)

run_options = together(
    click.option(
        "--runner",
        type=click.Choice([EMBEDDED, *RUNNERS, *CLUSTERS]),
        default=EMBEDDED,
        show_default=True,
        help="embedded: this process and a pool, the fastest on one machine; local and inline run"
        " the jobs of a cluster, as processes of this machine or in this process; hadoop, emr and"
        " spark run them there.",
    ),
    click.option(
        "--data",
        metavar="URL",
        help="Where the datasets of a cluster lie: a folder of its own, hdfs://, s3:// or file:///.",
    ),
    click.option(
        "--cluster-conf",
        "conf",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        callback=_is_file,
        help="How tasks are run on the cluster, as `crawlrank package` writes an example of"
        " (default: the runner's own search, see docs).",
    ),
    click.option(
        "--reducers",
        type=click.IntRange(1, 4096),
        default=8,
        show_default=True,
        help="Reduce tasks of a job on a cluster.",
    ),
    jobs_option,
    memory_option,
)

_DATA = re.compile(r"(hdfs://[\w.:-]*|s3:/|file://)/[\w./=+@-]+\Z", re.ASCII)


def data_url(runner: str, data: str | None) -> str | None:
    """Where the datasets of a run lie that are not in its work folder. Raises UsageError."""
    if data is None:
        if runner in CLUSTERS:
            raise click.UsageError(f"--runner {runner} needs --data URL, where its datasets lie.")
        return None
    if runner == EMBEDDED:
        raise click.UsageError("--data is for the other runners; embedded works in --work.")
    if not _DATA.match(data) or ".." in data.split("/"):
        raise click.UsageError(
            f"--data {printable(data)}: a folder is needed, such as hdfs:///user/me/crawl or"
            " s3://bucket/crawl, of letters, digits and . _ - = + @ only."
        )
    if why := out_of_reach(runner, data):
        raise click.UsageError(f"--data {printable(data)}: {why}")
    return data.rstrip("/")


max_record_option = click.option(
    "--max-record",
    type=click.IntRange(1024),
    default=DEFAULTS.max_record,
    show_default=True,
    help="Largest record body that is read, in bytes, inflated; larger ones are counted.",
)

_extraction_options = together(
    click.option(
        "--outlinks",
        type=click.Choice(["auto", "html", "metadata", "both"]),
        default="auto",
        show_default=True,
        help="Links from the HTML, from Heritrix's metadata records, or auto: from the HTML"
        " where there is a body, from the metadata where there is none.",
    ),
    click.option(
        "--links",
        type=click.Choice(["nav", "all"]),
        default="nav",
        show_default=True,
        help="nav: what a reader follows (hops L, R and frames); all: also embeds and guesses.",
    ),
    click.option(
        "--nofollow",
        type=click.Choice(["keep", "drop"]),
        default="keep",
        show_default=True,
        help="Links that their page asks not to follow (rel, robots meta, X-Robots-Tag).",
    ),
    click.option(
        "--forms",
        is_flag=True,
        help="With --links all, also the addresses of search forms and the like (hop X).",
    ),
    click.option(
        "--pdf",
        is_flag=True,
        help="Also the links of PDFs; needs the extra crawlrank[pdf].",
    ),
    max_record_option,
    click.option(
        "--max-links-per-page",
        type=click.IntRange(1),
        default=DEFAULTS.max_links_per_page,
        show_default=True,
        help="Links of a page that are kept; a page with more is counted.",
    ),
)


def extraction_options(command: Command) -> Command:
    """All of them as one argument, `options`."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> Any:
        named = {name: given.pop(name) for name in EXTRACTION if name in given}
        return command(options=Options(**named), **given)

    return cast(Command, _extraction_options(wrapped))


check_archives_option = click.option(
    "--check-archives",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="How a changed archive is noticed. quick: by size, time of change and pieces; all is read"
    " where the time is another. full: all is read of every archive.",
)

keep_www_option = click.option(
    "--keep-www",
    is_flag=True,
    help="Take www.example.org and example.org for two hosts; surt takes them for one.",
)

fold_option = click.option(
    "--fold",
    "folds",
    type=click.Choice(["redirects", "canonical"]),
    multiple=True,
    help="Pages that become one: a redirect with its target, a page with the one that its `link"
    " rel=canonical` names; may be given twice.",
)
LATEST = (
    "union: all links of a page; latest: those of its latest capture of status 2xx, where it"
    " was captured several times."
)

nodes_option = click.option(
    "--nodes",
    type=click.Choice(["linked", "all"]),
    default="linked",
    show_default=True,
    help="Pages that get a rank: those with an incoming link, or all captured or linked ones.",
)

stop_options = together(
    click.option(
        "--iterations",
        type=click.IntRange(1),
        help="Exactly this many rounds of the recipe.",
    ),
    click.option(
        "--tolerance",
        type=Number(1e-14, 1, max_open=True),
        help="Without --iterations: rounds until the scores are certainly this near, relative"
        f" (default: {TOLERANCE:g} on the embedded runner, {TOLERANCE_OF_JOBS:g} on others).",
    ),
    click.option(
        "--max-rounds",
        type=click.IntRange(1),
        default=Stop.max_rounds,
        show_default=True,
        help="Give up (exit 4) after so many rounds.",
    ),
)

ties_option = click.option(
    "--ties",
    type=click.Choice(["key", "links", "together"]),
    default="key",
    show_default=True,
    help="Pages of equal score: ordered by key; by the links to them, then captures, then key; or"
    " kept in one class.",
)

class_options = together(
    click.option(
        "--bins",
        type=click.IntRange(1, MAX_BINS),
        default=5,
        show_default=True,
        help="Classes, that is precedences in the file; 5: quintiles.",
    ),
    click.option(
        "--unlisted",
        type=click.IntRange(1, MAX_BINS + 1),
        help="Precedence of URIs that are not in the file (default: bins + 1).",
    ),
    click.option(
        "--classes-over",
        type=click.Choice(["captured", "all"]),
        default="captured",
        show_default=True,
        help="Pages of which each class gets an equal share.",
    ),
    ties_option,
    click.option(
        "--spellings",
        type=click.Choice(["all", "captured"]),
        default="all",
        show_default=True,
        help="Spellings of a page that are listed.",
    ),
)

digits_option = click.option(
    "--digits",
    type=click.IntRange(1, 17),
    help="Scores that agree to so many digits are equal; the key orders them (default: the"
    f" report's, else {DIGITS}).",
)
report_option = click.option(
    "--report", type=OUTPUT, help="What page-rank --report wrote: how far its scores are certain."
)


def make_rules(captures: str, folds: tuple[str, ...]) -> Rules:
    return Rules(captures == "latest", "redirects" in folds, "canonical" in folds)


def make_stop(
    iterations: int | None, tolerance: float | None, max_rounds: int, runner: str
) -> Stop:
    """When PageRank stops; only one of --iterations and --tolerance may be given."""
    if iterations is not None and tolerance is not None:
        raise click.UsageError("--iterations and --tolerance exclude each other")
    return Stop(iterations, tolerance, max_rounds).on(runner)


def make_launcher(
    runner: str, processes: int | None, on_read: BytesProgress | None = None
) -> Launcher:
    """A launcher for a single step, which brings its own temporary folder."""
    return Launcher(runner, Path(), processes, on_read=on_read)
