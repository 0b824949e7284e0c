"""`status`: the contents of a work folder, and whether they are what a run has written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import STDOUT, json_option, show, verbose_option, write_json
from crawlrank.pipeline.cli.parameters.groups import option
from crawlrank.pipeline.cli.parameters.options import ranked_work_option
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.workfolder.manifest import Manifest, require_manifest, steps_of

if TYPE_CHECKING:
    from crawlrank.pipeline.workfolder.results.dataset_folders import Checked


@command("status")
@ranked_work_option
@click.option(
    "--check",
    is_flag=True,
    help="Instead, read all files and compare their sizes and digests with those that the run has"
    " written; exit 3 if one differs. `run` with the same options makes it again.",
)
@option(
    "--check-archives",
    type=click.Choice(["full"]),
    help="full: with --check, also read the archives, at the paths from which they were extracted.",
)
@json_option
@verbose_option
def status(
    work: Path, check: bool, check_archives: str | None, output: Path | None, verbose: bool
) -> None:
    """Also shows the command of the last run, archives, and files whose size is not what the run
    has written. While a run is at work, another terminal shows its step, the part that is done, its
    process, the time that it took and the time that is left.
    """
    if check:
        if output or verbose:
            raise click.UsageError("--check goes without --json and --verbose")
        _check(work, archives=check_archives == "full")
        return
    if check_archives:
        raise click.UsageError("--check-archives goes with --check")
    _show_status(work, output, verbose)


def _show_status(work: Path, output: Path | None, verbose: bool) -> None:
    from crawlrank.pipeline.precedence.caveats import caveats_in, caveats_table
    from crawlrank.pipeline.progress.run_state import note_begun, run_state, state_lines
    from crawlrank.pipeline.run.reports import (
        SCHEMA,
        rankings_table,
        status_document,
        status_tables,
    )
    from crawlrank.pipeline.steps import STEPS

    run = run_state(work)
    manifest = Manifest(work) if run.runs else require_manifest(work)
    faults, unchecked = _faults(work, manifest, running=run.runs)
    note_begun(manifest, run)
    names = steps_of(manifest, list(STEPS))
    document = status_document(work, manifest, run, names, faults)
    write_json(SCHEMA, document, output)
    if output == STDOUT:
        return
    for line in (*state_lines(run), ""):
        click.echo(printable(line))
    caveats = [caveats_table(caveats_in(work, manifest))] if manifest.steps else []
    tables = status_tables(manifest, names, faults, verbose=verbose)
    show([*tables, rankings_table(work), *caveats])
    if unchecked:
        click.echo(printable(unchecked))


def _faults(work: Path, manifest: Manifest, *, running: bool) -> tuple[list[Checked], str]:
    """Datasets that are not what their step has written, and why others were not looked at.
    running: the run may be changing some, whose steps are no longer in the manifest then."""
    from crawlrank.pipeline.workfolder.results.dataset_folders import checked

    faults, unchecked = list["Checked"](), ""
    try:
        faults += (result for result in checked(work, manifest, digests=False) if result.fault)
    except (OSError, RuntimeError) as error:  # clients of stores raise both
        data, reason = manifest.parameters.get("--data"), str(error).partition("\n")[0]
        unchecked = f"The datasets at {data} were not checked: {reason}"
    if faults and running:
        now = Manifest(work).steps
        faults = [each for each in faults if now.get(each.step) == manifest.steps.get(each.step)]
    return faults, unchecked


def _check(work: Path, *, archives: bool) -> None:
    """Show the sizes and digests of all files. Raises BadInput for the first one that is wrong."""
    from crawlrank.pipeline.run.reports import checked_table
    from crawlrank.pipeline.workfolder.results.dataset_folders import (
        checked,
        checked_archives,
        damaged,
    )

    manifest = require_manifest(work)
    results = list(checked(work, manifest, digests=True))
    if archives:
        results += checked_archives(manifest)
    show([checked_table(results)])
    for result in results:
        if result.fault:
            raise damaged(work, manifest, result)
