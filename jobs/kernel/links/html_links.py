"""The links of an HTML page: what it refers to (html_documents.py), resolved.

Contexts are in Heritrix's style (`a/@href`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from jobs.kernel.encodings.labels import output_encoding
from jobs.kernel.formats.hops import NOFOLLOW_HOPS
from jobs.kernel.keys.idna2003 import as_idna_2003
from jobs.kernel.keys.uris import base_uri
from jobs.kernel.links.dropped import Examples
from jobs.kernel.links.html_documents import MOST_REFERENCES, Document
from jobs.kernel.links.html_selection import DEFAULT_OPTIONS, HtmlOptions
from jobs.kernel.links.joining import Base, RawReference, UriOrReason
from jobs.kernel.links.link_rules import REFRESH
from jobs.kernel.markup.html_pieces import LONGEST_PAGE
from jobs.kernel.markup.page_text import PageText
from jobs.kernel.markup.references import References

SHORT_BASE = 512  # characters
MOST_JOINED = 2**23  # characters of longer bases with which the references of a page are joined
ReferencesOfKind = list[RawReference] | References
LinkGroup = tuple[list[bytes], str, str, bool]  # neighbours of one kind: targets, and the kind


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
    for targets, hop, context, nofollow in groups:
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
    return _resolved(document, page, document.page, counters, examples, most, _Joined())


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


class _Joined:
    """What long bases add to the references of a page: they would make gigabytes of a small one."""

    def __init__(self) -> None:
        self._left = MOST_JOINED

    def some(
        self, references: ReferencesOfKind, base: str, counters: Counter[str]
    ) -> ReferencesOfKind:
        """As many of the references as may be joined to a base."""
        size = len(base.partition("?")[0])
        if size <= SHORT_BASE:
            return references
        allowed = max(0, self._left // size)
        self._left -= size * min(allowed, len(references))
        if allowed >= len(references):
            return references
        if self._left >= 0:
            counters["dropped.over-limit"] += 1
            self._left = -1  # so that it is counted once
        return [*islice(references, allowed)]


def _resolved(
    document: Document,
    uri: str,
    page: PageText,
    counters: Counter[str],
    examples: Examples,
    most: int,
    joined: _Joined,
    nofollow: bool = False,
) -> Iterator[LinkGroup]:
    uri = base_uri(document.base, uri) if document.base else uri
    base = _PageBase(uri, page, document.page, as_heritrix=document.options.as_heritrix)
    nofollow = nofollow or document.nofollow
    one_by_one = document.size > most
    refreshed = False
    for written, (hop, context, flag) in document.references:
        references = joined.some(written, uri, counters)
        flag = flag or (nofollow and hop in NOFOLLOW_HOPS)
        if (hop, context) == REFRESH:
            for reference in references if not refreshed else ():
                if targets := base.targets([reference], counters, examples):
                    yield targets, hop, context, flag
                    refreshed = True
                    break
        elif one_by_one:
            for reference in references:
                yield base.targets([reference], counters, examples), hop, context, flag
        else:
            yield base.targets(references, counters, examples), hop, context, flag
    for inner in document.framed:
        yield from _resolved(inner, uri, page, counters, examples, most, joined, nofollow)
