"""Whether a crawl will find what a precedence file says: every line of it is looked up by
Heritrix's own policy, and so are the URIs of lists and logs.

Memory: a batch of URIs, and up to MOST lines that are not as they should be.

The precedences in a job's state folder: loaded by Heritrix's loader, looked up by its policy.

A crawl looks a URI up under a key of Heritrix's own, once, when it schedules it. What the store
does not have under that key gets the precedence of URIs that are not listed.
"""

from __future__ import annotations

import errno
import fcntl
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain, islice
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput, NotConverged, count_of
from crawlrank.jobs.kernel.keys.heritrix_form import lookup_key
from crawlrank.pipeline.analysis.audit.crawl_log import (
    DamagedGzip,
    LogReport,
    chunks,
    read_logs,
    whole_lines,
)
from crawlrank.pipeline.analysis.audit.entries import UNORDERED_HOPS
from crawlrank.pipeline.heritrix.home import HeritrixFails, HeritrixHome, locked
from crawlrank.pipeline.precedence.heritrix_loader import (
    LoaderFails,
    read_entry,
    read_lines,
    with_scheme,
)
from crawlrank.pipeline.terminal import TextTable

LOADER = "org.archive.crawler.frontier.precedence.PrecedenceLoader"
GROOVY = "groovy.ui.GroovyMain"  # which Heritrix brings along
LOCK = "je.lck"
FILE_HEADER = 32  # bytes of each log file of Berkeley DB
NOT_A_URI, UNLISTED = "-", "0"
LIMIT = 24 * 3600.0  # seconds of a program: a hundred million lines take hours


def require_unlocked(state: Path) -> None:
    """Raise HeritrixFails where a job has the store open for writing."""
    path = state / LOCK
    if not path.exists():
        return
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise locked(state) from error
            raise


def load_precedences(home: HeritrixHome, file: Path, state: Path) -> int:
    """Load a precedence file by Heritrix's loader; how many lines it says that it has loaded.

    If it fails, nothing was stored, and it can be done again. Raises HeritrixFails, Shortage.
    """
    require_unlocked(state)
    state.mkdir(parents=True, exist_ok=True)
    _remove_unbegun(state)
    arguments = (LOADER, str(file.resolve()), str(state.resolve()))
    # it stores what it has loaded after its last line, so it is read to the end
    lines = list(home.run(*arguments, where=state, limit=LIMIT))
    for line in lines:
        if line.endswith(" entries loaded"):
            return int(line.split()[-3])
    last = lines[-1] if lines else "nothing"
    raise HeritrixFails(str(state), f"PrecedenceLoader says: {last}", "entries loaded")


def _remove_unbegun(state: Path) -> None:
    """Remove a last log file that a full disk left without its header: it holds nothing, and
    Berkeley DB opens no store with one."""
    for log in sorted(state.glob("*.jdb"))[-1:]:
        if log.stat().st_size < FILE_HEADER:
            log.unlink()


class Lookups:
    """Precedences by Heritrix's policy. stored: how many the store has."""

    def __init__(self, home: HeritrixHome, state: Path, uris: Iterable[str]) -> None:
        """uris: one line each. Raises BadInput where the folder holds no store, or none of
        precedences."""
        if not any(state.glob("*.jdb")):
            raise _nothing(state, "no store of Heritrix in it")
        self._state = state
        self._answers = self._run(home, uris)
        self.stored = int(next(self._answers, "0"))
        if not self.stored:
            raise _nothing(state, "no precedences in it")

    def _run(self, home: HeritrixHome, uris: Iterable[str]) -> Iterator[str]:
        script = resources.files("crawlrank.pipeline.heritrix").joinpath("look_up.groovy")
        with resources.as_file(script) as path:
            lines = (f"{uri}\n" for uri in uris)
            yield from home.run(
                GROOVY, str(path), str(self._state.resolve()),
                where=self._state, limit=LIMIT, text=lines,
            )  # fmt: skip

    def some(self, count: int) -> list[str]:
        """The answers for the next URIs of this number: the precedence of the file, UNLISTED or
        NOT_A_URI."""
        answers = list(islice(self._answers, count))
        if len(answers) != count:
            fault = f"{count_of(len(answers), 'answer')} for {count_of(count, 'URI')}"
            raise HeritrixFails(str(self._state), fault, "one for each")
        return answers


