"""Commands that use scores: the validation by OPIC, the table of hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import (
    STDOUT,
    check_files,
    require_ending,
    show,
    verbose_option,
    write_json,
)
from crawlrank.pipeline.cli.parameters.groups import field_option, option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    min_agreement_option,
    output_option,
    ranked_work_option,
    ties_option,
)
from crawlrank.pipeline.cli.parameters.types import Number, Whole
from crawlrank.pipeline.options import HostSort
from crawlrank.pipeline.precedence.page_table import RankedPages
from crawlrank.pipeline.ranking.bounds import EXACT
from crawlrank.pipeline.ranking.inputs import SiteBy
from crawlrank.pipeline.ranking.options import MAX_BINS, ClassesOver, ValidationOptions
from crawlrank.pipeline.run.reports import write_report
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.results.opened import scores_of_work

VALIDATION = ValidationOptions()
TABLE_ROWS = 20


@command("step validate-opic")
@click.argument("graph")
@click.argument("ranks")
@output_option(help="Report to write: a file such as report.json, or a folder for report.json.")
@field_option(VALIDATION, "policy", "Order in which OPIC visits pages.")
@field_option(
    VALIDATION,
    "opic_error",
    "Stop when the error of the probabilities is certainly below this.",
    Number(1e-13, 1),
)
@field_option(
    VALIDATION,
    "max_visits",
    "Visits at most, as a multiple of the number of pages.",
    Number(0, min_open=True),
)
@field_option(VALIDATION, "seed", "Seed of the random policy.", Whole(0))
@field_option(
    VALIDATION,
    "virtual_page",
    "Model of random jumps. edge: the plain one of the paper, which has another fixed point,"
    " so that there is no verdict.",
)
@field_option(VALIDATION, "bins", "Number of classes to compare.", click.IntRange(1, MAX_BINS))
@ties_option
@field_option(
    VALIDATION,
    "digits",
    "Scores that agree to this many significant digits are equal, as in the precedence file.",
    click.IntRange(1, 17),
)
@option("--uris", help="Spellings of each key, which say what pages were captured.")
@option("--map", "maps", multiple=True, help="Ids and keys, needed with --uris.")
@option(
    "--classes-over",
    type=click.Choice(get_args(ClassesOver)),
    help="Pages that are divided equally among the classes (default: captured with --uris and"
    " --map, else all).",
)
@min_agreement_option
@verbose_option
def validate_opic(
    graph: str,
    ranks: str,
    output: Path,
    uris: str | None,
    maps: tuple[str, ...],
    classes_over: ClassesOver | None,
    verbose: bool,
    **options: Any,
) -> None:
    """GRAPH is what page-rank reads, RANKS what it writes. The report bounds the errors of both."""
    from crawlrank.pipeline.data.graph import read_graph
    from crawlrank.pipeline.precedence.scored import spelled_nodes
    from crawlrank.pipeline.ranking.validation.report import tables
    from crawlrank.pipeline.ranking.validation.validate import validate

    known = uris is not None and bool(maps)
    if not known and (uris or maps or classes_over == "captured"):
        raise click.UsageError("--uris and --map are needed to know which pages were captured")
    pages, captured, preferred = read_graph(graph), None, None
    if uris is not None and (classes_over != "all" or options["ties"] == "links"):
        with temporary_folder() as tmp:
            weighed = options["ties"] == "links"
            spelled = spelled_nodes(pages, uris, maps, tmp, weighed=weighed)
        captured, preferred = spelled.captured, spelled.take_preferred()
    validation = ValidationOptions(**options, classes_over=classes_over or "captured")
    report = validate(pages, read_graph(ranks), validation, captured=captured, preferred=preferred)
    write_report(report, output)
    show(tables(report, verbose=verbose))
    report.require()


@command("hosts")
@ranked_work_option
@option(
    "--by",
    type=click.Choice(get_args(SiteBy)),
    default="host",
    help="domain: the registrable domain, such as example.org of all hosts below it.",
)
@option(
    "--sort",
    type=click.Choice(get_args(HostSort)),
    metavar="COLUMN",
    default="score",
    help=f"Column whose highest is first: {', '.join(get_args(HostSort))}.",
)
@option("--top", type=Whole(1), help="Rows (default: 20 in the table, all elsewhere).")
@option("--output", type=OUTPUT, help="File to write: .csv, .jsonl or .parquet; `-`: CSV.")
@click.option("--json", "json_output", type=OUTPUT, help="All as JSON; `-`: standard output.")
def hosts(
    work: Path,
    by: SiteBy,
    sort: HostSort,
    top: int | None,
    output: Path | None,
    json_output: Path | None,
) -> None:
    """The columns are pages, captured ones, captures, the sum of the scores and its share of all,
    the best score, pages in each class, and links from other hosts, to others and within.
    """
    from crawlrank.pipeline.analysis.host_table import (
        SCHEMA,
        host_rows,
        hosts_table,
        read_hosts,
    )
    from crawlrank.pipeline.analysis.table_files import HOST_ENDINGS, write_table

    if output and output != STDOUT:
        require_ending(output, "--output", HOST_ENDINGS)
    if output == json_output == STDOUT:
        raise click.UsageError("--output and --json cannot both be standard output")
    check_files(output, json_output, inputs=[])
    with temporary_folder() as tmp:
        source = scores_of_work(work, tmp)
        ranked = RankedPages(source.scores, source.uris, work)
        bounds = source.bounds or EXACT
        rows = read_hosts(ranked, require_manifest(work), by, sort)
    count, rows = len(rows), rows.slice(0, top or len(rows))
    if output:
        write_table(rows, output, HOST_ENDINGS)
    written = {"by": by, "sort": sort, "count": count, "hosts": list(host_rows(rows))}
    write_json(SCHEMA, written, json_output)
    if STDOUT not in (output, json_output):
        show([hosts_table(rows, top or TABLE_ROWS, count, by, sort, bounds)], None)
