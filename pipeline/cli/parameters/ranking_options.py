"""Options of rankings other than PageRank: weights of pages, and sites."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import click
from click.core import ParameterSource

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.cli.parameters.groups import field_option, grouped, option, together
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.ranking.inputs import (
    LINK_WEIGHT,
    CombineBy,
    LinkWeights,
    PageWeights,
    SiteOptions,
    parsed_link_weights,
)
from crawlrank.pipeline.ranking.methods import METHODS, SITE, Method
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.terminal import printable

WEIGHTS = {
    "--teleport": "personalized: how often a reader starts at each page, `URI-or-key weight`.",
    "--seeds": "trustrank: the pages to trust, one a line.",
    "--relevance": "hits, opic-hits: the relevance of pages, `URI-or-key weight`, 0 to 1; of all "
    "others it is 0 with hits, and 0.5 with opic-hits.",
    "--from-seeds-file": "trustrank: the same from Heritrix's seeds.txt.",
}


def _weights(**paths: Path | None) -> PageWeights | None:
    named = [(f"--{name.replace('_', '-')}", path) for name, path in paths.items() if path]
    if not named:
        return None
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(name for name, _ in named)} exclude each other")
    from crawlrank.pipeline.run.weights import page_weights  # slow to import

    weights = page_weights(*named[0])
    if weights.damaged:
        lines, first = count_of(weights.damaged, "seed is", "seeds are"), weights.damaged_lines[0]
        click.echo(
            f"{lines} not UTF-8 and left out, such as {printable(first)}",
            err=True,
        )
    return weights


weight_options = grouped(
    "weights",
    _weights,
    *(option(name, type=OUTPUT, metavar="FILE", help=text) for name, text in WEIGHTS.items()),
)


def _parts(value: str) -> dict[str, float]:
    """The weights of `LABEL=WEIGHT,…`. Raises BadParameter."""
    weights: dict[str, float] = {}
    for part in value.split(","):
        label, _, text = part.strip().partition("=")
        try:
            weight = float(text)
        except ValueError:
            weight = 0.0
        if not label or not 0 < weight < math.inf:
            what = f"{part.strip()!r} is not LABEL=WEIGHT with a finite weight above 0"
            raise click.BadParameter(what)
        if label in weights:
            raise click.BadParameter(f"{label} is there twice")
        weights[label] = weight
    return weights


combine_options = together(
    option(
        "--combine",
        metavar="LABEL=WEIGHT,…",
        callback=lambda ctx, param, value: value and _parts(value),
        help="Instead of a method: make it of other rankings, `run` being that of the run.",
    ),
    option(
        "--combine-by",
        type=click.Choice(get_args(CombineBy)),
        default="position",
        help="Weigh the positions of pages, or their parts of all scores.",
    ),
)


def require_weights(
    method: Method, weights: PageWeights | None, perturb: float, runner: str
) -> None:
    """Raises UsageError for what a method does not take, and for weights that it needs and is not
    given."""
    if perturb and not method.perturbs:
        raise click.UsageError(f"--perturb is not for --method {method.name}")
    if perturb and runner != EMBEDDED:
        raise click.UsageError(f"--perturb is for --runner {EMBEDDED}, not {runner}")
    if weights and weights.option not in method.takes:
        raise click.UsageError(f"{weights.option} is not for --method {method.name}")
    if method.needs and not weights:
        raise click.UsageError(f"--method {method.name} needs {' or '.join(method.takes)} FILE")


SITES = SiteOptions()
SITE_NAMES = tuple(SITES.__dataclass_fields__)


def _sites(**values: str) -> SiteOptions:
    """Raises UsageError where they are given to another method."""
    context = click.get_current_context()
    method = context.params["method"]
    for name in SITE_NAMES:
        if method != SITE and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for --method {method}")
    return SiteOptions(**values)  # type: ignore[arg-type]


site_options = grouped(
    "sites",
    _sites,
    field_option(
        SITES,
        "site_by",
        "site: what pages share a score. host: those of a host and port; domain: those of a domain"
        " that somebody has registered, by the public suffix list.",
    ),
    field_option(
        SITES,
        "site_weight",
        "site: the weight of a link between two sites. count: the links between their pages;"
        " distinct: the pages that have such links; one: 1.",
    ),
)


def _link_weights(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> LinkWeights | None:
    try:
        return None if text is None else parsed_link_weights(text)
    except ValueError as error:
        raise click.BadParameter(printable(str(error))) from error


link_weight_option = option(
    LINK_WEIGHT,
    "link_weights",
    metavar="internal=W,external=W",
    callback=_link_weights,
    help=f"{', '.join(name for name in METHODS if METHODS[name].weighs_links)}: weights of links"
    " within a host, and of other links (default: 1 each).",
)


def require_link_weights(method: Method, weights: LinkWeights | None, runner: str) -> None:
    """Raises UsageError for weights of links that a method or a runner does not take."""
    if weights and not method.weighs_links:
        raise click.UsageError(f"{LINK_WEIGHT} is not for --method {method.name}")
    if weights and runner != EMBEDDED:
        raise click.UsageError(f"{LINK_WEIGHT} is for --runner {EMBEDDED}.")
