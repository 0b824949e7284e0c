"""`run`, `status`, `check` and `plot`: a work folder as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from jobs.kernel.captures.extraction import Options
from jobs.kernel.storage.opening import Place
from pipeline.cli.options import (
    LATEST,
    OUTPUT,
    check_archives_option,
    class_options,
    data_url,
    extraction_options,
    fold_option,
    keep_www_option,
    make_rules,
    make_stop,
    nodes_option,
    run_archives_argument,
    run_options,
    stop_options,
    work_option,
)
from pipeline.cli.parameter_types import Number
from pipeline.data.memory import Memory
from pipeline.precedence.export import Options as PrecedenceOptions
from pipeline.progress import reporter
from pipeline.ranking.classes import Ties
from pipeline.terminal import console, printable
from pipeline.workfolder.imported import SELECT, steps_of
from pipeline.workfolder.manifest import Manifest, require_manifest

TOP = 10


@click.command()
@run_archives_argument
@work_option
@extraction_options
@click.option(
    "--captures",
    type=click.Choice(["union", "latest"]),
    default="union",
    show_default=True,
    help=LATEST,
)
@fold_option
@keep_www_option
@nodes_option
@stop_options
@class_options
@click.option("--validate/--no-validate", default=True, help="Check the ranks against OPIC.")
@click.option(
    "--min-agreement",
    type=Number(0, 1),
    default=0.99,
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
@check_archives_option
@click.option("--quiet", is_flag=True, help="Show no progress and no tables.")
@run_options
def run(
    archives: tuple[Place, ...],
    work: Path,
    options: Options,
    captures: str,
    folds: tuple[str, ...],
    keep_www: bool,
    nodes: str,
    iterations: int | None,
    tolerance: float | None,
    max_rounds: int,
    bins: int,
    unlisted: int | None,
    classes_over: str,
    ties: Ties,
    spellings: str,
    validate: bool,
    min_agreement: float,
    strict: bool,
    skip_bad_files: bool,
    force: bool,
    check_archives: str,
    quiet: bool,
    runner: str,
    data: str | None,
    conf: Path | None,
    reducers: int,
    processes: int | None,
    memory: Memory | None,
) -> None:
    """From ARCHIVES to a precedence file in the work folder.

    ARCHIVES: WARC, ARC, WAT and WACZ files, folders of them, globs in quotes, s3:// URLs of these.
    None in a work folder that `crawlrank import-text` has made: the run goes on from there.

    Run it again after an interruption, or with more archives: what is done is kept.
    """
    from pipeline import run as runs
    from pipeline.ranking.validation_report import ValidationFailed, ValidationOptions
    from pipeline.run_options import RunOptions

    if not (archives or ((work / "manifest.json").exists() and Manifest(work).imported)):
        raise click.UsageError("Missing argument 'ARCHIVES...'.")
    precedence = PrecedenceOptions(bins, unlisted, classes_over, ties, spellings)  # type: ignore[arg-type]
    asked = RunOptions(
        runner=runner,
        processes=processes,
        memory=memory,
        data=data_url(runner, data),
        reducers=reducers,
        conf=conf,
        extraction=options,
        rules=make_rules(captures, folds),
        keep_www=keep_www,
        nodes=nodes,
        stop=make_stop(iterations, tolerance, max_rounds, runner),
        precedence=precedence,
        validation=ValidationOptions(min_agreement=min_agreement),
        validate=validate,
        strict=strict,
        skip_bad_files=skip_bad_files,
        force=force,
        check_archives=check_archives,
    )
    try:
        runs.run(work, archives, asked, reporter(quiet))
    except ValidationFailed:
        if not quiet:
            _show_result(work, "was written, but its validation failed.")
        raise
    if not quiet:
        _show_result(work, "is ready for Heritrix.")


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


@click.command()
@work_option
def status(work: Path) -> None:
    """Steps, rows, rounds, archives and damage of a work folder."""
    from pipeline.contract import STEPS
    from pipeline.precedence.caveats import caveats_in, caveats_table
    from pipeline.reports import status_tables
    from pipeline.workfolder.integrity import Checked, checked

    out, manifest = console(), require_manifest(work)
    faults, unseen = list[Checked](), ""
    try:
        faults += (result for result in checked(work, manifest, digests=False) if result.fault)
    except (OSError, RuntimeError) as error:  # clients of stores raise both
        data, said = manifest.parameters.get("--data"), str(error).partition("\n")[0]
        unseen = f"What lies at {data} was not looked at: {said}"
    for table in status_tables(manifest, steps_of(manifest, list(STEPS)), faults):
        out.print(table)
        out.print()
    if caveats := caveats_in(work, manifest):
        out.print(caveats_table(caveats))
        out.print()
    if unseen:
        click.echo(printable(unseen))


@click.command()
@work_option
@click.option(
    "--check-archives",
    type=click.Choice(["full"]),
    help="full: also read the archives, where they were when they were extracted.",
)
def check(work: Path, check_archives: str | None) -> None:
    """Compare every dataset of a work folder with the sizes and digests in its manifest.

    All files are read. `run` itself compares sizes, the digests of what it reads, and those of
    scores, precedence file and report. Exit 3 where something is not as it was left; `run` with the
    same options makes it again.
    """
    from pipeline.reports import checked_table
    from pipeline.workfolder.integrity import checked, checked_archives, damaged

    manifest = require_manifest(work)
    results = list(checked(work, manifest, digests=True))
    if check_archives:
        results += checked_archives(manifest)
    console().print(checked_table(results))
    for result in results:
        if result.fault:
            raise damaged(work, manifest, result)


@click.command()
@work_option
@click.option(
    "--out", type=OUTPUT, help="Folder for the pictures (default: plots in the work folder)."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["png", "svg"]),
    default="png",
    show_default=True,
    help="Of pixels, or of lines that stay sharp at any size.",
)
def plot(work: Path, out: Path | None, form: str) -> None:
    """Pictures of a finished run: distribution of scores, rank against indegree, classes by host.

    Needs matplotlib: pip install 'crawlrank[plot]'.
    """
    from pipeline.analysis.plots import plots

    try:
        written = plots.plot(work, out or work / "plots", form)
    except plots.NoMatplotlib as error:
        raise click.UsageError(str(error)) from error
    for path in written:
        click.echo(printable(str(path)))


COMMANDS = (run, status, check, plot)
