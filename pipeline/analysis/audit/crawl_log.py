"""Heritrix's crawl.log as columns: time, status, size, URI, hops, via, type, thread, begin, …

Heritrix writes a line when it is done with a URI: the time of writing, the status (an HTTP status;
1 for a name that was looked up; 0 and less: no answer), the size, the URI, the hops from a seed to
it (`-` for a seed; `37+` in front: 37 more), the URI that led to it, its type, the thread, and when
the fetch began, with its duration. The digest, the seed and the annotations follow; of these only
the precedence is read that the bean precedenceAnnotator notes.

Text files as columns of lines, a block at a time: no Python object is made for a line.

The log of the script with which `crawlrank recrawl` begins a crawl (schedule_pages.groovy).

A line for each page that was not scheduled as its line says, then the counts by outcome. Outcomes
of WRONG end the crawl at its beginning.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.archive.frames import GZIP_MAGIC
from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.keys.uris import percent_encoded
from crawlrank.jobs.kernel.storage.opening import require_file, require_text
from crawlrank.pipeline.data.arrays import Int64Array
from crawlrank.pipeline.precedence.beans import ANNOTATION

CHUNK = 1 << 22  # bytes
GZIP = 16 + zlib.MAX_WBITS
LONGEST = 1 << 20  # bytes of a line that are kept, so that no file can fill the memory


class DamagedGzip(ValueError):
    """The rest of the file cannot be read; what came before it was yielded."""


def chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, plain or gzip by its first bytes, without a byte order mark. Raises
    OSError, DamagedGzip; BadInput for what is no file."""
    require_file(path)
    require_text(path, "text, plain or gzip", inflated=True)
    mark = BOM
    for chunk in _chunks(path):
        yield chunk.removeprefix(mark)
        mark = b"" if chunk else mark


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        magic = stream.read(len(GZIP_MAGIC))
        stream.seek(0)
        if magic != GZIP_MAGIC:
            while chunk := stream.read(CHUNK):
                yield chunk
            return
        yield from _inflated(stream)


def _inflated(stream: BinaryIO) -> Iterator[bytes]:
    """All members of a gzip file, up to damage."""
    member, data = zlib.decompressobj(GZIP), b""
    while data := data or stream.read(CHUNK >> 4):
        try:
            yield member.decompress(data, CHUNK)
        except zlib.error as error:
            raise DamagedGzip(str(error)) from error
        data = member.unconsumed_tail
        if member.eof:
            data = member.unused_data or stream.read(CHUNK >> 4)
            if not data:
                return
            member = zlib.decompressobj(GZIP)
    raise DamagedGzip("the .gz ends in the middle")


def whole_lines(chunks: Iterable[bytes], longest: int = LONGEST) -> Iterator[bytes]:
    """Regroup the bytes into blocks that end with a line; the last line may have no end. longest:
    bytes of a line that are kept."""
    pending = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield pending + chunk[:end]
            pending = chunk[end:]
        else:
            pending = (pending + chunk)[:longest]
    if pending:
        yield pending


def columns(block: bytes) -> pa.BinaryArray:
    """The lines of a block, each with its end."""
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block)]
    return pa.Array.from_buffers(pa.binary(), len(ends), buffers)


ROWS = pa.schema(
    [
        ("line", pa.int64()), ("uri", pa.string()), ("status", pa.int32()), ("hop", pa.uint8()),
        ("depth", pa.int32()), ("begin", pa.int64()), ("given", pa.int32()),
    ]
)  # fmt: skip
EXPECTED = "lines of Heritrix's crawl.log: `TIME STATUS SIZE URI HOPS VIA TYPE #THREAD BEGIN …`"
NO_LINE = "no line"
MAX_EXAMPLES = 5  # bad lines of each kind that are kept
SHOWN = 100  # bytes of a bad line that are kept
BACK = 1000  # milliseconds; threads write their lines a little out of order

