"""Options that give a ranking weights of pages."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.cli.groups import grouped, option
from pipeline.cli.options import OUTPUT
from pipeline.options import PageWeights
from pipeline.ranking.methods import Method

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
    from pipeline.rank_weights import page_weights  # slow to import

    return page_weights(*named[0])


weight_options = grouped(
    "weights",
    _weights,
    *(option(name, type=OUTPUT, metavar="FILE", help=text) for name, text in WEIGHTS.items()),
)


def require_weights(method: Method, weights: PageWeights | None, perturb: float) -> None:
    """Raises UsageError for what a method does not take, and for weights that it needs and is not
    given."""
    if perturb and not method.perturbs:
        raise click.UsageError(f"--perturb is not for --method {method.name}")
    if weights and weights.option not in method.takes:
        raise click.UsageError(f"{weights.option} is not for --method {method.name}")
    if method.needs and not weights:
        raise click.UsageError(f"--method {method.name} needs {' or '.join(method.takes)} FILE")
