"""Random webs whose indegrees follow a power law or Poisson's, the web of a crawl, and changes.

P(indegree = k) is proportional to k^-exponent, k from 1 to N - 1, or it is e^-m m^k / k! for a mean
of m. Each link comes from any page with equal probability. A link from a page to itself and a link
that is there already are dropped, which takes some from the largest indegrees. The web of a crawl
is the graph of a finished work folder, all of it in memory.

A change by a share r takes each page with probability r, and halves or doubles its indegree, with
equal probability: every link to it goes with probability 1/2, or every link to it gets another one
beside it, from any page. Memory: some 50 bytes a link.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from itertools import chain as joined
from pathlib import Path
from typing import cast

import numpy as np

from crawlrank.jobs.kernel.keys.keys import www_rule
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.analysis.aopic_lab.preferences import NONE_PREFERRED, CrawlPreferences
from crawlrank.pipeline.analysis.aopic_lab.preferred_pages import NamedPages, favour_of, order_in
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Floats, Positions, Targets
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.ranking.aopic.chain import Chain, chain_of
from crawlrank.pipeline.ranking.aopic.replay import reads_by_time
from crawlrank.pipeline.workfolder.results.opened import open_finished

#: pages that a crawl read, and when each was captured last
CAPTURED = """
    SELECT m.id::BIGINT AS id, max(s.last) AS last FROM {mapped} m JOIN {spelled} s USING (key)
    WHERE s.captures > 0 GROUP BY m.id ORDER BY m.id::BIGINT
"""
EDGES = 1.0  # of every page to the virtual page, as in the paper


@dataclass(frozen=True, eq=False)
class RandomWeb:
    """links: int64[E], source * nodes + target, ascending, each once. hashes: int64[N], of the
    keys of the pages, where they have any. order: int64, the pages that a crawl read, in its order:
    that of its log, or of the times when each was captured last. favour: float64[N], weights of
    what the virtual page gives."""

    nodes: int
    links: Positions
    hashes: Positions | None = None
    order: Targets | None = None
    favour: Floats | None = None

    @property
    def targets(self) -> Positions:
        return self.links % self.nodes

    @property
    def indegrees(self) -> Positions:
        return np.bincount(self.targets, minlength=self.nodes)

    def chain(self) -> Chain:
        ends = np.searchsorted(self.links, np.arange(self.nodes + 1) * self.nodes)
        return chain_of(ends, cast(Targets, self.targets.astype(np.int32)), EDGES)

    def changed(self, share: float, rng: np.random.Generator) -> RandomWeb:
        """share: r, from 0 to 1."""
        taken, doubled = rng.random(self.nodes) < share, rng.random(self.nodes) < 0.5
        targets = self.targets
        lost = (taken & ~doubled)[targets] & (rng.random(len(targets)) < 0.5)
        more = targets[(taken & doubled)[targets]]
        return RandomWeb(self.nodes, self.links[~lost]).linked(more, rng)

    def linked(self, targets: Positions, rng: np.random.Generator) -> RandomWeb:
        """With one more link to each of these targets, from any page."""
        sources = rng.integers(self.nodes, size=len(targets))
        new = (sources * self.nodes + targets)[sources != targets]
        return RandomWeb(self.nodes, np.union1d(self.links, new))


def random_web(nodes: int, exponent: float, rng: np.random.Generator) -> RandomWeb:
    """nodes: at least 2."""
    degrees = np.arange(1, nodes)
    probabilities = degrees**-exponent
    return _web_of(rng.choice(degrees, nodes, p=probabilities / probabilities.sum()), rng)


def poisson_web(nodes: int, mean: float, rng: np.random.Generator) -> RandomWeb:
    """mean: of the indegrees, above 0."""
    return _web_of(rng.poisson(mean, nodes), rng)


def _web_of(indegrees: Positions, rng: np.random.Generator) -> RandomWeb:
    none = RandomWeb(len(indegrees), np.empty(0, np.int64))
    return none.linked(np.repeat(np.arange(len(indegrees)), indegrees), rng)


def crawled_web(work: Path, preferences: CrawlPreferences = NONE_PREFERRED) -> RandomWeb:
    """The graph of a finished work folder. Raises BadInput where it is none, or not finished, and
    for preferences that cannot be used."""
    with temporary_folder() as folder:
        budget, threads = half_of_machine().budget // 2, os.cpu_count() or 1
        with database(folder, budget=budget, threads=threads) as (db, near):
            finished = open_finished(work, db, near, "crawled")
            nodes = len(finished.scores())
            incoming = finished.incoming(range(nodes))
            batches = [batch.column("key").to_pylist() for batch in finished.keys()]  # noqa: SIM118
            names = {name: finished.view(name) for name in ("mapped", "spelled", "nodes")}
            captured = db.sql(CAPTURED.format(**names)).fetchnumpy()
            uris = dict(db.sql("SELECT id::BIGINT, uri FROM {nodes}".format(**names)).fetchall())
            www = www_rule(finished.parameters)
    counts = [len(each.sources) for each in incoming]
    sources = np.concatenate([np.empty(0, np.int64), *(each.sources for each in incoming)])
    links = np.sort(sources * nodes + np.repeat(np.arange(nodes), counts))
    ids = {key.encode(): number for number, key in enumerate(joined.from_iterable(batches))}
    hashes = np.fromiter(map(zlib.crc32, ids), np.int64, nodes)
    named = NamedPages(uris, ids, www)
    order = reads_by_time(captured["id"], captured["last"].astype(str))
    order = order_in(preferences.logs, named) if preferences.logs else order
    return RandomWeb(nodes, links, hashes, order, favour_of(preferences, named, nodes))
