"""The audit of archives as data: what is in each and in all, what is damaged, what is left out.

An archive is read as extraction reads it, with the same counters; nothing is written. Memory does
not grow with archives: hosts, damage and examples are kept up to a bound, and counted beyond it.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from jobs.kernel.archive.container import Container, container
from jobs.kernel.archive.damage import Damage
from jobs.kernel.captures.counters import require_pages
from jobs.kernel.captures.extraction import extract
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import UNEXPECTED, BadInput
from jobs.kernel.formats.rows import Capture, Link
from jobs.kernel.keys.keys import key_of
from jobs.kernel.links.dropped import LONGEST_EXAMPLE, MAX_EXAMPLES, Examples
from jobs.kernel.machine.shortage import shortage_of
from jobs.kernel.storage.opening import Place, open_binary, size_of
from pipeline.workfolder.counting import add_counters

MAX_DAMAGE = 10_000  # places of one archive that are listed
MAX_PLACES = 5  # of each reason, over all archives
MAX_HOSTS, MAX_HOSTS_IN_ALL = 100_000, 1_000_000
LONGEST_HOST = 255

_HOST = re.compile(rb"https?://(?:[^/?#]*@)?(\[[^]/?#]*]|[^/?#:]*)", re.IGNORECASE).match


class Hosts:
    """Captures by host, of as many hosts as fit; `more`: captures of those that did not."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.counts: Counter[str] = Counter()
        self.more = 0

    def add(self, host: str, captures: int = 1) -> None:
        known = host in self.counts or len(self.counts) < self._limit
        if known and len(host) <= LONGEST_HOST:
            self.counts[host] += captures
        else:
            self.more += captures

    def top(self, count: int) -> list[tuple[str, int]]:
        """Those with most captures, then by name."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:count]


@dataclass
class Summary:
    """What is known of one archive and of all. size: of the files in bytes; first, last: 14
    digits or ''; links: whether pages were looked into at all.

    counters: those of `extract`, and `no-key.captures`, `no-key.links`: URIs that `canonicalize`
    will leave out. examples: by reason.
    """

    size: int = 0
    seconds: float = 0.0
    links: bool = True
    counters: Counter[str] = field(default_factory=Counter)
    examples: Examples = field(default_factory=dict)
    first: str = ""
    last: str = ""
    hosts: Hosts = field(default_factory=lambda: Hosts(MAX_HOSTS))

    def add_times(self, first: str, last: str) -> None:
        self.first = min(self.first or first, first or self.first)
        self.last = max(self.last, last)


@dataclass
class Inspection(Summary):
    """One archive. error: found, expected, cure, if it could not be read; the rest is then what
    was found before."""

    path: str = ""
    container: Container = field(default_factory=Container)
    damage: list[Damage] = field(default_factory=list)
    error: list[str] | None = None

    def add(self, items: Iterable[Link | Capture | Damage]) -> None:
        for item in items:
            if isinstance(item, Link):
                if key_of(item.target) is None or key_of(item.source) is None:
                    self._without_key(item.target, "links")
            elif isinstance(item, Capture):
                self._add_capture(item)
            elif len(self.damage) < MAX_DAMAGE:
                self.damage.append(item)

    def _add_capture(self, capture: Capture) -> None:
        if capture.timestamp != b"-":
            time = capture.timestamp.decode()
            self.add_times(time, time)
        if host := _HOST(capture.uri):
            self.hosts.add(host[1].lower().decode("utf-8", "replace"))
        if key_of(capture.uri) is None:
            self._without_key(capture.uri, "captures")

    def _without_key(self, uri: bytes, what: str) -> None:
        self.counters[f"no-key.{what}"] += 1
        examples = self.examples.setdefault("no-key", [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(uri.decode("utf-8", "replace")[:LONGEST_EXAMPLE])


def inspect_archive(archive: Place, options: ExtractionOptions) -> Inspection:
    """The audit of one archive; an error is a part of it, so that others can go on."""
    found = Inspection(path=str(archive), links=options.bodies)
    begin = time.perf_counter()
    try:
        found.size = size_of(archive)
        with open_binary(archive) as stream:
            if stream.seekable():
                found.container = container(stream, options.max_record)
            name = os.path.basename(found.path)  # noqa: PTH119 (URLs too)
            found.add(extract(stream, name, options, found.counters, found.examples))
        require_pages(found.path, found.counters)
    except BadInput as error:
        found.error = [error.found, error.expected, error.cure]
    except Exception as error:  # noqa: BLE001 (whatever it is, the other archives go on)
        found.error = _error(error)
    found.seconds = time.perf_counter() - begin
    return found


def _error(error: Exception) -> list[str]:
    """Found, expected and cure."""
    if shortage := shortage_of(error):
        return [shortage.found, "", shortage.cure]
    if isinstance(error, OSError):
        found = f"cannot be read ({error.strerror or error})"
        return [found, "a WARC, ARC, WAT or WACZ file", ""]
    if "CRAWLRANK_DEBUG" in os.environ:
        raise error
    return [f"{UNEXPECTED}: {type(error).__name__}: {error}", "an archive", ""]


@dataclass
class Total(Summary):
    """All archives. damaged: those that were read, with damage. places: the first damage of each
    reason, with the path of its archive."""

    archives: int = 0
    damaged: int = 0
    failed: list[Inspection] = field(default_factory=list)
    places: dict[str, list[tuple[str, Damage]]] = field(default_factory=dict)
    hosts: Hosts = field(default_factory=lambda: Hosts(MAX_HOSTS_IN_ALL))

    def add(self, found: Inspection) -> None:
        self.archives += 1
        self.damaged += bool(found.counters["damage"] and not found.error)
        self.size += found.size
        self.seconds += found.seconds
        self.links = found.links
        add_counters(self.counters, found.counters)
        self.add_times(found.first, found.last)
        for host, captures in found.hosts.counts.items():
            self.hosts.add(host, captures)
        self.hosts.more += found.hosts.more
        for reason, uris in found.examples.items():
            known = self.examples.setdefault(reason, [])
            known += uris[: MAX_EXAMPLES - len(known)]
        for damage in found.damage:
            places = self.places.setdefault(damage.reason, [])
            if len(places) < MAX_PLACES:
                places.append((found.path, damage))
        if found.error:
            self.failed.append(found)
