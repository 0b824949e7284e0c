"""What has changed between two runs, as tables. docs/compare.md describes them, and the JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawlrank.pipeline.analysis.compare.diff import Diff, LinkChange, LinkChanges, Move, RankedPage
from crawlrank.pipeline.options import option_words
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.terminal import TextTable

SCHEMA = "crawlrank-diff-1"


def tables(diff: Diff) -> Iterator[TextTable]:
    """All pages first, then those that changed most; some tables may have no rows."""
    yield _summary(diff)
    yield _options(diff)
    yield _classes(diff)
    before, after = (Bounds(side["eta"], side["absolute"]) for side in (diff.before, diff.after))
    for word, moves in (("risen", diff.risen_most), ("fallen", diff.fallen_most)):
        yield _moves(f"{word} most", moves, before, after)
        yield _links(f"links of pages that have {word}", moves)
    yield _pages("new, best first", diff.new_best, after)
    yield _pages("gone, best first", diff.gone_best, before)


def _summary(diff: Diff) -> TextTable:
    table = TextTable("pages", "~what", ">count")
    for side in (diff.before, diff.after):
        table.add(f"in {side['work']}", side["pages"])
        table.add("  of them captured", side["captured"])
    table.add("in both", diff.common)
    table.add("new", sum(diff.new))
    table.add("gone", sum(diff.gone))
    table.add("risen in class", diff.risen)
    table.add("fallen in class", diff.fallen)
    table.add("rank correlation of the scores in both, Spearman's rho", _coefficient(diff.spearman))
    table.add("rank correlation, Kendall's tau-b", _coefficient(diff.kendall))
    return table


def _coefficient(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6f}"


def _options(diff: Diff) -> TextTable:
    table = TextTable("options that differ", "option", "~before", "~after")
    for name, values in diff.options.items():
        words = (" ".join(option_words(name, value)) for value in values)
        table.add(name, *(each or "not given" for each in words))
    return table


def _classes(diff: Diff) -> TextTable:
    """Rows: the class before; columns: the class after."""
    numbers = range(1, diff.bins + 1)
    table = TextTable("classes", ">before", *(f">{number}" for number in numbers), ">gone")
    for number, row, gone in zip(numbers, diff.classes, diff.gone, strict=True):
        table.add(number, *row, gone)
    table.add("new", *diff.new)
    return table


def _moves(title: str, moves: Sequence[Move], before: Bounds, after: Bounds) -> TextTable:
    table = TextTable(title, ">", ">class", ">position", ">score", ">won", ">lost", ">kept", "page")
    for number, move in enumerate(moves, 1):
        was, now = move.before, move.after
        table.add(
            number,
            f"{was.precedence} → {now.precedence}",
            f"{was.place:,} → {now.place:,}",
            f"{before.text(was.score)} → {after.text(now.score)}",
            _sum(move.won, 1),
            _sum(move.lost, -1),
            _sum(move.kept, 1),
            now.uri,
        )
    return table


def _sum(links: LinkChanges, sign: int) -> str:
    """`12: +0.345`: how many links, and what they add to the score."""
    return f"{links.count:,}: {sign * links.gives:+.4g}" if links.count else "-"


def _links(title: str, moves: Sequence[Move]) -> TextTable:
    table = TextTable(title, ">page", "link", ">gives", "source", "~note")
    for number, move in enumerate(moves, 1):
        for word, links, sign in (("won", move.won, 1), ("lost", move.lost, -1)):
            for link in links.most:
                note = _note(link)
                gives = f"{sign * link.gives:+.4g}"
                table.add(number, word, gives, link.uri, note)
            if more := links.count - len(links.most):
                rest = links.gives - sum(link.gives for link in links.most)
                table.add(number, word, f"{sign * rest:+.4g}", f"({more:,} more)")
    return table


def _note(link: LinkChange) -> str:
    if link.page != "kept":
        return f"a page that is {link.page}"
    return "" if link.status in (None, 200) else f"its status is {link.status} now"


def _pages(title: str, pages: Sequence[RankedPage], bounds: Bounds) -> TextTable:
    table = TextTable(title, ">class", ">position", ">score", "captured", "page")
    for page in pages:
        captured = "yes" if page.captured else "no"
        table.add(page.precedence, page.place, bounds.text(page.score), captured, page.uri)
    return table
