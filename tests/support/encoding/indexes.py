"""The indexes and labels of the Encoding Standard, as its authors publish them."""

from __future__ import annotations

import gzip
import json
from functools import cache

from support.paths import ROOT

_DATA = ROOT / "tests/data/encoding"
_ENCODINGS = json.loads((_DATA / "encodings.json").read_text())
_INDEXES = json.loads(gzip.decompress((_DATA / "indexes.json.gz").read_bytes()))

NAMES = {
    heading["heading"]: [encoding["name"].lower() for encoding in heading["encodings"]]
    for heading in _ENCODINGS
}
ENCODINGS = [name for names in NAMES.values() for name in names]
SINGLE_BYTE = NAMES["Legacy single-byte encodings"]
LABELS = {
    label: encoding["name"].lower()
    for heading in _ENCODINGS
    for encoding in heading["encodings"]
    for label in encoding["labels"]
}


@cache
def index(name: str) -> list[int | None]:
    """The code points of an index by pointer."""
    points: list[int | None] = _INDEXES["iso-8859-8" if name == "iso-8859-8-i" else name]
    return points


@cache
def pointers(name: str) -> dict[int, int]:
    """The first pointer of each code point of an index."""
    first: dict[int, int] = {}
    for pointer, code_point in enumerate(index(name)):
        if code_point is not None:
            first.setdefault(code_point, pointer)
    return first


def code_point_of(name: str, pointer: int) -> int | None:
    points = index(name)
    return points[pointer] if pointer < len(points) else None


RANGES: list[tuple[int, int]] = [
    (pointer, code_point) for pointer, code_point in _INDEXES["gb18030-ranges"]
]


def range_code_point(pointer: int) -> int | None:
    if 39419 < pointer < 189000 or pointer > 1237575:
        return None
    if pointer == 7457:
        return 0xE7C7
    offset, first = max(row for row in RANGES if row[0] <= pointer)
    return first + pointer - offset


def range_pointer(code_point: int) -> int:
    if code_point == 0xE7C7:
        return 7457
    first, offset = max(row[::-1] for row in RANGES if row[1] <= code_point)
    return offset + code_point - first


@cache
def shift_jis_pointers() -> dict[int, int]:
    first: dict[int, int] = {}
    for pointer, code_point in enumerate(index("jis0208")):
        if code_point is not None and not 8272 <= pointer <= 8835:
            first.setdefault(code_point, pointer)
    return first


@cache
def big5_pointers() -> dict[int, int]:
    chosen: dict[int, int] = {}
    for pointer, code_point in enumerate(index("big5")):
        if code_point is None or pointer < (0xA1 - 0x81) * 157:
            continue
        if code_point in (0x2550, 0x255E, 0x2561, 0x256A, 0x5341, 0x5345):
            chosen[code_point] = pointer
        else:
            chosen.setdefault(code_point, pointer)
    return chosen
