"""What reading an archive raises that nobody thought of: the archive's error, and not the run's.

A fault in the links of one record costs these links and is damage; one of the reader costs the
archive. Wants of the machine are no archive's fault, but memory is: another archive may need less.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TypeVar

from jobs.kernel.errors import BadInput, CrawlrankError
from jobs.kernel.machine.shortage import MEMORY, shortage_of

Item = TypeVar("Item")
DEBUG = "CRAWLRANK_DEBUG"  # in the environment: what was not foreseen is raised as it is
LONGEST = 200  # characters


def guarded(items: Iterator[Item], name: str) -> Iterator[Item]:
    """The items of the archive `name`. Raises BadInput for whatever reading them raises, but wants
    of the machine other than memory, which are raised as they are."""
    try:
        yield from items
    except Exception as error:
        if (bad := _error_of(error, name)) is None:
            raise
        raise bad from error


def _error_of(error: Exception, name: str) -> BadInput | None:
    if isinstance(error, CrawlrankError):
        return None
    if shortage := shortage_of(error):
        if not shortage.found.startswith(MEMORY.found):
            return None
        return BadInput(
            name, shortage.found, cure=f"{shortage.cure} Or try a smaller --max-record."
        )
    if isinstance(error, OSError):
        return BadInput(name, f"cannot be read ({error.strerror or error})", "a readable file")
    if DEBUG in os.environ:
        return None
    return BadInput(
        name,
        f"reading it failed ({words(error)})",
        "an archive that can be read to its end",
        f"Please report it; {DEBUG}=1 shows where it failed.",
    )


def of_unread(counters: Mapping[str, int]) -> dict[str, int]:
    """What counts of an archive that could not be read to its end: damage, as its rows do not."""
    return {name: count for name, count in counters.items() if name.partition(".")[0] == "damage"}


def is_of_record(error: Exception) -> bool:
    """Whether the fault costs the links of one record: not what the machine lacks, and not what
    was foreseen."""
    if isinstance(error, CrawlrankError) or DEBUG in os.environ:
        return False
    return shortage_of(error) is None


def words(error: Exception) -> str:
    """Its name and first line, printable."""
    return ascii(f"{type(error).__name__}: {error}".partition("\n")[0][:LONGEST])[1:-1]