def _nothing(state: Path, fault: str) -> BadInput:
    cure = "Load a precedence file: `crawlrank recrawl` does it."
    return BadInput(str(state), fault, "the state folder of a job, with precedences", cure)


EXAMPLES = 5
MOST = 100_000
BATCH = 10_000
LOG_FIELDS = 10  # that a line of crawl.log has at least, and none of a list
#: what is counted, in the order in which it is shown
MEANINGS = {
    "lines": "lines of the precedence file",
    "right": "  whose URI has this precedence for Heritrix",
    "replaced": "  whose URI a later line has, too, as Heritrix reads it",
    "other": "  whose URI has another precedence: the store is of another file",
    "missing": "  whose URI Heritrix does not find",
    "stored": "precedences in the store",
    "stale": "  of an earlier file: they count for URIs that this one does not list",
    "uris": "URIs of lists and logs, a line each",
    "listed": "  that Heritrix finds",
    "unlisted": "  that Heritrix does not find",
    "no URI": "  that are none for Heritrix",
}
FAULTS = ("other", "missing")
SHOWN = (*FAULTS, "unlisted", "no URI")  # with examples


@dataclass
class Verification:
    """counts: by the names of MEANINGS. examples: the first of each name of SHOWN: the URI, the
    precedence of the file, that of Heritrix; empty where there is none."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def note(self, name: str, uri: str, wanted: str = "", answer: str = "") -> None:
        self.counts[name] += 1
        examples = self.examples.setdefault(name, [])
        if name in SHOWN and len(examples) < EXAMPLES:
            examples.append((uri, wanted, answer))

    def require(self, state: Path) -> None:
        """Raise NotConverged where a crawl would not keep to the file."""
        other, missing = (self.counts[name] for name in FAULTS)
        if other or missing:
            raise NotConverged(
                f"{state}: of {count_of(self.counts['lines'], 'line')} of the file Heritrix gives"
                f" {other:,} another precedence, and does not find {missing:,}. Load this file:"
                " `crawlrank recrawl` does it, before the launch."
            )

    def warning(self) -> str | None:
        """A warning of precedences that the file does not give, with the cure."""
        if not (stale := self.counts["stale"]):
            return None
        return (
            f"{count_of(stale, 'precedence')} in the store {'is' if stale == 1 else 'are'} of an"
            " earlier file, for URIs that this one does not list: a crawl that meets them fetches"
            " them in that order. To forget them, make a new job: this store may also hold the"
            " history of fetches by which Heritrix knows what has not changed."
        )

    def as_data(self) -> dict[str, Any]:
        """All results, ready for json.dumps."""
        names = ("uri", "precedence", "heritrix")
        return {
            **{name.replace(" ", "_"): self.counts[name] for name in MEANINGS},
            "examples": {
                name: [dict(zip(names, row, strict=True)) for row in rows]
                for name, rows in self.examples.items()
                if rows
            },
        }

    def tables(self) -> Iterator[TextTable]:
        """The tables in the order in which they are shown."""
        table = TextTable("precedences in Heritrix's store", "~what", ">count")
        for name, meaning in MEANINGS.items():
            if self.counts["uris"] or name not in ("uris", "listed", "unlisted", "no URI"):
                table.add(meaning, self.counts[name])
        yield table
        table = TextTable("examples", "~which is", "URI", ">in the file", ">for Heritrix")
        for name, rows in self.examples.items():
            for uri, wanted, answer in rows:
                table.add(MEANINGS[name].strip(), uri, wanted, answer)
        yield table


def verify(
    home: HeritrixHome, state: Path, precedence: Path, lists: Sequence[Path] = ()
) -> Verification:
    """Look up every line of the file, then the URIs of the lists: files with one in each line, or
    crawl.log files. Raises BadInput, HeritrixFails."""
    verification = Verification()
    uris = chain((uri for uri, _ in _entries(precedence)), chain.from_iterable(map(_uris, lists)))
    lookups = Lookups(home, state, uris)
    verification.counts["stored"] = lookups.stored
    doubtful = list[tuple[str, int, str]]()
    for entries in _grouped(_entries(precedence)):
        verification.counts["lines"] += len(entries)
        for (uri, wanted), answer in zip(entries, lookups.some(len(entries)), strict=True):
            if answer == str(wanted):
                verification.note("right", uri)
            elif len(doubtful) < MOST:
                doubtful.append((uri, wanted, answer))
            else:
                verification.note(_fault(answer), uri)
    _judge(doubtful, precedence, verification)
    of_lines = verification.counts["right"] + verification.counts["other"]
    verification.counts["stale"] = max(0, lookups.stored - of_lines)
    for uris_of_lists in _grouped(chain.from_iterable(map(_uris, lists))):
        verification.counts["uris"] += len(uris_of_lists)
        for uri, answer in zip(uris_of_lists, lookups.some(len(uris_of_lists)), strict=True):
            verification.note(_NAMES.get(answer, "listed"), uri)
    return verification


_NAMES = {UNLISTED: "unlisted", NOT_A_URI: "no URI"}


def _fault(answer: str) -> str:
    return "missing" if answer in _NAMES else "other"


def _judge(
    doubtful: Sequence[tuple[str, int, str]], precedence: Path, verification: Verification
) -> None:
    """Tell lines that a later one replaces from faults."""
    last: Mapping[str, int] = _last_of(precedence, {lookup_key(uri) for uri, _, _ in doubtful})
    for uri, wanted, answer in doubtful:
        replaced = answer == str(last[lookup_key(uri)])
        verification.note("replaced" if replaced else _fault(answer), uri, str(wanted), answer)


def _last_of(precedence: Path, keys: set[str]) -> dict[str, int]:
    """The precedence of the last line of each key."""
    last = dict[str, int]()
    for uri, value in _entries(precedence) if keys else ():
        if (key := lookup_key(uri)) in keys:
            last[key] = value
    return last


def _grouped(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while group := list(islice(rest, BATCH)):
        yield group


def _entries(precedence: Path) -> Iterator[tuple[str, int]]:
    """The URI and the precedence of each line. Raises BadInput where the loader stores nothing."""
    try:
        for line in read_lines(precedence):
            entry = read_entry(line.text)
            yield with_scheme(entry.uri), entry.precedence
    except LoaderFails as error:
        cure = "`crawlrank audit` says what to do."
        fault = f"Heritrix's loader ends: {error}"
        raise BadInput(str(precedence), fault, "a precedence file", cure) from error


def _uris(path: Path) -> Iterator[str]:
    """The URIs of a list, or those that a crawl.log has fetched or tried, without prerequisites and
    guesses."""
    try:
        blocks = whole_lines(chunks(path))
        first = next(blocks, b"")
        lines = chain(first.splitlines(), chain.from_iterable(map(bytes.splitlines, blocks)))
        if len(first.partition(b"\n")[0].split()) < LOG_FIELDS:
            yield from (
                fields[0].decode("utf-8", "replace") for line in lines if (fields := line.split())
            )
            return
    except DamagedGzip as error:
        raise BadInput(str(path), f"cannot be read whole ({error})", "a list of URIs") from error
    unordered = {ord(hop) for hop in UNORDERED_HOPS}
    for batch in read_logs([path], LogReport()):
        for uri, hop in zip(batch["uri"].to_pylist(), batch["hop"].to_pylist(), strict=True):
            if hop not in unordered and uri.startswith("http"):
                yield uri
