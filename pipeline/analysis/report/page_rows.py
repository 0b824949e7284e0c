"""The best pages of a ranking, each with the links that give it most of its score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from crawlrank.pipeline.analysis.compare.diff_side import Side
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.workfolder.results.finished import Finished, Incoming

REASONS = 3  # links listed for each page
LINKS_AT_ONCE = 1 << 22  # that are looked at


def page_rows(side: Side, csr: Csr | None, top: int) -> list[dict[str, Any]]:
    """The first pages in the order. csr: of the graph, for the numbers of links.

    why: up to three links, each with the position of its source, what it gives, and the source's
    URI; empty for rankings without a part for each link. last, captures: None where unknown.
    """
    finished = side.finished
    ids = _first(side, top)
    nodes = finished.nodes(ids)
    links = _best_links(side, ids)
    sources = finished.nodes(sorted({source for each in links for source, _ in each}))
    captured = _captures(finished, [nodes[node].key for node in ids])
    rows = []
    for node, best in zip(ids, links, strict=True):
        captures, last = captured.get(nodes[node].key, (None, None))
        rows.append(
            {
                "position": int(side.places[node]),
                "uri": nodes[node].uri,
                "score": float(side.scores[node]),
                "class": int(side.classes[node]),
                "captured": bool(side.captured[node]),
                "captures": captures,
                "last": last,
                "inlinks": None if csr is None else int(np.diff(csr.offsets[node : node + 2])[0]),
                "outlinks": None if csr is None else int(csr.outdegrees[node]),
                "why": [
                    {"position": int(side.places[s]), "gives": gives, "uri": sources[s].uri}
                    for s, gives in best
                ],
            }
        )
    return rows


def _first(side: Side, top: int) -> list[int]:
    top = min(top, len(side.places))
    best = np.flatnonzero(side.places <= top)
    ordered: list[int] = best[np.argsort(side.places[best], kind="stable")][:top].tolist()
    return ordered


def _best_links(side: Side, ids: Sequence[int]) -> list[list[tuple[int, float]]]:
    """For each page the links that give most: source and what it gives."""
    if not side.finished.method.of_links:
        return [[] for _ in ids]
    links: list[list[tuple[int, float]]] = []
    for batch in _batches(side, ids):
        links += map(_most, side.finished.incoming(batch))
    return links


def _batches(side: Side, ids: Sequence[int]) -> Iterator[list[int]]:
    """Pages whose links fit into memory together."""
    degrees, batch, links = side.finished.indegrees(), list[int](), 0
    for node in ids:
        if batch and links + int(degrees[node]) > LINKS_AT_ONCE:
            yield batch
            batch, links = [], 0
        batch.append(node)
        links += int(degrees[node])
    if batch:
        yield batch


def _most(incoming: Incoming) -> list[tuple[int, float]]:
    best = np.lexsort((incoming.sources, -incoming.gives))[:REASONS]
    return list(zip(incoming.sources[best].tolist(), incoming.gives[best].tolist(), strict=True))


def _captures(finished: Finished, keys: Sequence[str]) -> dict[str, tuple[int, str | None]]:
    """The captures of all spellings of each page, and the time of the last."""
    if not finished.has_uris or not keys:
        return {}
    rows = finished.rows(
        "SELECT key, sum(captures), max(nullif(last, '-')) FROM {spelled}"
        " WHERE key IN (SELECT unnest($keys)) GROUP BY key",
        keys=list(keys),
    )
    return {key: (int(captures), last) for key, captures, last in rows}
