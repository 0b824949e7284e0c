"""The options of extraction; extraction.py says what each choice means."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD
from crawlrank.jobs.kernel.formats.datasets import ANCHORS, CAPTURES

Outlinks = Literal["auto", "html", "metadata", "both"]
LinksKept = Literal["nav", "all"]
Nofollow = Literal["keep", "drop"]
ON_REQUEST = ("timestamps", "canonical", "anchor_text", "words_around", "validators", "titles")


class ExtractionOptions(NamedTuple):
    """max_record: in bytes.

    forms: the addresses of forms with method GET are links too (X). pdf: read PDFs as well.
    bodies: look into bodies; without, there are captures and damage, and no links. timestamps:
    links have the time of their page's capture, captures their ids and what revisits refer to.
    canonical: the canonical address that a page names is a link of hop C. anchor_text: the words of
    links, too. words_around: and with them those around links. validators: captures have
    Last-Modified and ETag. titles: captures have the titles of pages.
    """

    outlinks: Outlinks = "auto"
    links: LinksKept = "nav"
    nofollow: Nofollow = "keep"
    forms: bool = False
    pdf: bool = False
    max_record: int = MAX_RECORD
    max_links_per_page: int = 100_000
    bodies: bool = True
    timestamps: bool = False
    canonical: bool = False
    anchor_text: bool = False
    words_around: bool = False
    validators: bool = False
    titles: bool = False

    @property
    def capture_columns(self) -> int:
        """How many columns captures have in Parquet."""
        _, usual, referring, validated, titled = CAPTURES.widths
        if self.titles:
            return titled
        return validated if self.validators else referring if self.timestamps else usual

    @property
    def anchor_columns(self) -> int:
        """How many columns the words of links have."""
        return len(ANCHORS.columns) if self.words_around else ANCHORS.usual

    def parameters(self) -> dict[str, Any]:
        """The options that results depend on, by name."""
        values = self._asdict()
        del values["bodies"]  # every extraction of links reads them
        for name in ON_REQUEST:  # the parameters of an older extraction have none of these
            if not values[name]:
                del values[name]
        return {f"--{name.replace('_', '-')}": value for name, value in values.items()}

    def arguments(self) -> list[str]:
        """The options that results depend on, as words of a command line."""
        values = self.parameters().items()
        flags = [name for name, value in values if value is True]
        pairs = [(name, str(value)) for name, value in values if not isinstance(value, bool)]
        return flags + [word for pair in pairs for word in pair]


DEFAULTS = ExtractionOptions()
