"""How many URIs a crawl fetches of each host: the budget of the crawl, shared by the ranking.

A host gets the part of the budget that its pages have of all scores, at least 1. Heritrix counts
what the host answers, robots.txt, redirects and errors among it, and gives up the rest of its URIs
with status -5003 (its QuotaEnforcer). The quotas are sheets: one for each number, over the SURT
prefixes of its hosts. Numbers have two digits, so that there are few. Hosts that the ranking does
not know have no quota.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.analysis.hosts.host_table import read_hosts
from crawlrank.pipeline.precedence.beans import quota_sheet
from crawlrank.pipeline.precedence.page_table import RankedPages
from crawlrank.pipeline.workfolder.results.dataset_folders import finished_manifest

MOST_HOSTS = 100_000  # more make a file of beans that Heritrix cannot hold


def quotas_of(ranked: RankedPages, ranking: Path, budget: int) -> dict[str, int]:
    """By host without its port. ranking: the folder of a run or of a ranking. Raises BadInput."""
    rows = read_hosts(ranked, finished_manifest(ranking), "host", "score")
    scores = defaultdict[str, float](float)
    for host, score in zip(rows["host"].to_pylist(), rows["score"].to_pylist(), strict=True):
        scores[_without_port(host)] += score or 0.0
    if len(scores) > MOST_HOSTS:
        raise BadInput(
            str(ranking), count_of(len(scores), "host"), f"{MOST_HOSTS:,} or fewer",
            "Heritrix holds a quota for each in memory: give it a part of the hosts.",
        )  # fmt: skip
    return shared(scores, budget)


def shared(scores: Mapping[str, float], budget: int) -> dict[str, int]:
    """The budget by parts of the sum of scores."""
    total = sum(scores.values()) or 1.0
    return {host: _rounded(budget * score / total) for host, score in scores.items()}


def quota_sheets(quotas: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """The beans, as (id, text)."""
    hosts = defaultdict[int, list[str]](list)
    for host, quota in sorted(quotas.items()):
        # a key has no `www.`, so its host stands for both
        www = f"www.{host}" if is_name(host) and f"www.{host}" not in quotas else None
        hosts[quota] += [host, *filter(None, [www])]
    for quota, some in sorted(hosts.items()):
        prefixes = [prefix for host in some for prefix in surt_prefixes(host)]
        yield from quota_sheet(quota, prefixes)


def surt_prefixes(host: str) -> tuple[str, str]:
    """Of the URIs of a host, without those of hosts below it: without a port, and with one."""
    form = host_in_surt(host)
    return f"http://({form})", f"http://({form}:"


def host_in_surt(host: str) -> str:
    """`org,example,` of example.org; an address as it is."""
    return "".join(f"{label}," for label in reversed(host.split("."))) if is_name(host) else host


def is_name(host: str) -> bool:
    """Whether it is no address."""
    return not host.startswith("[") and not host.replace(".", "").isdigit()


def _rounded(number: float) -> int:
    """Up to two digits, at least 1."""
    if number < 1:
        return 1
    step = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return round(number / step) * step


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and not name.endswith(":") else host
