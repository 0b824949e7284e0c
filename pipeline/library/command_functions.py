"""Commands as functions, in the process of their caller.

An option `--nodes all` is `nodes="all"`, a flag is True or False, and an option that may be given
several times takes a list. Defaults are those of the commands. Paths may be str or pathlib.Path.
`jobs` is a number of processes, `memory` a size such as "4GB" or a number of bytes. Every function
raises BadInput for input that cannot be used, and WrongUsage for options that exclude each other.
"""

from __future__ import annotations

import inspect as signatures
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.captures.choosing import CaptureRules, Gone
from crawlrank.jobs.kernel.captures.extraction_options import (
    DEFAULTS,
    LinksKept,
    Nofollow,
    Outlinks,
)
from crawlrank.pipeline.library.calling import OnProgress, StrPath, WrongUsage, call, document
from crawlrank.pipeline.options import HostSort, PlanOptions, RunOptions
from crawlrank.pipeline.precedence.graph_formats import NodesBy
from crawlrank.pipeline.precedence.options import PrecedenceOptions, Spellings
from crawlrank.pipeline.ranking.inputs import (
    LOG2M,
    PERTURB,
    SITE_BY,
    SITE_WEIGHT,
    CombineBy,
    SiteBy,
    SiteWeight,
)
from crawlrank.pipeline.ranking.options import ClassesOver, Stop, Ties, ValidationOptions

RULES = CaptureRules()
Archives = StrPath | Iterable[StrPath]
Strings = str | Iterable[str]


def run(
    archives: Archives,
    work: StrPath,
    *,
    progress: OnProgress | None = None,
    archives_from: Archives = (),
    prefix: str | None = None,
    allow_private: bool = False,
    allow_http: bool = False,
    web_time: int | None = None,
    web_bytes: str | int | None = None,
    outlinks: Outlinks = DEFAULTS.outlinks,
    links: LinksKept = DEFAULTS.links,
    nofollow: Nofollow = DEFAULTS.nofollow,
    forms: bool = DEFAULTS.forms,
    pdf: bool = DEFAULTS.pdf,
    max_record: int = DEFAULTS.max_record,
    max_links_per_page: int = DEFAULTS.max_links_per_page,
    validators: bool = DEFAULTS.validators,
    titles: bool = DEFAULTS.titles,
    anchor_text: bool = DEFAULTS.anchor_text,
    words_around: bool = DEFAULTS.words_around,
    captures: str = "union",
    fold: Strings = (),
    gone: Gone = RULES.gone,
    keep_www: bool = False,
    surt_exact: bool = False,
    nodes: str = RunOptions.nodes,
    method: str = RunOptions.method,
    teleport: StrPath | None = None,
    seeds: StrPath | None = None,
    from_seeds_file: StrPath | None = None,
    words: StrPath | None = None,
    relevance: StrPath | None = None,
    perturb: float = PERTURB.default,
    log2m: int | None = LOG2M.default,
    link_weight: Mapping[str, float] | str | None = None,
    site_by: SiteBy = SITE_BY.default,
    site_weight: SiteWeight = SITE_WEIGHT.default,
    iterations: int | None = Stop.iterations,
    tolerance: float = Stop.tolerance,
    max_rounds: int = Stop.max_rounds,
    bins: int = PrecedenceOptions.bins,
    unlisted: int | None = PrecedenceOptions.unlisted,
    classes_over: ClassesOver = PrecedenceOptions.classes_over,
    ties: Ties = PrecedenceOptions.ties,
    spellings: Spellings = PrecedenceOptions.spellings,
    aliases: Strings = PrecedenceOptions.aliases,
    validate: bool = RunOptions.validate,
    min_agreement: float = ValidationOptions.min_agreement,
    strict: bool = RunOptions.strict,
    skip_bad_files: bool = RunOptions.skip_bad_files,
    force: bool = RunOptions.force,
    check_archives: str = RunOptions.check_archives,
    runner: str = RunOptions.runner,
    data: str | None = RunOptions.data,
    cluster_conf: StrPath | None = RunOptions.conf,
    reducers: int | None = RunOptions.reducers,
    jobs: int | None = RunOptions.processes,
    memory: str | int | None = None,
    log: StrPath | None = None,
    config: StrPath | None = None,
) -> None:
    """Do all steps, from archives to a precedence file, as `crawlrank run` does.

    archives: files, folders, globs or URLs; () for a work folder of `crawlrank import-text`. work:
    the folder that holds all results; a run continues where one before it stopped. progress:
    called with each ProgressEvent, in the thread of the call; an exception that it raises ends the
    run. log: a file for JSON lines. config: a file of further options. All other options are those
    of the command, in docs/commands.md.

    Raises NotConverged if the rounds were not enough or the validation fails; all results are in
    the folder then. Raises JobFailed if a job of a cluster failed. A KeyboardInterrupt leaves the
    folder as it is, to be continued.
    """
    call("run", several(archives), _given(run, locals()), progress)


