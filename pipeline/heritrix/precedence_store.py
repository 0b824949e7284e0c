"""The precedences in a job's state folder: loaded by Heritrix's loader, looked up by its policy.

A crawl looks a URI up under a key of Heritrix's own, once, when it schedules it. What the store
does not have under that key gets the precedence of URIs that are not listed.
"""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Iterable, Iterator
from importlib import resources
from itertools import islice
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.heritrix.home import HeritrixFails, HeritrixHome, locked

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


def load(home: HeritrixHome, file: Path, state: Path) -> int:
    """Load a precedence file by Heritrix's loader; how many lines it says that it has loaded.

    If it fails, nothing was stored, and it can be done again. Raises HeritrixFails, Shortage.
    """
    require_unlocked(state)
    state.mkdir(parents=True, exist_ok=True)
    _remove_unbegun(state)
    arguments = (LOADER, str(file.resolve()), str(state.resolve()))
    # it stores what it has loaded behind its last line, so it is read to the end
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
        """The answers of so many further URIs: the precedence of the file, UNLISTED or
        NOT_A_URI."""
        answers = list(islice(self._answers, count))
        if len(answers) != count:
            fault = f"{count_of(len(answers), 'answer')} for {count_of(count, 'URI')}"
            raise HeritrixFails(str(self._state), fault, "one for each")
        return answers


def _nothing(state: Path, fault: str) -> BadInput:
    cure = "Load a precedence file: `crawlrank recrawl` does it."
    return BadInput(str(state), fault, "the state folder of a job, with precedences", cure)
