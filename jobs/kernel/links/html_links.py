"""The links of an HTML page: what it refers to (html_documents.py), resolved.

Contexts are in Heritrix's style (`a/@href`).

PageLinks keeps each target and hop once, and only those that the options ask for; with the words
of links (the text of an `a`, and the `alt` of images in it), where these were asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from crawlrank.jobs.kernel.encodings.decoding import output_encoding
from crawlrank.jobs.kernel.formats.rows import (
    CANONICAL_HOP,
    LINK_HOPS,
    NAV_HOPS,
    NOFOLLOW_HOPS,
    UNKNOWN,
    AnchorRun,
    LinkRun,
)
from crawlrank.jobs.kernel.keys.idna2003 import as_idna_2003
from crawlrank.jobs.kernel.keys.uris import base_uri
from crawlrank.jobs.kernel.links.html_documents import (
    ANCHOR,
    DEFAULT_OPTIONS,
    MOST_REFERENCES,
    Document,
    HtmlOptions,
)
from crawlrank.jobs.kernel.links.joining import (
    Base,
    Examples,
    RawReference,
    UriOrReason,
    present,
    with_kinds,
)
from crawlrank.jobs.kernel.links.link_rules import NAV_CONTEXTS, REFRESH
from crawlrank.jobs.kernel.links.reference_kinds import BETWEEN, elsewhere
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE
from crawlrank.jobs.kernel.markup.link_words import LinkWords, WordedReference, words_of_links
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.markup.scanner import References

SHORT_BASE = 512  # characters
MOST_JOINED = 2**23  # characters of longer bases with which the references of a page are joined
ReferencesOfKind = list[RawReference] | References
# neighbours of one element and attribute: targets, hop, context, nofollow and, where asked for, the
# kind of each reference (reference_kinds.py)
LinkGroup = tuple[list[bytes], str, str, bool, list[bytes] | None]
# of groups: targets, b"" for none, words, and words around if they are asked for
WordsOfLinks = list[tuple[list[bytes], LinkWords, LinkWords]]
NO_WORDS = LinkWords(b"", 0)
Mark = tuple[dict[str, dict[bytes, None]], dict[str, int]]  # targets by hop, and how many they are


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
    document = html_document(body, content_type, counters, options)
    return document_links(document, page, counters, {} if examples is None else examples, most)


def html_document(
    body: bytes, content_type: str, counters: Counter[str], options: HtmlOptions
) -> Document:
    """The document of a page; content_type, counters: as in `html_link_groups`."""
    is_long = len(body) > LONGEST_PAGE
    text = PageText(body[:LONGEST_PAGE] if is_long else body, content_type)
    if body and text.is_unread:
        counters["dropped.encoding"] += 1
    document = Document(text, options)
    if is_long or document.is_cut:
        counters["dropped.html-tail"] += 1
    if document.left_out:
        counters["dropped.srcdoc"] += document.left_out
    return document


def document_links(
    document: Document,
    page: str,
    counters: Counter[str],
    examples: Examples,
    most: int,
    words: WordsOfLinks | None = None,
) -> Iterator[LinkGroup]:
    """The links of a document, as `html_link_groups` gives them. page: its URI. words: gets those
    of each group that comes, if the document was read for them."""
    if not (document.references or document.framed):
        return iter(())
    options, anchors = document.options, document.anchors
    if anchors is not None and document.size <= most and len(page) <= SHORT_BASE:
        text = document.page
        base = _PageBase(page, text, text, as_heritrix=options.as_heritrix)
        hop, context, nofollow = ANCHOR
        targets = base.each(anchors, counters, examples)
        if words is not None:
            words.append((targets, words_of_links(text, anchors), NO_WORDS))
        return iter([(present(targets), hop, context, nofollow, None)])
    other = elsewhere(page) if options.kinds else ""
    joining = _PageJoining(document.page, counters, examples, most, words, options.around)
    return joining.links(document, page, other)


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
    queries are. counters, examples, most: as in `html_link_groups`. words: as of
    `document_links`. around: whether they come with those around links."""

    def __init__(
        self,
        page: PageText,
        counters: Counter[str],
        examples: Examples,
        most: int,
        words: WordsOfLinks | None,
        around: bool,
    ) -> None:
        self._page, self._counters, self._examples, self._most = page, counters, examples, most
        self._words, self._around = words, around
        self._left = MOST_JOINED

    def links(
        self, document: Document, uri: str, other: str, nofollow: bool = False
    ) -> Iterator[LinkGroup]:
        """other: the page elsewhere, if kinds of references are asked for."""
        if document.base:
            uri, other = [one and self._stated(document, one) for one in (uri, other)]
        base, compared = self._base(document, uri), self._base(document, other) if other else None
        nofollow = nofollow or document.nofollow
        one_by_one = document.size > self._most
        refreshed = False
        for written, (hop, context, flag) in document.references:
            if self._words is not None and (one_by_one or len(uri) > SHORT_BASE):
                written = worded(document.page, written)
            references = self._some(written, uri)
            flag = flag or (nofollow and hop in NOFOLLOW_HOPS)
            if (hop, context) == REFRESH:
                for reference in references if not refreshed else ():
                    targets, kinds = self._joined(document.page, base, compared, [reference])
                    if targets:
                        yield targets, hop, context, flag, kinds
                    if targets or base.join(base.text(reference)) != "invalid":
                        refreshed = True  # to whatever address, no later one counts
                        break
            elif one_by_one:
                for reference in references:
                    targets, kinds = self._joined(document.page, base, compared, [reference])
                    yield targets, hop, context, flag, kinds
            else:
                targets, kinds = self._joined(document.page, base, compared, references)
                yield targets, hop, context, flag, kinds
        for inner in document.framed:
            yield from self.links(inner, uri, other, nofollow)

    def _stated(self, document: Document, uri: str) -> str:
        """The address that the base of a document makes of that of its page."""
        stated, as_heritrix = document.base or "", document.options.as_heritrix
        if stated.isascii():
            return base_uri(stated, uri)
        stated = as_idna_2003(stated) if as_heritrix else stated
        return base_uri(stated, uri, query_codec(self._page.charset, as_heritrix=as_heritrix))

    def _base(self, document: Document, uri: str) -> Base:
        as_heritrix = document.options.as_heritrix
        return _PageBase(uri, self._page, document.page, as_heritrix=as_heritrix)

    def _joined(
        self, page: PageText, base: Base, compared: Base | None, references: ReferencesOfKind
    ) -> tuple[list[bytes], list[bytes] | None]:
        """page: that the references are of."""
        each = base.each(references, self._counters, self._examples)
        if self._words is not None:
            around = around_of(references) if self._around else NO_WORDS
            self._words.append((each, words_of(page, references), around))
        if compared is None:
            return present(each), None
        return with_kinds(each, compared.each(references, Counter(), {}))

    def _some(self, references: ReferencesOfKind, base: str) -> ReferencesOfKind:
        """The references that may be joined to a base, up to a bound: long bases would make
        gigabytes of a small page."""
        if len(base) <= SHORT_BASE or (size := len(base.partition("?")[0])) <= SHORT_BASE:
            return references
        allowed = max(0, self._left // size)
        self._left -= size * min(allowed, len(references))
        if allowed >= len(references):
            return references
        if self._left >= 0:
            self._counters["dropped.over-limit"] += 1
            self._left = -1  # so that it is counted once
        return [*islice(references, allowed)]


def with_nofollow(links: Iterable[LinkGroup]) -> Iterator[LinkGroup]:
    """The links of a page that asks not to follow any."""
    return ((*link[:3], link[3] or link[1] in NOFOLLOW_HOPS, link[4]) for link in links)


def words_of(page: PageText, references: ReferencesOfKind) -> LinkWords:
    """The words of each link; those of what is no link are none."""
    if isinstance(references, References):
        return words_of_links(page, references)
    return LinkWords.of(one.words if isinstance(one, WordedReference) else "" for one in references)


def around_of(references: ReferencesOfKind) -> LinkWords:
    """The words around each link; those of what is no link are none."""
    return LinkWords.of(
        one.around if isinstance(one, WordedReference) else "" for one in references
    )


def worded(page: PageText, references: ReferencesOfKind) -> ReferencesOfKind:
    """The same references, each with its words."""
    if not isinstance(references, References):
        return references
    words = words_of_links(page, references).lines
    values = map(page.value, references)
    return [WordedReference(*pair) for pair in zip(values, words, strict=True)]


_COUNTED = {hop: (hop.encode(), f"links.{hop}") for hop in LINK_HOPS + CANONICAL_HOP}


class PageLinks:
    """The links of the current page, from its header, its body and its metadata.

    nav: keep only NAV_HOPS and NAV_CONTEXTS. drop: leave out nofollow links. most: links of a page.
    canonical: keep hop C. timestamps: give each link the time of its page's capture, and the kinds
    of its references. counters: see `extract`; counted once for each group, as counting each link
    would double the time.
    """

    def __init__(
        self,
        *,
        nav: bool,
        drop: bool,
        most: int,
        counters: Counter[str],
        canonical: bool = False,
        timestamps: bool = False,
    ) -> None:
        hops = NAV_HOPS if nav else LINK_HOPS
        self._hops = frozenset(hops + CANONICAL_HOP * canonical)
        self._timestamps, self._timestamp = timestamps, UNKNOWN
        self._drop, self._most, self._counters = drop, most, counters
        self.page = (b"", "")  # URI and timestamp
        self.room = most  # for links of the page
        self._left_out = False  # whether some link of the page was
        self._targets: dict[str, dict[bytes, None]] = {}  # of the page so far, by hop
        # by hop and target: the list that has the kinds of the link, and its index there
        self._kinds: dict[tuple[str, bytes], tuple[list[bytes], int]] = {}

    def begin(self, uri: bytes, timestamp: str) -> None:
        self.page, self._targets, self.room = (uri, timestamp), {}, self._most
        self._kinds, self._left_out = {}, False
        if self._timestamps:
            self._timestamp = timestamp.encode() or UNKNOWN

    def mark(self) -> Mark:
        """What is known by now, for `back_to`."""
        return self._targets, {hop: len(targets) for hop, targets in self._targets.items()}

    def back_to(self, mark: Mark) -> None:
        """Forget the links since this mark, which are left out."""
        targets, sizes = mark
        if self._targets is not targets:  # of a page that has begun since
            self.begin(b"", "")
            return
        for hop, known in targets.items():
            while len(known) > sizes.get(hop, 0):
                known.popitem()

    def add(self, source: bytes, groups: Iterable[LinkGroup], origin: str) -> list[LinkRun]:
        """The new links of these groups; origin: a document's name, `header` or `metadata`."""
        runs: list[LinkRun] = []
        counters, count, room = self._counters, 0, self.room
        for targets, hop, context, nofollow, kinds in groups:
            if not targets or not self._keeps(targets, hop, context, nofollow):
                continue
            letter, counted = _COUNTED[hop]
            new, known = dict.fromkeys(targets), self._targets.get(hop)
            if known is not None:
                new = dict.fromkeys([target for target in new if target not in known])
            if len(new) < len(targets):
                counters["dropped.duplicate"] += len(targets) - len(new)
            is_full = count + len(new) > room
            if is_full:
                counters["dropped.over-limit"] += 1
                self._left_out = True
                new = dict.fromkeys([*new][: room - count])
            if new:
                counters[counted] += len(new)
                count += len(new)
                added = [UNKNOWN] * len(new) if self._timestamps else None
                runs.append(LinkRun([*new], source, letter, self._timestamp, added))
                if known is None:
                    self._targets[hop] = new
                else:
                    known.update(new)
            if kinds:
                self._add_kinds(hop, targets, kinds, runs[-1] if new else None)
            if is_full:
                break  # so that the other references are not even joined
        if runs:
            self.room -= count
            counters["links"] += count
            counters[f"links.from.{origin}"] += count
        return runs

    def _add_kinds(
        self, hop: str, targets: list[bytes], kinds: list[bytes], run: LinkRun | None
    ) -> None:
        """Note the kinds of references to targets, some of which may be those of earlier links.
        run: of those that are new."""
        known = self._kinds
        if run is not None and run.references is not None:
            for index, target in enumerate(run.targets):
                run.references[index] = b""
                known[hop, target] = run.references, index
        for target, kind in zip(targets, kinds, strict=True):
            references, index = known.get((hop, target), (None, 0))
            if references is None:  # of a link above the limit, or of Heritrix's lines
                continue
            before = references[index]
            if not before:
                references[index] = kind
            elif kind != before and kind not in before.split(BETWEEN):
                references[index] = before + BETWEEN + kind

    def anchors(
        self, source: bytes, words: WordsOfLinks, *, of_links: bool = True
    ) -> list[AnchorRun]:
        """The words, as one run. of_links: those of links of the page alone."""
        if not words:
            return []
        targets, texts, around = words[0]
        if len(words) > 1:
            some, *columns = zip(*words, strict=True)
            targets, texts, around = [*chain(*some)], *map(LinkWords.joined, columns)
        if not texts.worded:
            return []
        if of_links and self._left_out:
            links = self._targets.get("L", {})
            targets = [target if target in links else b"" for target in targets]
        self._counters["anchors"] += texts.worded
        timestamp = self.page[1].encode() or UNKNOWN
        return [AnchorRun(targets, source, texts.text, timestamp, around.text)]

    def _keeps(self, targets: list[bytes], hop: str, context: str, nofollow: bool) -> bool:
        """Whether links of this kind are kept; those that are not are counted."""
        if hop not in self._hops and not (hop in LINK_HOPS and context.lower() in NAV_CONTEXTS):
            self._counters[f"dropped.hop.{hop}"] += len(targets)
            return False
        if not nofollow:
            return True
        self._counters["flagged.nofollow"] += len(targets)
        if self._drop:
            self._counters["dropped.nofollow"] += len(targets)
            self._left_out = True
        return not self._drop
