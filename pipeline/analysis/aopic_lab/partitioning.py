"""The experiment on partitions: what messages cost, and what buffers do to the error.

Pages are read by cycle, CRAWLS sweeps, by P machines and by one, for each size of the buffers
(pipeline/ranking/aopic/partitions.py). The error is that of the last sweep, h over its sum, which
no longer knows the start: it falls to 0 if the fixed point is that of the chain.
"""

from __future__ import annotations

from typing import NamedTuple

from crawlrank.pipeline.analysis.aopic_lab.experiments import CRAWLS, EXACT, LabGraphs, error_of
from crawlrank.pipeline.ranking.aopic.chain import exact_importance
from crawlrank.pipeline.ranking.aopic.partitions import PartitionedCrawl, owners_of

BUFFERS = (1, 10, 100, 1000)


class PartitionRow(NamedTuple):
    """After so many sweeps, of the last one: the error in percent, messages, transfers in them, and
    links that led to another machine."""

    seed: int
    machines: int
    buffer: int
    sweep: int
    error: float
    messages: int
    transfers: int
    crossing: int


def compare_partitions(graphs: LabGraphs, seed: int, machines: int) -> list[PartitionRow]:
    web, _ = graphs.web(seed)
    chain = web.chain()
    exact = exact_importance(chain, error=EXACT)
    rows = list[PartitionRow]()
    for count, buffer in ((1, 1), *((machines, each) for each in BUFFERS if machines > 1)):
        crawl = PartitionedCrawl(chain, owners_of(web.nodes, count, web.hashes), buffer)
        for sweep in range(1, CRAWLS + 1):
            before, counted = crawl.recorded.copy(), crawl.traffic.counts()
            crawl.sweep()
            window = crawl.recorded - before
            sent = (now - then for now, then in zip(crawl.traffic.counts(), counted, strict=True))
            error = error_of(window / window.sum(), exact)
            rows.append(PartitionRow(seed, count, buffer, sweep, error, *sent))
    return rows
