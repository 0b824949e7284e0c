"""What enters the scope of a job when pages become its seeds: hosts, and SURT prefixes.

Heritrix takes the folder of each seed for a prefix of its scope (`seedsAsSurtPrefixes`): of
http://example.org/news/1.html it is http://(org,example,)/news/, for https as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from crawlrank.pipeline.heritrix.quotas import host_in_surt

_HOST_AND_PORT = re.compile(r"(.*?)(:[0-9]*)?\Z")
MOST = 1000  # hosts, and prefixes, that are kept to be told


class Growth:
    """hosts, prefixes: those of pages that no seed of the job has, with how many pages."""

    def __init__(self, seeds: Iterable[str]) -> None:
        self.hosts, self.prefixes = Counter[str](), Counter[str]()
        self._known_hosts, self._known = set[str](), set[str]()
        for seed in seeds:
            uri = seed if "://" in seed else f"http://{seed}"
            self._known_hosts.add(host_of(uri))
            self._known.add(surt_prefix(uri))

    def add(self, uri: str) -> None:
        """A page that becomes a seed."""
        if (host := host_of(uri)) not in self._known_hosts:
            _count(self.hosts, host)
        prefix = surt_prefix(uri)
        if not any(each in self._known for each in _folders(prefix)):
            _count(self.prefixes, prefix)


def host_of(uri: str) -> str:
    """Host and port."""
    return uri.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()


def surt_prefix(uri: str) -> str:
    """The folder of a URI in the order in which Heritrix compares."""
    host, port = _HOST_AND_PORT.match(host_of(uri)).groups("")  # type: ignore[union-attr]
    path = uri.partition("://")[2].partition("/")[2].rpartition("/")[0]
    return f"http://({host_in_surt(host)}{port})/{path}{'/' * bool(path)}"


def _folders(prefix: str) -> Iterator[str]:
    """Itself, and those above it."""
    at = len(prefix)
    while (at := prefix.rfind("/", 0, at)) > len("http://("):
        yield prefix[: at + 1]


def _count(counts: Counter[str], name: str) -> None:
    if name in counts or len(counts) < MOST:
        counts[name] += 1
