"""`export`: the pages of a ranking, for Heritrix, other crawlers and people; its sites; its files
as text."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource

from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.keys.keys import www_rule
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import (
    STDOUT,
    check_ending,
    check_files,
    ending_of,
    print_counts,
    require_ending,
)
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.groups import Decorator, option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    digits_option,
    precedence_options,
    precedence_options_of_run,
    ranking_option,
    replay_option,
    report_option,
    work_option,
)
from crawlrank.pipeline.cli.parameters.page_filters import filter_options, require_sources
from crawlrank.pipeline.cli.parameters.types import Number
from crawlrank.pipeline.precedence.bvgraph_files import files_of
from crawlrank.pipeline.precedence.caveats import link_counts
from crawlrank.pipeline.precedence.filters import Filter, PageFilters, conditions
from crawlrank.pipeline.precedence.graph_formats import (
    BINARY_GRAPHS,
    BVGRAPH,
    GRAPH_ENDINGS,
    GRAPH_FORMS,
    UNNAMED,
    NodesBy,
    nodes_beside,
)
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.page_table import RankedPages, Taken
from crawlrank.pipeline.precedence.score_formats import BINARY, FORMATS
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.ranking.inputs import SiteBy
from crawlrank.pipeline.run.parameters import read_rank_report
from crawlrank.pipeline.steps import BEANS
from crawlrank.pipeline.terminal import TextTable, printable, width_of
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.rankings import ranking_folder
from crawlrank.pipeline.workfolder.results.opened import ScoresAndUris, scores_of_work
from crawlrank.pipeline.workfolder.work_folder import refuse_own_file

ENDINGS = ("csv", "jsonl", "parquet")  # that name a format; others say nothing
#: endings of other formats, and what is near to them
LIKELY = {
    "json": "jsonl", "ndjson": "jsonl", "tsv": "csv", "yaml": "browsertrix", "yml": "browsertrix",
}  # fmt: skip


PAGES = ("heritrix", *FORMATS)  # what lists pages
FOLDERS = ("text",)  # what is a folder of files
_OF_ANY_FORM = ("work", "ranking", "output", "form")


def format_option(*forms: str) -> Decorator:
    text = (
        "heritrix: the file that Heritrix loads. Others have a line for each page, best first. csv,"
        " jsonl, parquet: URI, score, class, status and more; seeds: URIs; nutch: seeds for `nutch"
        " inject`; browsertrix: seeds and scope."
    )
    if "sites" in forms:
        text += (
            " sites: the table of a ranking of sites, .csv, .tsv or .parquet. cc-ranks: hosts or"
            " domains as Common Crawl ranks them. anchors: the words of links, as Archives"
            " Unleashed has them. graphml, gexf, mtx, edges, adjacency-parquet, bvgraph: the graph"
            " of the pages. text: the files of the recipe."
        )
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        metavar="FORMAT",
        show_default=f"that of the ending of --output, else {forms[0]}",
        help=text,
    )


def output_option(what: str) -> Decorator:
    text = f"{what}; `-`: standard output, which is the default but for a terminal."
    return click.option("--output", type=OUTPUT, default=None, help=text)


def _chosen(output: Path | None, form: str | None) -> tuple[Path, str]:
    """The output and the format that a user has named, or has not."""
    if output is None:
        if form in FOLDERS or sys.stdout.isatty():
            raise click.UsageError("--output is needed: name a file, a folder for --format text")
        output = STDOUT
    if form is None:
        ending = ending_of(output) if "." in output.name else ""
        if ending in LIKELY:
            cure = f"give --format {LIKELY[ending]}, or another one"
            raise click.UsageError(f"{output}: no format has the ending .{ending}; {cure}")
        form = ending if ending in ENDINGS else GRAPH_ENDINGS.get(ending, PAGES[0])
    return output, form


@command("export")
@work_option
@ranking_option
@output_option("File to write; with --format text a folder")
@format_option(*PAGES, "sites", "cc-ranks", "anchors", *GRAPH_FORMS, *FOLDERS)
@option(
    "--by",
    type=click.Choice(get_args(NodesBy)),
    default="page",
    help="What the nodes of a graph are: pages, or hosts or domains with their links.",
)
@filter_options
@precedence_options_of_run
@replay_option
@option(
    "--digits",
    type=click.IntRange(1, 17),
    help="Scores that agree to this many significant digits are equal (default: those that the run"
    " has proved).",
)
def export(
    work: Path,
    ranking: str | None,
    output: Path | None,
    form: str | None,
    by: NodesBy,
    filters: PageFilters,
    precedence: dict[str, Any],
    replay: str | None,
    digits: int | None,
) -> None:
    """Writes next to a precedence file its summary (.summary.json) and
    crawler-beans-fragment.xml, the beans with which Heritrix uses it. Other formats are one file.
    Filters such as --status take a part of the pages, and never change the class of one.
    """
    output, form = _chosen(output, form)
    folder = ranking_folder(work, ranking)
    if form not in (*PAGES, *GRAPH_FORMS):
        _refuse_others((), f"lists of pages, not with {form}")
        _write_other(form, work, ranking, output)
        return
    _check_usage(form, output)
    _require_forms(form, {"--by": by != "page", "--replay": bool(replay)})
    require_sources(filters, work=True, uris=False)
    check_files(output, *_beside(output, form), inputs=[])
    if form == "heritrix" and output != STDOUT:  # whose beans go beside it
        refuse_own_file(output.with_name(BEANS), [work])
    with temporary_folder() as tmp:
        source = scores_of_work(folder, tmp)
        ranked = RankedPages(source.scores, source.uris, folder)
        if by != "page":
            _write_hosts(ranked, output, form, by, filters, tmp)
            return
        cut = _cut(_of_run(folder, precedence, form), source, digits)
        _write(ranked, output, cut, form, filters, replay or "")


@command("step export-precedence")
@click.argument("scores")
@option("--uris", help="Spellings of each key; without them the URIs of the scores are listed.")
@output_option("File to write")
@format_option(*PAGES)
@filter_options
@precedence_options
@option("--eta", type=Number(0), help="Error bound of a score (default: from --report).")
@digits_option
@report_option
def export_precedence(
    scores: str,
    uris: str | None,
    output: Path | None,
    form: str | None,
    filters: PageFilters,
    precedence: PrecedenceOptions,
    eta: float | None,
    digits: int | None,
    report: Path | None,
) -> None:
    """SCORES are those of join-scores, and this command is `export` for them."""
    output, form = _chosen(output, form)
    _check_usage(form, output)
    require_sources(filters, work=False, uris=bool(uris))
    check_files(output, inputs=[scores, *([uris] if uris else [])])
    if form == "heritrix" and output != STDOUT:
        refuse_own_file(output.with_name(BEANS), [])
    proved, bounds = read_rank_report(report) if report else (DIGITS, None)
    if eta is not None:
        bounds = Bounds(eta, math.inf)
    source = ScoresAndUris(Path(scores), Path(uris) if uris else None, proved, bounds)
    ranked = RankedPages(source.scores, source.uris, None)
    _write(ranked, output, _cut(precedence, source, digits), form, filters)


def _require_forms(form: str, given: dict[str, bool]) -> None:
    """Refuse options that were given, and that the format does not have."""
    for name, is_given in given.items():
        forms = GRAPH_FORMS if name == "--by" else (*ENDINGS, *GRAPH_FORMS)
        if is_given and form not in forms:
            raise click.UsageError(f"{name} goes with {', '.join(forms)}, not with {form}")


def _beside(output: Path, form: str) -> list[Path]:
    """The files that are written beside the output of a graph."""
    if form not in UNNAMED or output == STDOUT:
        return []
    return [nodes_beside(output), *(files_of(output)[1:] if form == BVGRAPH else ())]


def _of_run(folder: Path, given: dict[str, Any], form: str) -> PrecedenceOptions:
    """The options of the run, but for those that are given."""
    options = PrecedenceOptions.of_run(require_manifest(folder).parameters)
    if form != "heritrix":  # lists of pages have no such lines
        options = PrecedenceOptions(options.bins, options.classes_over, options.ties)
    return replace(options, **{name: value for name, value in given.items() if value is not None})


def _cut(
    precedence: PrecedenceOptions, source: ScoresAndUris, digits: int | None
) -> PrecedenceOptions:
    bounds = source.bounds
    return replace(
        precedence,
        eta=None if bounds is None else bounds.eta,
        absolute=math.inf if bounds is None else bounds.absolute,
        digits=source.digits if digits is None else digits,
    )


def _refuse_others(allowed: Collection[str], goes: str) -> None:
    """Refuse options of the command line that are not allowed. goes: what they go with."""
    context = click.get_current_context()
    for param in context.command.params:
        name = str(param.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given and name not in (*_OF_ANY_FORM, *allowed):
            raise click.UsageError(f"{param.opts[0]} goes with {goes}")


def _write_hosts(
    ranked: RankedPages, output: Path, form: str, by: SiteBy, filters: PageFilters, tmp: Path
) -> None:
    from crawlrank.pipeline.analysis.host_graph import export_host_graph

    _refuse_others(("by", "top"), f"--by page, not with --by {by}")
    if filters != PageFilters(top=filters.top):
        raise click.UsageError(f"of the filters only --top goes with --by {by}")
    if output != STDOUT:
        output.parent.mkdir(parents=True, exist_ok=True)
    hosts, links = export_host_graph(ranked, form, by, filters.top, output, tmp)
    print_counts({f"{by}s": hosts, f"links between {by}s": links}, {})


def _write_other(form: str, work: Path, ranking: str | None, output: Path) -> None:
    """Write what is no list of pages, and no graph."""
    folder = ranking_folder(work, ranking)
    if form == "sites":
        _write_sites(folder, output)
    elif form == "cc-ranks":
        _write_ranks(work, ranking, output)
    elif form == "anchors":
        _write_anchors(folder, output)
    else:
        _write_texts(folder, output)


def _write_sites(work: Path, output: Path) -> None:
    from crawlrank.pipeline.analysis.host_table import read_sites
    from crawlrank.pipeline.analysis.table_files import SITE_ENDINGS, write_table

    if output != STDOUT:
        require_ending(output, "--output", SITE_ENDINGS, packed=False)
    check_files(output, inputs=[])
    rows = read_sites(work)
    write_table(rows, output, SITE_ENDINGS)
    print_counts({"sites": len(rows)}, {})


def _write_ranks(work: Path, label: str | None, output: Path) -> None:
    from crawlrank.pipeline.analysis.common_crawl_ranks import RANK_ENDINGS, read_ranks
    from crawlrank.pipeline.analysis.table_files import write_table

    if output != STDOUT:
        require_ending(output, "--output", RANK_ENDINGS)
    check_files(output, inputs=[])
    rows = read_ranks(work, label)
    write_table(rows, output, RANK_ENDINGS)
    print_counts({"sites": len(rows)}, {})


def _write_anchors(work: Path, output: Path) -> None:
    from crawlrank.pipeline.analysis.anchor_texts import ANCHOR_ENDINGS, write_anchors

    if output != STDOUT:
        require_ending(output, "--output", ANCHOR_ENDINGS)
    check_files(output, inputs=[])
    print_counts({"texts of links": write_anchors(work, output)}, {})


def _write_texts(work: Path, folder: Path) -> None:
    from crawlrank.pipeline.engines.embedded.text_files.export_text import export_text

    for path in export_text(work, folder):
        echo(printable(str(path)))


def _check_usage(form: str, output: Path) -> None:
    if form == BVGRAPH and output == STDOUT:
        raise click.UsageError(f"{form} is several files: name the first, NAME.graph")
    if form in BINARY_GRAPHS and output != STDOUT:
        require_ending(output, "--output", [BINARY_GRAPHS[form]], packed=False)
    else:
        check_ending(output, (*ENDINGS, *GRAPH_ENDINGS), form, "--format")
    if form != "heritrix":
        _require_heritrix(form, "unlisted", "spellings", "aliases")
    if output == STDOUT and form in (*BINARY, *BINARY_GRAPHS) and sys.stdout.isatty():
        raise click.UsageError(f"{form} is not for a terminal: name a file, or a pipe after it")


def _write(
    ranked: RankedPages, output: Path, options: PrecedenceOptions, form: str, filters: PageFilters,
    replay: str = "",
) -> None:  # fmt: skip
    """Write the output, and show the counts of what was written."""
    www = www_rule(require_manifest(ranked.work).parameters if ranked.work else {})
    chosen = conditions(filters, www=www)
    near = None
    if output != STDOUT:
        near = output.parent
        near.mkdir(parents=True, exist_ok=True)
    with temporary_folder(near) as name:
        tmp = name
        if form == "heritrix":
            counts, taken = _heritrix(ranked, output, tmp, options, filters, chosen)
        else:
            if form in GRAPH_FORMS:
                from crawlrank.pipeline.precedence.exported_graph import export_graph as export
            else:
                from crawlrank.pipeline.precedence.export import export_scores as export
            written = export(ranked, output, tmp, options, form, filters, chosen, replay)
            left = {f"left out: {reason}": n for reason, n in written.left_out.items() if n}
            counts = {
                "pages": written.pages,
                "pages without a score": written.without_score,
                **left,
            }
            taken = written.taken
    _show_taken(taken)
    print_counts(counts, {})


def _heritrix(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    filters: PageFilters,
    chosen: list[Filter],
) -> tuple[dict[str, int], Taken]:
    links = link_counts(require_manifest(ranked.work)) if ranked.work else None
    if filters.any:
        from crawlrank.pipeline.precedence.export import export_filtered_precedence

        summary, taken = export_filtered_precedence(
            ranked, output, tmp, options, filters, chosen, links
        )
    else:
        from crawlrank.pipeline.precedence import export

        summary = export.export_precedence(
            ranked.scores, ranked.uris, output, tmp, options, links=links
        )
        taken = Taken()
    return {"precedence": summary.uris}, taken


def _show_taken(taken: Taken) -> None:
    """What each filter left, on standard error as all that is no output."""
    if not taken.rows:
        return
    table = TextTable(
        f"pages taken of {taken.pages:,}", "=filter", ">leaves", ">with those before it"
    )
    for row in taken.rows:
        table.add(*row)
    echo("\n".join([*table.lines(width_of(sys.stderr)), ""]), err=True)


def _require_heritrix(form: str, *names: str) -> None:
    """Refuse options that only the format heritrix has."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            spelled = name.replace("_", "-")
            raise click.UsageError(f"--{spelled} goes with --format heritrix, not with {form}")
