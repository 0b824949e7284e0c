"""The comparison of outlinks as JSON and for people; docs/audit.md describes both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from pipeline.analysis.audit.outlinks import CATEGORIES, Comparison, Found
from pipeline.terminal import cell, new_table

SCHEMA = "crawlrank-compare-outlinks-1"
MAX_CONTEXTS = 4
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


def document(found: Comparison, version: str) -> dict[str, Any]:
    """All that was found, ready for json.dumps."""
    return {
        "schema": SCHEMA,
        "version": version,
        **{name: getattr(found, name) for name in COUNTS},
        "only_metadata": {name: _found(each) for name, each in found.only_metadata.items()},
        "only_html": {name: _found(each) for name, each in found.only_html.items()},
    }


def _found(each: Found) -> dict[str, Any]:
    return {
        "pairs": each.pairs,
        "edges": each.edges,
        "contexts": dict(each.contexts.most_common()),
        "examples": [{"page": page, "target": target} for page, target in each.examples],
    }


def sections(found: Comparison) -> Iterator[tuple[str, Table]]:
    """Titles and tables, in order."""
    table = _table("what", ">count")
    for name, said in COUNTS.items():
        table.add_row(said, f"{getattr(found, name):,}")
    yield "in all", table
    for title, side in (
        ("in the metadata only", found.only_metadata),
        ("in the HTML only", found.only_html),
    ):
        if side:
            yield f"pairs {title}", _differences(side, edges=side is found.only_metadata)
            yield f"examples: {title}", _examples(side)


def _table(*columns: str) -> Table:
    table = new_table("", *columns)
    table.title = None
    return table


def _differences(side: dict[str, Found], *, edges: bool) -> Table:
    table = _table(">pairs", *((">edges",) if edges else ()), "category", "which is", "contexts")
    for name, each in sorted(side.items(), key=lambda item: -item[1].pairs):
        contexts = [f"{what or '-'} {count:,}" for what, count in each.contexts.most_common()]
        shown = ", ".join(contexts[:MAX_CONTEXTS]) + (", …" if contexts[MAX_CONTEXTS:] else "")
        counts = (f"{each.pairs:,}", *((f"{each.edges:,}",) if edges else ()))
        table.add_row(*counts, name, CATEGORIES[name], cell(shown))
    return table


def _examples(side: dict[str, Found]) -> Table:
    table = _table("category", "page", "target")
    for name, each in side.items():
        for page, target in each.examples[:2]:
            table.add_row(name, cell(page), cell(target))
    return table
