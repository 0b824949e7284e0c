"""How far the scores of OPIC-HITS on stores are from its fixed point, and from HITS.

    scripts/online/compare_hits.py WORK [--reads 4] [--window 3] [--json FILE]

WORK is the work folder of a run of the embedded engine, with the rankings `opic-hits` and `hits` by
`crawlrank rank`. The pages of its graph are read so often on average, the richest first. Printed is
the largest difference of a page (L-infinity), where the scores of each kind sum to 1.

The second table has the error that the documents of crawlfrontier's backend give (their script
opic-precision.py): not a distance to HITS, but how much a step changes the scores. A step is from
hubs to authorities and back, or the other way round, where a page gives the part 1/(n + 1) of its
score to each of its n neighbours, so that the virtual page's part is left out; then the sum is
made 1. They measured it when a crawl had fetched 2,000 pages, and knew of 40,000. So does `crawl`
here: pages with links are fetched in the order in which they are found, and 20 times cash of a page
is moved after each, as there; a page that is read moves both of its kinds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.pipeline.data.csr import Csr, open_csr  # noqa: E402
from crawlrank.pipeline.data.scores_file import HUBS, SCORES, open_scores  # noqa: E402
from crawlrank.pipeline.online.opic_hits import OpicHits  # noqa: E402
from crawlrank.pipeline.online.stores.database import Database  # noqa: E402
from crawlrank.pipeline.online.stores.hits_cash import SqliteHitsCash  # noqa: E402
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph, SqliteRelevance  # noqa: E402
from crawlrank.pipeline.workfolder.rankings import ranking_folder  # noqa: E402

READ = 1000  # pages of a transaction
FETCHED, READ_EACH = 2000, 10  # pages of a crawl; pages read for each of them
SHORT = 1 / 80  # window of the crawl: theirs was 1,000 cash, of 80,000 that 40,000 pages have
Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


class Both(NamedTuple):
    """Scores of all pages, float64[N], each kind with the sum 1."""

    hub: Scores
    authority: Scores


def ranking(work: Path, label: str, csr: Csr) -> Both:
    folder = ranking_folder(work, label) / "ranks"
    columns = (np.array(open_scores(folder / name, csr.nodes)) for name in (HUBS, SCORES))
    return Both(*(column / column.sum() for column in columns))


class Links(NamedTuple):
    """The links of N pages. sources, targets: int64[E]."""

    pages: int
    sources: Numbers
    targets: Numbers

    def step(self, scores: Both) -> Both:
        """Hubs by way of authorities, authorities by way of hubs."""
        hub = self._hubs(self._authorities(scores.hub))
        authority = self._authorities(self._hubs(scores.authority))
        return Both(hub / hub.sum(), authority / authority.sum())

    def _authorities(self, hubs: Scores) -> Scores:
        gifts = hubs / (np.bincount(self.sources, minlength=self.pages) + 1)
        return np.bincount(self.targets, gifts[self.sources], self.pages).astype(np.float64)

    def _hubs(self, authorities: Scores) -> Scores:
        gifts = authorities / (np.bincount(self.targets, minlength=self.pages) + 1)
        return np.bincount(self.sources, gifts[self.targets], self.pages).astype(np.float64)


def links_of(csr: Csr) -> Links:
    targets = np.repeat(np.arange(csr.nodes), np.diff(csr.offsets))
    return Links(csr.nodes, csr.sources.astype(np.int64), targets)


def crawl(links: Links, window: float, fetched: int = FETCHED) -> tuple[Links, Both]:
    """The links of a crawl that fetches this number of pages, and the scores at its end; pages are
    numbered as they are found. Only pages with links are fetched, those with the most are seeds."""
    by_source = np.argsort(links.sources, kind="stable")
    ends = np.searchsorted(links.sources[by_source], np.arange(links.pages + 1))
    degrees = np.diff(ends)
    number_of: dict[int, int] = {}
    edges = list[tuple[int, int]]()
    with Database() as database:
        opic = opened(database, window)
        for page in _found_in_order(links.targets[by_source], ends, np.argsort(-degrees), fetched):
            targets = [page, *links.targets[by_source[ends[page] : ends[page + 1]]].tolist()]
            number, *others = (number_of.setdefault(other, len(number_of)) for other in targets)
            opic.add_page(b"%d" % number, (b"%d" % other for other in others))
            edges += ((number, other) for other in others)
            opic.update(READ_EACH)
        scores = scores_of(opic, len(number_of))
    sources, targets_of_all = np.array(edges, np.int64).reshape(-1, 2).T
    return Links(len(number_of), sources, targets_of_all), scores


def _found_in_order(targets: Numbers, ends: Numbers, seeds: Numbers, count: int) -> Iterator[int]:
    """Pages with links, each found by one before it, or else a seed. targets: by source; ends:
    where those of each page begin."""
    waiting, known = deque[int](), set[int]()
    for seed in seeds.tolist():
        waiting.append(seed)
        while waiting and count:
            page = waiting.popleft()
            if page not in known and ends[page] < ends[page + 1]:
                known.add(page)
                waiting.extend(targets[ends[page] : ends[page + 1]].tolist())
                count -= 1
                yield page


def opened(database: Database, window: float) -> OpicHits:
    stores = SqliteGraph(database), SqliteHitsCash(database), SqliteRelevance(database)
    return OpicHits(*stores, window)


def scores_of(opic: OpicHits, pages: int) -> Both:
    scores = dict(opic.iscores())
    hub, authority = np.array([scores[b"%d" % number] for number in range(pages)]).T
    return Both(hub, authority)


def online(csr: Csr, reads: float, window: float) -> Both:
    names = [b"%d" % number for number in range(csr.nodes)]
    with Database() as database:
        graph = SqliteGraph(database)
        graph.add_nodes(names)
        targets = np.repeat(np.arange(csr.nodes), np.diff(csr.offsets))
        graph.add_edges((names[s], names[t]) for s, t in zip(csr.sources, targets, strict=True))
        opic = opened(database, window)
        for _ in range(round(reads * csr.nodes / READ)):
            opic.update(READ)
        return scores_of(opic, csr.nodes)


def distance(one: Both, other: Both) -> dict[str, float]:
    return {
        "hub": float(np.abs(one.hub - other.hub).max()),
        "authority": float(np.abs(one.authority - other.authority).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--reads", type=float, default=4)
    parser.add_argument("--window", type=float, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    csr = open_csr(options.work / "graph")
    fixed, hits = (ranking(options.work, label, csr) for label in ("opic-hits", "hits"))
    started = time.perf_counter()
    scores = online(csr, options.reads, options.window)
    speed = options.reads * csr.nodes / (time.perf_counter() - started)
    table = {
        "stores, from their fixed point": distance(scores, fixed),
        "stores, from HITS": distance(scores, hits),
        "fixed point, from HITS": distance(fixed, hits),
    }
    links = links_of(csr)
    grown, at_end = crawl(links, SHORT)
    steps = {
        "stores": distance(scores, links.step(scores)),
        "fixed point": distance(fixed, links.step(fixed)),
        "HITS": distance(hits, links.step(hits)),
        f"stores, at the end of a crawl of {FETCHED:,}": distance(at_end, grown.step(at_end)),
        "crawlfrontier's documents": {"hub": 0.0059, "authority": 0.0045},
    }
    print(
        f"{csr.nodes:,} pages, {csr.edges:,} links, {options.reads:g} reads of each page,", end=" "
    )
    print(f"{speed:,.0f} a second")
    show(table)
    print(f"by a step; the crawl of {FETCHED:,} knew {grown.pages:,} pages")
    show(steps)
    if options.json:
        options.json.write_text(json.dumps({"distance": table, "step": steps}) + "\n")


def show(table: dict[str, dict[str, float]]) -> None:
    for label, row in table.items():
        print(f"{label:<38} hub {row['hub']:.5f}   authority {row['authority']:.5f}")


if __name__ == "__main__":
    main()
