"""`export-precedence`: the pages of a ranking, for Heritrix, other crawlers and people."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.keys.keys import www_rule
from crawlrank.jobs.kernel.storage.binary_files import require_text
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.outputs import STDOUT, check_ending, check_files, print_counts
from crawlrank.pipeline.cli.parameters.filters import filter_options, require_sources
from crawlrank.pipeline.cli.parameters.groups import option
from crawlrank.pipeline.cli.parameters.options import (
    OUTPUT,
    digits_option,
    precedence_options,
    ranking_option,
    report_option,
)
from crawlrank.pipeline.cli.parameters.types import Number
from crawlrank.pipeline.precedence import lint
from crawlrank.pipeline.precedence.filters import Filter, PageFilters, conditions
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.page_table import RankedPages, Taken
from crawlrank.pipeline.precedence.score_formats import BINARY, FORMATS
from crawlrank.pipeline.run.rank_report import read_rank_report
from crawlrank.pipeline.steps import BEANS
from crawlrank.pipeline.terminal import TextTable, printable, width_of
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.rankings import ranking_folder
from crawlrank.pipeline.workfolder.results.scores_of_work import ScoresAndUris, scores_of_work
from crawlrank.pipeline.workfolder.work_folder import refuse_own_file

ENDINGS = ("csv", "jsonl", "parquet")  # that name a format; others say nothing
SHOWN = 20  # findings of a kind


@command("export-precedence")
@click.argument("scores", required=False)
@option(
    "--work", type=OUTPUT, help="Take scores, URIs and error bound of this finished run instead."
)
@ranking_option
@option("--uris", help="Spellings of each key; without them the URIs of the scores are listed.")
@option("--output", type=OUTPUT, help="File to write; `-`: standard output.")
@option(
    "--format",
    "form",
    type=click.Choice(["heritrix", *FORMATS]),
    default="heritrix",
    help="heritrix: the file that Heritrix loads, `URI precedence`. Others have a line for each"
    " page, best first. csv, jsonl, parquet: its URI, score, class, status and more; seeds: URIs"
    " alone; nutch: seeds with scores for `nutch inject`; browsertrix: seeds and scope, by class.",
)
@filter_options
@precedence_options
@option("--eta", type=Number(0), help="Error bound of a score (default: from --report).")
@digits_option
@report_option
@option(
    "--lint", "lint_file", type=OUTPUT, help="Check this precedence file instead of writing one."
)
def export_precedence(
    scores: str | None,
    work: Path | None,
    ranking: str | None,
    uris: str | None,
    output: Path | None,
    form: str,
    filters: PageFilters,
    lint_file: Path | None,
    precedence: PrecedenceOptions,
    eta: float | None,
    digits: int | None,
    report: Path | None,
) -> None:
    """Writes next to OUTPUT its summary (.summary.json) and crawler-beans-fragment.xml, the beans
    with which Heritrix uses it. With another --format, writes only OUTPUT. Filters such as --status
    take a part of the pages, and never change the class of one.
    """
    _check_sources({"SCORES": scores, "--work": work, "--lint": lint_file}, output)
    if lint_file:
        check_precedence_file(lint_file)
        return
    assert output is not None
    _check_usage(form, output, of_work=bool(uris or report) if work else bool(ranking))
    require_sources(filters, work=bool(work), uris=bool(uris))
    check_files(output, inputs=[scores, *([uris] if uris else [])] if scores else [])
    if form == "heritrix" and output != STDOUT:  # whose beans go beside it
        refuse_own_file(output.with_name(BEANS), [work] if work else [])
    folder = ranking_folder(work, ranking) if work else None
    with temporary_folder() as tmp:
        source = scores_of_work(folder, tmp) if folder else _given(scores, uris, report)
        bounds = source.bounds if eta is None else None
        options = replace(
            precedence,
            eta=eta if bounds is None else bounds.eta,
            absolute=math.inf if bounds is None else bounds.absolute,
            digits=source.digits if digits is None else digits,
        )
        ranked = RankedPages(source.scores, source.uris, folder)
        _write(ranked, output, options, form, filters)


def _check_sources(sources: dict[str, object], output: Path | None) -> None:
    """Refuse what is too much or missing, by name."""
    given = [name for name, value in sources.items() if value]
    if not given:
        raise click.UsageError("one of SCORES, --work DIR and --lint FILE is needed")
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other: give one of them")
    if given == ["--lint"] and output is not None:
        raise click.UsageError("--lint only checks a file, and goes without --output")
    if given != ["--lint"] and output is None:
        raise click.UsageError("--output FILE is needed, the file to write")


def _given(scores: str | None, uris: str | None, report: Path | None) -> ScoresAndUris:
    digits, bounds = read_rank_report(report) if report else (DIGITS, None)
    return ScoresAndUris(Path(scores or ""), Path(uris) if uris else None, digits, bounds)


def _check_usage(form: str, output: Path, *, of_work: bool) -> None:
    """of_work: whether options are given that do not go with the source of the scores."""
    check_ending(output, ENDINGS, form, "--format")
    if form != "heritrix":
        _require_heritrix(form, "unlisted", "spellings", "aliases")
    if of_work:
        raise click.UsageError("--uris and --report go with SCORES, --ranking with --work")
    if output == STDOUT and form in BINARY and sys.stdout.isatty():
        raise click.UsageError(f"{form} is not for a terminal: name a file, or a pipe behind it")


def _write(
    ranked: RankedPages, output: Path, options: PrecedenceOptions, form: str, filters: PageFilters
) -> None:
    """Write the output, and show the counts of what was written."""
    www = www_rule(require_manifest(ranked.work).parameters if ranked.work else {})
    chosen = conditions(filters, www=www)
    near = None
    if output != STDOUT:
        near = output.parent
        near.mkdir(parents=True, exist_ok=True)
    with temporary_folder(near) as name:
        tmp = name
        if form == "heritrix":
            counts, taken = _heritrix(ranked, output, tmp, options, filters, chosen)
        else:
            from crawlrank.pipeline.precedence.export_scores import export_scores

            written = export_scores(ranked, output, tmp, options, form, filters, chosen)
            left = {f"left out: {reason}": n for reason, n in written.left_out.items() if n}
            counts = {
                "pages": written.pages,
                "pages without a score": written.without_score,
                **left,
            }
            taken = written.taken
    _show_taken(taken)
    print_counts(counts, {})


def _heritrix(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    filters: PageFilters,
    chosen: list[Filter],
) -> tuple[dict[str, int], Taken]:
    if filters.any:
        from crawlrank.pipeline.precedence.export_scores import export_filtered_precedence

        summary, taken = export_filtered_precedence(ranked, output, tmp, options, filters, chosen)
    else:
        from crawlrank.pipeline.precedence import export

        summary = export.export_precedence(ranked.scores, ranked.uris, output, tmp, options)
        taken = Taken()
    return {"precedence": summary.uris}, taken


def _show_taken(taken: Taken) -> None:
    """What each filter left, on standard error as all that is no output."""
    if not taken.rows:
        return
    table = TextTable(
        f"pages taken of {taken.pages:,}", "=filter", ">leaves", ">with those before it"
    )
    for row in taken.rows:
        table.add(*row)
    click.echo("\n".join([*table.lines(width_of(sys.stderr)), ""]), err=True)


def _require_heritrix(form: str, *names: str) -> None:
    """Refuse options that only the format heritrix has."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            spelled = name.replace("_", "-")
            raise click.UsageError(f"--{spelled} goes with --format heritrix, not with {form}")


