"""`lab aopic`: the experiments of Adaptive OPIC."""

from __future__ import annotations

import math
import re
from pathlib import Path

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.parameters.groups import grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT, jobs_option
from crawlrank.pipeline.cli.parameters.types import Number, Whole
from crawlrank.pipeline.cli.parameters.words import WorkOption
from crawlrank.pipeline.lab.webs import NONE_PREFERRED, CrawlPreferences
from crawlrank.pipeline.terminal import printable

FIGURES = "2,3,4,5,6"


def _numbers(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """Numbers of figures, between commas."""
    numbers = [number.strip() for number in value.split(",")]
    if not {*numbers} <= {*FIGURES.split(",")}:
        raise click.BadParameter(f"{value!r} is no list of {FIGURES}", ctx, param)
    return tuple(map(int, numbers))


def _weighted(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, float], ...]:
    """Split `WHAT=WEIGHT`. The last `=` counts, as patterns may have others."""
    weighted = []
    for value in values:
        what, equals, weight = value.rpartition("=")
        try:
            number = float(weight)
            if param.name == "patterns":
                re.compile(what)
        except (ValueError, re.error) as error:
            raise click.BadParameter(f"{value!r}: {error}", ctx, param) from error
        if not (equals and what and 0 < number < math.inf):
            raise click.BadParameter(
                f"{value!r} is no {param.metavar}, a weight above 0", ctx, param
            )
        weighted.append((what, number))
    return tuple(weighted)


preference_options = grouped(
    "preferences",
    lambda **values: CrawlPreferences(**values),
    option(
        "--favour",
        "patterns",
        multiple=True,
        callback=_weighted,
        metavar="REGEX=WEIGHT",
        help="Pages with this in their URI get WEIGHT times as much from the virtual page. With"
        " WORK; may be given several times.",
    ),
    option(
        "--favour-words",
        "words",
        multiple=True,
        callback=_weighted,
        metavar="FILE=WEIGHT",
        help="The same for pages that a link with one of these words leads to, one word a line.",
    ),
    option(
        "--anchors",
        type=OUTPUT,
        help="Words of links for --favour-words, by extract-links --anchors.",
    ),
    option(
        "--crawl-log",
        "logs",
        type=OUTPUT,
        multiple=True,
        help="Replay the fetches of this log of Heritrix, instead of the captures' times. With"
        " WORK; may be given several times.",
    ),
)


@command("lab aopic")
@option(
    "--figures",
    "chosen",
    callback=_numbers,
    default=FIGURES,
    help="Figures of the paper to reproduce, between commas.",
)
@option("--output", type=OUTPUT, required=True, help="Folder for figures, CSV files and report.md.")
@option("--nodes", type=Whole(100), default=100_000, help="Pages of a random web.")
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
@option(
    "--work",
    cls=WorkOption,
    type=OUTPUT,
    help="Work folder whose graph to take, instead of a random web.",
)
@option(
    "--partitions",
    type=click.IntRange(1, 128),
    metavar="P",
    help="Also simulate P machines that share the pages by a hash, and count their messages.",
)
@option(
    "--seed",
    "seeds",
    type=Whole(0),
    multiple=True,
    default=(1,),
    help="Of a random web and its changes. May be given several times: results are their means.",
)
@option(
    "--discover",
    type=Number(1, 1e9),
    default=1.0,
    metavar="WEIGHT",
    help="Pages that were not read yet get this many times as much from the virtual page.",
)
@preference_options
@jobs_option
def aopic(
    chosen: tuple[int, ...],
    output: Path,
    nodes: int,
    exponent: float,
    poisson: float | None,
    work: Path | None,
    partitions: int | None,
    seeds: tuple[int, ...],
    discover: float,
    preferences: CrawlPreferences,
    processes: int | None,
) -> None:
    """Policies and windows of Abiteboul, Preda and Cobena (WWW 2003) on random webs. The report
    holds each claim of the paper against what was measured.

    Equal options give equal figures and CSV files. Needs matplotlib, which is the extra `plot`.
    """
    if work is None and preferences != NONE_PREFERRED:
        raise click.UsageError("--favour, --favour-words and --crawl-log need WORK")
    if (preferences.anchors is None) != (not preferences.words):
        raise click.UsageError("--favour-words and --anchors belong together")
    from crawlrank.pipeline.lab.lab import run_lab

    written = run_lab(
        output, chosen, nodes, exponent, seeds, processes, poisson, work, partitions,
        discover, preferences,
    )  # fmt: skip
    for path in written:
        click.echo(printable(str(path)))
