"""What archives hold, as data: what is in each and in all, what is damaged, what is left out.

An archive is read as extraction reads it, with the same counters; nothing is written. Memory does
not grow with archives: hosts, damage and examples are listed up to a bound, and counted beyond it.

Archives inspected by several processes, one archive a task, results in the order of archives.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.sources import Container, container
from crawlrank.jobs.kernel.captures.counters import Counters, require_pages
from crawlrank.jobs.kernel.captures.extraction import Item, extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import DEBUG, UNEXPECTED, BadInput, died
from crawlrank.jobs.kernel.formats.rows import Capture, Link
from crawlrank.jobs.kernel.keys.keys import key_of
from crawlrank.jobs.kernel.links.joining import LONGEST_EXAMPLE, MAX_EXAMPLES, Examples
from crawlrank.jobs.kernel.links.pdf_links import require_reader
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.machine.shortage import shortage_of
from crawlrank.jobs.kernel.storage.opening import (
    PathOrUrl,
    is_url,
    name_of,
    open_binary,
    size_of,
    size_to_read,
)
from crawlrank.pipeline.data.workers import READ, Died, Tell, answers, worth_starting
from crawlrank.pipeline.terminal.text import archive_name
from crawlrank.pipeline.workfolder.archives import add_counters

MAX_DAMAGE = 10_000  # damaged places of one archive that are listed
MAX_PLACES = 5  # damaged places of each reason that are listed, over all archives
MAX_HOSTS, MAX_HOSTS_IN_ALL = 100_000, 1_000_000
LONGEST_HOST = 255

_HOST = re.compile(rb"https?://(?:[^/?#]*@)?(\[[^]/?#]*]|[^/?#:]*)", re.IGNORECASE).match


class Hosts:
    """Captures by host, for a limited number of hosts; `more`: captures of all others."""

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
        """The hosts with most captures, then by name."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:count]


@dataclass
class ArchiveCounts:
    """What one archive holds, or all of them. size: of the files in bytes. first, last: 14 digits
    or ''. links: whether pages were read for links.

    counters: those of `extract`, and `no-key.captures`, `no-key.links`: URIs that `canonicalize`
    will leave out. examples: of what is left out, by reason.
    """

    size: int = 0
    seconds: float = 0.0
    links: bool = True
    counters: Counter[str] = field(default_factory=Counters)
    examples: Examples = field(default_factory=dict)
    first: str = ""
    last: str = ""
    hosts: Hosts = field(default_factory=lambda: Hosts(MAX_HOSTS))

    def add_times(self, first: str, last: str) -> None:
        self.first = min(self.first or first, first or self.first)
        self.last = max(self.last, last)


@dataclass
class Inspection(ArchiveCounts):
    """One archive. max_damage: damaged places that are listed. error: found, expected, cure, if it
    could not be read; all else then counts what comes before the error."""

    path: str = ""
    container: Container = field(default_factory=Container)
    damage: list[Damage] = field(default_factory=list)
    max_damage: int = MAX_DAMAGE
    error: list[str] | None = None

    def add(self, items: Iterable[Item]) -> None:
        for item in items:
            if isinstance(item, Link):
                if key_of(item.target) is None or key_of(item.source) is None:
                    self._without_key(item.target, "links")
            elif isinstance(item, Capture):
                self._add_capture(item)
            elif isinstance(item, Damage) and len(self.damage) < self.max_damage:
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


def inspect_archive(archive: PathOrUrl, options: ExtractionOptions) -> Inspection:
    """The inspection of one archive; an error is a part of it and does not stop the others."""
    result = Inspection(path=archive_name(str(archive)), links=options.bodies)
    begin = time.perf_counter()
    try:
        result.size = size_of(archive)
        with open_binary(archive) as stream:
            if stream.seekable():
                result.container = container(stream, options.max_record)
            result.add(extract(stream, name_of(archive), options, result.counters, result.examples))
        require_pages(result.path, result.counters)
    except BadInput as error:
        result.error = [error.found, error.expected, error.cure]
    except Exception as error:  # noqa: BLE001 (the other archives are read after any error)
        result.error = _error(error)
    result.seconds = time.perf_counter() - begin
    return result


def _error(error: Exception) -> list[str]:
    """Found, expected and cure."""
    if shortage := shortage_of(error):
        where = f" ({shortage.where})" if shortage.where else ""
        return [shortage.found + where, "", shortage.cure]
    if isinstance(error, OSError):
        problem = f"cannot be read ({error.strerror or error})"
        return [problem, "a WARC, ARC, WAT or WACZ file", ""]
    if DEBUG in os.environ:
        raise error
    return [f"{UNEXPECTED}: {type(error).__name__}: {error}", "an archive", ""]


@dataclass
class Total(ArchiveCounts):
    """All archives. damaged: how many were read and have damage. places: the first damage of each
    reason, with the path of its archive."""

    archives: int = 0
    damaged: int = 0
    failed: list[Inspection] = field(default_factory=list)
    places: dict[str, list[tuple[str, Damage]]] = field(default_factory=dict)
    hosts: Hosts = field(default_factory=lambda: Hosts(MAX_HOSTS_IN_ALL))

    def add(self, archive: Inspection) -> None:
        self.archives += 1
        self.damaged += bool(archive.counters["damage"] and not archive.error)
        self.size += archive.size
        self.seconds += archive.seconds
        self.links = archive.links
        add_counters(self.counters, archive.counters)
        self.add_times(archive.first, archive.last)
        for host, captures in archive.hosts.counts.items():
            self.hosts.add(host, captures)
        self.hosts.more += archive.hosts.more
        for reason, uris in archive.examples.items():
            known = self.examples.setdefault(reason, [])
            known += uris[: MAX_EXAMPLES - len(known)]
        for damage in archive.damage:
            places = self.places.setdefault(damage.reason, [])
            if len(places) < MAX_PLACES:
                places.append((archive.path, damage))
        if archive.error:
            self.failed.append(archive)


AHEAD = 4  # results for each process that may wait for their turn; bounds memory
KILLED = died("perhaps for want of memory or threads")
NumberedArchive = tuple[int, PathOrUrl]


def inspect_archives(
    archives: Sequence[PathOrUrl], options: ExtractionOptions, processes: int | None
) -> Iterator[Inspection]:
    """The inspection of each. processes: see `worth_starting`. An archive whose process is killed
    is read once more, alone in a new process, as another archive may have taken the memory."""
    if options.pdf:
        require_reader()
    work, numbered = partial(_inspected, options), list(enumerate(archives))
    if processes is None:
        sizes = (READ if is_url(each) else size_to_read(each) for each in archives)
        processes = worth_starting(None, sum(sizes))
    ahead = AHEAD * at_a_time(processes)
    early: dict[int, Inspection | Died] = {}
    turn = 0
    for (number, _), inspection in answers(work, numbered, processes, ahead=ahead):
        early[number] = inspection
        while turn in early:
            yield _lasting(early.pop(turn), numbered[turn], options)
            turn += 1


def _inspected(options: ExtractionOptions, numbered: NumberedArchive, tell: Tell) -> Inspection:
    return inspect_archive(numbered[1], options)


def _lasting(
    inspection: Inspection | Died, numbered: NumberedArchive, options: ExtractionOptions
) -> Inspection:
    """The inspection, after a second attempt if its process died."""
    if isinstance(inspection, Died):
        work = partial(_inspected, options)
        ((_, inspection),) = answers(work, [numbered], 1, apart=True)
    if isinstance(inspection, Died):
        return Inspection(path=str(numbered[1]), error=KILLED)
    return inspection
