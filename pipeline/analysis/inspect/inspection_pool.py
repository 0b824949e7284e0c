"""Archives inspected by several processes, one archive a task, results in the order of archives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import died
from crawlrank.jobs.kernel.links.pdf_links import require_reader
from crawlrank.jobs.kernel.machine.cores import at_a_time
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.analysis.inspect.inspection import Inspection, inspect_archive
from crawlrank.pipeline.data.workers import Died, Tell, answers

AHEAD = 4  # results for each process that may wait for their turn; bounds memory
KILLED = died("perhaps for want of memory or threads")
NumberedArchive = tuple[int, PathOrUrl]


def inspect_archives(
    archives: Sequence[PathOrUrl], options: ExtractionOptions, processes: int
) -> Iterator[Inspection]:
    """The inspection of each. An archive whose process is killed is read once more, alone in a new
    process, as another archive may have taken the memory."""
    if options.pdf:
        require_reader()
    work, numbered = partial(_inspected, options), list(enumerate(archives))
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
