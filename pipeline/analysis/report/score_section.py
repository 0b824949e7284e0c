"""The scores of a ranking: its rounds and certificate, distribution, best pages, classes, OPIC.

The best pages of a ranking, each with the links that give it most of its score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.pipeline.analysis.anchor_texts import anchor_texts
from crawlrank.pipeline.analysis.compare.diff import Side
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.precedence.latest_captures import LatestCapture, latest_captures
from crawlrank.pipeline.ranking.bounds import bounds_of
from crawlrank.pipeline.ranking.methods import method_of
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.structure.degrees import distribution
from crawlrank.pipeline.steps import RANK, SUMMARY
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.results.dataset_folders import UnusableDataset
from crawlrank.pipeline.workfolder.results.finished import CURE, Finished, Incoming

REASONS = 3  # links, and texts of links, listed for each page
LINKS_AT_ONCE = 1 << 22  # that are looked at


def page_rows(side: Side, csr: Csr | None, top: int, replay: str = "") -> list[dict[str, Any]]:
    """The first pages in the order. csr: of the graph, for the numbers of links. replay: the prefix
    of links to captures.

    why: up to three links, each with the position of its source, what it gives, and the source's
    URI; empty for rankings without a part for each link. last, captures: None where unknown. title,
    replay: where titles were kept, and links are asked for; None for a page without one.
    anchor_texts: where the words of links were kept.
    """
    finished = side.finished
    ids = _first(side, top)
    nodes = finished.nodes(ids)
    links = _best_links(side, ids)
    sources = finished.nodes(sorted({source for each in links for source, _ in each}))
    keys = [nodes[node].key for node in ids]
    captured = _captures(finished, keys)
    described = _described(finished, keys, replay)
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
                **described[nodes[node].key],
            }
        )
    return rows


def _described(finished: Finished, keys: Sequence[str], replay: str) -> dict[str, dict[str, Any]]:
    """What is shown of each page where it is known or asked for."""
    latest = latest_captures(finished, keys, replay=bool(replay))
    named = anchor_texts(finished, keys, REASONS)
    rows: dict[str, dict[str, Any]] = {}
    for key in keys:
        row, capture = rows.setdefault(key, {}), latest.get(key, LatestCapture())
        if finished.has_titles:
            row["title"] = capture.title
        if replay:
            row["replay"] = capture.replay and replay + capture.replay
        if key in named:
            row["anchor_texts"] = [asdict(text) for text in named[key].texts]
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


POINTS = ROUNDS = 200  # of a curve
OF_ROUNDS = (
    "round", "certificate", "probability_certificate", "eta", "residual_l1", "mass", "seconds",
)  # fmt: skip


def rounds_section(manifest: Manifest) -> dict[str, Any] | None:
    """The rounds, and how exact the scores are; None before the first one."""
    rounds = manifest.steps.get(RANK, {}).get("rounds", ())
    if not rounds:
        return None
    last, parameters = rounds[-1], manifest.parameters
    return {
        "method": method_of(parameters).title,
        "iterations": parameters.get("--iterations"),
        "tolerance": parameters.get("--tolerance"),
        "count": len(rounds),
        "rounds": [{name: entry.get(name) for name in OF_ROUNDS} for entry in _some(rounds)],
        "certificate": last["certificate"],
        "probability_certificate": last["probability_certificate"],
        "eta": last["eta"],
        "absolute": bounds_of(last)[1],
        "seconds": sum(entry["seconds"] for entry in rounds),
    }


def _some(rounds: Sequence[Round]) -> list[Round]:
    """ROUNDS of them at most, the first and the last among them, spread over the logarithm."""
    if len(rounds) <= ROUNDS:
        return list(rounds)
    chosen = np.unique(np.geomspace(1, len(rounds), ROUNDS).round().astype(int))
    return [rounds[number - 1] for number in chosen]


def scores_section(side: Side, csr: Csr | None, top: int, replay: str = "") -> dict[str, Any]:
    """How scores are distributed, and the best pages. replay: as in `page_rows`."""
    captured = side.scores[side.captured]
    return {
        "pages": len(side.scores),
        "captured": int(side.captured.sum()),
        "digits": side.finished.digits,
        "highest": float(side.scores.max()),
        "lowest": float(side.scores.min()),
        "sum": float(side.scores.sum()),
        "all": _curve(side.scores),
        "of_captured": _curve(captured) if 0 < len(captured) < len(side.scores) else [],
        "best": page_rows(side, csr, top, replay),
    }


def _curve(scores: Floats) -> list[list[float]]:
    """Points [score, share of pages with this score or more]; a score of 0 is on no such axis."""
    points = distribution(scores, POINTS)
    pairs = np.column_stack((points.values, points.shares))
    curve: list[list[float]] = pairs[pairs[:, 0] > 0].tolist()
    return curve


def classes_section(finished: Finished) -> dict[str, Any] | None:
    """The summary of the precedence file, as it is; None where there is no such file."""
    if not finished.has_uris:
        return None
    return _json(finished, finished.folder(SUMMARY), SUMMARY)


def opic_section(finished: Finished) -> dict[str, Any] | None:
    """The report of validate-opic; None where that was not done."""
    if "fingerprint" not in finished.manifest.steps.get("validate-opic", {}):
        return None
    return _json(finished, finished.folder("report") / "report.json", "report/report.json")


def _json(finished: Finished, path: Path, name: str) -> dict[str, Any]:
    """A small file of a run. Raises UnusableDataset where it is damaged."""
    try:
        document: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        where = str(finished.work / name)
        raise UnusableDataset(where, f"no JSON ({error})", "what the run wrote", CURE) from error
    return document
