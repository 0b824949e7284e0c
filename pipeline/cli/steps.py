"""A command for each step from archives to scores, which reads files, globs and folders; and `step
import-text`, which makes a work folder from text files."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import DEFAULTS, ExtractionOptions
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import check_format, check_outputs, print_counts
from crawlrank.pipeline.cli.parameters.archive_arguments import archives_argument
from crawlrank.pipeline.cli.parameters.groups import field_option, option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    digits_option,
    extraction_options,
    launcher_options,
    memory_option,
    nodes_option,
    output_option,
    report_option,
    rules_options,
    skip_bad_files_option,
    stop_options,
    strict_option,
    titles_option,
    validators_option,
    work_option,
    www_options,
)
from crawlrank.pipeline.cli.parameters.progress_options import Progress, plain_progress_options
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.engines.embedded.text_files.import_text import Texts
from crawlrank.pipeline.engines.embedded.text_files.import_text import (
    import_text as read_text_files,
)
from crawlrank.pipeline.engines.text import steps
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.run.parameters import read_rank_report, write_rank_report
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.archives import given_archives, require_readable


@command("step extract-links")
@archives_argument
@output_option(help="Links to write: `target source hop`; Parquet if the name ends in .parquet.")
@output_option("--captures", help="Captures to write, 10 columns or more; Parquet likewise.")
@option(
    "--anchors",
    type=OUTPUT,
    help="Words of links to write: `target<TAB>source<TAB>words<TAB>timestamp`; Parquet likewise.",
)
@option(
    "--format",
    "form",
    type=click.Choice(["text", "parquet"]),
    help="Format of the outputs (default: by their names; text in folders).",
)
@extraction_options(
    field_option(
        DEFAULTS,
        "timestamps",
        "For select-links: links with the time of their capture and the kinds of their references,"
        " and captures with the URIs and times that revisits refer to.",
    ),
    field_option(
        DEFAULTS,
        "canonical",
        "For select-links: the canonical addresses that pages name, as links of hop C.",
    ),
    validators_option,
    titles_option,
)
@strict_option
@skip_bad_files_option
@plain_progress_options
@launcher_options
def extract_links(
    archives: tuple[PathOrUrl, ...],
    output: Path,
    captures: Path,
    anchors: Path | None,
    form: str | None,
    extraction: ExtractionOptions,
    strict: bool,
    skip_bad_files: bool,
    progress: Progress,
    launcher: Launcher,
) -> None:
    """ARCHIVES: WARC, ARC, WAT and WACZ files, folders of them, globs in quotes, s3:// and https://
    URLs; multi-WACZ (JSON); CDX and CDXJ indexes, for captures alone."""
    outputs = [output, captures, *([anchors] if anchors else [])]
    check_outputs(*outputs, inputs=archives)
    check_format(form, *outputs)
    sources = list(given_archives(archives, skip_bad_files=skip_bad_files).values())
    with closing(progress.reporter) as shown:
        shown.step("extract-links")
        launcher = replace(launcher, on_read=shown.read)
        reports = steps.extract_links(
            sources, output, captures, launcher, extraction,
            tables=form == "parquet", anchors=anchors,
        )  # fmt: skip
        counters = steps.totals(reports)
        shown.done("extract-links", {"rows": {"archives": len(reports)}, "counters": counters})
    print_counts({"archives": len(reports)}, counters)
    require_readable(reports, skip_bad_files, strict)


@command("step select-links")
@click.argument("links", nargs=-1, required=True)
@option(
    "--captures",
    multiple=True,
    required=True,
    help="Captures of the same archives; like the links from extract-links --timestamps.",
)
@rules_options("--take")
@option(
    "--output",
    type=OUTPUT,
    help="With --take latest: links to write, `target source hop`, for canonicalize.",
)
@output_option(
    "--folds", "folds_output", help="Folds to write: pages that become one with others, 4 columns."
)
@www_options
@launcher_options
def select_links(
    links: tuple[str, ...],
    captures: tuple[str, ...],
    rules: CaptureRules,
    output: Path | None,
    folds_output: Path,
    www: Www,
    launcher: Launcher,
) -> None:
    """LINKS: datasets of extract-links --timestamps."""
    if rules.latest != (output is not None):
        raise click.UsageError(
            "--take latest and --output belong together; with --take union all links count, and"
            " canonicalize reads them as they are"
        )
    outputs = [folds_output] if output is None else [output, folds_output]
    check_outputs(*outputs, inputs=[*links, *captures], text=True)
    result = steps.select_links(
        links, captures, output, folds_output, launcher, rules, www=www, timed=True
    )
    print_counts(result.rows, result.counters)


@command("step canonicalize")
@click.argument("links", nargs=-1, required=True)
@option("--captures", multiple=True, help="Captures of the same archives.")
@option("--folds", multiple=True, help="Folds of select-links.")
@output_option(help="Links of keys to write: `target_key source_key`, sorted.")
@output_option("--uris", help="Spellings of each key to write, 5 columns.")
@www_options
@launcher_options
def canonicalize(
    links: tuple[str, ...],
    captures: tuple[str, ...],
    folds: tuple[str, ...],
    output: Path,
    uris: Path,
    www: Www,
    launcher: Launcher,
) -> None:
    """All spellings of a page have one key, so that links of URIs become links of pages."""
    check_outputs(output, uris, inputs=[*links, *captures, *folds], text=True)
    result = steps.canonicalize(links, captures, output, uris, launcher, folds=folds, www=www)
    print_counts(result.rows, result.counters)


@command("step assign-ids")
@click.argument("canonical_links", nargs=-1, required=True)
@option("--uris", multiple=True, help="Spellings of each key, for --nodes all.")
@output_option(help="Links with the target's id to write: `id target_key source_key`.")
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
    check_outputs(output, map_output, inputs=[*canonical_links, *uris], text=True)
    result = steps.assign_ids(canonical_links, uris, output, map_output, launcher, nodes=nodes)
    print_counts(result.rows, result.counters)


@command("step gen-graph")
@click.argument("input_links", nargs=-1, required=True)
@option(
    "--map", "maps", multiple=True, help="Ids and keys, to add the pages that nothing links to."
)
@output_option(help="Graph to write: `id<TAB>1.0<TAB>O:id,id,…`.")
@launcher_options
def gen_graph(
    input_links: tuple[str, ...], maps: tuple[str, ...], output: Path, launcher: Launcher
) -> None:
    """Pages without outgoing links link to `dummy`."""
    check_outputs(output, inputs=[*input_links, *maps], text=True)
    result = steps.gen_graph(input_links, maps, output, launcher)
    print_counts(result.rows, result.counters)


@command("step page-rank")
@click.argument("graph", type=OUTPUT)
@output_option(help="Ranks to write: the lines of the graph with new scores.")
@stop_options
@option(
    "--report",
    type=OUTPUT,
    help="JSON file to write: mass, residual and certificates of each round. join-scores and"
    " export-precedence read it.",
)
@plain_progress_options
@launcher_options
def page_rank(
    graph: Path,
    output: Path,
    stop: Stop,
    report: Path | None,
    progress: Progress,
    launcher: Launcher,
) -> None:
    """It stops when the error of the scores is certified, or after exactly --iterations rounds."""
    check_outputs(output, inputs=[graph], text=True)
    with closing(progress.reporter) as shown:
        shown.step("page-rank")

        def on_round(entry: Round, rounds: list[Round]) -> None:
            shown.round(rounds, stop)
            if report:
                report.parent.mkdir(parents=True, exist_ok=True)
                write_rank_report(stop, rounds, report)

        steps.page_rank(graph, output, launcher, stop, on_round)
        shown.done("page-rank", {})


@command("step join-scores")
@click.argument("ranks", nargs=-1, required=True)
@option("--map", "maps", multiple=True, required=True, help="Ids and keys.")
@option("--uris", required=True, help="Spellings of each key.")
@output_option(help="Scores to write; with more columns if the name ends in .parquet.")
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
    check_outputs(output, inputs=[*ranks, *maps, uris])
    known = read_rank_report(report)[0] if report else DIGITS
    digits = known if digits is None else digits
    result = steps.join_scores(ranks, maps, uris, output, launcher, digits=digits)
    print_counts(result.rows, result.counters)


GOES_WITH = {"captures": ("links",), "map": ("input_links", "graph")}
BEGINNINGS = ("links", "canonical_links", "input_links", "graph")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@command("step import-text")
@work_option
@option("--links", multiple=True, help="Links of URIs, `target source [hop]`.")
@option(
    "--order",
    type=click.Choice(["target-source", "source-target"]),
    default="target-source",
    help="Order of the columns of links, of URIs, keys or numbers; in most edge lists the source"
    " comes first.",
)
@option("--captures", multiple=True, help="With --links: captures, 8 or 10 columns.")
@option("--canonical-links", multiple=True, help="Links of keys, `target_key source_key`.")
@option(
    "--input-links",
    multiple=True,
    help="Links of keys, `id target_key source_key`; new ids replace these, in byte order of keys.",
)
@option("--graph", help="Graph lines, `id<TAB>1.0<TAB>O:id,id,…`, such as pr0.txt.")
@option(
    "--map",
    "maps",
    multiple=True,
    help="Ids and keys, `id key`. With --graph: the keys of its ids. With --input-links: adds pages"
    " without links, which `run --nodes all` ranks too.",
)
@memory_option
def import_text(
    work: Path,
    links: tuple[str, ...],
    order: str,
    captures: tuple[str, ...],
    canonical_links: tuple[str, ...],
    input_links: tuple[str, ...],
    graph: str | None,
    maps: tuple[str, ...],
    memory: Memory,
) -> None:
    """`crawlrank run --work WORK` continues from it.

    Give one of --links, --canonical-links, --input-links and --graph: a file, a glob or a folder of
    parts, plain, .gz or .parquet. All but --graph may be given several times. Text without URIs
    gives ranks and scores by key, or by id, and no precedence file.
    """
    texts = Texts(
        links, captures, canonical_links, input_links, maps, graph or "", order == "source-target"
    )
    _check_usage(texts)
    result = read_text_files(work, texts, budget=memory.budget, threads=os.cpu_count() or 1)
    print_counts(result.rows, result.counters)
    for example in result.examples:
        click.echo(f"left out: {printable(example)}", err=True)
    click.echo(f"{printable(str(work))} is ready for `crawlrank run --work`.")


def _check_usage(texts: Texts) -> None:
    beginnings = [name for name in BEGINNINGS if getattr(texts, name)]
    if len(beginnings) != 1:
        names = ", ".join(map(_option, BEGINNINGS))
        more = ", not several" if beginnings else ""
        raise click.UsageError(f"one of {names} is needed{more}")
    for name, owners in GOES_WITH.items():
        if getattr(texts, name) and beginnings[0] not in owners:
            raise click.UsageError(f"{_option(name)} goes with {' or '.join(map(_option, owners))}")
    if texts.source_first and texts.graph:
        raise click.UsageError("--order goes with --links, --canonical-links or --input-links")
