"""`plan`: how often to fetch each page from now on."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.temporary import output_folder, temporary_folder
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import json_option, show, write_json
from crawlrank.pipeline.cli.parameters.groups import field_option, grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT, memory_option, ranking_option
from crawlrank.pipeline.cli.parameters.types import Budget, Days, Moment
from crawlrank.pipeline.cli.parameters.words import WorkOption
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.options import PlanOptions
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.rankings import ranking_folder
from crawlrank.pipeline.workfolder.work_folder import refuse_own_file

FORMS = ("csv", "jsonl", "parquet", "nutch")

plan_options = grouped(
    "options",
    PlanOptions,
    option("--budget", type=Budget(), required=True, metavar="N/UNIT",
           help="Fetches that the crawler can do, such as 5000/day or 100/hour."),
    field_option(PlanOptions, "horizon", "How far to plan: 90d, 12w, 36h.", Days()),
    field_option(PlanOptions, "due", "The precedence file has the pages due in this time.", Days()),
    field_option(
        PlanOptions,
        "objective",
        "What is best. regular: copies are fresh for most of the time, fetched at equal intervals;"
        " random: the same, fetched at random; harmonic: no page is left out.",
        click.Choice(["regular", "random", "harmonic"]),
    ),
    field_option(
        PlanOptions, "shortest_interval", "No page is fetched again before this time.", Days()
    ),
)  # fmt: skip


@command("plan")
@option(
    "--work",
    "works",
    cls=WorkOption,
    type=OUTPUT,
    multiple=True,
    required=True,
    help="Work folder of a finished run; once for each crawl, the oldest first.",
)
@ranking_option
@plan_options
@option("--from", "begin", type=Moment(), help="When the plan begins (default: now).")
@option(
    "--format",
    "forms",
    type=click.Choice(FORMS),
    multiple=True,
    default=("csv",),
    help="Form of the schedule; may be given several times.",
)
@option("--output", "folder", type=OUTPUT, required=True, help="Folder for the plan.")
@memory_option
@json_option
def plan(
    works: tuple[Path, ...],
    ranking: str | None,
    options: PlanOptions,
    begin: datetime | None,
    forms: tuple[str, ...],
    folder: Path,
    memory: Memory,
    output: Path | None,
) -> None:  # fmt: skip
    """Rates of changes come from what several crawls saw, values from the scores of the last one.
    Writes the schedule, and the precedence file of what is due, with its beans.
    """
    from crawlrank.pipeline.planning.make import make_plan

    if options.due > options.horizon:
        raise click.UsageError("--due is longer than --horizon, within which fetches have dates")
    if folder.exists() and not folder.is_dir():
        raise BadInput(str(folder), "a file", "a folder", "Name a folder.")
    refuse_own_file(folder / "precedence.txt", works)
    now = begin or datetime.now(timezone.utc)
    ranked = ranking_folder(works[-1], ranking)
    with output_folder(folder), temporary_folder(folder) as tmp:
        report, files = make_plan(works, ranked, options, now, forms, folder, tmp, memory.budget)
    show(report.tables(), output)
    if output != Path("-"):
        for remark in report.remarks():
            click.echo(printable(remark))
        for path in files:
            click.echo(printable(f"Written: {path}"))
    write_json("crawlrank-plan/1", report.data(), output)
