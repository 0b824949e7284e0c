"""Options that give a ranking weights of pages."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.groups import grouped, option
from pipeline.cli.options import OUTPUT
from pipeline.contract import EMBEDDED, LINK_WEIGHT
from pipeline.options import LinkWeights, PageWeights, parsed_link_weights
from pipeline.ranking.methods import METHODS, Method
from pipeline.terminal import printable

WEIGHTS = {
    "--teleport": "personalized: how often a reader starts at each page, `URI-or-key weight`.",
    "--seeds": "trustrank: the pages to trust, one a line.",
    "--from-seeds-file": "trustrank: the same from Heritrix's seeds.txt.",
}


def _weights(**paths: Path | None) -> PageWeights | None:
    named = [(f"--{name.replace('_', '-')}", path) for name, path in paths.items() if path]
    if not named:
        return None
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(name for name, _ in named)} exclude each other")
    from pipeline.rank_weights import page_weights  # slow to import

    return page_weights(*named[0])


weight_options = grouped(
    "weights",
    _weights,
    *(option(name, type=OUTPUT, metavar="FILE", help=text) for name, text in WEIGHTS.items()),
)


def require_weights(method: Method, weights: PageWeights | None) -> None:
    """Raises UsageError for weights that a method does not take, or needs and is not given."""
    if weights and weights.option not in method.takes:
        raise click.UsageError(f"{weights.option} is not for --method {method.name}")
    if method.needs and not weights:
        raise click.UsageError(f"--method {method.name} needs {' or '.join(method.takes)} FILE")


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
