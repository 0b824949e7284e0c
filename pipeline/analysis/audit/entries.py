"""A precedence file as Heritrix's loader reads it, as columns, and what is wrong with it.

A regular expression finds the lines that are surely right, a block at a time. All others go one by
one through the model of the loader (pipeline/precedence/heritrix_loader.py) and the checks of
`audit`. Memory: a block, whatever the size of the file.

Log and precedence file joined by URI, in DuckDB, within a bound of memory.

Tables, each made once and dropped when the next ones are made:

    listed    uri, precedence, class: each URI that a crawl looks up, by its last line
    mended    uri, cause: URIs to which entries would apply if their cause were mended
    fetches   log lines in the order of fetches: rowid is their position
    seen      uri, position, answered, hop, depth, begin, given, class, listed: each URI of the log
              at its first answered fetch, or else at its first line

class: the byte that Heritrix keeps of a precedence within a queue; null for a URI that it treats as
not listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.heritrix_form import (
    IS_FORM,
    MAX_LENGTH,
    HeritrixRejects,
    heritrix_form,
)
from crawlrank.jobs.kernel.storage.opening import require_file, require_text
from crawlrank.pipeline.analysis.audit import crawl_log
from crawlrank.pipeline.analysis.audit.crawl_log import columns, whole_lines
from crawlrank.pipeline.data.database import batches, feed
from crawlrank.pipeline.precedence.beans import BASE, CLIPPED
from crawlrank.pipeline.precedence.heritrix_loader import (
    BreaksOff,
    HistoryEntry,
    Line,
    LoaderFails,
    chunks,
    cut_lines,
    decoded,
    read_lines,
    with_scheme,
)
from crawlrank.pipeline.precedence.lint import LAST_CLASS, Finding, examine, finding, uri_problem

ROWS = pa.schema(
    [("uri", pa.string()), ("precedence", pa.int32()), ("line", pa.int64()), ("cause", pa.string())]
)
AT_ONCE = 1 << 16  # entries of a slow block
LINT = "`crawlrank audit` says what to do about each line."

#: problem of lint -> why a crawl of that URI does not use the entry, as the audit names it
CAUSES = {
    "upper case": "case",
    "no slash after the host": "missing slash",
    "fragment": "fragment",
    "default port": "port",
    "not UTF-8": "escape",
    "not ASCII": "escape",
    "control character": "escape",
}
_GOOD = rf"^(?P<uri>{IS_FORM}) (?P<precedence>[1-9][0-9]{{0,2}})\n?$"


class Mended(NamedTuple):
    """uri: to which the entry applies, or would apply if its cause were mended. cause: '' if it
    applies."""

    uri: str
    cause: str


@dataclass
class EntriesReport:
    """What a precedence file holds. entries: lines that load. problems: findings of lint by name;
    first: the first of each. failing: lines at which the loader ends."""

    lines: int = 0
    entries: int = 0
    failing: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    first: dict[str, Finding] = field(default_factory=dict)
    _stopper: Finding | None = None

    def note(self, finding: Finding, *, stops: bool = False) -> None:
        self.problems[finding.problem] += 1
        self.first.setdefault(finding.problem, finding)
        if stops:
            self.failing += 1
            self._stopper = self._stopper or finding

    def require_loaded(self, path: Path) -> None:
        """Raise BadInput if the loader stores nothing."""
        if (stopper := self._stopper) is None:
            return
        more = f" Lines that stop it: {self.failing:,}." if self.failing > 1 else ""
        raise BadInput(
            f"{path}, line {stopper.line}" if stopper.line else str(path),
            f"{stopper.problem}. {stopper.consequence}{more} So no crawl can have followed it",
            "the file that was loaded for the crawl",
            f"{stopper.cure.rstrip('.')}. {LINT}",
        )


def read_entries(path: Path, report: EntriesReport) -> Iterator[pa.RecordBatch]:
    """Every entry that applies to a URI, or would if its cause were mended, as batches of ROWS.

    Duplicates are all there; the last line counts. Fills the report. Does not raise for what keeps
    the loader from storing anything: `EntriesReport.require_loaded` does.
    """
    require_file(path, "a precedence file")
    require_text(path, "a precedence file")
    try:
        if _breaks_off(path):
            yield from _one_by_one(_delivered(path, report), report)
        else:
            with path.open("rb") as stream:
                for block in whole_lines(chunks(path, stream)):
                    yield from _block(block, report)
    except LoaderFails as error:
        problem = "line too long" if error.line else "not loaded"
        report.note(finding(problem, error.line, detail=error.exception), stops=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise BadInput(str(path), f"cannot be read ({why})", "a precedence file") from error
    if not report.lines and not report.failing:
        report.note(finding("empty file", 0))


def _delivered(path: Path, report: EntriesReport) -> Iterator[Line]:
    """The lines that reach the loader before the file breaks off."""
    try:
        yield from read_lines(path)
    except BreaksOff as error:
        report.note(finding("damaged", report.lines, detail=str(error)))


def _breaks_off(path: Path) -> bool:
    """Whether it is a .gz that ends in the middle, of which the loader reads what came before."""
    try:
        with path.open("rb") as stream:
            if path.name.lower().endswith(".gz"):
                for _ in chunks(path, stream):
                    pass
    except BreaksOff:
        return True
    return False


def _block(block: bytes, report: EntriesReport) -> Iterator[pa.RecordBatch]:
    if b"\r" in block:
        before = report.lines
        lines = cut_lines([decoded(block)])
        yield from _one_by_one(
            (line._replace(number=before + line.number) for line in lines), report
        )
        return
    texts = columns(block)
    fields = pc.extract_regex(texts, _GOOD)
    values = fields.field("precedence").cast(pa.string())
    values = pc.if_else(fields.is_valid(), values, "0").cast(pa.int32())
    short = pc.less_equal(pc.binary_length(fields.field("uri")), MAX_LENGTH)
    good = pc.and_(fields.is_valid(), pc.and_(short, pc.less_equal(values, LAST_CLASS)))
    is_good = good.to_numpy(zero_copy_only=False)
    before = report.lines
    rows = fields.filter(good)
    report.entries += len(rows)
    arrays = [
        rows.field("uri").cast(pa.string()), values.filter(good),
        pa.array(before + 1 + np.flatnonzero(is_good)), pa.nulls(len(rows), pa.string()),
    ]  # fmt: skip
    yield pa.record_batch(arrays, ROWS)
    lines = (
        Line(before + 1 + int(at), decoded(texts[int(at)].as_py()).removesuffix("\n"), "\n")
        for at in np.flatnonzero(~is_good)
    )
    yield from _one_by_one(lines, report)
    report.lines = before + len(texts)


def _one_by_one(lines: Iterator[Line], report: EntriesReport) -> Iterator[pa.RecordBatch]:
    rows: list[tuple[str, int, int, str | None]] = []
    for line in lines:
        report.lines = max(report.lines, line.number)
        entry, findings = examine(line)
        for problem in findings:
            report.note(problem, stops=entry is None and problem is findings[-1])
        if line.end.startswith("\r") and "carriage return" not in report.problems:
            report.note(finding("carriage return", line.number, line.text))
        if entry is None:
            continue
        report.entries += 1
        if mended := mend(entry):
            rows.append((mended.uri, entry.precedence, line.number, mended.cause or None))
        if len(rows) >= AT_ONCE:
            yield _batch(rows)
            rows = []
    if rows:
        yield _batch(rows)


def _batch(rows: list[tuple[str, int, int, str | None]]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(column) for column in zip(*rows, strict=True)], ROWS)


def mend(entry: HistoryEntry) -> Mended | None:
    """The URI that a crawl has to fetch to use this entry; None if there is none."""
    problem = uri_problem(entry)
    if problem is None or problem[0] == "no scheme":
        return Mended(heritrix_form(with_scheme(entry.uri)), "")
    name, form = problem
    if name == "other scheme":
        return Mended(entry.uri, "") if entry.uri.isascii() and entry.uri.isprintable() else None
    if name == "byte order mark":
        form = with_scheme(entry.uri.lstrip("\ufeff"))
    try:
        form = heritrix_form(form)
    except HeritrixRejects:
        return None
    return Mended(form, CAUSES.get(name, "form"))


UNORDERED_HOPS = "PI"  # prerequisites, and what Heritrix infers: no file sets their order

CLASS = (
    f"CASE WHEN precedence = -{BASE} THEN NULL"
    f" ELSE (least(precedence::BIGINT + {BASE}, {CLIPPED}) & 255)::SMALLINT END"
)
_UNORDERED = ", ".join(str(ord(hop)) for hop in UNORDERED_HOPS)
#: URIs whose order counts
ORDERED = f"answered AND hop NOT IN ({_UNORDERED}) AND uri LIKE 'http%'"
HOST = "split_part(uri, '/', 3)"


def label(number: int) -> str:
    """The precedences of a class, as the file writes them."""
    if number == CLIPPED:
        return f"{CLIPPED - BASE}+"
    return str(number - BASE - (0 if number < CLIPPED else 256))


def load_entries(db: duckdb.DuckDBPyConnection, rows: Iterator[pa.RecordBatch]) -> None:
    """Make `listed` and `mended`. rows: of pipeline/analysis/audit/entries."""
    _store(db, "entry", ROWS, rows)
    db.execute(
        f"CREATE TABLE listed AS SELECT *, {CLASS} AS class FROM (SELECT uri,"
        " arg_max(precedence, line) AS precedence, count(*) AS times FROM entry"
        " WHERE cause IS NULL GROUP BY uri)"
    )
    db.execute(
        "CREATE TABLE mended AS SELECT uri, arg_min(cause, line) AS cause FROM entry"
        " WHERE cause IS NOT NULL GROUP BY uri"
    )
    db.execute("DROP TABLE entry")


def load_log(db: duckdb.DuckDBPyConnection, rows: Iterator[pa.RecordBatch], *, by: str) -> None:
    """Make `fetches`. rows: of crawl_log. by: `begin` of the fetch, or `line`."""
    _store(db, "log", crawl_log.ROWS, rows)
    order = "begin, line" if by == "begin" else "line"
    db.execute(f"CREATE TABLE fetches AS SELECT * FROM log ORDER BY {order}")
    db.execute("DROP TABLE log")


def _store(
    db: duckdb.DuckDBPyConnection, table: str, schema: pa.Schema, rows: Iterator[pa.RecordBatch]
) -> None:
    feed(db, "rows", schema, rows)
    try:
        db.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")
    finally:
        db.unregister("rows")


def join(db: duckdb.DuckDBPyConnection) -> None:
    """Make `seen`."""
    db.execute(
        "CREATE TABLE visits AS SELECT uri, min(rowid) FILTER (status > 0) AS answered,"
        " min(rowid) AS tried FROM fetches GROUP BY uri"
    )
    db.execute(
        "CREATE TABLE positions AS SELECT visits.uri, coalesce(answered, tried) AS position,"
        " answered IS NOT NULL AS answered, class, listed.uri IS NOT NULL AS listed,"
        " precedence FROM visits LEFT JOIN listed USING (uri)"
    )
    db.execute("DROP TABLE visits")
    db.execute(
        "CREATE TABLE seen AS SELECT positions.*, hop, depth, status, begin, given FROM positions"
        " JOIN fetches ON position = fetches.rowid"
    )
    db.execute("DROP TABLE positions")


def numbers(db: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """The only row of a query, by column."""
    result = db.execute(query)
    names = [column[0] for column in result.description or ()]
    (row,) = result.fetchall()
    return dict(zip(names, row, strict=True))


def arrays(db: duckdb.DuckDBPyConnection, query: str) -> Iterator[dict[str, npt.NDArray[np.int64]]]:
    """The rows of a query of whole numbers, a batch of columns at a time."""
    for batch in batches(db, query):
        yield {
            name: batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64)
            for name in batch.schema.names
        }
