"""Commands that use scores: the precedence file, its check, the validation by OPIC, sites."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource

from jobs.kernel.errors import BadInput, count_of
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.storage.binary_files import require_text
from pipeline.cli.commands import command
from pipeline.cli.outputs import check_files, print_counts, show, verbose_option
from pipeline.cli.parameters.groups import field_option, option
from pipeline.cli.parameters.options import (
    OUTPUT,
    digits_option,
    min_agreement_option,
    output_option,
    precedence_options,
    ranked_work_option,
    ranking_option,
    report_option,
    ties_option,
)
from pipeline.cli.parameters.types import Number
from pipeline.options import (
    MAX_BINS,
    ClassesOver,
    PrecedenceOptions,
    ValidationOptions,
)
from pipeline.precedence import lint
from pipeline.precedence.score_formats import FORMATS
from pipeline.rank_report import read_rank_report
from pipeline.reports import write_report
from pipeline.scores_of_work import ScoresAndUris, scores_of_work
from pipeline.terminal import printable
from pipeline.workfolder.rankings import ranking_folder

VALIDATION = ValidationOptions()


@command("export-precedence")
@click.argument("scores", required=False)
@option(
    "--work", type=OUTPUT, help="Take scores, URIs and error bound of this finished run instead."
)
@ranking_option
@option("--uris", help="Spellings of each key; without them the URIs of the scores are listed.")
@option("--output", type=OUTPUT, help="Precedence file to write, `URI precedence`.")
@option(
    "--format",
    "form",
    type=click.Choice(["heritrix", *FORMATS]),
    default="heritrix",
    help="heritrix: the file that Heritrix loads. For other crawlers, a line for each page, best"
    " first: nutch: seeds with scores for `nutch inject`; csv, jsonl: url, score, class, position,"
    " key and captures.",
)
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
    lint_file: Path | None,
    precedence: PrecedenceOptions,
    eta: float | None,
    digits: int | None,
    report: Path | None,
) -> None:
    """Writes next to OUTPUT its summary (.summary.json) and crawler-beans-fragment.xml, the beans
    with which Heritrix uses it. With another --format, writes only OUTPUT, for other crawlers.
    """
    sources = [name for name in (scores, work, lint_file) if name]
    if len(sources) != 1 or (output is None) != (lint_file is not None):
        raise click.UsageError("SCORES or --work, and --output, are needed, or --lint FILE alone")
    if lint_file:
        check_precedence_file(lint_file)
        return
    assert output is not None  # or lint_file would have been needed
    if form != "heritrix":
        _require_heritrix(form, "unlisted", "spellings", "aliases")
    if (uris or report) if work else ranking:
        raise click.UsageError("--uris and --report go with SCORES, --ranking with --work")
    check_files(output, inputs=[scores, *([uris] if uris else [])] if scores else [])
    with tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp:
        if work:
            source = scores_of_work(ranking_folder(work, ranking), Path(tmp))
        else:
            known = read_rank_report(report) if report else (None, DIGITS)
            source = ScoresAndUris(Path(scores or ""), Path(uris) if uris else None, *known)
        options = replace(
            precedence,
            eta=source.eta if eta is None else eta,
            digits=source.digits if digits is None else digits,
        )
        print_counts(_written(source.scores, source.uris, output, options, form), {})


def _written(
    scores: Path, uris: Path | None, output: Path, options: PrecedenceOptions, form: str
) -> dict[str, int]:
    """Write the output; the counts of what was written."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".crawlrank-", dir=output.parent) as tmp:
        if form == "heritrix":
            from pipeline.precedence import export

            summary = export.export_precedence(scores, uris, output, Path(tmp), options)
            return {"precedence": summary.uris}
        from pipeline.precedence.export_scores import export_scores

        return asdict(export_scores(scores, uris, output, Path(tmp), options, form))


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
        position = f"line {finding.line}" if finding.line else "file"
        message = f"{position}: {finding.severity}: {finding.problem}: {finding.text}"
        click.echo(printable(message))
        click.echo(f"    {finding.consequence}")
        click.echo(f"    {finding.cure}")
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


@command("validate-opic")
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
@field_option(VALIDATION, "seed", "Seed of the random policy.", click.IntRange(0))
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
    from pipeline.data.graph import read_graph
    from pipeline.precedence.captured import captured_columns
    from pipeline.ranking.validation import validate
    from pipeline.ranking.validation_report import tables

    known = uris is not None and bool(maps)
    if not known and (uris or maps or classes_over == "captured"):
        raise click.UsageError("--uris and --map are needed to know which pages were captured")
    pages, captured, preferred = read_graph(graph), None, None
    if uris is not None and (classes_over != "all" or options["ties"] == "links"):
        with tempfile.TemporaryDirectory(prefix="crawlrank-") as tmp:
            weighed = options["ties"] == "links"
            captured, preferred = captured_columns(pages, uris, maps, Path(tmp), weighed=weighed)
    validation = ValidationOptions(**options, classes_over=classes_over or "captured")
    report = validate(pages, read_graph(ranks), validation, captured=captured, preferred=preferred)
    write_report(report, output)
    show(tables(report, verbose=verbose))
    report.require()


@command("export-sites")
@ranked_work_option
@option("--output", type=OUTPUT, required=True, help="File to write: .csv, .tsv or .parquet.")
def export_sites(work: Path, output: Path) -> None:
    """The columns are position, class, site, pages, links_in, links_out, sites_in, sites_out, score
    and share; docs/site.md says what they mean."""
    from pipeline.analysis.sites.files import require_form, write_sites_file
    from pipeline.analysis.sites.table import read_sites

    require_form(output)
    check_files(output, inputs=[])
    rows = read_sites(work)
    write_sites_file(rows, output)
    print_counts({"sites": len(rows)}, {})
