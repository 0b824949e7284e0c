"""How soon a Scrapy crawl has fetched what is important: by crawlrank and in Scrapy's own orders.

    PYTHONPATH=scripts:. python -m online.compare_scrapy [--pages 1000] [--seed 1] [--json FILE]

A made site on loopback is crawled to its end by the example spider, one request at a time, in each
order. The importance of a page is its PageRank in the whole site. Printed is the share of all
importance that is fetched with the first pages.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import networkx as nx
import numpy as np
from heritrix.made_site import Answer
from heritrix.serving import NOT_FOUND, server

SPIDER = Path(__file__).with_name("example_spider.py")
SHARES = (0.05, 0.1, 0.2, 0.5)
DEFAULT = {"SCHEDULER": "scrapy.core.scheduler.Scheduler", "SPIDER_MIDDLEWARES": "{}"}
#: settings of each order
ORDERS: dict[str, Mapping[str, str]] = {
    "crawlrank": {},
    "Scrapy, last found first": DEFAULT,
    "Scrapy, first found first": {
        **DEFAULT,
        "DEPTH_PRIORITY": "1",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    },
}


def site(pages: int, seed: int) -> list[list[int]]:
    """The links of each page: some to its children in a tree, so that all are found, and some to
    pages that few draws favour, wherever they are in the tree."""
    draw = np.random.default_rng(seed)
    favour = draw.permutation(pages)
    links = (pages * draw.random((pages, 6)) ** 3).astype(int)
    return [
        [*range(5 * page + 1, min(5 * page + 6, pages)), *favour[links[page]].tolist()]
        for page in range(pages)
    ]


def answers(links: list[list[int]]) -> dict[str, Answer]:
    """By path."""
    bodies = {
        f"/{page or ''}": f"<title>{page}</title>"
        + "".join(f'<a href="/{target or ""}">x</a>' for target in targets)
        for page, targets in enumerate(links)
    }
    return {path: Answer(200, body.encode(), "text/html") for path, body in bodies.items()}


def importance(links: list[list[int]]) -> dict[str, float]:
    """By path."""
    graph = nx.DiGraph((page, target) for page, targets in enumerate(links) for target in targets)
    ranks = nx.pagerank(graph, alpha=0.85, tol=1e-10)
    return {f"/{page or ''}": rank for page, rank in ranks.items()}


def spider_command(url: str, settings: Mapping[str, str], *options: str) -> list[str]:
    named = {
        "CONCURRENT_REQUESTS": "1", "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": "0",
        "ROBOTSTXT_OBEY": "0", **settings,
    }  # fmt: skip
    pairs = [part for name, value in named.items() for part in ("-s", f"{name}={value}")]
    base = [sys.executable, "-m", "scrapy", "runspider", str(SPIDER), "-a", f"start={url}/"]
    return [*base, *pairs, *options]


def fetched(links: list[list[int]], settings: Mapping[str, str]) -> list[str]:
    """The paths of a whole crawl, in the order of their first fetches."""
    order: list[str] = []
    known = answers(links)

    def answer(uri: str) -> Answer:
        path = "/" + uri.split("/", 3)[3]
        order.append(path)
        return known.get(path, NOT_FOUND)

    with server("127.0.0.1", answer) as url, tempfile.TemporaryDirectory() as folder:
        subprocess.run(spider_command(url, settings), check=True, cwd=folder)
    return list(dict.fromkeys(order))


def shares(order: list[str], ranks: Mapping[str, float]) -> list[float]:
    """The shares of all importance that are fetched with each of the first SHARES of pages."""
    sums = np.cumsum([ranks[path] for path in order])
    return [float(sums[round(share * len(ranks)) - 1] / sum(ranks.values())) for share in SHARES]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    links = site(options.pages, options.seed)
    ranks = importance(links)
    table = {name: shares(fetched(links, settings), ranks) for name, settings in ORDERS.items()}
    best = sorted(ranks, key=lambda path: -ranks[path])
    table["the best possible"] = shares(best, ranks)
    print(f"{'order':<28}" + "".join(f"{share:>8.0%}" for share in SHARES))
    for name, row in table.items():
        print(f"{name:<28}" + "".join(f"{share:>8.1%}" for share in row))
    if options.json:
        options.json.write_text(json.dumps(table) + "\n")


if __name__ == "__main__":
    main()