_TIME = r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z|[0-9]{17})"
_LINE = (
    rf"^(?P<time>{_TIME}) +(?P<status>-?[0-9]{{1,5}}) +(?:-|[0-9]+) (?P<uri>[!-~\x80-\xff]+)"
    r" (?:(?P<more>[0-9]{1,5})\+)?(?P<letters>[A-Za-z]+|-) [!-~\x80-\xff]+ [!-~]+ #[0-9]+"
    r" (?P<begin>[0-9]{17}\+[0-9]+|[0-9]{17}|-)"
    r"(?: [!-~]+ [!-~\x80-\xff]+ (?P<notes>[!-~]+))?(?:\s|$)"
)
_GIVEN = rf"^(?:.*,)?{ANNOTATION}(?P<given>-?[0-9]{{1,9}})(?:,|$)"
_LAUNCH = re.compile("[0-9]{14}")
_BEGINNING = rf"^{_TIME}(?:\s|$)"

KINDS = {
    "cut short": "begins like a line of a crawl.log and ends too early",
    "of another format": "not like a line of a crawl.log",
    "empty": "has no text",
    "damaged": "the .gz cannot be read beyond this line",
}


class BadLogLine(NamedTuple):
    """text: the beginning of the line."""

    path: str
    line: int
    text: str


@dataclass
class LogReport:
    """What the logs hold. kinds: bad lines by kind; bad_lines: the first of each kind. clock_back:
    lines written earlier than a line before them in their file; clock_lines: the first of them, as
    (file, line). unfinished: logs that Heritrix has not closed. empty: logs without a line.
    left_out: pages with which `crawlrank recrawl` could not begin, by cause, as the logs beside
    these have them."""

    logs: int = 0
    lines: int = 0
    used: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    bad_lines: dict[str, list[BadLogLine]] = field(default_factory=dict)
    clock_back: int = 0
    clock_lines: list[tuple[str, int]] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, path: Path, line: int, text: bytes) -> None:
        self.kinds[kind] += 1
        examples = self.bad_lines.setdefault(kind, [])
        if len(examples) < MAX_EXAMPLES:
            beginning = text[:SHOWN].decode("utf-8", "backslashreplace")
            examples.append(BadLogLine(str(path), line, beginning))


def read_logs(paths: list[Path], report: LogReport) -> Iterator[pa.RecordBatch]:
    """The usable lines of all logs, as batches of ROWS; line counts on from log to log.

    begin: of the fetch, in ms since 1970; without it in the log, when the line was written. hop:
    the last letter. depth: hops from the seed. given:
    the precedence that Heritrix noted. Fills the report. Raises BadInput for a file that
    cannot be opened or has lines, but none of a crawl.log, and where all logs are empty.
    """
    beside = {path.parent: outcomes_beside(path) for path in paths}  # a folder has several logs
    for outcomes in beside.values():
        report.left_out += outcomes
    for path in paths:
        used = report.used
        if path.with_name(f"{path.name}.lck").exists():  # Java keeps it while the log is open
            report.unfinished.append(str(path))
        try:
            yield from _read_log(path, report)
        except OSError as error:
            why = error.strerror or str(error)
            raise BadInput(str(path), f"cannot be read ({why})", "a crawl.log") from error
        if report.used == used:
            why = _why_unusable(path, report)
            if why == NO_LINE and (report.used or path != paths[-1]):
                report.empty.append(str(path))
                continue
            raise BadInput(
                str(path), why, EXPECTED,
                why_ended(report.left_out)
                or "Give a crawl.log of the crawl, plain or gzip; it is in the job's logs folder.",
            )  # fmt: skip
        report.logs += 1


def logs_in(paths: Iterable[Path]) -> list[Path]:
    """The logs that paths name: themselves, and of a folder of logs or of a job those of its last
    crawl. Of each launch these are the logs that checkpoints have closed, then the current one.
    Raises BadInput for another folder."""
    logs = list[Path]()
    for path in paths:
        if not path.is_dir():
            logs.append(path)
            continue
        folders = ([path], [path / "logs"], _last_crawl(path))
        named = [
            [log for folder in some for log in sorted(folder.glob("crawl.log*"), key=_log_order)]
            for some in folders
        ]
        inside = [log for log in next(filter(None, named), []) if log.suffix != ".lck"]
        if not inside:
            cure = "Give a crawl.log, the folder that it is in, or the folder of a job."
            raise BadInput(str(path), "a folder without a crawl.log", "a job of Heritrix", cure)
        logs += inside
    return list({log.resolve(): log for log in logs}.values())  # each once


