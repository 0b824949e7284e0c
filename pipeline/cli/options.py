"""Options that several commands share. A group of them gives its command one object of
pipeline/options.py, jobs/ or pipeline/contract.py, whose defaults are those of the options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import click

from jobs.kernel.captures.choosing import Rules
from jobs.kernel.captures.extraction_options import (
    DEFAULTS,
    ExtractionOptions,
    LinksKept,
    Nofollow,
    Outlinks,
)
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.machine.cores import A_CORE, at_a_time
from jobs.mapreduce.launcher import RUNNERS, Launcher
from pipeline.cli.groups import Command, Decorator, grouped
from pipeline.cli.parameter_types import LocalPath, Number, Size
from pipeline.contract import TOLERANCE, TOLERANCE_OF_JOBS, Stop
from pipeline.options import (
    MAX_BINS,
    NODES,
    ClassesOver,
    PrecedenceOptions,
    RunOptions,
    Spellings,
    Ties,
)

OUTPUT = LocalPath(path_type=Path)


def output_option(*names: str, help: str) -> Decorator:
    """An output: one file when its name has an extension, else a folder of parts."""
    return click.option(*(names or ("--output",)), type=OUTPUT, required=True, help=help)


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


def _launcher(runner: str, processes: int) -> Launcher:
    """For a single step, which brings its own temporary folder."""
    return Launcher(runner, Path(), processes)


launcher_options = grouped(
    "launcher",
    _launcher,
    click.option(
        "--runner",
        type=click.Choice(RUNNERS),
        default=RUNNERS[0],
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

max_record_option = click.option(
    "--max-record",
    type=click.IntRange(1024),
    default=DEFAULTS.max_record,
    show_default=True,
    help="Largest record body that is read, in bytes, inflated; larger ones are counted.",
)

EXTRACTION = (
    click.option(
        "--outlinks",
        type=click.Choice(get_args(Outlinks)),
        default=DEFAULTS.outlinks,
        show_default=True,
        help="Links from the HTML, from Heritrix's metadata records, or auto: from the HTML"
        " where there is a body, from the metadata where there is none.",
    ),
    click.option(
        "--links",
        type=click.Choice(get_args(LinksKept)),
        default=DEFAULTS.links,
        show_default=True,
        help="nav: what a reader follows (hops L, R and frames); all: also embeds and guesses.",
    ),
    click.option(
        "--nofollow",
        type=click.Choice(get_args(Nofollow)),
        default=DEFAULTS.nofollow,
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


def extraction_options(*more: Decorator) -> Callable[[Command], Command]:
    """The argument `extraction`. more: options of the command's own that belong to it."""
    return grouped("extraction", ExtractionOptions, *EXTRACTION, *more)


keep_www_option = click.option(
    "--keep-www",
    is_flag=True,
    help="Take www.example.org and example.org for two hosts; surt takes them for one.",
)


def _rules(take: str, folds: tuple[str, ...]) -> Rules:
    return Rules(take == "latest", "redirects" in folds, "canonical" in folds)


def rules_options(name: str) -> Callable[[Command], Command]:
    """The argument `rules`. name: of the option that says which captures count."""
    return grouped(
        "rules",
        _rules,
        click.option(
            name,
            "take",
            type=click.Choice(["union", "latest"]),
            default="union",
            show_default=True,
            help="union: all links of a page; latest: those of its latest capture of status 2xx,"
            " where it was captured several times.",
        ),
        click.option(
            "--fold",
            "folds",
            type=click.Choice(["redirects", "canonical"]),
            multiple=True,
            help="Pages that become one: a redirect with its target, a page with the one that its"
            " `link rel=canonical` names; may be given twice.",
        ),
    )


nodes_option = click.option(
    "--nodes",
    type=click.Choice(NODES),
    default=RunOptions.nodes,
    show_default=True,
    help="Pages that get a rank: those with an incoming link, or all captured or linked ones.",
)


def _stop(iterations: int | None, tolerance: float | None, max_rounds: int) -> Stop:
    if iterations is not None and tolerance is not None:
        raise click.UsageError("--iterations and --tolerance exclude each other")
    return Stop(iterations, tolerance, max_rounds)


stop_options = grouped(
    "stop",
    _stop,
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
    type=click.Choice(get_args(Ties)),
    default=PrecedenceOptions.ties,
    show_default=True,
    help="Pages of equal score: ordered by key; by the links to them, then captures, then key; or"
    " kept in one class.",
)

precedence_options = grouped(
    "precedence",
    PrecedenceOptions,
    click.option(
        "--bins",
        type=click.IntRange(1, MAX_BINS),
        default=PrecedenceOptions.bins,
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
        type=click.Choice(get_args(ClassesOver)),
        default=PrecedenceOptions.classes_over,
        show_default=True,
        help="Pages of which each class gets an equal share.",
    ),
    ties_option,
    click.option(
        "--spellings",
        type=click.Choice(get_args(Spellings)),
        default=PrecedenceOptions.spellings,
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
