"""How far the scores of OPIC-HITS on stores are from its fixed point, and from HITS.

    scripts/online/compare_hits.py WORK [--reads 4] [--window 3] [--json FILE]

WORK is the work folder of a run of the embedded engine, with the rankings `opic-hits` and `hits` by
`crawlrank rank`. The pages of its graph are read so often on average, the richest first. Printed is
the largest difference of a page (L-infinity), where the scores of each kind sum to 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from pipeline.data.csr import Csr  # noqa: E402
from pipeline.data.csr_files import open_csr  # noqa: E402
from pipeline.data.scores_file import HUBS, SCORES, open_scores  # noqa: E402
from pipeline.online.opic_hits import OpicHits  # noqa: E402
from pipeline.online.stores.database import Database  # noqa: E402
from pipeline.online.stores.hits_cash import SqliteHitsCash  # noqa: E402
from pipeline.online.stores.page_graph import SqliteGraph  # noqa: E402
from pipeline.online.stores.relevance import SqliteRelevance  # noqa: E402
from pipeline.workfolder.rankings import ranking_folder  # noqa: E402

READ = 1000  # pages of a transaction
Scores = npt.NDArray[np.float64]


class Both(NamedTuple):
    """Scores of all pages, float64[N], each kind with the sum 1."""

    hub: Scores
    authority: Scores


def ranking(work: Path, label: str, csr: Csr) -> Both:
    folder = ranking_folder(work, label) / "ranks"
    columns = (np.array(open_scores(folder / name, csr.nodes)) for name in (HUBS, SCORES))
    return Both(*(column / column.sum() for column in columns))


def online(csr: Csr, reads: float, window: float) -> Both:
    names = [b"%d" % number for number in range(csr.nodes)]
    with Database() as database:
        graph = SqliteGraph(database)
        graph.add_nodes(names)
        targets = np.repeat(np.arange(csr.nodes), np.diff(csr.offsets))
        graph.add_edges((names[s], names[t]) for s, t in zip(csr.sources, targets, strict=True))
        opic = OpicHits(graph, SqliteHitsCash(database), SqliteRelevance(database), window)
        for _ in range(round(reads * csr.nodes / READ)):
            opic.update(READ)
        scores = dict(opic.iscores())
    hub, authority = np.array([scores[name] for name in names]).T
    return Both(hub, authority)


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
    print(
        f"{csr.nodes:,} pages, {csr.edges:,} links, {options.reads:g} reads of each page,", end=" "
    )
    print(f"{speed:,.0f} a second")
    for label, row in table.items():
        print(f"{label:<31} hub {row['hub']:.5f}   authority {row['authority']:.5f}")
    if options.json:
        options.json.write_text(json.dumps(table) + "\n")


if __name__ == "__main__":
    main()
