"""`status`, `check` and `plot`: a work folder as it is."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.options import OUTPUT, work_option
from pipeline.terminal import console, printable
from pipeline.workfolder.imported import steps_of
from pipeline.workfolder.manifest import require_manifest


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
