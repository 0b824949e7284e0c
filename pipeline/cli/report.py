"""`report`: a work folder as a page for a browser."""

from __future__ import annotations

from pathlib import Path

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import STDOUT, check_files, json_option, write_json
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.groups import option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    memory_option,
    replay_option,
    work_option,
)
from crawlrank.pipeline.cli.parameters.progress_options import Progress, plain_progress_options
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.progress.reporter import consecutive
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.rankings import OWN, is_usable, labels

MOST = 10_000  # pages


@command("report")
@work_option
@option(
    "--ranking",
    "rankings",
    multiple=True,
    metavar="LABEL",
    help=f"Rankings to show, the first one in full; `{OWN}` is that of the run (default: that and"
    " all others).",
)
@option("--against", "older", type=OUTPUT, help="Work folder of an older crawl to compare with.")
@option(
    "--crawl-log",
    "crawl_logs",
    type=OUTPUT,
    multiple=True,
    help="A crawl.log of the crawl, the folder of such, or a job of Heritrix: says why important"
    " pages were not captured. May be given several times.",
)
@option("--top", type=click.IntRange(1, MOST), default=1000, help="Pages to list, best first.")
@replay_option
@option("--output", "page", type=OUTPUT, help="File to write, such as report.html.")
@json_option
@memory_option
@plain_progress_options
def report(
    work: Path,
    rankings: tuple[str, ...],
    older: Path | None,
    crawl_logs: tuple[Path, ...],
    top: int,
    replay: str | None,
    page: Path | None,
    output: Path | None,
    memory: Memory,
    progress: Progress,
) -> None:
    """The page is one file that works without a network, from a disk or out of a mail. It has
    what went in, damage, links, the graph, scores with their reasons, the important pages that the
    crawl has not, classes, hosts, and how the run went. A run that is not finished is shown as far
    as it is done.
    """
    from crawlrank.pipeline.analysis.report.html import report_page
    from crawlrank.pipeline.analysis.report.report import SCHEMA, ReportRequest
    from crawlrank.pipeline.analysis.report.report import report as reported
    from crawlrank.pipeline.workfolder.results.opened import temporary_database

    if page is None and output is None:
        raise click.UsageError("--output FILE is needed, or --json FILE")
    require_manifest(work)
    check_files(page, output, inputs=[*crawl_logs])
    names, left_out = _chosen(work, rankings)
    budget, prefix = memory.budget, replay or ""
    request = ReportRequest(work, names, older, top, budget, left_out, crawl_logs, prefix)
    with temporary_database(budget) as (db, near), consecutive(progress.reporter) as begin:
        document = reported(request, db, near, begin)
    write_json(SCHEMA, document, output)
    if page == STDOUT:
        click.echo(report_page(document), nl=False)
    elif page:
        page.parent.mkdir(parents=True, exist_ok=True)
        with replacing(page) as temporary:
            temporary.write_text(report_page(document), encoding="utf-8")
        if not progress.quiet:
            echo(printable(f"Written: {page} ({page.stat().st_size / 1e6:.1f} MB)"), err=True)


def _chosen(work: Path, rankings: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The rankings to show, and those that nobody asked for and that cannot be shown."""
    if rankings:
        return list(dict.fromkeys(rankings)), []
    usable, others = [OWN], list[str]()
    for label in labels(work):
        (usable if is_usable(work, label) else others).append(label)
    return usable, others
