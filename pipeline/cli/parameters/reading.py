"""What a command reads of work folders stays the same from its beginning to its end, or it says so.

A command that only reads takes no lock: it may look at a folder for hours, and a run should not
wait for it. A run replaces datasets by others under the same names. So a reader looks at the
manifest, which a run saves with each change, before and after.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.pipeline.workfolder.lock import looked_at
from crawlrank.pipeline.workfolder.rankings import RANKINGS
from crawlrank.pipeline.workfolder.work_folder import MANIFEST

Stamp = tuple[int, int, int]  # of a manifest: its file, its time and its size


@contextlib.contextmanager
def reading(works: Sequence[Path], *, unfinished: bool = False) -> Iterator[None]:
    """Around a command that reads these work folders. unfinished: whether it also shows a run that
    is at work, of which the manifest changes. Raises BadInput for what has changed, and errors of
    the command with the name of another that is at work there."""
    before = {work: _stamps(work) for work in works}
    shown = unfinished and any(map(_at_work, works))
    try:
        yield
    except (BadInput, OSError) as error:
        for work in works:
            if words := _at_work(work):
                raise _with_worker(error, work, words) from error
            if _stamps(work) != before[work]:
                raise _changed(work) from error
        raise
    for work in () if shown else works:
        if _stamps(work) != before[work]:
            raise _changed(work)


def _stamps(work: Path) -> dict[Path, Stamp]:
    """The stamps of a work folder and the rankings in it."""
    stamps = dict[Path, Stamp]()
    for path in (work / MANIFEST, *(work / RANKINGS).glob(f"*/{MANIFEST}")):
        with contextlib.suppress(OSError):
            status = path.stat()
            stamps[path] = status.st_ino, status.st_mtime_ns, status.st_size
    return stamps


def _at_work(work: Path) -> str:
    """The command that is at work in a folder, with its process; '' if none is."""
    content, held = looked_at(work)
    if not held:
        return ""
    words = shlex.join(["crawlrank", *content.state.get("arguments", [])])
    return f"`{words}` (process {content.owner})"


def _with_worker(error: BadInput | OSError, work: Path, words: str) -> CrawlrankError:
    cure = f"{words} is at work in {work}: give this command again when that has ended."
    if isinstance(error, BadInput):
        return BadInput(error.where, error.found, error.expected, cure)
    what = f"has changed while it was read ({error})"
    return BadInput(str(work), what, "a work folder in which no command is at work", cure)


def _changed(work: Path) -> BadInput:
    what = "was changed by another command while this one read it"
    cure = "Give this command again; what it has written may be of two states."
    return BadInput(str(work), what, "the same from beginning to end", cure)