def _last_crawl(job: Path) -> list[Path]:
    """The folders of logs of a job's last crawl: of its last launch, and of those before it back to
    the one that scheduled the pages, as a launch from a checkpoint does not. Where none did, or a
    launch was not to schedule any, the last launch alone."""
    launches = sorted(
        path for path in job.glob("[0-9]*/logs") if _LAUNCH.fullmatch(path.parent.name)
    )
    for number in range(len(launches) - 1, -1, -1):
        if (launches[number] / PAGES_LOG).exists():
            return launches[number:]
        if not _was_to_schedule(launches[number].parent):
            break
    latest = job / "latest" / "logs"
    return [latest] if latest.is_dir() or not launches else launches[-1:]


def _was_to_schedule(launch: Path) -> bool:
    """Whether the beans of a launch, of which it keeps a copy, schedule pages; true where there is
    no copy."""
    beans = [path.read_bytes() for path in launch.glob("*.cxml")]
    return not beans or any(PAGES_BEAN.encode() in data for data in beans)


def _log_order(log: Path) -> tuple[bool, str]:
    """`crawl.log.cp00001-…` comes before `crawl.log`, which continues after the last checkpoint."""
    return ".cp" not in log.name, log.name


def _why_unusable(path: Path, report: LogReport) -> str:
    for kind, bad_lines in report.bad_lines.items():
        for name, line, text in bad_lines:
            if name == str(path):
                return f"no line that can be used; line {line} is {kind}: {text.rstrip()[:60]!a}"
    return NO_LINE


def _read_log(path: Path, report: LogReport) -> Iterator[pa.RecordBatch]:
    number, latest = 0, 0
    try:
        for block in whole_lines(chunks(path)):
            lines = columns(block)
            fields = pc.extract_regex(lines, _LINE)
            good = fields.is_valid()
            if fields.null_count:
                _note_bad(path, number, lines, pc.invert(good), report)
            rows = fields.filter(good)
            positions = _positions(good)
            written = _milliseconds(rows.field("time"))
            latest = _check_clock(path, number + positions, written, latest, report)
            if len(rows):
                yield _batch(rows, report.lines + positions, written)
            number += len(lines)
            report.lines += len(lines)
            report.used += len(rows)
    except DamagedGzip as error:
        report.note("damaged", path, number, str(error).encode())


def _positions(mask: pa.BooleanArray) -> Int64Array:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _note_bad(
    path: Path, before: int, lines: pa.Array, bad: pa.BooleanArray, report: LogReport
) -> None:
    texts, positions = lines.filter(bad), _positions(bad)
    begun = pc.match_substring_regex(texts, _BEGINNING)
    empty = pc.match_substring_regex(texts, r"^\s*$")
    kinds = {
        "cut short": begun, "empty": empty, "of another format": pc.invert(pc.or_(begun, empty)),
    }  # fmt: skip
    for kind, mask in kinds.items():
        numbers = _positions(mask)
        for at in numbers[:MAX_EXAMPLES]:
            report.note(kind, path, before + int(positions[at]) + 1, texts[int(at)].as_py())
        if more := len(numbers[MAX_EXAMPLES:]):
            report.kinds[kind] += more


def _batch(rows: pa.StructArray, numbers: Int64Array, written: Int64Array) -> pa.RecordBatch:
    letters, more = rows.field("letters"), rows.field("more")
    hops = pc.binary_length(letters).to_numpy()
    last = pc.binary_slice(letters, -1).cast(pa.string())
    codes = pc.index_in(last, pa.array(_LETTERS)).to_numpy() + _FIRST
    depth = np.where(codes == ord("-"), 0, hops)
    if pc.any(pc.greater(pc.binary_length(more), 0)).as_py():
        numbered = pc.if_else(pc.equal(pc.binary_length(more), 0), b"0", more)
        depth = depth + _integers(numbered, pa.int32())
    begins = rows.field("begin")
    known = pc.greater(pc.binary_length(begins), 1)
    begin = written.copy()
    begin[_positions(known)] = _milliseconds(begins.filter(known))
    arrays = [
        pa.array(numbers), _uris(rows.field("uri")),
        rows.field("status").cast(pa.string()).cast(pa.int32()), pa.array(codes.astype(np.uint8)),
        pa.array(depth.astype(np.int32)), pa.array(begin), _given(rows.field("notes")),
    ]  # fmt: skip
    return pa.record_batch(arrays, ROWS)


