"""What the stores of a crawl that never stops take: room, updates, and the next pages.

    scripts/online/bench_online.py --folder work/online [--pages 1000000] [--json FILE]

A graph of pages is added to stores on disk in batches, the targets of links being few pages mostly;
then OPIC-HITS reads pages, and the scheduler of the best plan gives out pages, a batch at a time.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.pipeline.online.opic_hits import OpicHits  # noqa: E402
from crawlrank.pipeline.online.schedulers import Optimal  # noqa: E402
from crawlrank.pipeline.online.stores.database import Database  # noqa: E402
from crawlrank.pipeline.online.stores.hits_cash import (  # noqa: E402
    Cash,
    PageCash,
    SqliteHitsCash,
)
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph, SqliteRelevance  # noqa: E402
from crawlrank.pipeline.online.stores.schedule import SqliteSchedule  # noqa: E402

BATCH = 5000  # pages of a transaction
UPDATES, READ, TAKES, TAKEN = 20_000, 5000, 1000, 100


def uri(number: int) -> bytes:
    return b"http://www.example%d.com/folder/page-%d.html" % (number % 1000, number)


def batches(pages: int) -> Iterator[range]:
    return (range(begin, min(begin + BATCH, pages)) for begin in range(0, pages, BATCH))


def add(database: Database, pages: int, degree: int) -> float:
    """Seconds."""
    graph, cash, draw = SqliteGraph(database), SqliteHitsCash(database), random.Random(1)
    schedule, started = SqliteSchedule(database, rate=0.03), time.perf_counter()
    for batch in batches(pages):
        with database.transaction():
            targets = (
                (page, int(pages * draw.random() ** 2)) for page in batch for _ in range(degree)
            )
            graph.add_edges((uri(page), uri(target)) for page, target in targets)
            start = Cash(100, 1, 0)
            cash.set_many((uri(page), PageCash(start, start)) for page in batch)
            for page in batch:
                schedule.set_rate(uri(page), draw.lognormvariate(-3, 2))
                schedule.set_value(uri(page), draw.paretovariate(1.2))
    return time.perf_counter() - started


def update(database: Database) -> tuple[float, float]:
    """Pages read a second, of time and of processor time."""
    opic = OpicHits(SqliteGraph(database), SqliteHitsCash(database), SqliteRelevance(database))
    started, used = time.perf_counter(), time.process_time()
    for _ in range(UPDATES // READ):
        opic.update(READ)
    return UPDATES / (time.perf_counter() - started), UPDATES / (time.process_time() - used)


def take(database: Database, pages: int) -> tuple[float, float]:
    """Milliseconds of a call: the median, and the 99th percentile."""
    scheduler = Optimal(SqliteSchedule(database, rate=0.03), pages / 10)
    seconds = []
    for _ in range(TAKES):
        started = time.perf_counter()
        scheduler.get_next_pages(TAKEN)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds) * 1000), float(np.percentile(seconds, 99) * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "stores.db"
    for old in options.folder.glob("stores.db*"):
        old.unlink()
    with Database(path) as database:
        added = options.pages / add(database, options.pages, options.degree)
        edges = SqliteGraph(database).edge_count()
        median, late = take(database, options.pages)
        read, by_processor = update(database)
    size = sum(file.stat().st_size for file in options.folder.glob("stores.db*")) / 1e6
    print(f"pages {options.pages:,}, edges {edges:,}: {size:,.0f} MB on disk")
    print(f"added {added:,.0f} pages a second, OPIC-HITS read {read:,.0f} a second", end=" ")
    print(f"({by_processor:,.0f} a second of processor time)")
    print(f"get_next_pages({TAKEN}): median {median:.1f} ms, 99th percentile {late:.1f} ms")
    if options.json:
        figures = {
            "pages": options.pages, "edges": edges, "mb": size, "added": added, "read": read,
            "read_processor": by_processor,
            "next_median_ms": median, "next_p99_ms": late,
        }  # fmt: skip
        options.json.write_text(json.dumps(figures) + "\n")
    for old in options.folder.glob("stores.db*"):
        old.unlink()


if __name__ == "__main__":
    main()
