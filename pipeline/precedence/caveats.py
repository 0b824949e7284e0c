"""What limits a ranking, so that a file that orders nothing is not mistaken for one that does.

Each caveat has its number, its meaning and its cure. The rules:

    unranked-sources   pages with links of their own but without an incoming link have no rank
    tied-pages         the key alone orders many of the pages that the classes are cut over
    few-captured       the classes of many pages are cut over few captured ones
    first-class        class 1 has most of the URIs, so most URIs are crawled first
    no-links           no page links to another one
    equal-scores       there are links, and all scores are the same
    without-score      scores of many pages are 0, or cannot be told from it
    near-boundary      the class of many pages is open, as scores have errors

They are found once, when the precedence file is written, and stored in its summary; `run`, `status`
and `explain` read them there. For a work folder without precedence file, only the manifest's counts
of links can be judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.rows import LINKS_WITHOUT_ID, SOURCES_WITHOUT_ID
from crawlrank.pipeline.ranking.options import Ties
from crawlrank.pipeline.steps import SUMMARY
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.workfolder.manifest import Manifest, steps_of

LOST = 0.01  # share of the links, or of the pages with links, that counts for nothing
OPEN = 0.01  # share of the pages whose score or class is open
TIED = 0.1  # share of the pages cut over that the key alone orders: half a class of quintiles
FEW_A_CLASS = 10  # captured pages a class; with fewer, each of them moves a boundary
MANY_TIMES = 2  # pages for each captured page
MOST = 0.5  # share of the URIs in class 1 …
FAIR_SHARES = 1.5  # … and multiple of the fair share of a class, which matters with two classes
VOID = ("no-links", "equal-scores")  # caveats with which the order means nothing

EXPORT, GRAPH, RANK = "export-precedence", "gen-graph", "page-rank"


@dataclass(frozen=True)
class Caveat:
    """count: of pages, URIs or links, as `meaning` says; total: of which they are a part."""

    kind: str
    count: int
    total: int
    meaning: str
    cure: str


@dataclass(frozen=True)
class LinkCounts:
    """edges: of the graph. sources: nodes that have any. unranked_sources: pages with links and
    without id. unranked_links: their links to other pages."""

    edges: int
    sources: int
    unranked_sources: int
    unranked_links: int


@dataclass(frozen=True)
class CutCounts:
    """cut_over: nodes that the classes are cut over, the `captured` ones or all. tied: those of
    them that the key alone orders. first_uris: lines of class 1. first_nodes: its nodes.
    first_uncaptured: those of them that were not captured. equal: all scores count as equal.
    unscored: nodes whose score may be 0. near: nodes whose class is open, not by equal
    scores; None if not known."""

    bins: int
    nodes: int
    captured: bool
    cut_over: int
    tied: int
    uris: int
    first_uris: int
    first_nodes: int
    first_uncaptured: int
    equal: bool
    ties: Ties = "key"
    unscored: int = 0
    near: int | None = None


def caveats_of(links: LinkCounts | None, cut: CutCounts | None) -> list[Caveat]:
    """The caveats of a ranking, the worst first; None: these counts are not known."""
    return [*_of_scores(links, cut), *_of_links(links), *_of_classes(cut)]


def _of_scores(links: LinkCounts | None, cut: CutCounts | None) -> Iterator[Caveat]:
    if links and not links.edges:
        total = links.unranked_links
        meaning = "No ranked page links to another one. All scores are equal and order nothing."
        cure = "Look at what extract-links counted; --links all also takes embeds and guesses"
        cure = "--nodes all" if links.unranked_links else cure
        yield Caveat("no-links", 0, total, meaning, cure)
    elif cut and cut.equal and cut.nodes > 1:
        meaning = f"All {cut.nodes:,} pages have the same score. The scores order nothing."
        cure = "Give more archives of the crawl, or --links all"
        yield Caveat("equal-scores", cut.nodes, cut.nodes, meaning, cure)
    elif cut and cut.unscored and cut.unscored >= OPEN * cut.nodes:
        meaning = (
            f"The score of {cut.unscored:,} of {count_of(cut.nodes, 'page')} is 0, or cannot be"
            " told from it. The order of these pages means nothing."
        )
        cure = "a ranking that gives all pages a score: --method pagerank"
        yield Caveat("without-score", cut.unscored, cut.nodes, meaning, cure)


def _of_links(links: LinkCounts | None) -> Iterator[Caveat]:
    if not links or not links.unranked_sources:
        return
    pages, lost = links.unranked_sources, links.unranked_links
    all_pages, all_links = links.sources + pages, links.edges + lost
    if pages >= LOST * all_pages or lost >= LOST * all_links:
        meaning = (
            f"No page links to {pages:,} of the {count_of(all_pages, 'page')} that have links. Such"
            f" pages have no score, so their links do not count: {lost:,} of {all_links:,}."
        )
        yield Caveat("unranked-sources", pages, all_pages, meaning, "--nodes all")


def _of_classes(cut: CutCounts | None) -> Iterator[Caveat]:
    if not cut or cut.bins < 2:
        return
    if cut.tied and cut.tied >= TIED * cut.cut_over:
        by_links = cut.ties == "links"
        cure = "--ties together (one class for all of them)"
        cure += "" if by_links else ", or --ties links (fewer ties)"
        like = ", links and captures" if by_links else ""
        pages = count_of(cut.cut_over, "captured page" if cut.captured else "page")
        meaning = (
            f"Of {pages}, {cut.tied:,} {'has' if cut.tied == 1 else 'have'} the same score{like} as"
            " a page of another class. The alphabetical order of their addresses decides their"
            " class."
        )
        yield Caveat("tied-pages", cut.tied, cut.cut_over, meaning, cure)
    if cut.near and cut.near >= OPEN * cut.nodes:
        meaning = (
            f"Scores have errors, which could put {cut.near:,} of {count_of(cut.nodes, 'page')}"
            " into another class."
        )
        cure = "a smaller --tolerance, more --iterations, a larger --log2m, or fewer --bins"
        yield Caveat("near-boundary", cut.near, cut.nodes, meaning, cure)
    few = cut.cut_over < FEW_A_CLASS * cut.bins and cut.nodes > MANY_TIMES * cut.cut_over
    if cut.captured and few:
        meaning = (
            f"The {cut.bins} classes of all {cut.nodes:,} pages are cut over"
            f" {count_of(cut.cut_over, 'captured page')}, so a few pages decide where a class ends."
        )
        cure = "--classes-over all, or fewer --bins"
        yield Caveat("few-captured", cut.cut_over, cut.nodes, meaning, cure)
    if cut.first_uris > max(MOST, FAIR_SHARES / cut.bins) * cut.uris:
        meaning = (
            f"Class 1 has {cut.first_uris:,} of {count_of(cut.uris, 'URI')}, so the file puts most"
            " of what it lists first."
        )
        uncaptured = cut.captured and 2 * cut.first_uncaptured > cut.first_nodes
        cure = "--classes-over all" if uncaptured else "--spellings captured, or more --bins"
        yield Caveat("first-class", cut.first_uris, cut.uris, meaning, cure)


def link_counts(manifest: Manifest) -> LinkCounts | None:
    """The counts of a run's steps; None before PageRank."""
    rounds = manifest.steps.get(RANK, {}).get("rounds")
    if not rounds:
        return None
    counters, last = manifest.steps.get(GRAPH, {}).get("counters", {}), rounds[-1]
    return LinkCounts(
        last["edges"],
        last["nodes"] - last["dangling"],
        counters.get(SOURCES_WITHOUT_ID, 0),
        counters.get(LINKS_WITHOUT_ID, 0),
    )


def caveats_in(work: Path, manifest: Manifest) -> list[Caveat]:
    """The caveats of a work folder, as far as its steps are done. A summary that is missing,
    damaged or older than caveats gives none; `status` reports the damage."""
    if EXPORT not in steps_of(manifest, [EXPORT]):
        return caveats_of(link_counts(manifest), None)
    if "fingerprint" not in manifest.steps.get(EXPORT, {}):
        return []
    try:
        entries: list[dict[str, Any]] = json.loads((work / SUMMARY).read_bytes())["caveats"]
        return [Caveat(**entry) for entry in entries]
    except (OSError, ValueError, LookupError, TypeError):
        return []


def caveats_table(caveats: list[Caveat]) -> TextTable:
    """A table for people."""
    table = TextTable("what limits this ranking", "~caveat", ">number", ">of", "~cure", "~meaning")
    for caveat in caveats:
        table.add(caveat.kind, caveat.count, caveat.total, caveat.cure, caveat.meaning)
    return table
