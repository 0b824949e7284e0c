"""The links of an HTML page: what it refers to (html_documents.py), resolved.

Contexts are in Heritrix's style (`a/@href`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from crawlrank.jobs.kernel.encodings.labels import output_encoding
from crawlrank.jobs.kernel.formats.hops import NOFOLLOW_HOPS
from crawlrank.jobs.kernel.keys.idna2003 import as_idna_2003
from crawlrank.jobs.kernel.keys.uris import base_uri
from crawlrank.jobs.kernel.links.dropped import Examples
from crawlrank.jobs.kernel.links.html_documents import MOST_REFERENCES, Document
from crawlrank.jobs.kernel.links.html_selection import DEFAULT_OPTIONS, HtmlOptions
from crawlrank.jobs.kernel.links.joining import Base, RawReference, UriOrReason
from crawlrank.jobs.kernel.links.link_rules import REFRESH
from crawlrank.jobs.kernel.links.reference_kinds import elsewhere
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.markup.references import References

SHORT_BASE = 512  # characters
MOST_JOINED = 2**23  # characters of longer bases with which the references of a page are joined
ReferencesOfKind = list[RawReference] | References
# neighbours of one element and attribute: targets, hop, context, nofollow and, where asked for, the
# kind of each reference (reference_kinds.py)
LinkGroup = tuple[list[bytes], str, str, bool, list[bytes] | None]


def html_links(
    body: bytes,
    page: str,
    content_type: str = "",
    counters: Counter[str] | None = None,
    *,
    forms: bool = False,
    nav: bool = False,
) -> Iterator[tuple[bytes, str, str, bool]]:
    """The links of `html_link_groups` one by one."""
    counters = Counter() if counters is None else counters
    options = HtmlOptions(forms, nav)
    groups = html_link_groups(body, page, content_type, counters, options=options)
    for targets, hop, context, nofollow, _ in groups:
        for target in targets:
            yield target, hop, context, nofollow


def html_link_groups(
    body: bytes,
    page: str,
    content_type: str,
    counters: Counter[str],
    examples: Examples | None = None,
    options: HtmlOptions = DEFAULT_OPTIONS,
    most: int = MOST_REFERENCES,
) -> Iterator[LinkGroup]:
    """The links of a page in its order, with repetitions.

    page: its URI. content_type: the HTTP header, for the charset. counters: references that are no
    links are counted as `dropped.` and the reason of jobs/kernel/keys/uris.py. examples: gets the
    first of these by reason. most: on a page with more references each one is a group, so that the
    others are not joined once there are enough links.
    """
    is_long = len(body) > LONGEST_PAGE
    text = PageText(body[:LONGEST_PAGE] if is_long else body, content_type)
    if body and text.is_unread:
        counters["dropped.encoding"] += 1
    document = Document(text, options)
    if is_long or document.is_cut:
        counters["dropped.html-tail"] += 1
    if document.left_out:
        counters["dropped.srcdoc"] += document.left_out
    examples = {} if examples is None else examples
    other = elsewhere(page) if options.kinds else ""
    return _PageJoining(document.page, counters, examples, most).links(document, page, other)


def query_codec(charset: str, *, as_heritrix: bool) -> str:
    """The charset of queries, as WHATWG says, or as Heritrix has it."""
    return "utf-8" if as_heritrix else output_encoding(charset)


class _PageBase(Base):
    """The base of a page, whose charset is asked for only by references beyond ASCII. Those as
    bytes are remembered, too."""

    def __init__(self, uri: str, page: PageText, text: PageText, *, as_heritrix: bool) -> None:
        """page: whose charset queries are in; text: that references are written in."""
        super().__init__(uri)
        self._page_text, self._text, self._as_heritrix = page, text, as_heritrix
        self._in_charset: Base | None = None

    def text(self, reference: RawReference) -> str:
        return self._text.value(reference) if isinstance(reference, bytes) else reference

    def _resolved(self, reference: RawReference) -> UriOrReason:
        text = self.text(reference)
        if not text.isascii():
            return self._beyond_ascii(text)
        if text is reference:
            return super()._resolved(text)
        target, kept = self._target(text)
        self._remember(reference, target, kept=kept)
        return target

    def _beyond_ascii(self, text: str) -> UriOrReason:
        if self._in_charset is None:
            codec = query_codec(self._page_text.charset, as_heritrix=self._as_heritrix)
            self._in_charset = Base(self.uri, codec)
        return self._in_charset.join(as_idna_2003(text) if self._as_heritrix else text)


class _PageJoining:
    """Joins the references of a page, and of pages in it, to their bases. page: in whose charset
    queries are. counters, examples, most: as in `html_link_groups`."""

    def __init__(
        self, page: PageText, counters: Counter[str], examples: Examples, most: int
    ) -> None:
        self._page, self._counters, self._examples, self._most = page, counters, examples, most
        self._left = MOST_JOINED

    def links(
        self, document: Document, uri: str, other: str, nofollow: bool = False
    ) -> Iterator[LinkGroup]:
        """other: the page elsewhere, if kinds of references are asked for."""
        uri, other = [
            base_uri(document.base, one) if document.base and one else one for one in (uri, other)
        ]
        base, compared = self._base(document, uri), self._base(document, other) if other else None
        nofollow = nofollow or document.nofollow
        one_by_one = document.size > self._most
        refreshed = False
        for written, (hop, context, flag) in document.references:
            references = self._some(written, uri)
            flag = flag or (nofollow and hop in NOFOLLOW_HOPS)
            if (hop, context) == REFRESH:
                for reference in references if not refreshed else ():
                    targets, kinds = self._joined(base, compared, [reference])
                    if targets:
                        yield targets, hop, context, flag, kinds
                        refreshed = True
                        break
            elif one_by_one:
                for reference in references:
                    targets, kinds = self._joined(base, compared, [reference])
                    yield targets, hop, context, flag, kinds
            else:
                targets, kinds = self._joined(base, compared, references)
                yield targets, hop, context, flag, kinds
        for inner in document.framed:
            yield from self.links(inner, uri, other, nofollow)

    def _base(self, document: Document, uri: str) -> Base:
        as_heritrix = document.options.as_heritrix
        return _PageBase(uri, self._page, document.page, as_heritrix=as_heritrix)

    def _joined(
        self, base: Base, compared: Base | None, references: ReferencesOfKind
    ) -> tuple[list[bytes], list[bytes] | None]:
        if compared is None:
            return base.targets(references, self._counters, self._examples), None
        return base.targets_and_kinds(references, compared, self._counters, self._examples)

    def _some(self, references: ReferencesOfKind, base: str) -> ReferencesOfKind:
        """As many of the references as may be joined to a base: long bases would make gigabytes of
        a small page."""
        size = len(base.partition("?")[0])
        if size <= SHORT_BASE:
            return references
        allowed = max(0, self._left // size)
        self._left -= size * min(allowed, len(references))
        if allowed >= len(references):
            return references
        if self._left >= 0:
            self._counters["dropped.over-limit"] += 1
            self._left = -1  # so that it is counted once
        return [*islice(references, allowed)]
