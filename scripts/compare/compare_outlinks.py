"""Heritrix's `outlink:` lines compared with the links in the HTML of the same pages.

    python scripts/compare/compare_outlinks.py ARCHIVE… [--json FILE]

ARCHIVES hold pages and the metadata records in which Heritrix wrote its outlinks. Exit 3 if one
cannot be read or nothing is compared.

Heritrix finds links with regular expressions and guesses, crawlrank with a parser. A page is
compared if the archive holds both its HTML and the metadata record that describes it. A pair is a
page and a target, once for each page, compared in Heritrix's form; fragments do not count. If only
one side has a pair, CATEGORIES say why. Memory does not grow with archives.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from described_pages import DescribedPages

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD, Damage, guard
from crawlrank.jobs.kernel.archive.metadata import Outlink, read_metadata
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import WAT, read_archives
from crawlrank.jobs.kernel.archive.wat import is_wat
from crawlrank.jobs.kernel.captures.counters import require_pages
from crawlrank.jobs.kernel.captures.extraction import BASE, counted_hop
from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.rows import NAV_HOPS, SUBMIT_HOP
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects, heritrix_form
from crawlrank.jobs.kernel.keys.keys import key_of
from crawlrank.jobs.kernel.keys.uris import as_crawled
from crawlrank.jobs.kernel.links.body_links import body_links, resolved
from crawlrank.jobs.kernel.links.header_links import header_references, location
from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions
from crawlrank.jobs.kernel.links.html_links import LinkGroup
from crawlrank.jobs.kernel.links.link_rules import FORM_RULES, NAV_CONTEXTS, RULES
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.storage.opening import opened
from crawlrank.pipeline.terminal import TextTable

MAX_OUTLINKS = 6000  # Heritrix's own limit for a page
EXAMPLES = 5
EXPECTED = "archives of Heritrix, with HTML pages and the metadata records that describe them"
CURE = "Give the WARC files that Heritrix wrote."
GUESSED = frozenset({"option", "param", "input"})  # elements whose values are taken for URIs

#: why a pair is on one side only
CATEGORIES = {
    "value": "the value of an option, parameter or input, taken for a URI",
    "script": "a guess from a script or another text",
    "inferred": "added by Heritrix itself, such as favicon.ico",
    "submitted": "a form that Heritrix submits, to log in",
    "base": "the base of the page",
    "attribute": "an attribute that no browser of today follows",
    "not markup": "in the text of the page, but in no attribute of the parsed page: in a comment or"
    " script, or after a quote that is not closed",
    "spelling": "the other side has the same page in another spelling",
    "cut": "the HTML has more references than are read",
    "limit": f"the metadata ends at Heritrix's limit of {MAX_OUTLINKS:,} outlinks",
    "header": "in the HTTP header",
    "nofollow": "the page asks robots not to follow its links, which Heritrix obeys",
    "not found": "an attribute that Heritrix does not read, or markup that it reads differently",
    "unexplained": "none of these",
}
_READ = frozenset(rule.context for rule in (*RULES, *FORM_RULES))
_STYLES = frozenset({"style", "=embed_misc", "url()"})
_AUTHORITY = re.compile(r"\s*(?:[a-z]+:)?[/\\]{2,}([^/\\?#]*)", re.IGNORECASE).match
_SELECTOR = re.compile(r"\[[^]]*\]")


MAX_CONTEXTS = 4
WIDTH = 100  # columns of tables
COUNTS = {
    "archives": "archives",
    "damage": "damaged places",
    "pages": "pages compared",
    "alone": "HTML pages without metadata",
    "metadata_alone": "metadata without an HTML page",
    "lines": "outlink lines of the pages",
    "without_uri": "  of other schemes, or no URI",
    "outlinks": "pairs of the metadata",
    "links": "pairs of the HTML",
    "shared": "  of both",
    "navigation": "  links that a reader follows",
    "navigation_shared": "    of both",
}


@dataclass(frozen=True)
class LinkPair:
    """A page and a target, with the hop and context of the first link between them."""

    page: str
    target: str
    hop: str
    context: str

    @property
    def navigates(self) -> bool:
        """Whether `--links nav` keeps it."""
        is_nav = self.hop in NAV_HOPS or self.context in NAV_CONTEXTS
        return is_nav and self.context != BASE


@dataclass
class Difference:
    """The pairs of one category. edges: those that `--outlinks metadata` would make a link of
    `--links nav`. contexts: pairs by context. examples: (page, target)."""

    pairs: int = 0
    edges: int = 0
    contexts: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Comparison:
    """All archives. pages: compared; alone: HTML pages without metadata; metadata_alone: records
    without such a page. lines: `outlink:` lines of the pages; without_uri: those that are no http
    or https URI. outlinks, links: pairs of the metadata and of the HTML; shared: of both.
    navigation, navigation_shared: pairs of the HTML that a reader or a redirect follows.
    most_examples: pairs of a category that are kept."""

    archives: int = 0
    damage: int = 0
    pages: int = 0
    alone: int = 0
    metadata_alone: int = 0
    lines: int = 0
    without_uri: int = 0
    outlinks: int = 0
    links: int = 0
    shared: int = 0
    navigation: int = 0
    navigation_shared: int = 0
    only_metadata: dict[str, Difference] = field(default_factory=dict)
    only_html: dict[str, Difference] = field(default_factory=dict)
    most_examples: int = EXAMPLES

    def require_pages(self, archives: str) -> None:
        """Raises BadInput if nothing was compared."""
        if not self.pages:
            problem = (
                f"nothing to compare: {count_of(self.alone, 'HTML page')} without a metadata"
                f" record, and {count_of(self.metadata_alone, 'metadata record')} without an HTML"
                " page"
            )
            raise BadInput(archives, problem, EXPECTED, CURE)


def _add(
    side: dict[str, Difference], category: str, pair: LinkPair, most: int, *, edge: bool = False
) -> None:
    """most: examples of a category."""
    difference = side.setdefault(category, Difference())
    difference.pairs += 1
    difference.edges += edge
    difference.contexts[pair.context] += 1
    if len(difference.examples) < most:
        difference.examples.append((pair.page, pair.target))


def compare_archive(archive: Path, comparison: Comparison, *, max_record: int = MAX_RECORD) -> None:
    """Add an archive to the comparison. Raises BadInput, also for a WAT file."""
    comparison.archives += 1
    for page, metadata in _pages(archive, comparison, max_record):
        _compare(page, metadata, comparison)


def _pages(
    archive: Path, comparison: Comparison, max_record: int
) -> Iterator[tuple[Record, Record]]:
    """The pages that have a metadata record, each with it."""
    kinds: Counter[str] = Counter()
    with guard(str(archive)), opened(archive) as stream:
        for _, items, *_ in read_archives(stream, str(archive), max_record=max_record):
            pages = DescribedPages()
            for item in items:
                if isinstance(item, Damage):
                    comparison.damage += 1
                elif is_wat(item):
                    raise BadInput(str(archive), WAT.what, EXPECTED, CURE)
                else:
                    kinds.update(("records", f"records.{item.kind}"))
                    yield from pages.add(item, max_record)
            comparison.alone += pages.alone
            comparison.metadata_alone += pages.metadata_alone
    require_pages(str(archive), kinds, EXPECTED, CURE)


# ---- one page --------------------------------------------------------------------------------


class Markup:
    """is_cut: whether the page has more references than are read."""

    def __init__(self, page: Record, *, is_cut: bool) -> None:
        self.body, self.is_cut, self._media_type = page.body, is_cut, page.media_type

    @cached_property
    def _document(self) -> Document:
        page = PageText(self.body[:LONGEST_PAGE], self._media_type)
        return Document(page, HtmlOptions(forms=True))

    @property
    def is_nofollow(self) -> bool:
        """Whether its robots meta asks not to follow its links."""
        return self._document.nofollow

    @cached_property
    def _written(self) -> frozenset[str]:
        """The last names of its references, and the hosts of those without a path."""
        return frozenset(map(last_name, self._document.written()))

    def has_reference(self, uri: str) -> bool:
        """Whether a reference of the page has the last name of this URI, or its host where it has
        no path: as Heritrix reads some references otherwise."""
        return last_name(uri) in self._written


def last_name(reference: str) -> str:
    """The last name of the path, with the query; without a path, the host."""
    text = unquote(reference.partition("#")[0], errors="replace").strip().lower()
    path, mark, query = text.partition("?")
    match = _AUTHORITY(path)
    rest = path[match.end() :] if match else path
    name = rest.rstrip("/").rpartition("/")[2].strip()
    return name + mark + query if name or mark else (match[1] if match else "")


def _compare(page: Record, metadata: Record, comparison: Comparison) -> None:
    uri = as_crawled(page.uri)
    assert isinstance(uri, bytes)  # or it would be no page
    counters: Counter[str] = Counter()
    links = _links(page, uri.decode(), counters)
    lines, outlinks = _outlinks(metadata, uri.decode(), comparison)
    good = page.status is None or 200 <= page.status < 300
    comparison.pages += 1
    comparison.lines += lines
    comparison.outlinks += len(outlinks)
    comparison.links += len(links)
    shared = links.keys() & outlinks.keys()
    comparison.shared += len(shared)
    reading = {form for form, pair in links.items() if pair.navigates}
    comparison.navigation += len(reading)
    comparison.navigation_shared += len(reading & shared)
    known = {key_of(form.encode()) for form in links}
    markup = Markup(page, is_cut=bool(counters["dropped.html-tail"]))
    for form, pair in outlinks.items():
        if form not in links:
            category = _why_only_metadata(pair, known, markup)
            edge = good and pair.navigates
            _add(comparison.only_metadata, category, pair, comparison.most_examples, edge=edge)
    known = {key_of(form.encode()) for form in outlinks}
    names = {last_name(pair.target) for form, pair in outlinks.items() if form not in links}
    for form, pair in links.items():
        if form not in outlinks:
            is_respelled = key_of(pair.target.encode()) in known or last_name(pair.target) in names
            is_full = lines >= MAX_OUTLINKS
            category = "spelling" if is_respelled else _why_only_html(pair, markup, is_full=is_full)
            _add(comparison.only_html, category, pair, comparison.most_examples)


def _links(page: Record, uri: str, counters: Counter[str]) -> dict[str, LinkPair]:
    """The pairs of a page, by form of the target."""
    status = 200 if page.status is None else page.status
    headers = [*location(page.http_headers, status), *header_references(page.http_headers)]
    options, pairs = HtmlOptions(forms=True, as_heritrix=True), dict[str, LinkPair]()
    for targets, hop, context, *_ in chain[LinkGroup](
        resolved(headers, uri, counters),
        body_links("html", page.body, uri, page.media_type, counters, options=options),
    ):
        for target in targets:
            _keep(LinkPair(uri, target.decode(), hop, context), pairs)
    return pairs


def _outlinks(
    metadata: Record, uri: str, comparison: Comparison
) -> tuple[int, dict[str, LinkPair]]:
    """How many lines there are, and their pairs by form of the target."""
    lines, pairs = 0, dict[str, LinkPair]()
    for line in read_metadata(metadata.body):
        if isinstance(line, Outlink):
            lines += 1
            target = as_crawled(line.uri)
            if isinstance(target, bytes):
                hop = counted_hop(line.hop, uri)
                _keep(LinkPair(uri, target.decode(), hop, line.context.lower()), pairs)
            else:
                comparison.without_uri += 1
    return lines, pairs


def _keep(pair: LinkPair, pairs: dict[str, LinkPair]) -> None:
    """Keep the first link to a target that a reader follows, else the first."""
    form = _form(pair.target)
    if form not in pairs or (pair.navigates and not pairs[form].navigates):
        pairs[form] = pair


def _form(uri: str) -> str:
    try:
        return heritrix_form(uri)
    except HeritrixRejects:
        return uri


def _why_only_metadata(pair: LinkPair, known: set[bytes | None], markup: Markup) -> str:
    context = _SELECTOR.sub("", pair.context)
    element = context.partition("/")[0]
    if pair.hop in "IP" or context == "=inferred_misc":
        return "inferred"
    if pair.hop == SUBMIT_HOP:
        return "submitted"
    if context == BASE:
        return "base"
    if key_of(pair.target.encode()) in known:
        return "spelling"
    if element in GUESSED and pair.hop == "X":
        return "value"
    if pair.hop == "X":
        return "script"
    if markup.is_cut:
        return "cut"
    if context not in _READ and context not in _STYLES and not context.endswith("/@style"):
        return "attribute"
    if markup.has_reference(pair.target):
        return "spelling"
    return "not markup" if _holds(markup.body, pair.target) else "unexplained"


def _why_only_html(pair: LinkPair, markup: Markup, *, is_full: bool) -> str:
    if is_full:
        return "limit"
    if pair.context in _READ and markup.is_nofollow:
        return "nofollow"
    return "not found" if pair.context in _READ | _STYLES else "header"


def _holds(body: bytes, uri: str) -> bool:
    """Whether the last name of a URI's path is in the text of a page, with the query."""
    path = uri.partition("://")[2].rstrip("/")
    name = path[path.rfind("/", 0, (path + "?").index("?")) + 1 :].encode()
    return bool(name) and (name in body or name.replace(b"&", b"&amp;") in body)


