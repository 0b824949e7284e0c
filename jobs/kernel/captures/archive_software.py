"""Which software wrote an archive: the field `software` of a warcinfo, or of an ARC's header."""

from __future__ import annotations

import re

LONGEST = 2**14  # bytes of a record that are looked at
_HERITRIX = re.compile(
    rb"^software:[^\n]*heritrix|<(?:\w+:)?software>[^<]*heritrix", re.IGNORECASE | re.MULTILINE
).search


def is_of_heritrix(body: bytes) -> bool:
    """body: of the record, or of the header."""
    return _HERITRIX(body[:LONGEST]) is not None
