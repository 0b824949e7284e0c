"""The comparison of outlinks as JSON and for people; docs/audit.md describes both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crawlrank.pipeline.analysis.audit.outlinks import CATEGORIES, Comparison, Difference
from crawlrank.pipeline.terminal import TextTable

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
