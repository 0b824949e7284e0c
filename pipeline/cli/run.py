"""`run`: from archives, or from imported text, to a precedence file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from jobs.kernel.storage.endless import require_file
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.launcher import CLUSTERS, RUNNERS, out_of_reach
from pipeline import run as runs
from pipeline.cli.archive_arguments import run_archives_argument
from pipeline.cli.options import (
    extraction_options,
    jobs_option,
    keep_www_option,
    memory_option,
    nodes_option,
    precedence_options,
    rules_options,
    stop_options,
    work_option,
)
from pipeline.cli.parameter_types import Number
from pipeline.contract import EMBEDDED
from pipeline.options import CHECKS, RunOptions, ValidationOptions
from pipeline.progress import reporter
from pipeline.ranking.validation_report import ValidationFailed
from pipeline.terminal import console, printable
from pipeline.workfolder.imported import SELECT, steps_of
from pipeline.workfolder.manifest import Manifest

TOP = 10
_DATA = re.compile(r"(hdfs://[\w.:-]*|s3:/|file://)/[\w./=+@-]+\Z", re.ASCII)


def _is_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path:
        require_file(path)
    return path


@click.command()
@run_archives_argument
@work_option
@extraction_options()
@rules_options("--captures")
@keep_www_option
@nodes_option
@stop_options
@precedence_options
@click.option(
    "--validate/--no-validate", default=RunOptions.validate, help="Check the ranks against OPIC."
)
@click.option(
    "--min-agreement",
    type=Number(0, 1),
    default=ValidationOptions.min_agreement,
    show_default=True,
    help="Part of the pages that scores tell apart whose class must agree with OPIC's, or exit 4.",
)
@click.option("--strict", is_flag=True, help="Damage inside an archive is an error (exit 3).")
@click.option("--skip-bad-files", is_flag=True, help="Go on without unreadable archives.")
@click.option(
    "--force",
    is_flag=True,
    help="Accept other archives or options than the folder was made with; what they change is"
    " done again.",
)
@click.option(
    "--check-archives",
    type=click.Choice(CHECKS),
    default=RunOptions.check_archives,
    show_default=True,
    help="How a changed archive is noticed. quick: by size, time of change and pieces; all is read"
    " where the time is another. full: all is read of every archive.",
)
@click.option("--quiet", is_flag=True, help="Show no progress and no tables.")
@click.option(
    "--runner",
    type=click.Choice([EMBEDDED, *RUNNERS, *CLUSTERS]),
    default=RunOptions.runner,
    show_default=True,
    help="embedded: this process and a pool, the fastest on one machine; local and inline run"
    " the jobs of a cluster, as processes of this machine or in this process; hadoop, emr and"
    " spark run them there.",
)
@click.option(
    "--data",
    metavar="URL",
    help="Where the datasets of a cluster lie: a folder of its own, hdfs://, s3:// or file:///.",
)
@click.option(
    "--cluster-conf",
    "conf",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=_is_file,
    help="How tasks are run on the cluster, as `crawlrank package` writes an example of"
    " (default: the runner's own search, see docs).",
)
@click.option(
    "--reducers",
    type=click.IntRange(1, 4096),
    default=RunOptions.reducers,
    show_default=True,
    help="Reduce tasks of a job on a cluster.",
)
@jobs_option
@memory_option
def run(
    archives: tuple[Place, ...],
    work: Path,
    runner: str,
    data: str | None,
    min_agreement: float,
    quiet: bool,
    **asked: Any,
) -> None:
    """From ARCHIVES to a precedence file in the work folder.

    ARCHIVES: WARC, ARC, WAT and WACZ files, folders of them, globs in quotes, s3:// URLs of these.
    None in a work folder that `crawlrank import-text` has made: the run goes on from there.

    Run it again after an interruption, or with more archives: what is done is kept.
    """
    if not (archives or ((work / "manifest.json").exists() and Manifest(work).imported)):
        raise click.UsageError("Missing argument 'ARCHIVES...'.")
    validation = ValidationOptions(min_agreement=min_agreement)
    options = RunOptions(
        runner=runner, data=_data_url(runner, data), validation=validation, **asked
    )
    try:
        runs.run(work, archives, options, reporter(quiet))
    except ValidationFailed:
        if not quiet:
            _show_result(work, "was written, but its validation failed.")
        raise
    if not quiet:
        _show_result(work, "is ready for Heritrix.")


def _data_url(runner: str, data: str | None) -> str | None:
    """Where the datasets of a run lie that are not in its work folder. Raises UsageError."""
    if data is None:
        if runner in CLUSTERS:
            raise click.UsageError(f"--runner {runner} needs --data URL, where its datasets lie.")
        return None
    if runner == EMBEDDED:
        raise click.UsageError("--data is for the other runners; embedded works in --work.")
    if not _DATA.match(data) or ".." in data.split("/"):
        raise click.UsageError(
            f"--data {printable(data)}: a folder is needed, such as hdfs:///user/me/crawl or"
            " s3://bucket/crawl, of letters, digits and . _ - = + @ only."
        )
    if why := out_of_reach(runner, data):
        raise click.UsageError(f"--data {printable(data)}: {why}")
    return data.rstrip("/")


def _show_result(work: Path, said: str) -> None:
    from pipeline.precedence.caveats import VOID, caveats_in, caveats_table
    from pipeline.reports import best_table, damage_by_reason, selection_table, summary_table

    out, manifest = console(), Manifest(work)
    digits = manifest.steps["join-scores"]["parameters"]["digits"]
    out.print(best_table(work / "scores", TOP, digits))
    listed = "export-precedence" in steps_of(manifest, ["export-precedence"])
    if listed:
        out.print()
        out.print(summary_table(work / "precedence.summary.json"))
    if told := manifest.steps.get(SELECT):
        out.print()
        out.print(selection_table(told))
    if damage := damage_by_reason(manifest):
        total = sum(damage.values())
        out.print(f"\n{total:,} damaged places were passed over: see `crawlrank status`.")
    if told := manifest.steps.get("validate-opic"):
        out.print(f"\n{_opinion(told)}")
    if caveats := caveats_in(work, manifest):
        out.print()
        out.print(caveats_table(caveats))
        if any(caveat.kind in VOID for caveat in caveats):
            said = said.replace("is ready for Heritrix", "was written, but its order means nothing")
        said += " What limits it stands above."
    if listed:
        click.echo(f"\n{printable(str(work / 'precedence.txt'))} {said}")
    else:
        click.echo(
            f"\n{printable(str(work / 'scores'))} has the scores; without URIs there is no"
            " precedence file."
        )


def _opinion(told: dict[str, Any]) -> str:
    """What the step validate-opic says of the classes."""
    agreement, apart = told["agreement_apart"], told["nodes_apart"]
    if agreement is None:
        return "OPIC says nothing of the classes: scores tell no pages apart."
    pages = "one page that its score tells" if apart == 1 else f"{apart:,} pages that scores tell"
    return f"OPIC agrees on the class of {agreement:.2%} of the {pages} apart."
