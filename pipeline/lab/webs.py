"""Random webs whose indegrees follow a power law or Poisson's, the web of a crawl, and changes.

P(indegree = k) is proportional to k^-exponent, k from 1 to N - 1, or it is e^-m m^k / k! for a mean
of m. Each link comes from any page with equal probability. A link from a page to itself and a link
that is there already are dropped, which takes some from the largest indegrees. The web of a crawl
is the graph of a finished work folder, all of it in memory.

A change by a share r takes each page with probability r, and halves or doubles its indegree, with
equal probability: every link to it goes with probability 1/2, or every link to it gets another one
beside it, from any page. Memory: some 50 bytes a link.

What a crawler prefers, and the order in which it read: from patterns, words and crawl logs.

Preferred pages get more of what the virtual page gives, in proportion to their weights; the total
stays the same. A page that several preferences name has the largest of their weights.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain as joined
from pathlib import Path
from typing import cast

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import ANCHORS
from crawlrank.jobs.kernel.formats.lines import usable_key_function
from crawlrank.jobs.kernel.keys.keys import Www, www_rule
from crawlrank.pipeline.analysis.audit.crawl_log import LogReport, read_logs
from crawlrank.pipeline.data.datasets import merged
from crawlrank.pipeline.data.graph import Floats, Positions, Targets
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.data.parquet import parquet_batches
from crawlrank.pipeline.lab.chain import Chain, chain_of
from crawlrank.pipeline.lab.simulation import reads_by_time
from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database
from crawlrank.pipeline.workfolder.weight_files import numbered_texts, require_utf_8

Weighted = tuple[str, float]


@dataclass(frozen=True)
class CrawlPreferences:
    """patterns: regular expressions, looked for in URIs, each with its weight. words: files of
    words, one a line; each with the weight of the pages that a link with one of them leads to.
    anchors: the dataset with the words of links. logs: crawl logs to replay."""

    patterns: tuple[Weighted, ...] = ()
    words: tuple[Weighted, ...] = ()
    anchors: Path | None = None
    logs: tuple[Path, ...] = ()


NONE_PREFERRED = CrawlPreferences()


class NamedPages:
    """The pages of a graph. uris: by id. ids: by key, of a run that keeps `www.` or does not."""

    def __init__(self, uris: Mapping[int, str], ids: Mapping[bytes, int], www: Www) -> None:
        self.uris, self._ids, self._key_of = uris, ids, usable_key_function(www=www)

    def id_of(self, uri: bytes) -> int:
        """-1 where it is none of them."""
        key = self._key_of(uri)
        return -1 if key is None else self._ids.get(key, -1)


def favour_of(preferences: CrawlPreferences, pages: NamedPages, nodes: int) -> Floats | None:
    """The weight of every page, float64[N], 1 unless one is preferred; None without preferences.

    Raises BadInput for a file that is none, and where no page is
    preferred.
    """
    if not (preferences.patterns or preferences.words):
        return None
    weights = np.zeros(nodes)
    for pattern, weight in preferences.patterns:
        matches = re.compile(pattern).search
        named = [node for node, uri in pages.uris.items() if matches(uri)]
        _prefer(weights, named, weight, f"--favour {pattern}", "a pattern that is in a URI")
    for file, weight in preferences.words:
        wanted = _words_in(Path(file))
        linked = list(_linked_with(wanted, preferences.anchors, pages))
        _prefer(weights, linked, weight, file, "a word of a link to a page of the graph")
    return np.where(weights > 0, weights, 1.0)


def _prefer(weights: Floats, pages: list[int], weight: float, where: str, expected: str) -> None:
    if not pages:
        raise BadInput(where, "no page is preferred", expected)
    weights[pages] = np.maximum(weights[pages], weight)


def _words_in(file: Path) -> frozenset[str]:
    words = set[str]()
    for number, text in numbered_texts(file, "words, one a line"):
        require_utf_8(f"{file}, line {number}", text)
        words.add(text.strip().casefold())
    if not (words := words - {""}):
        raise BadInput(str(file), "no word", "words, one a line")
    return frozenset(words)


def _linked_with(wanted: frozenset[str], anchors: Path | None, pages: NamedPages) -> Iterator[int]:
    """The pages that a link with one of these words leads to."""
    if anchors is None:
        cure = "Make them with `crawlrank step extract-links --anchors`."
        raise BadInput("--anchors", "none", "the words of links, for --favour-words", cure)
    for target, words in _anchors_in(anchors):
        if not wanted.isdisjoint(re.findall(r"\w+", words.casefold())):
            node = pages.id_of(target)
            if node >= 0:
                yield node


def _anchors_in(dataset: Path) -> Iterator[tuple[bytes, str]]:
    """(target, words)"""
    if dataset.suffix == ".parquet":
        for batch in parquet_batches(dataset, ["target", "words"]):
            yield from zip(
                map(str.encode, batch["target"].to_pylist()),
                batch["words"].to_pylist(),
                strict=True,
            )
        return
    for line in merged(dataset, None):
        fields = line.rstrip(b"\n").split(b"\t")
        if len(fields) not in ANCHORS.widths:
            raise BadInput(str(dataset), f"{line[:60]!r}", ANCHORS.expected)
        yield fields[0], fields[2].decode("utf-8", "replace")


def order_in(logs: tuple[Path, ...], named: NamedPages) -> Targets:
    """The pages by the time of their fetches. Raises BadInput for a file that is no crawl.log, and
    where no line is of a page of the graph."""
    pages, times = list[int](), list[int]()
    for batch in read_logs(list(logs), LogReport()):
        pages += [named.id_of(uri.encode()) for uri in batch["uri"].to_pylist()]
        times += batch["begin"].to_pylist()
    order = reads_by_time(np.array(pages, np.int64), np.array(times, np.int64))
    if not len(order):
        raise BadInput(str(logs[0]), "no fetch of a page of the graph", "a log of this crawl")
    return order


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
        """The web with one more link to each of these targets, from any page."""
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
    with temporary_database(half_of_machine().budget) as (db, near):
        finished = open_finished(work, db, near, "crawled")
        csr = finished.links()
        nodes = csr.nodes
        targets = np.repeat(np.arange(nodes), np.diff(csr.offsets))
        links = np.sort(csr.sources * np.int64(nodes) + targets)
        batches = [batch.column("key").to_pylist() for batch in finished.keys()]  # noqa: SIM118
        names = {name: finished.view(name) for name in ("mapped", "spelled", "nodes")}
        captured = db.sql(CAPTURED.format(**names)).fetchnumpy()
        uris = dict(db.sql("SELECT id::BIGINT, uri FROM {nodes}".format(**names)).fetchall())
        www = www_rule(finished.parameters)
    ids = {key.encode(): number for number, key in enumerate(joined.from_iterable(batches))}
    hashes = np.fromiter(map(zlib.crc32, ids), np.int64, nodes)
    named = NamedPages(uris, ids, www)
    order = reads_by_time(captured["id"], captured["last"].astype(str))
    order = order_in(preferences.logs, named) if preferences.logs else order
    return RandomWeb(nodes, links, hashes, order, favour_of(preferences, named, nodes))
