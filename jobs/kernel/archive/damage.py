"""What is wrong with a place in an archive: a closed set of reasons, each with an offset."""

from __future__ import annotations

from typing import NamedTuple

MAX_RECORD = 32 * 2**20  # memory is up to four times that and the program; docs/decisions.md
MAX_LISTED = 1000  # damages of one archive that are listed; all are counted
REASONS = {
    "bad-header": "no record begins where one should; skipped to the next",
    "bad-length": "the length of a record is missing, no number or false; it ends at the next",
    "truncated": "the file or compressed frame ends inside a record; what is there is used",
    "bad-gzip": "a gzip member cannot be inflated, or fails its checksum; skipped to the next",
    "bad-zstd": "the same of a zstd frame, or of the dictionary that the frames need",
    "bad-lz4": "the same of an lz4 frame",
    "bad-zip": "an entry of a WACZ, or its list of entries, cannot be read; the others are",
    "bomb": "a frame inflates beyond all proportion, or to more records than its bytes; skipped",
    "record-too-large": "a record is larger than the limit; its body is skipped",
    "bad-chunks": "the chunks of a body are broken; decoded as far as they go",
    "bad-encoding": "a body is not in the encoding that its header names; used as it is",
    "body-too-large": "a body inflates beyond the limit; cut there",
    "bad-wat": "a WAT record whose JSON cannot be read; ignored",
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