def check_precedence_file(path: Path) -> None:
    """Print what Heritrix's PrecedenceLoader does with the file. Raises BadInput for errors."""
    expected = "a precedence file: lines of text with a URI and a number"
    require_text(path, expected, inflated=True)  # lint itself has a finding for gzip
    summary = lint.LintSummary()
    for finding in lint.lint(path, summary):
        if summary.problems[finding.problem] > SHOWN:
            continue
        position = f"line {finding.line}" if finding.line else "file"
        message = f"{position}: {finding.severity}: {finding.problem}: {finding.text}"
        click.echo(printable(message))
        click.echo(f"    {finding.consequence}")
        click.echo(f"    {finding.cure}")
    for problem, count in summary.problems.items():
        if count > SHOWN:
            click.echo(printable(f"… and {count - SHOWN:,} more: {problem}"))
    lines = count_of(summary.lines, "line")
    if not summary.accepted:
        click.echo(
            f"{lines}; nothing of them is stored, as the loader stops. {summary.entries:,} would"
            " load without the others."
        )
    else:
        click.echo(f"{lines}, {summary.entries:,} of them load")
    if summary.errors:
        outcome = "it loads, not all as meant" if summary.accepted else "Heritrix loads none of it"
        raise BadInput(
            str(path),
            f"has {count_of(summary.errors, 'error')}; {outcome}",
            "no error",
            "Each finding above says how to mend it.",
        )
