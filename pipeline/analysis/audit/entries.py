"""A precedence file as Heritrix's loader takes it, as columns, and what is wrong with it.

Lines in which nothing can be wrong are told by one expression, a block at a time; the others go
one by one through the model of the loader (pipeline/heritrix_loader) and the checks of
`export-precedence --lint`. Memory: a block, whatever the size of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.kernel.errors import BadInput
from jobs.kernel.keys.heritrix_form import (
    IS_FORM,
    MAX_LENGTH,
    HeritrixRejects,
    heritrix_form,
)
from jobs.kernel.storage.endless import require_file
from pipeline.analysis.audit.lines import columns, whole_lines
from pipeline.precedence.heritrix_loader import (
    BreaksOff,
    Entry,
    Line,
    LoaderFails,
    chunks,
    cut_lines,
    decoded,
    read_lines,
    with_scheme,
)
from pipeline.precedence.lint import LAST_CLASS, examine, uri_problem
from pipeline.precedence.lint_problems import Finding, finding

ROWS = pa.schema(
    [("uri", pa.string()), ("precedence", pa.int32()), ("line", pa.int64()), ("cause", pa.string())]
)
AT_ONCE = 1 << 16  # entries of a slow block
LINT = "`crawlrank export-precedence --lint` tells of each line what to do."

#: problem of lint -> why a crawl of that URI does not meet the entry, as the audit names it
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
    """uri: under which the crawl meets the entry, or would if cause were mended; cause: '' if it
    meets it."""

    uri: str
    cause: str


@dataclass
class Read:
    """What was read. entries: lines that load. problems: findings of lint by name; first: the
    first of each, with its line. failing: lines at which the loader ends."""

    lines: int = 0
    entries: int = 0
    failing: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    first: dict[str, Finding] = field(default_factory=dict)
    _stopper: Finding | None = None

    def note(self, found: Finding, *, stops: bool = False) -> None:
        self.problems[found.problem] += 1
        self.first.setdefault(found.problem, found)
        if stops:
            self.failing += 1
            self._stopper = self._stopper or found

    def require_loaded(self, path: Path) -> None:
        """Raise BadInput where the loader stores nothing."""
        if (stopper := self._stopper) is None:
            return
        more = f" Lines that stop it: {self.failing:,}." if self.failing > 1 else ""
        raise BadInput(
            f"{path}, line {stopper.line}" if stopper.line else str(path),
            f"{stopper.problem}. {stopper.consequence}{more} So no crawl can have followed it",
            "the file that was loaded for the crawl",
            f"{stopper.cure.rstrip('.')}. {LINT}",
        )


def read_entries(path: Path, read: Read) -> Iterator[pa.RecordBatch]:
    """Every entry that a crawl meets, or would if its cause were mended, as batches of ROWS.

    Duplicates are all given: the last line counts. read is filled on the way. What keeps the
    loader from storing anything is left to `Read.require_loaded`.
    """
    require_file(path, "a precedence file")
    try:
        if _breaks_off(path):
            yield from _one_by_one(_delivered(path, read), read)
        else:
            with path.open("rb") as stream:
                for block in whole_lines(chunks(path, stream)):
                    yield from _block(block, read)
    except LoaderFails as error:
        problem = "line too long" if error.line else "not loaded"
        read.note(finding(problem, error.line, detail=error.exception), stops=True)
    except OSError as error:
        why = f"{error.strerror or error}"
        raise BadInput(str(path), f"cannot be read ({why})", "a precedence file") from error
    if not read.lines and not read.failing:
        read.note(finding("empty file", 0))


def _delivered(path: Path, read: Read) -> Iterator[Line]:
    """The lines that reach the loader before the file breaks off."""
    try:
        yield from read_lines(path)
    except BreaksOff as error:
        read.note(finding("damaged", read.lines, detail=str(error)))


def _breaks_off(path: Path) -> bool:
    """Whether it is a .gz that ends in the middle, so that the loader has only what came before."""
    try:
        with path.open("rb") as stream:
            if path.name.lower().endswith(".gz"):
                for _ in chunks(path, stream):
                    pass
    except BreaksOff:
        return True
    return False


def _block(block: bytes, read: Read) -> Iterator[pa.RecordBatch]:
    if b"\r" in block:
        before = read.lines
        lines = cut_lines([decoded(block)])
        yield from _one_by_one((line._replace(number=before + line.number) for line in lines), read)
        return
    texts = columns(block)
    found = pc.extract_regex(texts, _GOOD)
    values = found.field("precedence").cast(pa.string())
    values = pc.if_else(found.is_valid(), values, "0").cast(pa.int32())
    short = pc.less_equal(pc.binary_length(found.field("uri")), MAX_LENGTH)
    good = pc.and_(found.is_valid(), pc.and_(short, pc.less_equal(values, LAST_CLASS)))
    places = np.flatnonzero(good.to_numpy(zero_copy_only=False))
    before = read.lines
    rows = found.filter(good)
    read.entries += len(rows)
    arrays = [
        rows.field("uri").cast(pa.string()), values.filter(good), pa.array(before + 1 + places),
        pa.nulls(len(rows), pa.string()),
    ]  # fmt: skip
    yield pa.record_batch(arrays, ROWS)
    odd = np.flatnonzero(~good.to_numpy(zero_copy_only=False))
    lines = (
        Line(before + 1 + int(at), decoded(texts[int(at)].as_py()).removesuffix("\n"), "\n")
        for at in odd
    )
    yield from _one_by_one(lines, read)
    read.lines = before + len(texts)


def _one_by_one(lines: Iterator[Line], read: Read) -> Iterator[pa.RecordBatch]:
    rows: list[tuple[str, int, int, str | None]] = []
    for line in lines:
        read.lines = max(read.lines, line.number)
        entry, findings = examine(line)
        for found in findings:
            read.note(found, stops=entry is None and found is findings[-1])
        if line.end.startswith("\r") and "carriage return" not in read.problems:
            read.note(finding("carriage return", line.number, line.text))
        if entry is None:
            continue
        read.entries += 1
        if mended := met(entry):
            rows.append((mended.uri, entry.precedence, line.number, mended.cause or None))
        if len(rows) >= AT_ONCE:
            yield _batch(rows)
            rows = []
    if rows:
        yield _batch(rows)


def _batch(rows: list[tuple[str, int, int, str | None]]) -> pa.RecordBatch:
    return pa.record_batch([pa.array(column) for column in zip(*rows, strict=True)], ROWS)


def met(entry: Entry) -> Mended | None:
    """The URI that a crawl would have to fetch for this entry; None if there is none."""
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
