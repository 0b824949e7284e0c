"""One command for each step of the recipe, usable alone on files, globs and folders of parts."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from jobs.kernel.errors import BadInput
from jobs.kernel.opening import Place
from jobs.kernel.order import DIGITS
from jobs.kernel.reading import parts
from pipeline import lint, steps
from pipeline.archives import given_archives
from pipeline.cli.options import (
    ARCHIVE,
    OUTPUT,
    Number,
    class_options,
    extraction_options,
    keep_www_option,
    make_launcher,
    make_stop,
    nodes_option,
    output_option,
    runner_options,
    stop_options,
)
from pipeline.datasets import refuse_existing
from pipeline.precedence import Options as PrecedenceOptions
from pipeline.progress import reporter
from pipeline.rank_report import read_rank_report, write_rank_report
from pipeline.ranking import Round
from pipeline.reports import round_line, write_report
from pipeline.terminal import cell, console, printable


def _said(rows: dict[str, int], counters: dict[str, int]) -> None:
    """Rows and counters on stderr, so that a pipe sees none of it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("what")
    table.add_column("count", justify="right")
    for name, count in {**rows, **counters}.items():
        table.add_row(cell(name), f"{count:,}")
    console(stderr=True).print(table)


def _new(*outputs: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse outputs that are there as folders, that are read, or that are one and the same."""
    read: set[Path] = set()
    for where in inputs:
        with contextlib.suppress(BadInput):  # what is missing is told of by who reads it
            read.update(path.resolve() for path in parts(where))
    for output in outputs:
        if output.resolve() in read:
            raise click.UsageError(f"{output} is an input too, and would be overwritten")
        refuse_existing(output)
    if len(set(outputs)) < len(outputs):
        raise click.UsageError(f"{outputs[0]} is named for two outputs")


@click.command("extract-links")
@click.argument("archives", nargs=-1, required=True, type=ARCHIVE)
@output_option(help="Links to write: `target source hop`.")
@output_option("--captures", help="Captures to write, 8 columns.")
@extraction_options
@click.option("--strict", is_flag=True, help="Damage inside an archive is an error (exit 3).")
@click.option("--skip-bad-files", is_flag=True, help="Go on without unreadable archives.")
@runner_options
def extract_links(
    archives: tuple[Place, ...],
    output: Path,
    captures: Path,
    outlinks: str,
    kept: str,
    nofollow: str,
    forms: bool,
    pdf: bool,
    max_record: int,
    strict: bool,
    skip_bad_files: bool,
    runner: str,
    processes: int | None,
) -> None:
    """Links and captures of archives: WARC, ARC, WAT and WACZ, files or s3:// URLs."""
    _new(output, captures, inputs=archives)
    given = list(given_archives(archives).values())
    reports = steps.extract_links(
        given,
        output,
        captures,
        make_launcher(runner, processes),
        outlinks=outlinks,
        kept=kept,
        max_record=max_record,
        nofollow=nofollow,
        forms=forms,
        pdf=pdf,
    )
    _said({"archives": len(reports)}, steps.totals(reports))
    steps.require_readable(reports, skip_bad_files, strict)


@click.command()
@click.argument("links", nargs=-1, required=True)
@click.option("--captures", multiple=True, help="Captures of the same archives.")
@output_option(help="Canonical links to write: `target_key source_key`, sorted.")
@output_option("--uris", help="Spellings of each key to write, 5 columns.")
@keep_www_option
@runner_options
def canonicalize(
    links: tuple[str, ...],
    captures: tuple[str, ...],
    output: Path,
    uris: Path,
    keep_www: bool,
    runner: str,
    processes: int | None,
) -> None:
    """URIs to keys (SURT): links between pages, whatever their spelling."""
    _new(output, uris, inputs=[*links, *captures])
    launcher = make_launcher(runner, processes)
    result = steps.canonicalize(links, captures, output, uris, launcher, keep_www=keep_www)
    _said(result.rows, result.counters)


@click.command("assign-ids")
@click.argument("canonical_links", nargs=-1, required=True)
@click.option("--uris", multiple=True, help="Spellings of each key, for --nodes all.")
@output_option(help="Input links to write: `id target_key source_key`.")
@output_option("--map", "map_output", help="Ids to write: `id key`.")
@nodes_option
@runner_options
def assign_ids(
    canonical_links: tuple[str, ...],
    uris: tuple[str, ...],
    output: Path,
    map_output: Path,
    nodes: str,
    runner: str,
    processes: int | None,
) -> None:
    """Ids 0…N-1 in byte order of the key."""
    _new(output, map_output, inputs=[*canonical_links, *uris])
    launcher = make_launcher(runner, processes)
    result = steps.assign_ids(canonical_links, uris, output, map_output, launcher, nodes=nodes)
    _said(result.rows, result.counters)


@click.command("gen-graph")
@click.argument("input_links", nargs=-1, required=True)
@click.option("--map", "maps", multiple=True, help="Ids, to add the pages that nothing links to.")
@output_option(help="Graph to write: `id<TAB>1.0<TAB>O:id,id,…`.")
@runner_options
def gen_graph(
    input_links: tuple[str, ...],
    maps: tuple[str, ...],
    output: Path,
    runner: str,
    processes: int | None,
) -> None:
    """The graph that PageRank iterates on; dangling pages point to dummy."""
    _new(output, inputs=[*input_links, *maps])
    result = steps.gen_graph(input_links, maps, output, make_launcher(runner, processes))
    _said(result.rows, result.counters)


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
@runner_options
def page_rank(
    graph: Path,
    output: Path,
    iterations: int | None,
    tolerance: float,
    max_rounds: int,
    report: Path | None,
    quiet: bool,
    runner: str,
    processes: int | None,
) -> None:
    """Rounds of PageRank, until certified or exactly --iterations."""
    _new(output, inputs=[graph])
    stop = make_stop(iterations, tolerance, max_rounds)
    shown = reporter(quiet)
    shown.step("page-rank")

    def on_round(entry: Round, rounds: list[Round]) -> None:
        shown.round(round_line(rounds, stop))
        if report:
            report.parent.mkdir(parents=True, exist_ok=True)
            write_rank_report(stop, rounds, report)

    try:
        steps.page_rank(graph, output, make_launcher(runner, processes), stop, on_round)
    finally:
        shown.close()


digits_option = click.option(
    "--digits",
    type=click.IntRange(1, 17),
    help="Scores that agree to so many digits are equal; the key orders them (default: the"
    f" report's, else {DIGITS}).",
)
report_option = click.option(
    "--report", type=OUTPUT, help="What page-rank --report wrote: how far its scores are certain."
)


@click.command("join-scores")
@click.argument("ranks", nargs=-1, required=True)
@click.option("--map", "maps", multiple=True, required=True, help="Ids and keys.")
@click.option("--uris", required=True, help="Spellings of each key.")
@output_option(help="Scores to write, best first; all columns when it ends in .parquet.")
@digits_option
@report_option
@runner_options
def join_scores(
    ranks: tuple[str, ...],
    maps: tuple[str, ...],
    uris: str,
    output: Path,
    digits: int | None,
    report: Path | None,
    runner: str,
    processes: int | None,
) -> None:
    """Scores with their URIs, best first."""
    _new(output, inputs=[*ranks, *maps, uris])
    known = read_rank_report(report)[1] if report else DIGITS
    digits = known if digits is None else digits
    launcher = make_launcher(runner, processes)
    result = steps.join_scores(ranks, maps, uris, output, launcher, digits=digits)
    _said(result.rows, result.counters)


@click.command("export-precedence")
@click.argument("scores", required=False)
@click.option("--uris", help="Spellings of each key; without them the scores' own URIs are listed.")
@click.option("--output", type=OUTPUT, help="Precedence file to write, `URI precedence`.")
@class_options
@click.option("--eta", type=Number(0), help="Error bound of a score (default: the report's).")
@digits_option
@report_option
@click.option(
    "--lint", "lint_file", type=OUTPUT, help="Check a precedence file instead of writing one."
)
def export_precedence(
    scores: str | None,
    uris: str | None,
    output: Path | None,
    lint_file: Path | None,
    bins: int,
    unlisted: int | None,
    eta: float | None,
    digits: int | None,
    report: Path | None,
    **cut: Any,
) -> None:
    """The file that Heritrix loads, and the beans that make it use it as meant.

    Writes beside OUTPUT its summary (.summary.json) and crawler-beans-fragment.xml.
    """
    from pipeline.run import write_precedence

    unclear = scores or output if lint_file else not (scores and output)
    if unclear:
        raise click.UsageError("SCORES and --output are needed, or --lint FILE alone")
    if lint_file:
        check_precedence_file(lint_file)
        return
    assert scores is not None and output is not None  # or lint_file would have been needed
    _new(output, inputs=[scores, *([uris] if uris else [])])
    known_eta, known = read_rank_report(report) if report else (None, DIGITS)
    options = PrecedenceOptions(
        bins=bins,
        unlisted=unlisted,
        eta=known_eta if eta is None else eta,
        digits=known if digits is None else digits,
        **cut,
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".crawlrank-", dir=output.parent) as tmp:
        told = write_precedence(
            Path(scores), Path(uris) if uris else None, output, Path(tmp), options
        )
    _said(told["rows"], {})


def check_precedence_file(path: Path) -> None:
    """Print what PrecedenceLoader would make of the file; raises BadInput for errors in it."""
    summary = lint.Summary()
    for found in lint.lint(path, summary):
        place = f"line {found.line}" if found.line else "file"
        said = f"{place}: {found.severity}: {found.problem}: {found.text}"
        click.echo(printable(said))
        click.echo(f"    {found.consequence}")
        click.echo(f"    {found.cure}")
    click.echo(f"{summary.lines:,} lines, {summary.entries:,} of them load")
    if summary.errors:
        loads = (
            "loads, not all as meant" if summary.accepted else "does not load: nothing is stored"
        )
        raise BadInput(
            str(path),
            f"errors: {summary.errors:,}; the file {loads}",
            "none",
            "Each finding above says how to mend it.",
        )


@click.command("validate-opic")
@click.argument("graph")
@click.argument("ranks")
@output_option(help="Report to write: a file such as report.json, or a folder for one.")
@click.option(
    "--policy",
    type=click.Choice(["cycle", "random", "greedy"]),
    default="cycle",
    show_default=True,
    help="The order in which OPIC reads pages.",
)
@click.option(
    "--opic-error",
    type=Number(1e-13, 1),
    default=1e-6,
    show_default=True,
    help="Stop at this certificate of the probabilities.",
)
@click.option(
    "--max-visits",
    type=Number(0, min_open=True),
    default=200.0,
    show_default=True,
    help="Visits at most, in multiples of N, the number of pages.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random policy."
)
@click.option(
    "--virtual-page",
    type=click.Choice(["teleport", "edge"]),
    default="teleport",
    show_default=True,
    help="edge: the paper's plain one, which has another fixed point and gets no verdict.",
)
@click.option(
    "--bins",
    type=click.IntRange(1, 125),
    default=5,
    show_default=True,
    help="Classes that are compared.",
)
@click.option(
    "--ties",
    type=click.Choice(["key", "together"]),
    default="key",
    show_default=True,
    help="Pages of equal score: ordered by key, or kept in one class.",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 17),
    default=DIGITS,
    show_default=True,
    help="Scores that agree to so many digits are equal, as in the precedence file.",
)
@click.option("--uris", help="Spellings of each key, to know which pages were captured.")
@click.option("--map", "maps", multiple=True, help="Ids and keys, needed with --uris.")
@click.option(
    "--classes-over",
    type=click.Choice(["captured", "all"]),
    help="Pages of which each class gets an equal share (default: captured with --uris and --map,"
    " else all).",
)
@click.option(
    "--min-agreement",
    type=Number(0, 1),
    default=0.99,
    show_default=True,
    help="Exit 4 when a smaller part of the pages agrees on the class.",
)
def validate_opic(
    graph: str,
    ranks: str,
    output: Path,
    uris: str | None,
    maps: tuple[str, ...],
    classes_over: str | None,
    **options: Any,
) -> None:
    """Check RANKS against an OPIC run on GRAPH, with a bound for both."""
    from pipeline.captured import captured_nodes
    from pipeline.graph import read_graph
    from pipeline.validation import validate
    from pipeline.validation_report import ValidationOptions, tables

    known = uris is not None and bool(maps)
    if not known and (uris or maps or classes_over == "captured"):
        raise click.UsageError("--uris and --map are needed to know which pages were captured")
    pages, captured = read_graph(graph), None
    if uris is not None and classes_over != "all":
        with tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp:
            captured = captured_nodes(pages, uris, maps, Path(tmp))
    report = validate(pages, read_graph(ranks), ValidationOptions(**options), captured=captured)
    write_report(report, output)
    for table in tables(report):
        console().print(table)
    report.require()


COMMANDS = (
    extract_links,
    canonicalize,
    assign_ids,
    gen_graph,
    page_rank,
    join_scores,
    export_precedence,
    validate_opic,
)