def _given(notes: pa.BinaryArray) -> pa.Int32Array:
    """The annotated precedences, null where there is none."""
    if not pc.any(pc.match_substring(notes, ANNOTATION)).as_py():
        return pa.nulls(len(notes), pa.int32())
    fields = pc.extract_regex(notes, _GIVEN)
    numbers = pc.if_else(fields.is_valid(), fields.field("given"), None)
    return numbers.cast(pa.string()).cast(pa.int32())


def _uris(raw: pa.BinaryArray) -> pa.StringArray:
    """Bytes above ASCII escaped as Heritrix does it; other programs may write them as they are."""
    if pc.any(pc.match_substring_regex(raw, r"[\x80-\xff]")).as_py():
        raw = pa.array(map(percent_encoded, raw.to_pylist()), pa.binary())
    return raw.cast(pa.string())


_FIRST = ord("-")
_LETTERS = [chr(code) for code in range(_FIRST, ord("z") + 1)]


def _integers(texts: pa.Array, kind: pa.DataType) -> Int64Array:
    numbers: Int64Array = texts.cast(pa.string()).cast(kind).to_numpy()
    return numbers


def _milliseconds(times: pa.BinaryArray) -> Int64Array:
    """Since 1970, from times of both forms; digits beyond milliseconds are cut off."""
    digits = pc.replace_substring_regex(times.cast(pa.string()), r"\+.*|[^0-9]", "")
    padded = pc.utf8_slice_codeunits(pc.utf8_rpad(digits, 17, "0"), 0, 17)
    number = _integers(padded, pa.int64())
    date, time = np.divmod(number, 10**9)
    year, month, day = date // 10_000, date // 100 % 100, date % 100
    hours, minutes, rest = time // 10**7, time // 10**5 % 100, time % 10**5
    # days of the proleptic Gregorian calendar, in years that begin in March
    years = year - (month <= 2)
    days = 365 * years + years // 4 - years // 100 + years // 400
    days += (153 * ((month + 9) % 12) + 2) // 5 + day - 719_469
    total: Int64Array = ((days * 24 + hours) * 60 + minutes) * 60_000 + rest
    return total


def _check_clock(
    path: Path, numbers: Int64Array, written: Int64Array, latest: int, report: LogReport
) -> int:
    """Note lines that were written earlier than a line before them; the latest time so far."""
    if not len(written):
        return latest
    before = np.maximum.accumulate(np.append(latest, written))[:-1]
    back = np.flatnonzero(written < before - BACK)
    report.clock_back += len(back)
    room = MAX_EXAMPLES - len(report.clock_lines)
    report.clock_lines += [(str(path), int(numbers[at]) + 1) for at in back[:room]]
    return max(latest, int(written.max()))


PAGES_LOG = "crawlrank-pages.log"  # beside crawl.log
PAGES_BEAN = "crawlrankPages"  # which writes it
WRONG = ("other-precedence", "other-level", "other-order-of-queues", "never-fetched")
_COUNTS = re.compile(rb"^# ([a-z-]+): ([0-9]{1,18})\r?$", re.MULTILINE)


def outcomes_beside(log: Path) -> Counter[str]:
    """How many pages had each outcome; none where the script did not run."""
    path = log.with_name(PAGES_LOG)
    data = path.read_bytes() if path.is_file() else b""
    return Counter({name.decode(): int(count) for name, count in _COUNTS.findall(data)})


def why_ended(outcomes: Mapping[str, int]) -> str | None:
    """Why the script ended a crawl."""
    wrong = {name: count for name in WRONG if (count := outcomes.get(name, 0))}
    if not wrong:
        return None
    pages = count_of(sum(wrong.values()), "page")
    return (
        f"The script of `crawlrank recrawl` ended the crawl at its beginning, as {pages} would not"
        f" be fetched in the order of the file ({', '.join(wrong)}): {PAGES_LOG} beside the log"
        " lists them. A sheet or an override of the job sets a policy, or another file was loaded"
        " since. Remove it, then give `crawlrank recrawl` again."
    )
