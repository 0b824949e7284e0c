"""Options of a ranking of sites."""

from __future__ import annotations

import click
from click.core import ParameterSource

from pipeline.cli.groups import field_option, grouped
from pipeline.contract import SITE
from pipeline.options import SiteOptions

DEFAULTS = SiteOptions()
NAMES = tuple(DEFAULTS.__dataclass_fields__)


def _sites(**values: str) -> SiteOptions:
    """Raises UsageError where they are given to another method."""
    context = click.get_current_context()
    method = context.params["method"]
    for name in NAMES:
        if method != SITE and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for --method {method}")
    return SiteOptions(**values)  # type: ignore[arg-type]


site_options = grouped(
    "sites",
    _sites,
    field_option(
        DEFAULTS,
        "site_by",
        "site: what pages share a score. host: those of a host and port; domain: those of a domain"
        " that somebody has registered, by the public suffix list.",
    ),
    field_option(
        DEFAULTS,
        "site_weight",
        "site: the weight of a link between two sites. count: the links between their pages;"
        " distinct: the pages that have such links; one: 1.",
    ),
)
