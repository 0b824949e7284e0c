"""Options that several commands share. A group of options gives its command one object, whose
defaults are those of the options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from crawlrank.jobs.kernel.captures.choosing import CaptureRules, Gone
from crawlrank.jobs.kernel.captures.extraction_options import (
    DEFAULTS,
    ExtractionOptions,
    LinksKept,
    Nofollow,
    Outlinks,
)
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.keys.form_columns import Alias
from crawlrank.jobs.kernel.keys.keys import Www, www_rule
from crawlrank.jobs.kernel.machine.processes import A_CORE, at_a_time
from crawlrank.jobs.mapreduce.launcher import RUNNERS, Launcher
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.groups import (
    OF_RUN,
    Command,
    Decorator,
    field_option,
    grouped,
    on_command_line,
    option,
)
from crawlrank.pipeline.cli.parameters.types import (
    LocalPath,
    Number,
    ReplayPrefix,
    Size,
    SomeOf,
    Whole,
)
from crawlrank.pipeline.cli.parameters.words import WorkOption
from crawlrank.pipeline.data.memory import Memory, half_of_machine
from crawlrank.pipeline.options import NODES, RunOptions
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.methods import COMBINED, METHODS
from crawlrank.pipeline.ranking.options import (
    MAX_BINS,
    TOLERANCE,
    CutOptions,
    Stop,
    ValidationOptions,
)
from crawlrank.pipeline.workfolder.rankings import ranking_folder

OUTPUT = LocalPath(path_type=Path)


def output_option(*names: str, help: str) -> Decorator:
    """An output: one file if its name has an extension, else a folder of parts."""
    return option(*(names or ("--output",)), type=OUTPUT, required=True, help=help)


WORK_HELP = "Work folder, which holds all that a run writes."
run_work_option = option("--work", type=OUTPUT, required=True, help=WORK_HELP)
work_option = option("--work", cls=WorkOption, type=OUTPUT, required=True, help=WORK_HELP)
ranking_option = option(
    "--ranking",
    metavar="LABEL",
    help="A ranking of `crawlrank rank`, by its --name (default: that of the run).",
)
replay_option = option(
    "--replay",
    metavar="PREFIX",
    type=ReplayPrefix(),
    help="Add links to captures in a replay, such as pywb or the Wayback Machine: PREFIX, 14"
    " digits, `/` and the URI.",
)
ranked_work_option = grouped("work", ranking_folder, work_option, ranking_option)
strict_option = field_option(RunOptions, "strict", "Damage inside an archive is an error (exit 3).")
skip_bad_files_option = field_option(
    RunOptions, "skip_bad_files", "Continue without archives that cannot be read."
)


def _lowered(ctx: click.Context, param: click.Parameter, processes: int | None) -> int | None:
    if processes is not None and (most := at_a_time(processes)) < processes:
        echo(f"--jobs {processes}: lowered to {most}, {A_CORE} for each core", err=True)
        return most
    return processes


jobs_option = option(
    "--jobs",
    "processes",
    type=Whole(1),
    callback=_lowered,
    help="Number of processes (default: one for each core, fewer for little data;"
    f" at most {A_CORE} for each core).",
)


def _launcher(runner: str, processes: int | None) -> Launcher:
    """The launcher of a single step, which brings its own temporary folder."""
    return Launcher(runner, Path(), processes)


launcher_options = grouped(
    "launcher",
    _launcher,
    option(
        "--runner",
        type=click.Choice(RUNNERS),
        default=RUNNERS[0],
        help="local: the jobs run in processes of this machine; inline: in this process.",
    ),
    jobs_option,
)


def _or_half(ctx: click.Context, param: click.Parameter, memory: Memory | None) -> Memory:
    return memory or half_of_machine()


def _memory_option(**attributes: Any) -> Decorator:
    return option(
        "--memory",
        type=Size(),
        metavar="SIZE",
        help="Memory that the command may use, such as 4GB (default: half of the machine's).",
        **attributes,
    )


run_memory_option = _memory_option()
memory_option = _memory_option(callback=_or_half)


def _www(keep_www: bool, surt_exact: bool) -> Www:
    if keep_www and surt_exact:
        raise click.UsageError("--keep-www and --surt-exact say two things of `www.`: give one.")
    return www_rule({"--keep-www": keep_www, "--surt-exact": surt_exact})


www_options = grouped(
    "www",
    _www,
    option(
        "--keep-www",
        is_flag=True,
        help="Treat www.example.org and example.org as two hosts; surt treats them as one.",
    ),
    option(
        "--surt-exact",
        is_flag=True,
        help="Make keys exactly as surt does, which has one for www1.com and www2.com.",
    ),
)


def _rules(take: str, folds: tuple[str, ...], gone: Gone) -> CaptureRules:
    if take != "latest" and "redirects" not in folds and on_command_line("gone"):
        raise click.UsageError(
            "--gone goes with the latest captures or with --fold redirects; without them no page is"
            " gone."
        )
    return CaptureRules(take == "latest", "redirects" in folds, "canonical" in folds, gone)


def rules_options(name: str) -> Callable[[Command], Command]:
    """The argument `rules`. name: the option that says which captures count."""
    return grouped(
        "rules",
        _rules,
        option(
            name,
            "take",
            type=click.Choice(["union", "latest"]),
            default="union",
            help="Links of a page with several captures. union: all; latest: those of its latest"
            " capture of status 2xx.",
        ),
        option(
            "--fold",
            "folds",
            type=click.Choice(["redirects", "canonical"]),
            multiple=True,
            help="Pages that become one. redirects: a redirect and its target; canonical: a page"
            " and the target of its `link rel=canonical`. May be given twice.",
        ),
        option(
            "--gone",
            type=click.Choice(get_args(Gone)),
            default="last",
            help="Where the latest capture counts, pages whose latest is 404 or 410; with --fold"
            " redirects alone, redirects in a circle. last: their links do not count, and they get"
            " the last class; drop: they are not listed either; keep: they are pages as others.",
        ),
    )


nodes_option = field_option(
    RunOptions,
    "nodes",
    "Pages that get a rank. linked: those with an incoming link; all: captured ones too.",
    click.Choice(NODES),
)
_METHODS = [name for name in METHODS if name != COMBINED]
method_option = option(
    "--method",
    type=click.Choice(_METHODS),
    default=RunOptions.method,
    metavar="METHOD",
    help=f"How pages are ranked: {', '.join(_METHODS)}; see docs/rankings.md.",
)


def _stop(iterations: int | None, tolerance: float | None, max_rounds: int) -> Stop:
    if iterations is not None and tolerance is not None:
        raise click.UsageError("--iterations and --tolerance exclude each other")
    if iterations is not None and on_command_line("max_rounds"):
        raise click.UsageError(
            f"--max-rounds bounds the rounds to a --tolerance; --iterations {iterations} does"
            " exactly this number."
        )
    return Stop(iterations, TOLERANCE if tolerance is None else tolerance, max_rounds)


stop_options = grouped(
    "stop",
    _stop,
    option("--iterations", type=Whole(1), help="Do exactly this many rounds."),
    option(
        "--tolerance",
        type=Number(1e-14, 1, max_open=True),
        help="Without --iterations: do rounds until the relative error of the scores is certainly"
        f" below this (default: {TOLERANCE:g}).",
    ),
    field_option(Stop, "max_rounds", "Give up after this many rounds (exit 4).", Whole(1)),
)


def _ties_option(*, of_run: bool = False) -> Decorator:
    return field_option(
        CutOptions(),
        "ties",
        "Order of pages with equal scores. key: by key; links: by the links to them, then"
        " captures, then key; together: by key, but all in one class.",
        of_run=of_run,
    )


def _precedence_options(*, of_run: bool) -> list[Decorator]:
    """of_run: the command reads a run, whose options count where none is given."""
    return [
        field_option(
            CutOptions(),
            "bins",
            "Number of classes, which are the precedences in the file; 5: quintiles.",
            click.IntRange(1, MAX_BINS),
            of_run=of_run,
        ),
        option(
            "--unlisted",
            type=click.IntRange(1, MAX_BINS + 1),
            help="Precedence of URIs that are not in the file"
            f" {OF_RUN if of_run else '(default: bins + 1).'}",
        ),
        field_option(
            CutOptions(),
            "classes_over",
            "Pages that are divided equally among the classes.",
            of_run=of_run,
        ),
        _ties_option(of_run=of_run),
        field_option(
            PrecedenceOptions(),
            "spellings",
            "Spellings of a page that are listed: all, or those that were captured.",
            of_run=of_run,
        ),
        click.option(
            "--aliases",
            type=SomeOf(get_args(Alias)),
            default=None if of_run else (),
            metavar="KINDS",
            help="Also list each page with the other scheme (scheme), with or without www. (www),"
            f" or both: scheme,www. Two to four times the lines{f' {OF_RUN}' if of_run else '.'}",
        ),
    ]


ties_option = _ties_option()
precedence_options = grouped("precedence", PrecedenceOptions, *_precedence_options(of_run=False))
precedence_options_of_run = grouped("precedence", dict, *_precedence_options(of_run=True))

digits_option = option(
    "--digits",
    type=click.IntRange(1, 17),
    help="Scores that agree to this many significant digits are equal (default: from --report, else"
    f" {DIGITS}).",
)
report_option = option(
    "--report", type=OUTPUT, help="Report of page-rank --report, which bounds the error of scores."
)
min_agreement_option = field_option(
    ValidationOptions,
    "min_agreement",
    "Exit 4 if OPIC gives a smaller share of pages the same class, among the pages whose score"
    " decides their class.",
    Number(0, 1),
)


max_record_option = field_option(
    DEFAULTS,
    "max_record",
    "Largest record body that is read, in bytes after decompression; larger ones are counted.",
    Whole(1024),
)

EXTRACTION = (
    field_option(
        DEFAULTS,
        "outlinks",
        "Where links come from. html: the HTML; metadata: Heritrix's metadata records; both:"
        " both; auto: the HTML of pages with a body, the metadata of others.",
        click.Choice(get_args(Outlinks)),
    ),
    field_option(
        DEFAULTS,
        "links",
        "nav: links that readers follow (hops L, R and frame/@src); all: also embeds and guesses.",
        click.Choice(get_args(LinksKept)),
    ),
    field_option(
        DEFAULTS,
        "nofollow",
        "What to do with links that their page asks not to follow (rel, robots meta,"
        " X-Robots-Tag).",
        click.Choice(get_args(Nofollow)),
    ),
    field_option(
        DEFAULTS,
        "forms",
        "With --links all: also the targets of search forms and the like (hop X).",
    ),
    field_option(DEFAULTS, "pdf", "Also read the links of PDFs; needs the extra `pdf`."),
    max_record_option,
    field_option(
        DEFAULTS,
        "max_links_per_page",
        "Links of a page that are kept, at most; pages with more are counted.",
        Whole(1),
    ),
)


validators_option = field_option(
    DEFAULTS, "validators", "Keep Last-Modified and ETag of responses, for `plan`."
)
titles_option = field_option(
    DEFAULTS, "titles", "Keep the titles of HTML pages, for lists, `explain` and the report."
)


anchor_text_option = field_option(
    DEFAULTS, "anchor_text", "Keep the words of links, for `explain` and the report."
)
words_around_option = field_option(
    DEFAULTS, "words_around", "With --anchor-text: keep also the words around links."
)


def _extraction(**values: Any) -> ExtractionOptions:
    """Raises UsageError for --forms where the links of forms are not kept, and for --words-around
    where the words of links are not."""
    options = ExtractionOptions(**values)
    if options.links != "all" and options.forms and on_command_line("forms"):
        raise click.UsageError(
            f"--forms goes with --links all; --links {options.links} leaves out forms."
        )
    if options.words_around and not options.anchor_text:
        raise click.UsageError("--words-around goes with --anchor-text.")
    return options


def extraction_options(*more: Decorator) -> Callable[[Command], Command]:
    """The argument `extraction`. more: options that only this command has."""
    return grouped("extraction", _extraction, *EXTRACTION, *more)
