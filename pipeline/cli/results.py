"""What is made of scores: the precedence file, its check, and the validation by OPIC."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast, get_args

import click
from click.core import ParameterSource

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.order import DIGITS
from pipeline.cli.options import (
    OUTPUT,
    digits_option,
    output_option,
    precedence_options,
    report_option,
    ties_option,
)
from pipeline.cli.outputs import check_files, said
from pipeline.cli.parameter_types import Number
from pipeline.options import (
    MAX_BINS,
    ClassesOver,
    Policy,
    PrecedenceOptions,
    ValidationOptions,
    VirtualPage,
)
from pipeline.precedence import lint
from pipeline.rank_report import read_rank_report
from pipeline.reports import write_report
from pipeline.terminal import console, printable


@click.command("export-precedence")
@click.argument("scores", required=False)
@click.option("--uris", help="Spellings of each key; without them the scores' own URIs are listed.")
@click.option("--output", type=OUTPUT, help="Precedence file to write, `URI precedence`.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["heritrix", "nutch", "csv", "jsonl"]),
    default="heritrix",
    show_default=True,
    help="What Heritrix loads; or for other crawlers, a line a page, best first: seeds with scores"
    " for `nutch inject`, or url, score, class, position, key and captures.",
)
@precedence_options
@click.option("--eta", type=Number(0), help="Error bound of a score (default: the report's).")
@digits_option
@report_option
@click.option(
    "--lint", "lint_file", type=OUTPUT, help="Check a precedence file instead of writing one."
)
def export_precedence(
    scores: str | None,
    uris: str | None,
    output: Path | None,
    form: str,
    lint_file: Path | None,
    precedence: PrecedenceOptions,
    eta: float | None,
    digits: int | None,
    report: Path | None,
) -> None:
    """The file that Heritrix loads, and the beans that make it use it as meant.

    Writes beside OUTPUT its summary (.summary.json) and crawler-beans-fragment.xml. With another
    --format, only OUTPUT, for other crawlers.
    """
    unclear = scores or output if lint_file else not (scores and output)
    if unclear:
        raise click.UsageError("SCORES and --output are needed, or --lint FILE alone")
    if lint_file:
        check_precedence_file(lint_file)
        return
    assert scores is not None and output is not None  # or lint_file would have been needed
    if form != "heritrix":
        _require_heritrix(form, "unlisted", "spellings")
    check_files(output, inputs=[scores, *([uris] if uris else [])])
    known_eta, known_digits = read_rank_report(report) if report else (None, DIGITS)
    options = replace(
        precedence,
        eta=known_eta if eta is None else eta,
        digits=known_digits if digits is None else digits,
    )
    said(_written(Path(scores), Path(uris) if uris else None, output, options, form), {})


def _written(
    scores: Path, uris: Path | None, output: Path, options: PrecedenceOptions, form: str
) -> dict[str, int]:
    """The counts of what was written in that format."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".crawlrank-", dir=output.parent) as tmp:
        if form == "heritrix":
            from pipeline.precedence.files import write_precedence

            entry = write_precedence(scores, uris, output, Path(tmp), options)
            return cast("dict[str, int]", entry["rows"])
        from pipeline.precedence.export_scores import export_scores

        return asdict(export_scores(scores, uris, output, Path(tmp), options, form))


def _require_heritrix(form: str, *names: str) -> None:
    """Refuse options that mean something to Heritrix only."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} goes with --format heritrix, not with {form}")


def check_precedence_file(path: Path) -> None:
    """Print what PrecedenceLoader would make of the file; raises BadInput for errors in it."""
    summary = lint.Summary()
    for found in lint.lint(path, summary):
        place = f"line {found.line}" if found.line else "file"
        said = f"{place}: {found.severity}: {found.problem}: {found.text}"
        click.echo(printable(said))
        click.echo(f"    {found.consequence}")
        click.echo(f"    {found.cure}")
    click.echo(f"{summary.lines:,} lines, {summary.entries:,} of them load")
    if summary.errors:
        loads = (
            "loads, not all as meant" if summary.accepted else "does not load: nothing is stored"
        )
        raise BadInput(
            str(path),
            f"errors: {summary.errors:,}; the file {loads}",
            "none",
            "Each finding above says how to mend it.",
        )


@click.command("validate-opic")
@click.argument("graph")
@click.argument("ranks")
@output_option(help="Report to write: a file such as report.json, or a folder for one.")
@click.option(
    "--policy",
    type=click.Choice(get_args(Policy)),
    default=ValidationOptions.policy,
    show_default=True,
    help="The order in which OPIC reads pages.",
)
@click.option(
    "--opic-error",
    type=Number(1e-13, 1),
    default=ValidationOptions.opic_error,
    show_default=True,
    help="Stop at this certificate of the probabilities.",
)
@click.option(
    "--max-visits",
    type=Number(0, min_open=True),
    default=ValidationOptions.max_visits,
    show_default=True,
    help="Visits at most, in multiples of N, the number of pages.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=ValidationOptions.seed,
    show_default=True,
    help="Of the random policy.",
)
@click.option(
    "--virtual-page",
    type=click.Choice(get_args(VirtualPage)),
    default=ValidationOptions.virtual_page,
    show_default=True,
    help="edge: the paper's plain one, which has another fixed point and gets no verdict.",
)
@click.option(
    "--bins",
    type=click.IntRange(1, MAX_BINS),
    default=ValidationOptions.bins,
    show_default=True,
    help="Classes that are compared.",
)
@ties_option
@click.option(
    "--digits",
    type=click.IntRange(1, 17),
    default=ValidationOptions.digits,
    show_default=True,
    help="Scores that agree to so many digits are equal, as in the precedence file.",
)
@click.option("--uris", help="Spellings of each key, to know which pages were captured.")
@click.option("--map", "maps", multiple=True, help="Ids and keys, needed with --uris.")
@click.option(
    "--classes-over",
    type=click.Choice(get_args(ClassesOver)),
    help="Pages of which each class gets an equal share (default: captured with --uris and --map,"
    " else all).",
)
@click.option(
    "--min-agreement",
    type=Number(0, 1),
    default=ValidationOptions.min_agreement,
    show_default=True,
    help="Exit 4 when a smaller part of the pages that scores tell apart agrees on the class.",
)
def validate_opic(
    graph: str,
    ranks: str,
    output: Path,
    uris: str | None,
    maps: tuple[str, ...],
    classes_over: ClassesOver | None,
    **options: Any,
) -> None:
    """Check RANKS against an OPIC run on GRAPH, with a bound for both."""
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
    asked = ValidationOptions(**options, classes_over=classes_over or "captured")
    report = validate(pages, read_graph(ranks), asked, captured=captured, preferred=preferred)
    write_report(report, output)
    for table in tables(report):
        console().print(table)
    report.require()
