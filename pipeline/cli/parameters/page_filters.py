"""The options that take a part of the pages, as filters.py has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from crawlrank.pipeline.cli.parameters.groups import grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.cli.parameters.types import Whole
from crawlrank.pipeline.precedence.filters import (
    OF_WORK,
    SELECTORS,
    TYPES,
    PageFilters,
    host_condition,
    match_condition,
    status_condition,
    type_condition,
)

Check = Callable[[Any], str]


def _checked(check: Check) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback that refuses what makes no condition."""

    def checked(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value or isinstance(value, str):
            try:
                check(value)
            except ValueError as error:
                raise click.BadParameter(str(error), ctx, param) from error
        return value

    return checked


filter_options = grouped(
    "filters",
    PageFilters,
    click.option("--captured", is_flag=True, help="Take only pages that were captured."),
    click.option(
        "--not-captured",
        is_flag=True,
        help="Take only pages that the archives do not have: links lead to them alone.",
    ),
    option("--min-links", type=Whole(1), help="Take pages to which at least N others link."),
    option(
        "--linked-from",
        multiple=True,
        metavar="HOST",
        callback=_checked(lambda hosts: host_condition(hosts, www="strip")),
        help="Take pages to which a page of this host links; written as for --host.",
    ),
    option(
        "--around",
        multiple=True,
        metavar="URI",
        help="Take this page, the pages that link to it, and those to which it links.",
    ),
    option(
        "--new-since",
        type=OUTPUT,
        metavar="WORK",
        help="Take pages that an earlier run does not know: neither captured nor linked.",
    ),
    option(
        "--status",
        multiple=True,
        metavar="LIST",
        callback=_checked(status_condition),
        help="Take pages whose latest capture has one of these statuses: 200,3xx or 400-499.",
    ),
    option(
        "--type",
        "types",
        multiple=True,
        metavar="LIST",
        callback=_checked(type_condition),
        help=f"Take pages of these media types: image/png, image/*, or {', '.join(TYPES)}.",
    ),
    option(
        "--host",
        "hosts",
        multiple=True,
        metavar="HOST",
        callback=_checked(lambda hosts: host_condition(hosts, www="strip")),
        help="Take pages of this host; *.example.org also takes the hosts below it. May be given"
        " several times.",
    ),
    option(
        "--match",
        metavar="REGEX",
        callback=_checked(match_condition),
        help="Take pages whose URI this regular expression (of RE2) matches somewhere.",
    ),
    option("--top", type=Whole(1), help="Take the best N of what is left."),
)


def require_sources(filters: PageFilters, *, work: bool, uris: bool) -> None:
    """Raises UsageError for filters that need what is not given."""
    if filters.captured and filters.not_captured:
        raise click.UsageError("--captured and --not-captured together leave no page")
    given = [option for option, (name, _) in SELECTORS.items() if getattr(filters, name)]
    of_work = [option for option in given if SELECTORS[option][0] in OF_WORK]
    if of_work and not work:
        raise click.UsageError(
            f"{of_work[0]} is for `crawlrank export WORK`, which knows captures and links"
        )
    if (filters.captured or filters.not_captured) and not (work or uris):
        raise click.UsageError(
            f"{given[0]} needs --uris, or `crawlrank export WORK`, to know what was captured"
        )