def estimate(
    archives: Archives,
    work: StrPath | None = None,
    *,
    progress: OnProgress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What `run` would take with these options: seconds, bytes of memory and disk, rows, each with
    bounds, and node-hours on clusters. A sample of the archives is run in a temporary folder.

    work: folder of the run; only the free space there is read. options: those of `run`. Raises
    TypeError for others.
    """
    signatures.signature(run).bind(archives, work, **options)
    with tempfile.TemporaryDirectory(prefix="crawlrank-") as folder:
        given = {**options, "dry_run": True, "work": work or Path(folder, "work")}
        return document("run", several(archives), given, progress)


def rank(
    work: StrPath,
    *,
    progress: OnProgress | None = None,
    method: str = RunOptions.method,
    name: str | None = None,
    combine: Mapping[str, float] | str | None = None,
    combine_by: CombineBy = "position",
    teleport: StrPath | None = None,
    seeds: StrPath | None = None,
    from_seeds_file: StrPath | None = None,
    words: StrPath | None = None,
    relevance: StrPath | None = None,
    perturb: float = PERTURB.default,
    log2m: int | None = LOG2M.default,
    link_weight: Mapping[str, float] | str | None = None,
    site_by: SiteBy = SITE_BY.default,
    site_weight: SiteWeight = SITE_WEIGHT.default,
    iterations: int | None = Stop.iterations,
    tolerance: float = Stop.tolerance,
    max_rounds: int = Stop.max_rounds,
    bins: int = PrecedenceOptions.bins,
    unlisted: int | None = PrecedenceOptions.unlisted,
    classes_over: ClassesOver = PrecedenceOptions.classes_over,
    ties: Ties = PrecedenceOptions.ties,
    spellings: Spellings = PrecedenceOptions.spellings,
    aliases: Strings = PrecedenceOptions.aliases,
    min_agreement: float = ValidationOptions.min_agreement,
    force: bool = RunOptions.force,
    jobs: int | None = RunOptions.processes,
    memory: str | int | None = None,
    log: StrPath | None = None,
    config: StrPath | None = None,
) -> None:
    """Rank the pages of a work folder by another method, beside its own ranking.

    The ranking is in rankings/NAME of the folder; `open(work, ranking=NAME)` reads it. name: by
    default the method's. combine: labels of rankings and their weights, to combine instead. For
    the other options, and for errors, see `run`.
    """
    call("rank", (), _given(rank, locals()), progress)


def diff(
    older: StrPath,
    newer: StrPath,
    *,
    ranking: str | None = None,
    top: int = 10,
    links: int = 3,
    memory: str | int | None = None,
) -> dict[str, Any]:
    """What changed from one run to another: pages, classes, order, and why pages moved.

    older, newer: work folders of finished runs. top: pages of each kind. links: of each page.
    """
    return document("diff", (older, newer), _given(diff, locals()))


def agree(
    work: StrPath,
    *,
    ranking: Strings = (),
    ratings: StrPath | None = None,
    top: int = 10,
    memory: str | int | None = None,
) -> dict[str, Any]:
    """How far the rankings of a work folder agree, in pairs, or with ratings by people.

    ranking: labels (default: all rankings). ratings: CSV with the columns page, rater and rating.
    """
    return document("diff", (work,), _given(agree, locals()))


def inspect(
    archives: Archives,
    *,
    progress: OnProgress | None = None,
    archives_from: Archives = (),
    prefix: str | None = None,
    allow_private: bool = False,
    allow_http: bool = False,
    no_links: bool = False,
    outlinks: Outlinks = DEFAULTS.outlinks,
    links: LinksKept = DEFAULTS.links,
    nofollow: Nofollow = DEFAULTS.nofollow,
    forms: bool = DEFAULTS.forms,
    pdf: bool = DEFAULTS.pdf,
    max_record: int = DEFAULTS.max_record,
    max_links_per_page: int = DEFAULTS.max_links_per_page,
    strict: bool = RunOptions.strict,
    jobs: int | None = RunOptions.processes,
) -> dict[str, Any]:
    """What is in archives: records, captures, links and damage. no_links: read headers only."""
    return document("inspect", several(archives), _given(inspect, locals()), progress)


def report(
    work: StrPath,
    output: StrPath | None = None,
    *,
    progress: OnProgress | None = None,
    ranking: Strings = (),
    against: StrPath | None = None,
    crawl_log: Strings = (),
    top: int = 1000,
    replay: str | None = None,
    memory: str | int | None = None,
) -> dict[str, Any]:
    """The numbers of a run and its ranking. output: a file for the page that shows them.

    ranking: labels of the rankings to show (default: all). against: work folder of an older crawl.
    crawl_log: of Heritrix, which say why pages were not captured. top: pages to list. replay:
    the prefix of links to captures, such as https://archive.example/wayback/.
    """
    return document("report", (), _given(report, locals()), progress)


def hosts(
    work: StrPath,
    *,
    ranking: str | None = None,
    by: SiteBy = "host",
    sort: HostSort = "score",
    top: int | None = None,
) -> dict[str, Any]:
    """The hosts of a finished run, or by="domain" their registrable domains: pages, captures,
    scores, classes and links of each. sort: the column whose highest is first."""
    return document("hosts", (), _given(hosts, locals()))


def plan(
    work: Archives,
    budget: str,
    output: StrPath,
    *,
    ranking: str | None = None,
    horizon: str = "90d",
    due: str = "1d",
    objective: str = PlanOptions.objective,
    shortest_interval: str = "1h",
    from_: str | None = None,
    format: Strings = ("csv",),
    memory: str | int | None = None,
) -> dict[str, Any]:
    """How often to fetch each page.

    work: folders of the crawls, the oldest first. budget: such as "5000/day". output: a folder for
    the schedule and the precedence file of what is due. from_: when the plan begins (default: now).
    """
    return document("plan", (), _given(plan, locals()) | {"work": several(work)})


def export(
    work: StrPath,
    output: StrPath,
    *,
    ranking: str | None = None,
    format: str | None = None,
    by: NodesBy = "page",
    captured: bool = False,
    not_captured: bool = False,
    min_links: int | None = None,
    linked_from: Strings = (),
    around: Strings = (),
    new_since: StrPath | None = None,
    status: Strings = (),
    type: Strings = (),
    host: Strings = (),
    match: str | None = None,
    top: int | None = None,
    bins: int | None = None,
    unlisted: int | None = None,
    classes_over: ClassesOver | None = None,
    ties: Ties | None = None,
    spellings: Spellings | None = None,
    aliases: Strings | None = None,
    replay: str | None = None,
    digits: int | None = None,
) -> None:
    """Write the precedence file of a finished run, or with `format` a list for another crawler, the
    table of a ranking of sites, the graph of the pages, or, into a folder, text files. The ending
    of output may say the format.

    From captured to top: filters, which take a part of the pages and never change the class of one.
    replay: the prefix of links to captures, for csv, jsonl and parquet.
    """
    call("export", (), _given(export, locals()))


#: parameters that are arguments of the command, or none of it
_NO_OPTIONS = {"archives", "progress", "older", "newer"}
_ARGUMENTS = {"agree": {"work"}}


def _given(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from their defaults: the command takes some only without others."""
    parameters = signatures.signature(function).parameters
    without = _NO_OPTIONS | _ARGUMENTS.get(function.__name__, set())
    return {
        name: value
        for name, value in values.items()
        if name not in without and value != parameters[name].default
    }


def several(given: Archives) -> list[str | Path]:
    """The paths and URLs, as the readers of archives take them. Raises WrongUsage for others."""
    every: list[Any] = [given]
    if isinstance(given, Iterable) and not isinstance(given, (str, os.PathLike)):
        every = [*given]
    for each in every:
        if not isinstance(each, (str, os.PathLike)):
            raise WrongUsage(f"{each!r} is no path and no URL of an archive")
    return [each if isinstance(each, str) else Path(each) for each in every]
