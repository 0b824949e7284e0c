"""Options of the extraction of links from archives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import click

from crawlrank.jobs.kernel.captures.extraction_options import (
    DEFAULTS,
    ExtractionOptions,
    LinksKept,
    Nofollow,
    Outlinks,
)
from crawlrank.pipeline.cli.parameters.groups import (
    Command,
    Decorator,
    field_option,
    grouped,
    on_command_line,
)
from crawlrank.pipeline.cli.parameters.types import Whole

max_record_option = field_option(
    DEFAULTS,
    "max_record",
    "Largest record body that is read, in bytes after decompression; larger ones are counted.",
    Whole(1024),
)

EXTRACTION = (
    field_option(
        DEFAULTS,
        "outlinks",
        "Where links come from. html: the HTML; metadata: Heritrix's metadata records; both:"
        " both; auto: the HTML of pages with a body, the metadata of others.",
        click.Choice(get_args(Outlinks)),
    ),
    field_option(
        DEFAULTS,
        "links",
        "nav: links that readers follow (hops L, R and frame/@src); all: also embeds and guesses.",
        click.Choice(get_args(LinksKept)),
    ),
    field_option(
        DEFAULTS,
        "nofollow",
        "What to do with links that their page asks not to follow (rel, robots meta,"
        " X-Robots-Tag).",
        click.Choice(get_args(Nofollow)),
    ),
    field_option(
        DEFAULTS,
        "forms",
        "With --links all: also the targets of search forms and the like (hop X).",
    ),
    field_option(DEFAULTS, "pdf", "Also read the links of PDFs; needs the extra `pdf`."),
    max_record_option,
    field_option(
        DEFAULTS,
        "max_links_per_page",
        "Links of a page that are kept, at most; pages with more are counted.",
        Whole(1),
    ),
)


validators_option = field_option(
    DEFAULTS, "validators", "Keep Last-Modified and ETag of responses, for `plan`."
)


def _extraction(**values: Any) -> ExtractionOptions:
    """Raises UsageError for --forms where the links of forms are not kept."""
    options = ExtractionOptions(**values)
    if options.links != "all" and options.forms and on_command_line("forms"):
        raise click.UsageError(
            f"--forms goes with --links all; --links {options.links} leaves out forms."
        )
    return options


def extraction_options(*more: Decorator) -> Callable[[Command], Command]:
    """The argument `extraction`. more: options that only this command has."""
    return grouped("extraction", _extraction, *EXTRACTION, *more)
