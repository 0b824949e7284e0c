"""The order of rows, and their ranges.

Scores are equal when they agree to some significant digits, then by key.

Runners that stop at a tolerance differ in the last digits; rounding first keeps their orders equal
wherever the scores are.

Range partitioning gives equal shares of all keys in byte order, for any number of reducers. A
uniform sample of the distinct keys (the keys with the smallest hashes, so that neither the split
of the input nor repeated keys matter) gives the split points. Hadoop hashes the first field of a
line to choose a reducer, so each range travels under a label whose hash reaches the reducer wanted.
Correctness never depends on that: a reducer that gets two labels sees them one after the other.
"""

from __future__ import annotations

import hashlib
import heapq
from bisect import bisect_right
from collections.abc import Iterable

DIGITS = 9
#: A page is shown with the spelling that has the greatest of these columns of uris, captures before
#: links. Of several such spellings it is the first in byte order.
GREATEST = ("captures", "links")
BEST_SPELLING_FIRST = ", ".join([*(f"{column} DESC" for column in GREATEST), "uri"])  # in SQL


def spelling_order(captures: int, links: int, uri: bytes) -> tuple[int, int, bytes]:
    """Sorts the spellings of a page, the best first."""
    return -captures, -links, uri


def rounded(score: float, digits: int = DIGITS) -> float:
    """The score to `digits` significant decimal digits."""
    return float(f"{score:.{digits - 1}e}")


def descending(score: float, digits: int = DIGITS) -> bytes:
    """Text whose byte order is that of the rounded scores, the best first; score >= 0.

    All exponents of doubles and up to 17 digits; 0 comes after the least of them.
    """
    mantissa, exponent = f"{score:.{digits - 1}e}".split("e")
    inverted = 10**digits - 1 - int(mantissa.replace(".", ""))
    return b"%04d%0*d" % (1000 - int(exponent) if score else 9999, digits, inverted)


def ascending_id(node: bytes) -> bytes:
    """An id whose byte order is that of its number: a letter for its length, then the digits.

    `dummy`, in lower case, comes last.
    """
    return bytes((64 + len(node),)) + node if node.isdigit() else node


SAMPLE_SIZE = 8192  # ranges then differ from equal shares by a few per cent, at up to 64 of them


def java_hash(field: bytes) -> int:
    """The hash of Hadoop's KeyFieldBasedPartitioner for one field: 31 h + byte, bytes signed."""
    value = 0
    for byte in field:
        value = (31 * value + (byte if byte < 128 else byte - 256)) & 0xFFFFFFFF
    return value


def reducer_of(field: bytes, reducers: int) -> int:
    """The reducer to which Hadoop sends lines whose first field this is."""
    return (java_hash(field) & 0x7FFFFFFF) % reducers


def labels(ranges: int, reducers: int) -> list[bytes]:
    """A label for each of the `ranges` <= `reducers` in turn: in byte order, and sent to the
    reducer of that number.

    The number of the range comes first, so that ranges which share a reducer stay in order.
    """
    return [_label(number, reducers) for number in range(ranges)]


def _label(number: int, reducers: int) -> bytes:
    # no generator: mypyc compiles one to a list of all that it gives
    salt = 0
    while reducer_of(label := b"%05d.%d" % (number, salt), reducers) != number % reducers:
        salt += 1
    return label


class KeySample:
    """The `size` distinct keys with the smallest hashes of all keys added."""

    def __init__(self, size: int = SAMPLE_SIZE) -> None:
        self._size = size
        self._heap: list[tuple[int, bytes]] = []  # hashes negated: the largest on top
        self._kept: set[bytes] = set()

    def add(self, key: bytes) -> None:
        if key in self._kept:
            return
        entry = (-int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big"), key)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
            self._kept.add(key)
        elif entry > self._heap[0]:
            self._kept.discard(heapq.heappushpop(self._heap, entry)[1])
            self._kept.add(key)

    def keys(self) -> list[bytes]:
        """The keys kept, in byte order."""
        return sorted(self._kept)


def split_points(keys: Iterable[bytes], ranges: int) -> list[bytes]:
    """At most `ranges` - 1 keys that cut the sampled keys into equal shares, ascending."""
    kept = sorted(set(keys))
    points = {kept[len(kept) * part // ranges] for part in range(1, ranges) if kept}
    return sorted(points)


def range_of(key: bytes, points: list[bytes]) -> int:
    """The range that a key belongs to: the number of split points not above it."""
    return bisect_right(points, key)
