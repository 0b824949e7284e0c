"""What has changed between two runs, as tables and as JSON; docs/compare.md describes both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from pipeline.analysis.compare.diff import Diff
from pipeline.analysis.compare.diff_moves import Links, Move
from pipeline.analysis.compare.diff_side import PageChange
from pipeline.terminal import cell, new_table

SCHEMA = "crawlrank-diff-1"


def as_data(told: Diff, version: str) -> dict[str, Any]:
    """For JSON; values are those of the fields."""
    return {"schema": SCHEMA, "version": version, **asdict(told)}


def tables(told: Diff) -> Iterator[Table]:
    """All pages first, then those that changed most."""
    yield _summary(told)
    if told.options:
        yield _options(told)
    yield _classes(told)
    for word, moves in (("risen", told.risen_most), ("fallen", told.fallen_most)):
        if moves:
            yield _moves(f"{word} most", moves)
            links = _links(f"links of pages that have {word}", moves)
            if links.row_count:
                yield links
    if told.new_best:
        yield _pages("new, best first", told.new_best)
    if told.gone_best:
        yield _pages("gone, best first", told.gone_best)


def _summary(told: Diff) -> Table:
    table = new_table("pages", "what", ">count")
    for side in (told.before, told.after):
        name = f"in {side['work']}"
        table.add_row(cell(name), f"{side['pages']:,}")
        table.add_row("  of them captured", f"{side['captured']:,}")
    table.add_row("in both", f"{told.common:,}")
    for name, count in (("new", sum(told.new)), ("gone", sum(told.gone))):
        table.add_row(name, f"{count:,}")
    table.add_row("risen in class", f"{told.risen:,}")
    table.add_row("fallen in class", f"{told.fallen:,}")
    table.add_row("Spearman's rho of the scores in both", _coefficient(told.spearman))
    table.add_row("Kendall's tau-b", _coefficient(told.kendall))
    return table


def _coefficient(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6f}"


def _options(told: Diff) -> Table:
    table = new_table("options that differ", "option", "before", "after")
    for name, values in told.options.items():
        table.add_row(name, *(cell("unset" if value is None else str(value)) for value in values))
    return table


def _classes(told: Diff) -> Table:
    """Rows: the class before; columns: the class after."""
    numbers = range(1, told.bins + 1)
    table = new_table("classes", ">before", *(f">{number}" for number in numbers), ">gone")
    for number, row, gone in zip(numbers, told.classes, told.gone, strict=True):
        table.add_row(str(number), *(f"{count:,}" for count in row), f"{gone:,}")
    table.add_row("new", *(f"{count:,}" for count in told.new), "")
    return table


def _moves(title: str, moves: Sequence[Move]) -> Table:
    table = new_table(title, ">", ">class", ">position", ">score", ">won", ">lost", ">kept", "page")
    for number, move in enumerate(moves, 1):
        was, now = move.before, move.after
        table.add_row(
            str(number),
            f"{was.precedence} → {now.precedence}",
            f"{was.place:,} → {now.place:,}",
            f"{was.score:.4g} → {now.score:.4g}",
            _sum(move.won, 1),
            _sum(move.lost, -1),
            _sum(move.kept, 1),
            cell(now.uri),
        )
    return table


def _sum(links: Links, sign: int) -> str:
    """`12: +0.345`: how many links, and what they make of the score."""
    return f"{links.count:,}: {sign * links.gives:+.4g}" if links.count else "-"


def _links(title: str, moves: Sequence[Move]) -> Table:
    table = new_table(title, ">page", "link", ">gives", "source", "note")
    for number, move in enumerate(moves, 1):
        for word, links, sign in (("won", move.won, 1), ("lost", move.lost, -1)):
            for link in links.most:
                note = "" if link.page == "kept" else f"a page that is {link.page}"
                gives = f"{sign * link.gives:+.4g}"
                table.add_row(str(number), word, gives, cell(link.uri), note)
            if more := links.count - len(links.most):
                rest = links.gives - sum(link.gives for link in links.most)
                table.add_row(str(number), word, f"{sign * rest:+.4g}", f"({more:,} more)", "")
    return table


def _pages(title: str, pages: Sequence[PageChange]) -> Table:
    table = new_table(title, ">class", ">position", ">score", "captured", "page")
    for page in pages:
        captured = "yes" if page.captured else "no"
        place, score = f"{page.place:,}", f"{page.score:.4g}"
        table.add_row(str(page.precedence), place, score, captured, cell(page.uri))
    return table
