"""`aopic-lab`: the experiments of Adaptive OPIC."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.commands import command
from pipeline.cli.groups import option
from pipeline.cli.options import OUTPUT, jobs_option
from pipeline.cli.parameter_types import Number
from pipeline.terminal import printable

FIGURES = "2,3,4,5,6"


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """Numbers of figures, between commas."""
    numbers = [number.strip() for number in value.split(",")]
    if not {*numbers} <= {*FIGURES.split(",")}:
        raise click.BadParameter(f"{value!r} is no list of {FIGURES}", ctx, param)
    return tuple(map(int, numbers))


@command("aopic-lab")
@option(
    "--figures",
    "chosen",
    callback=_numbers,
    default=FIGURES,
    help="Figures of the paper to reproduce, between commas.",
)
@option("--output", type=OUTPUT, required=True, help="Folder for figures, CSV files and report.md.")
@option("--nodes", type=click.IntRange(100), default=100_000, help="Pages of a random web.")
@option(
    "--exponent",
    type=Number(1, 10, min_open=True),
    default=2.1,
    help="Of the power law of indegrees.",
)
@option(
    "--poisson",
    type=Number(0, 1000, min_open=True),
    metavar="MEAN",
    help="Indegrees by Poisson's law with this mean, instead of the power law.",
)
@option("--work", type=OUTPUT, help="Work folder whose graph to take, instead of a random web.")
@option(
    "--partitions",
    type=click.IntRange(1, 128),
    metavar="P",
    help="Also simulate P machines that share the pages by a hash, and count their messages.",
)
@option(
    "--seed",
    "seeds",
    type=click.IntRange(0),
    multiple=True,
    default=(1,),
    help="Of a random web and its changes. May be given several times: results are their means.",
)
@jobs_option
def aopic_lab(
    chosen: tuple[int, ...],
    output: Path,
    nodes: int,
    exponent: float,
    poisson: float | None,
    work: Path | None,
    partitions: int | None,
    seeds: tuple[int, ...],
    processes: int | None,
) -> None:
    """Policies and windows of Abiteboul, Preda and Cobena (WWW 2003) on random webs. The report
    holds each claim of the paper against what was measured.

    Equal options give equal figures and CSV files. Needs matplotlib: pip install 'crawlrank[plot]'.
    """
    from pipeline.analysis.aopic_lab.lab import run_lab
    from pipeline.analysis.plots.pictures import NoMatplotlib

    try:
        written = run_lab(
            output, chosen, nodes, exponent, seeds, processes, poisson, work, partitions
        )
    except NoMatplotlib as error:
        raise click.UsageError(str(error)) from error
    for path in written:
        click.echo(printable(str(path)))
