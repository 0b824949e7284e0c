"""One command for each step from archives to scores, usable alone on files, globs and folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from jobs.kernel.captures.choosing import Rules
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.launcher import Launcher
from pipeline.cli.archive_arguments import archives_argument
from pipeline.cli.options import (
    OUTPUT,
    digits_option,
    extraction_options,
    keep_www_option,
    launcher_options,
    nodes_option,
    output_option,
    report_option,
    rules_options,
    stop_options,
)
from pipeline.cli.outputs import check_format, check_outputs, said
from pipeline.contract import Round, Stop
from pipeline.engines.text import archive_reports, selecting, steps
from pipeline.progress import reporter
from pipeline.rank_report import read_rank_report, write_rank_report
from pipeline.reports import round_line
from pipeline.workfolder.archives import given_archives


@click.command("extract-links")
@archives_argument
@output_option(help="Links to write: `target source hop`; Parquet when it ends in .parquet.")
@output_option("--captures", help="Captures to write, 10 columns; likewise.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "parquet"]),
    help="What the outputs are (default: what their names say, text in folders).",
)
@extraction_options(
    click.option(
        "--timestamps",
        is_flag=True,
        help="For select-links: links with the time of their capture, captures with what revisits"
        " refer to.",
    ),
    click.option(
        "--canonical",
        is_flag=True,
        help="For select-links: what pages name as their canonical address, as links of hop C.",
    ),
)
@click.option("--strict", is_flag=True, help="Damage inside an archive is an error (exit 3).")
@click.option("--skip-bad-files", is_flag=True, help="Go on without unreadable archives.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@launcher_options
def extract_links(
    archives: tuple[Place, ...],
    output: Path,
    captures: Path,
    form: str | None,
    extraction: ExtractionOptions,
    strict: bool,
    skip_bad_files: bool,
    quiet: bool,
    launcher: Launcher,
) -> None:
    """Links and captures of archives: WARC, ARC, WAT and WACZ files, folders, globs, s3:// URLs."""
    check_outputs(output, captures, inputs=archives)
    check_format(form, output, captures)
    given = list(given_archives(archives).values())
    shown = reporter(quiet)
    shown.step("extract-links")
    try:
        reports = steps.extract_links(
            given,
            output,
            captures,
            replace(launcher, on_read=shown.read),
            extraction,
            tables=form == "parquet",
        )
    finally:
        shown.close()
    said({"archives": len(reports)}, archive_reports.totals(reports))
    archive_reports.require_readable(reports, skip_bad_files, strict)


@click.command("select-links")
@click.argument("links", nargs=-1, required=True)
@click.option(
    "--captures",
    multiple=True,
    required=True,
    help="Captures of the same archives, from extract-links --timestamps as the links.",
)
@rules_options("--take")
@click.option(
    "--output",
    type=OUTPUT,
    help="With --take latest: links to write for canonicalize, `target source hop`.",
)
@output_option(
    "--folds", "folds_output", help="Pages to write that are one with others, 4 columns."
)
@keep_www_option
@launcher_options
def select_links(
    links: tuple[str, ...],
    captures: tuple[str, ...],
    rules: Rules,
    output: Path | None,
    folds_output: Path,
    keep_www: bool,
    launcher: Launcher,
) -> None:
    """Of several captures of a page the links that count, and which pages are one."""
    if rules.latest != (output is not None):
        raise click.UsageError(
            "--take latest and --output belong together; with --take union all links count, and"
            " canonicalize reads them as they are"
        )
    outputs = [folds_output] if output is None else [output, folds_output]
    check_outputs(*outputs, inputs=[*links, *captures])
    result = selecting.select_links(
        links, captures, output, folds_output, launcher, rules, keep_www=keep_www, timed=True
    )
    said(result.rows, result.counters)


