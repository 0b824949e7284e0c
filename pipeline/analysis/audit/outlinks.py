"""Heritrix's `outlink:` lines compared with the links in the HTML of the same pages.

Heritrix finds links with regular expressions and guesses, crawlrank with a parser. A page is
compared if the archive holds both its HTML and the metadata record that describes it. A pair is a
page and a target, once for each page, compared in Heritrix's form; fragments do not count. If only
one side has a pair, CATEGORIES say why. Memory does not grow with archives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD, Damage, guard
from crawlrank.jobs.kernel.archive.metadata import Outlink, read_metadata
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import WAT, read_archives
from crawlrank.jobs.kernel.archive.wat import is_wat
from crawlrank.jobs.kernel.captures.counters import require_pages
from crawlrank.jobs.kernel.captures.outlink_lines import BASE, counted_hop
from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.hops import NAV_HOPS, SUBMIT_HOP
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects, heritrix_form
from crawlrank.jobs.kernel.keys.keys import key_of
from crawlrank.jobs.kernel.keys.uris import as_crawled
from crawlrank.jobs.kernel.links.body_links import body_links, resolved
from crawlrank.jobs.kernel.links.header_links import header_references, location
from crawlrank.jobs.kernel.links.html_links import LinkGroup
from crawlrank.jobs.kernel.links.html_selection import HtmlOptions
from crawlrank.jobs.kernel.links.link_rules import FORM_RULES, NAV_CONTEXTS, RULES
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, opened
from crawlrank.pipeline.analysis.audit.described_pages import DescribedPages
from crawlrank.pipeline.analysis.audit.page_markup import Markup, last_name

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
_SELECTOR = re.compile(r"\[[^]]*\]")


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


def compare_archive(
    archive: PathOrUrl, comparison: Comparison, *, max_record: int = MAX_RECORD
) -> None:
    """Add an archive to the comparison. Raises BadInput, also for a WAT file."""
    comparison.archives += 1
    for page, metadata in _pages(archive, comparison, max_record):
        _compare(page, metadata, comparison)


def _pages(
    archive: PathOrUrl, comparison: Comparison, max_record: int
) -> Iterator[tuple[Record, Record]]:
    """The pages that have a metadata record, each with it."""
    kinds: Counter[str] = Counter()
    with guard(str(archive)), opened(archive) as stream:
        for _, items, _ in read_archives(stream, str(archive), max_record=max_record):
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
