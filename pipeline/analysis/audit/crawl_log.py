"""Heritrix's crawl.log as columns: time, status, size, URI, hops, via, type, thread, begin, …

A line ends the handling of one URI: time when it was written, status (an HTTP status; 1 for a name
that was looked up; 0 and less: no answer), size, the URI, the hops from a seed to it (`-` for a
seed; `37+` in front stands for so many more), the URI that led to it, type, thread, and when the
fetch began, with its duration. What follows (digest, seed, annotations) is not read here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from jobs.kernel.errors import BadInput
from jobs.kernel.keys.uris import percent_encoded
from pipeline.analysis.audit.lines import Damaged, chunks, columns, whole_lines

ROWS = pa.schema(
    [
        ("line", pa.int64()), ("uri", pa.string()), ("status", pa.int32()), ("hop", pa.uint8()),
        ("depth", pa.int32()), ("begin", pa.int64()),
    ]
)  # fmt: skip
EXPECTED = "lines of Heritrix's crawl.log: `TIME STATUS SIZE URI HOPS VIA TYPE #THREAD BEGIN …`"
MAX_PLACES = 5  # of bad lines, of each kind
SHOWN = 100  # bytes of one
BACK = 1000  # milliseconds; threads write their lines a little out of order

_TIME = r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z|[0-9]{17})"
_LINE = (
    rf"^(?P<time>{_TIME}) +(?P<status>-?[0-9]{{1,5}}) +(?:-|[0-9]+) (?P<uri>[!-~\x80-\xff]+)"
    r" (?:(?P<more>[0-9]{1,5})\+)?(?P<letters>[A-Za-z]+|-) [!-~\x80-\xff]+ [!-~]+ #[0-9]+"
    r" (?P<begin>[0-9]{17}\+[0-9]+|[0-9]{17}|-)(?:\s|$)"
)
_BEGINNING = rf"^{_TIME}(?:\s|$)"

KINDS = {
    "cut short": "begins like a line of a crawl.log and ends too early",
    "of another format": "not like a line of a crawl.log",
    "empty": "nothing on it",
    "damaged": "the .gz cannot be read beyond it",
}


@dataclass
class Read:
    """What was read. places: the first bad lines of each kind, as (file, line, beginning).
    first, last: times in ms since 1970, when lines were written. clock_back: lines written
    earlier than one before them in their file. unfinished: logs that Heritrix has not closed."""

    logs: int = 0
    lines: int = 0
    used: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[tuple[str, int, str]]] = field(default_factory=dict)
    clock_back: int = 0
    clock_places: list[tuple[str, int]] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)

    def note(self, kind: str, path: Path, line: int, text: bytes = b"") -> None:
        self.kinds[kind] += 1
        places = self.places.setdefault(kind, [])
        if len(places) < MAX_PLACES:
            places.append((str(path), line, text[:SHOWN].decode("utf-8", "backslashreplace")))


def read_logs(paths: list[Path], read: Read) -> Iterator[pa.RecordBatch]:
    """The lines of all logs that can be used, numbered throughout, as batches of ROWS.

    begin: of the fetch, in ms since 1970; where the log does not tell, when the line was written.
    hop: the last letter. depth: hops from the seed. read is filled on the way. Raises BadInput
    for a file that cannot be opened, or has not one line of a crawl.log.
    """
    for path in paths:
        used = read.used
        if path.with_name(f"{path.name}.lck").exists():  # Java keeps it while the log is open
            read.unfinished.append(str(path))
        try:
            yield from _read_log(path, read)
        except OSError as error:
            why = error.strerror or str(error)
            raise BadInput(str(path), f"cannot be read ({why})", "a crawl.log") from error
        if read.used == used:
            raise BadInput(
                str(path), _found_instead(path, read), EXPECTED,
                "Give a crawl.log of the crawl, plain or gzip; it is in the job's logs folder.",
            )  # fmt: skip
        read.logs += 1


def _found_instead(path: Path, read: Read) -> str:
    for kind, places in read.places.items():
        for name, line, text in places:
            if name == str(path):
                return f"no line that can be used; line {line} is {kind}: {text.rstrip()[:60]!a}"
    return "no line"


def _read_log(path: Path, read: Read) -> Iterator[pa.RecordBatch]:
    number, latest = 0, 0
    try:
        for block in whole_lines(chunks(path)):
            lines = columns(block)
            found = pc.extract_regex(lines, _LINE)
            good = found.is_valid()
            if found.null_count:
                _note_bad(path, number, lines, pc.invert(good), read)
            rows = found.filter(good)
            places = np.flatnonzero(good.to_numpy(zero_copy_only=False))
            written = _milliseconds(rows.field("time"))
            latest = _check_clock(path, number + places, written, latest, read)
            if len(rows):
                yield _batch(rows, read.lines + places, written)
            number += len(lines)
            read.lines += len(lines)
            read.used += len(rows)
    except Damaged as error:
        read.note("damaged", path, number, str(error).encode())


def _note_bad(path: Path, before: int, lines: pa.Array, bad: pa.Array, read: Read) -> None:
    texts, places = lines.filter(bad), np.flatnonzero(bad.to_numpy(zero_copy_only=False))
    begun = pc.match_substring_regex(texts, _BEGINNING).to_numpy(zero_copy_only=False)
    empty = pc.match_substring_regex(texts, r"^\s*$").to_numpy(zero_copy_only=False)
    kinds = {"cut short": begun, "empty": empty, "of another format": ~begun & ~empty}
    for kind, mask in kinds.items():
        numbers = np.flatnonzero(mask)
        for at in numbers[:MAX_PLACES]:
            read.note(kind, path, before + int(places[at]) + 1, texts[int(at)].as_py())
        read.kinds[kind] += max(0, len(numbers) - MAX_PLACES)
        if not read.kinds[kind]:
            del read.kinds[kind]


def _batch(
    rows: pa.StructArray, numbers: npt.NDArray[np.int64], written: npt.NDArray[np.int64]
) -> pa.RecordBatch:
    letters, more = rows.field("letters"), rows.field("more")
    hops = pc.binary_length(letters).to_numpy()
    last = pc.binary_slice(letters, -1).cast(pa.string())
    codes = pc.index_in(last, pa.array(_LETTERS)).to_numpy() + _FIRST
    depth = np.where(codes == ord("-"), 0, hops)
    if pc.any(pc.greater(pc.binary_length(more), 0)).as_py():
        numbered = pc.if_else(pc.equal(pc.binary_length(more), 0), b"0", more)
        depth = depth + _integers(numbered, pa.int32())
    begins = rows.field("begin")
    told = pc.greater(pc.binary_length(begins), 1)
    begin = written.copy()
    mask = told.to_numpy(zero_copy_only=False)
    begin[mask] = _milliseconds(begins.filter(told))
    arrays = [
        pa.array(numbers), _uris(rows.field("uri")),
        rows.field("status").cast(pa.string()).cast(pa.int32()), pa.array(codes.astype(np.uint8)),
        pa.array(depth.astype(np.int32)), pa.array(begin),
    ]  # fmt: skip
    return pa.record_batch(arrays, ROWS)


def _uris(raw: pa.BinaryArray) -> pa.StringArray:
    """Escaped above ASCII as Heritrix does it; programs that write its log may leave the bytes."""
    if pc.any(pc.match_substring_regex(raw, r"[\x80-\xff]")).as_py():
        raw = pa.array(map(percent_encoded, raw.to_pylist()), pa.binary())
    return raw.cast(pa.string())


_FIRST = ord("-")
_LETTERS = [chr(code) for code in range(_FIRST, ord("z") + 1)]


def _integers(texts: pa.Array, kind: pa.DataType) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = texts.cast(pa.string()).cast(kind).to_numpy()
    return found


def _milliseconds(times: pa.BinaryArray) -> npt.NDArray[np.int64]:
    """Since 1970, of times of either form; digits beyond milliseconds are cut off."""
    digits = pc.replace_substring_regex(times.cast(pa.string()), r"\+.*|[^0-9]", "")
    padded = pc.utf8_slice_codeunits(pc.utf8_rpad(digits, 17, "0"), 0, 17)
    number = _integers(padded, pa.int64())
    date, time = np.divmod(number, 10**9)
    year, month, day = date // 10_000, date // 100 % 100, date % 100
    hours, minutes, rest = time // 10**7, time // 10**5 % 100, time % 10**5
    # days of the proleptic calendar, years that begin with March
    years = year - (month <= 2)
    days = 365 * years + years // 4 - years // 100 + years // 400
    days += (153 * ((month + 9) % 12) + 2) // 5 + day - 719_469
    found: npt.NDArray[np.int64] = ((days * 24 + hours) * 60 + minutes) * 60_000 + rest
    return found


def _check_clock(
    path: Path,
    numbers: npt.NDArray[np.int64],
    written: npt.NDArray[np.int64],
    latest: int,
    read: Read,
) -> int:
    """Note lines that were written earlier than one before; the latest time so far."""
    if not len(written):
        return latest
    before = np.maximum.accumulate(np.append(latest, written))[:-1]
    back = np.flatnonzero(written < before - BACK)
    read.clock_back += len(back)
    room = MAX_PLACES - len(read.clock_places)
    read.clock_places += [(str(path), int(numbers[at]) + 1) for at in back[:room]]
    return max(latest, int(written.max()))