@click.command()
@click.argument("links", nargs=-1, required=True)
@click.option("--captures", multiple=True, help="Captures of the same archives.")
@click.option("--folds", multiple=True, help="Pages that are one with others, of select-links.")
@output_option(help="Canonical links to write: `target_key source_key`, sorted.")
@output_option("--uris", help="Spellings of each key to write, 5 columns.")
@keep_www_option
@launcher_options
def canonicalize(
    links: tuple[str, ...],
    captures: tuple[str, ...],
    folds: tuple[str, ...],
    output: Path,
    uris: Path,
    keep_www: bool,
    launcher: Launcher,
) -> None:
    """URIs to keys (SURT): links between pages, whatever their spelling."""
    check_outputs(output, uris, inputs=[*links, *captures, *folds])
    result = steps.canonicalize(
        links, captures, output, uris, launcher, folds=folds, keep_www=keep_www
    )
    said(result.rows, result.counters)


@click.command("assign-ids")
@click.argument("canonical_links", nargs=-1, required=True)
@click.option("--uris", multiple=True, help="Spellings of each key, for --nodes all.")
@output_option(help="Input links to write: `id target_key source_key`.")
@output_option("--map", "map_output", help="Ids to write: `id key`.")
@nodes_option
@launcher_options
def assign_ids(
    canonical_links: tuple[str, ...],
    uris: tuple[str, ...],
    output: Path,
    map_output: Path,
    nodes: str,
    launcher: Launcher,
) -> None:
    """Ids 0…N-1 in byte order of the key."""
    check_outputs(output, map_output, inputs=[*canonical_links, *uris])
    result = steps.assign_ids(canonical_links, uris, output, map_output, launcher, nodes=nodes)
    said(result.rows, result.counters)


@click.command("gen-graph")
@click.argument("input_links", nargs=-1, required=True)
@click.option("--map", "maps", multiple=True, help="Ids, to add the pages that nothing links to.")
@output_option(help="Graph to write: `id<TAB>1.0<TAB>O:id,id,…`.")
@launcher_options
def gen_graph(
    input_links: tuple[str, ...],
    maps: tuple[str, ...],
    output: Path,
    launcher: Launcher,
) -> None:
    """The graph that PageRank iterates on; dangling pages point to dummy."""
    check_outputs(output, inputs=[*input_links, *maps])
    result = steps.gen_graph(input_links, maps, output, launcher)
    said(result.rows, result.counters)


@click.command("page-rank")
@click.argument("graph", type=OUTPUT)
@output_option(help="Ranks to write: the graph's lines with new scores.")
@stop_options
@click.option(
    "--report",
    type=OUTPUT,
    help="JSON file for mass, residuals, certificates a round; join-scores and export-precedence"
    " read it.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
@launcher_options
def page_rank(
    graph: Path,
    output: Path,
    stop: Stop,
    report: Path | None,
    quiet: bool,
    launcher: Launcher,
) -> None:
    """Rounds of PageRank, until certified or exactly --iterations."""
    check_outputs(output, inputs=[graph])
    stop = stop.on(launcher.runner)
    shown = reporter(quiet)
    shown.step("page-rank")

    def on_round(entry: Round, rounds: list[Round]) -> None:
        shown.round(round_line(rounds, stop))
        if report:
            report.parent.mkdir(parents=True, exist_ok=True)
            write_rank_report(stop, rounds, report)

    try:
        steps.page_rank(graph, output, launcher, stop, on_round)
    finally:
        shown.close()


@click.command("join-scores")
@click.argument("ranks", nargs=-1, required=True)
@click.option("--map", "maps", multiple=True, required=True, help="Ids and keys.")
@click.option("--uris", required=True, help="Spellings of each key.")
@output_option(help="Scores to write, best first; all columns when it ends in .parquet.")
@digits_option
@report_option
@launcher_options
def join_scores(
    ranks: tuple[str, ...],
    maps: tuple[str, ...],
    uris: str,
    output: Path,
    digits: int | None,
    report: Path | None,
    launcher: Launcher,
) -> None:
    """Scores with their URIs, best first."""
    check_outputs(output, inputs=[*ranks, *maps, uris])
    known = read_rank_report(report)[1] if report else DIGITS
    digits = known if digits is None else digits
    result = steps.join_scores(ranks, maps, uris, output, launcher, digits=digits)
    said(result.rows, result.counters)
