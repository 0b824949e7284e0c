"""Options of `recrawl`: where the job is launched, what the crawl begins with, how far it goes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from crawlrank.pipeline.cli.parameters.groups import grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.cli.parameters.types import Whole

if TYPE_CHECKING:
    from crawlrank.pipeline.heritrix.rest import Login

LAST_CLASS = 125
MOST_PARTS = 10_000


class PartOf(click.ParamType):  # type: ignore[type-arg]
    """`I/N`: part I, from 1, of N parts."""

    name = "part"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        match = re.fullmatch("([1-9][0-9]{0,4})/([1-9][0-9]{0,4})", str(value))
        if not match or not int(match[1]) <= int(match[2]) <= MOST_PARTS:
            self.fail(f"{value!r} is no part such as 1/4, of {MOST_PARTS:,} at most", param, ctx)
        return int(match[1]), int(match[2])


class Console(NamedTuple):
    """A running Heritrix. checkpoint: from which the job is launched."""

    url: str
    login: Login
    certificate: str | None
    insecure: bool
    checkpoint: str | None


def _console(
    rest: str | None,
    login: Path | None,
    certificate: str | None,
    insecure: bool,
    checkpoint: str | None,
) -> Console | None:
    if rest is None:
        if login or certificate or insecure or checkpoint:
            raise click.UsageError(
                "--login, --certificate, --insecure and --checkpoint go with --rest"
            )
        return None
    if certificate and insecure:
        raise click.UsageError("give --certificate or --insecure, not both")
    from crawlrank.pipeline.heritrix.rest import read_login

    return Console(rest, read_login(login), certificate, insecure, checkpoint)


console_options = grouped(
    "console",
    _console,
    option(
        "--rest",
        metavar="URL",
        help="Then build and launch the job in the Heritrix at https://HOST:PORT, wait for its end,"
        " and audit it.",
    ),
    option(
        "--login",
        type=OUTPUT,
        help="File with the line user:password (default: the variable CRAWLRANK_HERITRIX_LOGIN).",
    ),
    option(
        "--certificate",
        metavar="SHA256",
        help="Fingerprint of Heritrix's certificate, which it has signed itself.",
    ),
    click.option("--insecure", is_flag=True, help="Take any certificate."),
    option("--checkpoint", metavar="NAME", help="Launch from this checkpoint; `latest`: the last."),
)


class BeginWith(NamedTuple):
    """Which pages a crawl begins with, and how far it goes. seeds_only: none but the seeds of the
    job. grow: they become seeds. part: the first of how many. budget: fetches of all hosts."""

    last_class: int | None
    top: int | None
    seeds_only: bool
    grow: bool
    part: tuple[int, int] | None
    budget: int | None


def _begin_with(
    last_class: int | None,
    top: int | None,
    seeds_only: bool,
    grow: bool,
    part: tuple[int, int] | None,
    budget: int | None,
) -> BeginWith:
    if seeds_only and (last_class or top or grow):
        raise click.UsageError("--seeds-only goes without --classes, --top and --grow")
    return BeginWith(last_class, top, seeds_only, grow, part, budget)


begin_options = grouped(
    "begin",
    _begin_with,
    option(
        "--classes",
        "last_class",
        type=click.IntRange(1, LAST_CLASS),
        metavar="N",
        help="Begin with the pages of the classes 1 to N only (default: all pages).",
    ),
    option("--top", type=Whole(1), metavar="N", help="Begin with the first N pages only."),
    click.option(
        "--seeds-only",
        is_flag=True,
        help="Begin with the seeds of the job alone; the crawl finds the pages.",
    ),
    click.option(
        "--grow",
        is_flag=True,
        help="Make the captured pages seeds, so that their folders become part of the scope.",
    ),
    option(
        "--part",
        type=PartOf(),
        metavar="I/N",
        help="Crawl this part of the sites; N jobs with the same ranking and scope crawl all.",
    ),
    option(
        "--budget",
        type=Whole(1),
        metavar="N",
        help="Fetch some N URIs: each host gets the part of N that it has of all scores.",
    ),
)
