"""`run`: from archives or imported text to a precedence file."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click

from crawlrank.jobs.kernel.archive.range_lists import IndexOfRanges
from crawlrank.jobs.kernel.archive.sources import has_archive_name
from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, RUNNERS, out_of_reach
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import STDOUT, check_files, print_counts, show, write_json
from crawlrank.pipeline.cli.parameters.archive_arguments import run_archives_argument
from crawlrank.pipeline.cli.parameters.groups import field_option, on_command_line, option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    anchor_text_option,
    extraction_options,
    jobs_option,
    method_option,
    min_agreement_option,
    nodes_option,
    precedence_options,
    rules_options,
    run_memory_option,
    run_work_option,
    skip_bad_files_option,
    stop_options,
    strict_option,
    titles_option,
    validators_option,
    words_around_option,
    www_options,
)
from crawlrank.pipeline.cli.parameters.progress_options import (
    Progress,
    invocation,
    progress_options,
)
from crawlrank.pipeline.cli.parameters.ranking_options import input_options, require_inputs
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.options import CHECKS, RunOptions
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of
from crawlrank.pipeline.ranking.methods import METHODS, method_of
from crawlrank.pipeline.ranking.options import ValidationOptions
from crawlrank.pipeline.ranking.validation.report import ValidationFailed
from crawlrank.pipeline.run import run as runs
from crawlrank.pipeline.run.run import engine_of
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.terminal import TextTable, printable
from crawlrank.pipeline.workfolder.manifest import SELECT, Manifest, steps_of
from crawlrank.pipeline.workfolder.received import Given, received

TOP = 10
ENGINE = "crawlrank.engine"  # where the context keeps what makes the engine, if it is another one
_DATA = re.compile(r"(hdfs://[\w.:-]*|s3:/|file://)/[\w./=+@-]+\Z", re.ASCII)


def _is_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path:
        require_file(path)
    return path


@command("run")
@run_archives_argument
@run_work_option
@extraction_options(validators_option, titles_option, anchor_text_option, words_around_option)
@rules_options("--captures")
@www_options
@nodes_option
@method_option
@input_options(combined=False)
@stop_options
@precedence_options
@click.option(
    "--validate/--no-validate",
    default=RunOptions.validate,
    help="Whether to compare the ranks with those of OPIC.",
)
@min_agreement_option
@strict_option
@skip_bad_files_option
@field_option(
    RunOptions,
    "force",
    "Accept archives and options that differ from those of the work folder; the steps that"
    " they change are done again.",
)
@field_option(
    RunOptions,
    "check_archives",
    "How to find changed archives. quick: by size, time and some pieces, and if the time"
    " differs by a full read; full: by a full read of each.",
    click.Choice(CHECKS),
)
@progress_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only estimate time, memory, disk and, for clusters, node-hours, from a sample of the"
    " archives. Nothing is written into --work.",
)
@click.option(
    "--json",
    "output",
    type=OUTPUT,
    help="With --dry-run: also write the estimate as JSON; `-`: to standard output, alone.",
)
@field_option(
    RunOptions,
    "runner",
    "embedded: this process and a pool of others, the fastest on one machine; local, inline:"
    " the jobs of a cluster, in processes here or in this one; hadoop, emr, spark: on that"
    " cluster.",
    click.Choice([EMBEDDED, *RUNNERS, *CLUSTERS]),
)
@option(
    "--data",
    metavar="URL",
    help="On a cluster: folder for the datasets of this run alone, hdfs://, s3:// or file:///.",
)
@option(
    "--cluster-conf",
    "conf",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=_is_file,
    help="Configuration of the cluster's tasks; `crawlrank cluster package` writes an"
    " example (default: the runner searches for one, see docs).",
)
@field_option(
    RunOptions,
    "reducers",
    "On a cluster: reduce tasks of each job (default: by the size of what it reads).",
    click.IntRange(1, 4096),
)
@jobs_option
@run_memory_option
def run(
    archives: tuple[Given, ...],
    work: Path,
    runner: str,
    data: str | None,
    min_agreement: float,
    progress: Progress,
    dry_run: bool,
    output: Path | None,
    **values: Any,
) -> None:
    """ARCHIVES: WARC, ARC, WAT and WACZ files, folders of them, globs in quotes, s3:// and https://
    URLs; - for standard input; multi-WACZ (JSON); CDX and CDXJ indexes, for captures alone. Or a
    graph: an edge list, Parquet, GraphML, GEXF, Matrix Market, BVGraph. Give none for a work folder
    of `crawlrank step import-text`: the run continues from there.

    Run it again after an interruption, or with more archives: finished work is kept.
    """
    method = METHODS[values["method"]]
    require_inputs(method, values["inputs"], runner)
    if not method.runs_on(runner):
        raise click.UsageError(f"--method {values['method']} is for --runner {EMBEDDED}.")
    if not (archives or ((work / "manifest.json").exists() and Manifest(work).imported)):
        raise click.UsageError("Missing argument 'ARCHIVES...'.")
    _require_effect(runner, data, validate=values["validate"], json=bool(output) and not dry_run)
    validation = ValidationOptions(min_agreement=min_agreement)
    options = RunOptions(
        runner=runner, data=_data_url(runner, data), validation=validation, **values
    )
    if graphs := _graphs(archives):
        _import(graphs, archives, work, options, dry_run=dry_run, progress=progress)
        archives = ()
    if dry_run:
        _estimate(archives, work, options, output, progress)
        return
    _run(archives, work, options, progress)


def _graphs(archives: tuple[Given, ...]) -> list[Path]:
    """The files that are graphs. What has the name of an archive is not opened."""
    paths = [each for each in archives if isinstance(each, Path)]
    others = [path for path in paths if not has_archive_name(path.name)]
    if not others:
        return []
    from crawlrank.pipeline.engines.embedded.graph_files.recognition import form_of

    return [path for path in others if form_of(path)]


def _import(
    graphs: list[Path],
    archives: tuple[Given, ...],
    work: Path,
    options: RunOptions,
    *,
    dry_run: bool,
    progress: Progress,
) -> None:
    """Make the work folder of the graph, from which the run continues."""
    from crawlrank.pipeline.engines.embedded.graph_files.import_graph_files import import_graph

    if len(graphs) < len(archives):
        other = next(each for each in archives if each not in graphs)
        raise click.UsageError(f"{graphs[0]} is a graph, {other} is none: give one or the other")
    if dry_run or options.runner != EMBEDDED:
        given = "--dry-run" if dry_run else f"--runner {options.runner}"
        raise click.UsageError(f"{given} is for archives, and {graphs[0]} is a graph")
    memory = options.memory or half_of_machine()
    threads = at_a_time(options.processes)
    imported = import_graph(work, graphs, www=options.www, budget=memory.budget, threads=threads)
    if imported and progress.tables:
        print_counts(imported.rows, imported.counters)


def _run(archives: tuple[Given, ...], work: Path, options: RunOptions, progress: Progress) -> None:
    """Do it, and show the result, also one whose validation failed."""
    make_engine = click.get_current_context().meta.get(ENGINE, engine_of)
    try:
        runs.run(work, archives, options, progress.reporter, invocation(), make_engine)
    except ValidationFailed:
        if progress.tables:
            show_result(work, validated=False)
        raise
    if progress.tables:
        show_result(work, validated=True)


def _require_effect(runner: str, data: str | None, *, validate: bool, json: bool) -> None:
    """Raises UsageError for options that this run would not heed. json: of no estimate."""
    if json:
        raise click.UsageError("--json goes with --dry-run; a run's figures: `crawlrank status`.")
    if not validate and on_command_line("min_agreement"):
        raise click.UsageError("--min-agreement is of the validation, which --no-validate omits.")
    if not data and on_command_line("reducers"):
        raise click.UsageError(
            f"--reducers is for runs with --data; --runner {runner} shares out work by --jobs."
        )


def _estimate(
    archives: tuple[Given, ...],
    work: Path,
    options: RunOptions,
    output: Path | None,
    progress: Progress,
) -> None:
    """Print what the run takes, and write it as JSON. Nothing is written into the work folder."""
    from crawlrank.pipeline.estimate import report  # loads both engines
    from crawlrank.pipeline.estimate.estimate import estimate

    if not archives:
        raise click.UsageError("--dry-run takes a sample of ARCHIVES, and none is given.")
    if any(isinstance(archive, IndexOfRanges) for archive in archives):
        raise click.UsageError("--dry-run takes a sample of archives, not records of an index.")
    with temporary_folder() as folder:
        files = received(archives, folder, folder, progress.reporter.note)
        check_files(output, inputs=files)
        result = estimate(files, options, progress.reporter)
    show([report.estimate_table(result)], output)
    for sentence in () if output == STDOUT else report.sentences(result, work):
        click.echo(sentence)
    write_json(report.SCHEMA, report.estimate_document(result, work), output)


def _data_url(runner: str, data: str | None) -> str | None:
    """The URL of datasets that are not in the work folder. Raises UsageError."""
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


def show_result(work: Path, *, validated: bool) -> None:
    from crawlrank.pipeline.precedence.caveats import VOID, caveats_in, caveats_table
    from crawlrank.pipeline.run.reports import damage_by_reason, selection_table, summary_table

    manifest = Manifest(work)
    digits = manifest.steps["join-scores"]["parameters"]["digits"]
    bounds = bounds_of(manifest.steps["page-rank"]["rounds"][-1])
    parts: list[TextTable | str] = [_best(work, digits, bounds)]
    listed = "export-precedence" in steps_of(manifest, ["export-precedence"])
    if listed:
        parts.append(summary_table(work / "precedence.summary.json", bounds))
    if entry := manifest.steps.get(SELECT):
        parts.append(selection_table(entry))
    if damaged := sum(damage_by_reason(manifest).values()):
        places = count_of(damaged, "damaged place")
        parts.append(f"{places} passed over: see `crawlrank status`.")
    if entry := manifest.steps.get("validate-opic"):
        parts.append(_agreement(entry))
    outcome = "is ready for Heritrix." if validated else "was written, but its validation failed."
    if caveats := caveats_in(work, manifest):
        parts.append(caveats_table(caveats))
        if validated and any(caveat.kind in VOID for caveat in caveats):
            outcome = "was written, but its order means nothing."
        outcome += " Its limits are listed above."
    show(parts)
    if listed:
        click.echo(f"{printable(str(work / 'precedence.txt'))} {outcome}")
    else:
        scores = printable(str(work / "scores"))
        click.echo(f"{scores} has the scores; without URIs there is no precedence file.")
    folder = printable(shlex.quote(str(work)))
    page = printable(shlex.quote(str(work / "report.html")))
    click.echo(f"As a page for your browser: crawlrank report {folder} --output {page}")


def _best(work: Path, digits: int, bounds: Bounds) -> TextTable:
    """The best pages, or the best sites where these are ranked."""
    if method_of(Manifest(work).parameters).of_sites:
        from crawlrank.pipeline.analysis.host_table import best_sites, read_sites

        return best_sites(read_sites(work), TOP, bounds)
    from crawlrank.pipeline.run.reports import best_table

    return best_table(work / "scores", TOP, digits, bounds)


def _agreement(entry: dict[str, Any]) -> str:
    """What the step validate-opic has found about the classes."""
    agreement, pages = entry["agreement_apart"], entry["nodes_apart"]
    if not pages:
        return "OPIC cannot check the classes: scores tell no pages apart."
    undecided = entry.get("nodes_open", 0)  # folders of earlier versions have none
    if agreement is None:
        return f"OPIC leaves the classes of all {count_of(pages, 'page')} open."
    proved = f"{count_of(pages - undecided, 'page')} whose class it proves"
    return f"OPIC gives the same class to {agreement:.2%} of {proved}; {undecided:,} are open."
