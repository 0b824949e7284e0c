"""The graph of sites: the links between pages collapsed to weighted edges between their sites.

With N pages in S sites, of which P ordered pairs are linked. Links within a site are left out.

Equation of the sweeps: x_t = base + damping * sum over edges s->t of w_st y_s, with y_s = x_s /
W_s, where W_s is the sum of w_st over all t. A dangling site has W_s = 0, and its y_s is 0. Sums
are taken in the order written: nothing here lets the compiler reorder or contract them.

The site of a page is known by its key: the host, or the domain that somebody has registered. A key
begins with the labels of the host, reversed, and its port unless that is the scheme's usual one:
`uk,co,example,www:8080)/path`. What is before the first `)` is the part read here. A key without
`)`, such as `dns:example.org`, is no page of a host: the whole key is its site.

A registrable domain is a public suffix and one label more, as https://publicsuffix.org/list/ says,
with the suffixes that companies give to their customers (`github.io`). A name under no listed
suffix has its last label as the suffix, which is the list's rule `*`. A host that is a public
suffix itself, an address and a name of one label are sites of their own. A domain has no port,
since all servers of it are its owner's. surt writes an IPv6 address without brackets, so that its
port cannot be told from its last group: such a site keeps what is there.

The list is that of the release of tldextract that is installed. It is never fetched: no network,
and no cache on disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions

_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII).fullmatch


def host_name(part: str) -> str:
    """`www.archive.org:8080` of the key's part `org,archive,www:8080`."""
    host, colon, port = part.rpartition(":")
    if not port.isdigit():
        host, colon, port = part, "", ""
    return ".".join(reversed(host.split(","))) + colon + port


def is_address(name: str) -> bool:
    """Whether a host without its port is an address of IP."""
    return ":" in name or bool(_ADDRESS(name))


def domain_name(part: str) -> str:
    """`archive.org` of the same."""
    name = host_name(part)
    host, colon, port = name.rpartition(":")
    if colon and port.isdigit() and ":" not in host:
        name = host
    if is_address(name) or "." not in name:
        return name
    parts = _suffixes()(name)
    if parts.suffix:
        return f"{parts.domain}.{parts.suffix}" if parts.domain else name
    return ".".join(name.split(".")[-2:])


@cache
def _suffixes() -> Callable[[str], Any]:
    import tldextract  # takes a fifth of a second to import, and most rankings need no list

    offline = tldextract.TLDExtract(
        cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True
    )
    return offline.extract_str


NAMES: dict[str, Callable[[str], str]] = {"host": host_name, "domain": domain_name}


@dataclass(frozen=True, eq=False)
class SiteGraph:
    """of_pages: the site of each page, int32[N] or int64[N]. The edges to site t come from
    `sources[offsets[t]:offsets[t + 1]]`, ascending, never t itself, with `weights`, above 0 and
    finite: offsets int64[S + 1], sources int64[P], weights float64[P]. The two may be mapped."""

    of_pages: Positions
    offsets: Offsets
    sources: Positions
    weights: Floats

    @property
    def nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.sources)

    @cached_property
    def outweights(self) -> Floats:
        """float64[S]: what the weights of each site's edges out sum to, 0 for a dangling site."""
        sums = np.zeros(self.nodes)
        outweights(self.sources, self.weights, sums)
        return sums


@loop
def outweights(sources: Ids | Positions, weights: Floats, sums: Floats) -> None:
    """Add the weight of each edge to the sum of its source."""
    for k in range(len(sources)):
        sums[sources[k]] += weights[k]


@loop
def weighted_flow(
    sources: Ids | Positions, weights: Floats, y: Floats, begin: int, end: int
) -> tuple[float, float]:
    """The sum of w y over edges in two parts, wrong by less than (edges * UNIT)^2 of itself, but
    for the rounding of each product."""
    high, low = 0.0, 0.0
    for k in range(begin, end):
        value = weights[k] * y[sources[k]]
        high, error = two_sum(high, value)
        low += error
    return high, low


@loop
def shared(scores: Floats, totals: Floats, y: Floats) -> None:
    """y of scores."""
    for i in range(len(scores)):
        y[i] = scores[i] / totals[i] if totals[i] > 0.0 else 0.0


@loop
def weighted_sweep(
    offsets: Offsets,
    sources: Ids | Positions,
    weights: Floats,
    totals: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    then: Floats,
    scores: Floats,
) -> None:
    """New scores, and their y into `then`: with another array a plain round, with y itself a sweep
    of Gauss and Seidel. base: float64[1] for all, or float64[S]."""
    each = len(base) > 1
    for i in range(len(totals)):
        high, low = weighted_flow(sources, weights, y, offsets[i], offsets[i + 1])
        scores[i] = base[i if each else 0] + damping * (high + low)
        then[i] = scores[i] / totals[i] if totals[i] > 0.0 else 0.0


@loop
def weighted_residual(
    offsets: Offsets,
    sources: Ids | Positions,
    weights: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
) -> tuple[float, float]:
    """With the doubt about each r_i of r = base + damping A x - x, |r|_1 and max |r_i|. base: as
    of `weighted_sweep`.

    The doubt: W_s and y_s, the product with w_st, its sum, the product with the damping and the
    last sum round, and damping and base may be no doubles. Whole weights have an exact W_s below
    2^53. That is 8 roundings of what each edge adds; DOUBT, 10 roundings, is ample.
    """
    absolute, largest = 0.0, 0.0
    each = len(base) > 1
    for i in range(len(scores)):
        high, low = weighted_flow(sources, weights, y, offsets[i], offsets[i + 1])
        score = base[i if each else 0] + damping * (high + low)
        edges = float(offsets[i + 1] - offsets[i])
        doubt = (DOUBT + (edges * UNIT) ** 2) * (score + scores[i])
        off = abs(score - scores[i]) + doubt
        absolute += off
        largest = max(largest, off)
    return absolute, largest


@loop
def spread(of_pages: Positions, of_sites: Floats, scores: Floats) -> None:
    """The score of its site for each page: scores[i] = of_sites[of_pages[i]]."""
    for i in range(len(of_pages)):
        scores[i] = of_sites[of_pages[i]]
