"""The explanation of a page as tables. docs/compare.md describes them, and the JSON."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.analysis.anchor_texts import AnchorTexts
from crawlrank.pipeline.analysis.compare.explain import Explanation, Folded, LinksToPage, Spelling
from crawlrank.pipeline.precedence.caveats import caveats_table
from crawlrank.pipeline.terminal import TextTable

DECIDES = {
    "key": "the key decides",
    "links": "the links to them decide, then captures, then the key",
    "together": "the key decides the place, not the class",
}
SCHEMA = "crawlrank-explain-1"


def tables(page: Explanation) -> Iterator[TextTable]:
    """The tables in the order of questions: what, why, and what becomes of it. Some may have no
    rows."""
    yield _page(page)
    if page.score is not None and page.site is None and page.made_of is None:
        yield _counts(page.links_to_page)
        yield _links(page, page.score)
    yield _texts(page)
    yield _spellings(page)
    yield _captures(page)
    yield caveats_table(page.caveats)


def _page(page: Explanation) -> TextTable:
    table = TextTable(page.shown or page.uri, "what", "~value")
    if page.title is not None:
        table.add("title", page.title)
    table.add("key", page.key)
    if fold := page.asked_fold:
        table.add("asked for", f"{fold.key}, {_folded(fold)} that is one with it")
    if page.folded:
        names = [f"{fold.key} ({_folded(fold)})" for fold in page.folded]
        more = page.folded_count - len(names)
        names += [f"{more:,} more"] if more else []
        table.add("one with it", ", ".join(names))
    if page.score is None or page.standing is None:
        table.add("score", f"none: {page.why_no_score}")
    else:
        standing = page.standing
        table.add("score", f"{page.bounds.text(page.score)}, {standing.probability:.3%} of all")
        if page.site is not None:
            table.add(
                "site",
                f"{page.site}, whose pages share its score; see `crawlrank export --format sites`",
            )
        if page.made_of is not None:
            table.add("made of", f"{page.made_of}; see explain of each with --ranking")
        position = f"{standing.position:,} of {standing.nodes:,}"
        if standing.equal > 1:
            others = count_of(standing.equal - 1, "other has", "others have")
            position += f"; {others} the same score, and {DECIDES[page.ties]}"
        table.add("position", position)
        for row in _further(page):
            table.add(*row)
        over = f"cut over {count_of(standing.cut_over, 'page')}"
        table.add("class", f"{standing.precedence} of {standing.bins}, {over}")
    table.add("captures", page.capture_count)
    if page.asked_spelling:
        table.add("as you wrote it", _listing(page.asked_spelling, page.unlisted))
    return table


def _further(page: Explanation) -> Iterator[tuple[str, str]]:
    """What further columns of the ranking say."""
    if page.hub is not None:
        yield "as a hub", f"{page.hub:.6g}"
    if page.reach is not None:
        yield "pages that lead to it", f"{page.reach:,.0f}"
    if page.reach and page.closeness:
        yield "their mean distance", f"{1 / page.closeness / page.reach:.3g}"


FOLDS = {
    "redirect": "a redirect",
    "canonical": "a page with a canonical address",
    "charset": "a link in the charset of its page",
}


def _folded(fold: Folded) -> str:
    kind = FOLDS[fold.kind]
    return kind if fold.hops == 1 else f"{kind}, {fold.hops} steps away"


def _counts(links: LinksToPage | None) -> TextTable:
    table = TextTable("links to it", "~what", ">count")
    if links:
        table.add("in archives, to any of its spellings", links.counted)
        table.add("  counted: one from each page with a score", links.counting)
        table.add("  not counted: repeated by such a page", links.repeated)
        table.add("  not counted: from the page itself", links.own)
        table.add("  not counted: from pages without a score (see --nodes)", links.unranked)
    return table


def _links(page: Explanation, score: float) -> TextTable:
    title = "what its score is made of"
    if page.links_to_page:
        title += f" ({count_of(page.links, 'link that counts', 'links that count')})"
    table = TextTable(title, ">gives", ">share", ">source's score", ">its links", "source")
    if page.base:
        share = _share(page.base, score)
        table.add(f"{page.base:.6g}", share, None, None, f"({page.base_is})")
        if page.links_to_page is None and not page.given:
            rest = score - page.base
            table.add(page.bounds.text(rest), _share(rest, score), None, None, "(links to it)")
    for link in page.given:
        share = _share(link.gives, score)
        gives, from_ = (page.bounds.text(value) for value in (link.gives, link.score))
        table.add(gives, share, from_, link.outlinks, link.uri)
    if more := page.links - len(page.given):
        share = _share(page.others_give, score)
        table.add(
            page.bounds.text(page.others_give),
            share,
            None,
            None,
            f"({count_of(more, 'more link')})",
        )
    return table


def _share(part: float, score: float) -> str:
    return f"{part / score:.1%}" if score else "-"


def _texts(page: Explanation) -> TextTable:
    named = page.anchor_texts or AnchorTexts()
    table = TextTable(f"texts of links to it ({named.count:,})", "~words", "used by")
    for text in named.texts:
        table.add(text.words, text.by)
    if more := named.count - len(named.texts):
        table.note(f"… and {more:,} more")
    return table


def _spellings(page: Explanation) -> TextTable:
    title = f"spellings ({page.spelling_count:,})"
    table = TextTable(title, ">precedence", ">captures", ">links", "URI", "~note")
    for spelling in page.spellings:
        precedence = "-" if spelling.precedence is None else str(spelling.precedence)
        note = spelling.why or ""
        if spelling.form and spelling.form != spelling.uri:
            note = note or f"listed as {spelling.form}"
        table.add(precedence, spelling.captures, spelling.links, spelling.uri, note)
    if more := page.spelling_count - len(page.spellings):
        table.note(f"… and {more:,} more")
    return table


def _listing(spelling: Spelling, unlisted: int) -> str:
    if spelling.precedence is not None:
        return f"precedence {spelling.precedence}, as {spelling.form}"
    return f"not in the file, so Heritrix gives it precedence {unlisted}: {spelling.why or ''}"


def _captures(page: Explanation) -> TextTable:
    table = TextTable("latest captures", "time", ">status", "type", "/archive", ">offset", "URI")
    for row in page.captures:
        texts = ["-" if value is None else str(value) for value in row.values()]
        uri, time, status, media_type, _, _, archive, offset = texts[:8]
        table.add(time, status, media_type, archive, offset, uri)
    return table
