"""What is explained of a page, as tables and as JSON; docs/compare.md describes both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.table import Table

from pipeline.analysis.compare.explain import Explanation, Folded, Spelling
from pipeline.precedence.caveats import caveats_table
from pipeline.terminal import cell, new_table

DECIDES = {
    "key": "the key decides",
    "links": "the links to them decide, then captures, then the key",
    "together": "the key decides the place, not the class",
}
SCHEMA = "crawlrank-explain-1"


def as_data(told: Explanation, version: str) -> dict[str, Any]:
    """For JSON; values are those of the fields."""
    return {"schema": SCHEMA, "version": version, **asdict(told)}


def tables(told: Explanation) -> Iterator[Table]:
    """In the order in which people ask: what, why, and what becomes of it."""
    yield _page(told)
    if told.score is not None:
        yield _links(told, told.score)
    if told.spellings:
        yield _spellings(told)
    if told.captures:
        yield _captures(told)
    if told.caveats:
        yield caveats_table(told.caveats)


def _page(told: Explanation) -> Table:
    table = new_table(cell(told.shown or told.uri), "what", "value")
    table.add_row("key", cell(told.key))
    if fold := told.asked_fold:
        table.add_row("asked for", f"{cell(fold.key)}, {_folded(fold)} that is one with it")
    if told.folded:
        names = [f"{cell(one.key)} ({_folded(one)})" for one in told.folded]
        more = told.folded_count - len(names)
        names += [f"{more:,} more"] if more else []
        table.add_row("one with it", ", ".join(names))
    if told.score is None or told.standing is None:
        table.add_row("score", f"none: {told.why_no_score}")
    else:
        standing = told.standing
        table.add_row("score", f"{told.score:.6g}, {standing.probability:.3%} of all")
        place = f"{standing.position:,} of {standing.nodes:,}"
        if standing.equal > 1:
            place += (
                f"; {standing.equal - 1:,} others have the same score, and {DECIDES[told.ties]}"
            )
        table.add_row("position", place)
        over = f"cut over {standing.cut_over:,} pages"
        table.add_row("class", f"{standing.precedence} of {standing.bins}, {over}")
    table.add_row("captures", f"{told.capture_count:,}")
    if told.asked_spelling:
        table.add_row("as you wrote it", _listing(told.asked_spelling, told.unlisted))
    return table


def _folded(fold: Folded) -> str:
    kind = "a redirect" if fold.kind == "redirect" else "a page with a canonical address"
    return kind if fold.hops == 1 else f"{kind}, {fold.hops} steps away"


def _links(told: Explanation, score: float) -> Table:
    title = f"what its score is made of ({told.links:,} incoming links)"
    table = new_table(title, ">gives", ">share", ">source's score", ">its links", "source")
    table.add_row(f"{told.base:.6g}", f"{told.base / score:.1%}", "", "", "(every page has this)")
    for link in told.given:
        share = f"{link.gives / score:.1%}"
        table.add_row(
            f"{link.gives:.6g}", share, f"{link.score:.6g}", f"{link.outlinks:,}", cell(link.uri)
        )
    if more := told.links - len(told.given):
        share = f"{told.others_give / score:.1%}"
        table.add_row(f"{told.others_give:.6g}", share, "", "", f"({more:,} more links)")
    return table


def _spellings(told: Explanation) -> Table:
    title = f"spellings ({told.spelling_count:,})"
    table = new_table(title, ">precedence", ">captures", ">links", "URI", "note")
    for spelling in told.spellings:
        precedence = "-" if spelling.precedence is None else str(spelling.precedence)
        note = spelling.why or ""
        if spelling.form and spelling.form != spelling.uri:
            note = note or f"listed as {spelling.form}"
        table.add_row(
            precedence, f"{spelling.captures:,}", f"{spelling.links:,}", cell(spelling.uri),
            cell(note),
        )  # fmt: skip
    if more := told.spelling_count - len(told.spellings):
        table.add_row("", "", "", f"({more:,} more)", "")
    return table


def _listing(spelling: Spelling, unlisted: int) -> str:
    if spelling.precedence is not None:
        return f"precedence {spelling.precedence}, as {cell(str(spelling.form))}"
    return f"unlisted, precedence {unlisted}: {cell(spelling.why or '')}"


def _captures(told: Explanation) -> Table:
    table = new_table("latest captures", "time", ">status", "type", "archive", ">offset", "URI")
    for row in told.captures:
        texts = ["-" if value is None else cell(str(value)) for value in row.values()]
        uri, time, status, media_type, _, _, archive, offset = texts
        table.add_row(time, status, media_type, archive, offset, uri)
    return table