# ---- what is written -------------------------------------------------------------------------


def as_data(comparison: Comparison) -> dict[str, Any]:
    """All results, ready for json.dumps."""
    return {
        **{name: getattr(comparison, name) for name in COUNTS},
        "only_metadata": _side(comparison.only_metadata),
        "only_html": _side(comparison.only_html),
    }


def _side(side: dict[str, Difference]) -> dict[str, Any]:
    return {
        name: {
            "pairs": each.pairs,
            "edges": each.edges,
            "contexts": dict(each.contexts.most_common()),
            "examples": [{"page": page, "target": target} for page, target in each.examples],
        }
        for name, each in side.items()
    }


def tables(comparison: Comparison) -> Iterator[TextTable]:
    """In the order in which they are shown."""
    table = TextTable("in all", "~what", ">count")
    for name, meaning in COUNTS.items():
        table.add(meaning, getattr(comparison, name))
    yield table
    for side, differences in (
        ("in the metadata only", comparison.only_metadata),
        ("in the HTML only", comparison.only_html),
    ):
        edges = differences is comparison.only_metadata
        yield _differences(f"pairs {side}", differences, edges=edges)
        yield _examples(f"examples: {side}", differences)


def _differences(title: str, side: dict[str, Difference], *, edges: bool) -> TextTable:
    columns = (">pairs", *((">edges",) if edges else ()), "=category", "~which is", "~contexts")
    table = TextTable(title, *columns)
    for name, each in sorted(side.items(), key=lambda item: -item[1].pairs):
        contexts = [f"{what or '-'} {count:,}" for what, count in each.contexts.most_common()]
        shown = ", ".join(contexts[:MAX_CONTEXTS]) + (", …" if contexts[MAX_CONTEXTS:] else "")
        counts = (each.pairs, *((each.edges,) if edges else ()))
        table.add(*counts, name, CATEGORIES[name], shown)
    return table


def _examples(title: str, side: dict[str, Difference]) -> TextTable:
    table = TextTable(title, "=category", "page", "target")
    for name, each in side.items():
        for page, target in each.examples[:2]:
            table.add(name, page, target)
    return table


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--json", type=Path, help="file to write all results to")
    arguments = parser.parse_args()
    comparison, errors = Comparison(), list[BadInput]()
    for archive in arguments.archives:
        try:
            compare_archive(archive, comparison)
        except BadInput as error:
            errors.append(error)
    if arguments.json:
        arguments.json.write_text(json.dumps(as_data(comparison), indent=1) + "\n")
    for table in tables(comparison):
        print("\n".join([*table.lines(WIDTH), ""]))
    try:
        comparison.require_pages(", ".join(map(str, arguments.archives)))
    except BadInput as error:
        errors = errors or [error]
    for each in errors:
        print(each, file=sys.stderr)
    return BadInput.exit_code if errors else 0


if __name__ == "__main__":
    sys.exit(main())
