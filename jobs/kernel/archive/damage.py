"""Damage in an archive: a closed set of reasons, each with an offset; and faults of its readers.

An unforeseen exception is an error of the archive, not of the run. One of a parser costs the links
of one record, which is damage; one of the reader costs the archive. A shortage of the machine is no
fault of an archive, except that of memory: another archive may need less.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import DEBUG, BadInput, CrawlrankError
from crawlrank.jobs.kernel.machine.shortage import MEMORY, shortage_of

MAX_RECORD = 32 * 2**20  # memory is up to four times that and the program; docs/decisions.md
MAX_LISTED = 1000  # of one archive; all damage is counted
LONGEST_MESSAGE = 200  # characters, of an exception
REASONS = {
    "bad-header": "no record begins where one should; skipped to the next",
    "bad-length": "the length of a record is missing, no number or false; it ends at the next",
    "truncated": "the file or compressed frame ends inside a record; what is there is used",
    "bad-gzip": "a gzip member cannot be inflated, or fails its checksum; skipped to the next",
    "bad-zstd": "the same of a zstd frame, or of the dictionary that the frames need",
    "bad-lz4": "the same of an lz4 frame",
    "bad-zip": "a part of a WACZ cannot be read, or is not what its checksum or its SHA-256 says",
    "bomb": "a frame inflates beyond all proportion, or to more records than its bytes; skipped",
    "record-too-large": "a record is larger than the limit; its body is skipped",
    "bad-chunks": "the chunks of a body are broken; decoded as far as they go",
    "bad-encoding": "a body is not in the encoding that its header names; used as it is",
    "body-too-large": "a body inflates beyond the limit; cut there",
    "bad-wat": "a WAT record whose JSON cannot be read; ignored",
    "bad-line": "a line of an index that lacks its columns or JSON, URI and time, or its range",
    "bad-range": "a range that an index names has no record; left out",
    "failed": "a parser failed on a record; its links are left out",
    "bad-metadata": "lines of a metadata record that are no fields or no outlinks; ignored",
}


class Damage(NamedTuple):
    """offset: that of the record, as in `Record`. reason: a key of REASONS. detail: printable."""

    offset: int
    reason: str
    detail: str = ""


def shown(data: bytes) -> str:
    """The beginning of hostile bytes, safe for a terminal."""
    return ascii(data[:60].decode("utf-8", "replace"))


@contextmanager
def guard(name: str) -> Iterator[None]:
    """Reading the archive `name`. Raises BadInput for whatever the block raises, except for
    shortages other than of memory."""
    try:
        yield
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
    """The counters of an archive that could not be read to its end: damage only, without rows."""
    return {name: count for name, count in counters.items() if name.partition(".")[0] == "damage"}


def is_of_record(error: Exception) -> bool:
    """Whether the fault costs the links of one record only: it was not foreseen, and the machine
    lacks nothing."""
    if isinstance(error, CrawlrankError) or DEBUG in os.environ:
        return False
    return shortage_of(error) is None


def words(error: Exception) -> str:
    """Its class and first line, printable."""
    return ascii(f"{type(error).__name__}: {error}".partition("\n")[0][:LONGEST_MESSAGE])[1:-1]
