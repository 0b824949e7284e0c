"""Archives inspected by several processes, one archive a task, results in the order given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import died
from jobs.kernel.links.pdf_links import require_reader
from jobs.kernel.machine.cores import at_a_time
from jobs.kernel.storage.opening import Place
from pipeline.analysis.inspect.inspection import Inspection, inspect_archive
from pipeline.data.workers import Died, Tell, answers

AHEAD = 4  # archives for each process that may be done before their turn; bounds memory
KILLED = died("perhaps for want of memory or threads")
Numbered = tuple[int, Place]


def inspect_archives(
    archives: Sequence[Place], options: ExtractionOptions, processes: int
) -> Iterator[Inspection]:
    """The audit of each. An archive whose process is killed is read once more, in a process of its
    own while nothing else is new: whoever lacks memory kills others too."""
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


def _inspected(options: ExtractionOptions, numbered: Numbered, tell: Tell) -> Inspection:
    return inspect_archive(numbered[1], options)


def _lasting(
    inspection: Inspection | Died, numbered: Numbered, options: ExtractionOptions
) -> Inspection:
    """The inspection itself, or that of another try."""
    if isinstance(inspection, Died):
        work = partial(_inspected, options)
        ((_, inspection),) = answers(work, [numbered], 1, apart=True)
    if isinstance(inspection, Died):
        return Inspection(path=str(numbered[1]), error=KILLED)
    return inspection
