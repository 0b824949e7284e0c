"""The hops of links: one letter each, those of Heritrix 3.0 to 3.13 and one more.

A hop says what leads from the page to its target. HOPS is the table of all letters.
"""

from __future__ import annotations

from typing import NamedTuple


class Hop(NamedTuple):
    """name: one word or two, of one link. of_many: a name of many, for columns. meaning: what leads
    to the target. counts_as: the hop under which a link counts; '' where it is never an edge."""

    name: str
    of_many: str
    meaning: str
    counts_as: str


CANONICAL_HOP, MANIFEST_HOP, SUBMIT_HOP = "C", "M", "S"
HOPS = {
    "L": Hop("navigation", "links", "what a reader follows", "L"),
    "R": Hop("redirect", "redirects", "redirects and refreshes", "R"),
    "E": Hop("embed", "embeds", "embeds: images, scripts, styles, frames", "E"),
    "X": Hop("guess", "guesses", "guesses and hints: forms, canonical, next", "X"),
    MANIFEST_HOP: Hop("manifest", "manifests", "entries of sitemaps and robots.txt", "L"),
    "I": Hop("inferred", "inferred", "what Heritrix infers, such as favicon.ico", ""),
    "P": Hop("prerequisite", "prerequisites", "what is needed first: robots.txt, DNS", ""),
    SUBMIT_HOP: Hop("form", "submitted forms", "forms that Heritrix submits, to log in", ""),
    CANONICAL_HOP: Hop("canonical address", "canonical", "the page's own address", ""),
}
HERITRIX_HOPS = "".join(letter for letter in HOPS if letter != CANONICAL_HOP)

NAV_HOPS = "LR"  # that `--links nav` keeps
LINK_HOPS = "LREX"  # that may become edges of the graph
NOFOLLOW_HOPS = "LX"  # that a page can ask not to follow
FOLD_HOPS = "R" + CANONICAL_HOP  # that say where else a page is
UNLINKED_HOPS = "".join(letter for letter, hop in HOPS.items() if not hop.counts_as)
