"""Scores of rankings in extended precision, by code that shares nothing with the project.

A linear fixed point x = b + A x is found in doubles, and corrected twice by its residual, which is
computed in extended precision. HITS is the power method in extended precision, begun at a vector of
ARPACK, within the community that has the largest singular value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import svds

Long = np.longdouble
Exact = npt.NDArray[np.longdouble]
Ids = npt.NDArray[np.int64]


class Web(NamedTuple):
    """Links by target. sites: the number of the site of each page. weights: of pages, mean 1."""

    nodes: int
    sources: Ids
    targets: Ids
    sites: Ids
    weights: npt.NDArray[np.float64]

    @property
    def outdegrees(self) -> Ids:
        return np.bincount(self.sources, minlength=self.nodes)


def fixed_point(nodes: int, sources: Ids, targets: Ids, shares: Exact, base: Exact) -> Exact:
    """x with x_i = base_i + the sum of shares of x over the links to i."""
    order = np.argsort(targets, kind="stable")
    sources, targets, shares = sources[order], targets[order], shares[order]
    begins = np.flatnonzero(np.r_[True, np.diff(targets) > 0]) if len(targets) else targets
    coarse = shares.astype(np.float64)

    def residual(x: Exact) -> Exact:
        r = base - x
        if len(targets):
            r[targets[begins]] += np.add.reduceat(shares * x[sources], begins)
        return r

    def solved(right: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        x = right.copy()
        for _ in range(5000):
            new = right + np.bincount(targets, coarse * x[sources], nodes)
            if (np.abs(new - x) <= 3e-16 * np.abs(new)).all():
                break
            x = new
        return new

    x = solved(base.astype(np.float64)).astype(Long)
    for _ in range(3):
        x += solved(residual(x).astype(np.float64))
    return x


def pagerank(web: Web, teleport: bool = False, weights: tuple[float, float] = (1, 1)) -> Exact:
    """weights: of links within a site, and of others."""
    each = np.where(web.sites[web.sources] == web.sites[web.targets], *map(Long, weights))
    base = np.full(web.nodes, Long(1) - Long(0.85))
    if teleport:
        base *= web.weights / web.weights.astype(Long).mean()
    return weighted(web, each, base)


def weighted(web: Web, each: Exact, base: Exact) -> Exact:
    """PageRank where links weigh this much each."""
    whole = np.zeros(web.nodes, Long)
    np.add.at(whole, web.sources, each)
    shares = Long(0.85) * each / whole[web.sources]
    return fixed_point(web.nodes, web.sources, web.targets, shares, base)


def harmonic(web: Web, pages: Ids | None = None) -> Exact:
    """Of some pages (default: of all): by a search from each, backwards along the links."""
    links = csr_matrix((np.ones(len(web.sources)), (web.targets, web.sources)), (web.nodes,) * 2)
    chosen = np.arange(web.nodes) if pages is None else pages
    return np.array([_of_distances(links, int(page)) for page in chosen], Long)


def site_harmonic(web: Web) -> Exact:
    between = web.sites[web.sources] != web.sites[web.targets]
    pairs = np.column_stack((web.sites[web.sources[between]], web.sites[web.targets[between]]))
    edges = np.unique(pairs, axis=0)
    count = int(web.sites.max()) + 1
    of_sites = Web(count, edges[:, 0], edges[:, 1], np.arange(count), np.ones(count))
    return harmonic(of_sites)[web.sites]


def _of_distances(links: csr_matrix, page: int) -> Exact:
    order, parents = breadth_first_order(links, page)
    depths = np.zeros(links.shape[0], np.int64)
    for one, parent in zip(order[1:].tolist(), parents[order[1:]].tolist(), strict=True):
        depths[one] = depths[parent] + 1
    counts = np.bincount(depths[order[1:]])
    return (counts[1:].astype(Long) / np.arange(1, len(counts))).sum()


def opic(web: Web) -> Exact:
    shares = 1 / (web.outdegrees[web.sources].astype(Long) + 1)
    return fixed_point(web.nodes, web.sources, web.targets, shares, np.ones(web.nodes, Long))


def indegree(web: Web) -> Exact:
    return np.bincount(web.targets, minlength=web.nodes).astype(Long)


def sites(web: Web) -> Exact:
    """Links between two sites weigh as many as they are."""
    between = web.sites[web.sources] != web.sites[web.targets]
    pairs = np.column_stack((web.sites[web.sources[between]], web.sites[web.targets[between]]))
    edges, counts = np.unique(pairs, axis=0, return_counts=True)
    count = int(web.sites.max()) + 1
    whole = np.bincount(edges[:, 0], counts, count).astype(Long)
    shares = Long(0.85) * counts / whole[edges[:, 0]]
    base = np.full(count, Long(1) - Long(0.85))
    return fixed_point(count, edges[:, 0], edges[:, 1], shares, base)[web.sites]


def opic_hits(web: Web) -> Exact | None:
    """weights: the relevance. None where no page keeps anything back from its parents."""
    parents, r = np.bincount(web.targets, minlength=web.nodes), web.weights.astype(Long)
    p = np.maximum(parents, 1).astype(Long)
    pays = np.minimum((2 * r / p) * ((2 * p / (p + 1)) * (1 - r) + r - Long(0.5)), 1 / p)
    pays[parents == 0] = 0
    # the first half are authorities, the second hubs
    sources = np.r_[web.sources + web.nodes, web.targets]
    targets = np.r_[web.targets, web.sources + web.nodes]
    given = 1 / (web.outdegrees[web.sources].astype(Long) + 1)
    shares = np.r_[given, pays[web.targets]]
    first, second = (
        fixed_point(2 * web.nodes, sources, targets, shares, np.repeat(of, web.nodes).astype(Long))
        for of in ((1, 0), (0, 1))
    )
    kept = 1 - parents * pays
    of_first, of_second = ((kept * x[: web.nodes]).sum() for x in (first, second))
    if of_second <= 0:
        return None
    x: Exact = first + (web.nodes - of_first) / of_second * second
    return x[: web.nodes]


def hits(web: Web) -> Exact | None:
    """None where the two largest singular values are the same."""
    if len(web.sources) == 0:
        return None
    links = csr_matrix((np.ones(len(web.sources)), (web.sources, web.targets)), (web.nodes,) * 2)
    if web.nodes < 10:
        _, values, right = np.linalg.svd(links.toarray())
        values = values[:2]
    else:
        _, values, right = svds(links, k=2, tol=0, random_state=1)
    if values.max() - values.min() < 1e-9 * values.max():
        return None
    ends = csr_matrix((np.ones(len(web.sources)), (web.sources, web.targets + web.nodes)),
                      (2 * web.nodes,) * 2)  # fmt: skip
    _, parts = connected_components(ends, directed=False)
    a = np.abs(right[values.argmax()])
    within = parts[web.nodes :] == parts[web.nodes + int(a.argmax())]
    kept = within[web.targets]
    sources, targets = web.sources[kept], web.targets[kept]
    by_target, by_source = np.argsort(targets, kind="stable"), np.argsort(sources, kind="stable")
    hubs_of, authorities_of = _sums(sources, targets, by_target), _sums(targets, sources, by_source)
    x = np.where(within, a, 0).astype(Long)
    for _ in range(300):
        x = hubs_of(authorities_of(x))
        x /= np.sqrt((x * x).sum())
    return x


def _sums(sources: Ids, targets: Ids, order: Ids) -> Callable[[Exact], Exact]:
    """The sum over the links to each node."""
    sources, targets = sources[order], targets[order]
    begins = np.flatnonzero(np.r_[True, np.diff(targets) > 0])

    def of(x: Exact) -> Exact:
        sums = np.zeros(len(x), Long)
        sums[targets[begins]] = np.add.reduceat(x[sources], begins)
        return sums

    return of
