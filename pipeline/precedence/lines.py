"""Spellings to the lines of a precedence file: each form once, best class first, then by bytes.

Forms stay in Arrow from their dataset to the file, and no Python object is made for a line. Few
spellings have the same form: a URI is in its dataset once, so only mended ones can coincide. Forms
with the same hash as another are found first, and only they are grouped by their strings. Then
DuckDB sorts all lines within its memory limit.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.keys.form_columns import Alias, aliases, forms
from crawlrank.jobs.kernel.storage.arrow_files import native_file
from crawlrank.pipeline.data.database import batches, feed
from crawlrank.pipeline.data.parquet import arrow_writer
from crawlrank.pipeline.precedence.scored import NO_NODE
from crawlrank.pipeline.ranking.classes import Numbers, Order, SpelledNodes
from crawlrank.pipeline.ranking.options import MAX_BINS

EXAMPLES = 10
HASHES = 1 << 26
FORMED = pa.schema(
    [
        ("form", pa.string()), ("node", pa.int64()), ("captured", pa.bool_()),
        ("rewritten", pa.bool_()), ("reason", pa.string()), ("listed", pa.bool_()),
    ]
)  # fmt: skip
SPELLED = pa.schema([("form", pa.string())])
LINES = pa.schema([("form", pa.string()), ("place", pa.int64()), ("precedence", pa.int16())])
ALIAS = 1 << 48  # is added to the places of aliases: a line of the form itself is better
MET = (
    "SELECT form, min(place) AS place, arg_min(precedence, place) AS precedence FROM lines"
    " WHERE hash(form) IN (SELECT h FROM meeting) GROUP BY form"
)
SORTED = (
    f"SELECT form, precedence, place >= {ALIAS} AS alias FROM {{}} ORDER BY place % {ALIAS}, form"
)
APART = (
    "(SELECT * FROM lines WHERE hash(form) NOT IN (SELECT h FROM meeting)"
    " UNION ALL SELECT * FROM met)"
)
TAILS = pa.array([f" {precedence}\n" for precedence in range(MAX_BINS + 1)])


class Formed:
    """A file of all spellings in their forms, or with the reason why they have none.

    nodes: what the spellings say of the nodes, by position. captured_unscored: captured spellings
    of keys without score. rows: spellings.
    """

    def __init__(
        self, path: Path, nodes: int, spellings: Iterator[pa.RecordBatch], *, weighed: bool = False
    ) -> None:
        self._path = path
        self.nodes = SpelledNodes(nodes, weighed=weighed)
        self.any_captured, self.captured_unscored, self.rows = False, 0, 0
        with arrow_writer(path, FORMED) as file:
            for batch in spellings:
                file.write_batch(self._formed(batch))

    def _formed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        self.rows += len(batch)
        nodes = batch["node"].to_numpy()
        captured = batch["captured"].to_numpy(zero_copy_only=False)
        scored = nodes != NO_NODE
        self.nodes.add(nodes[scored], captured[scored], batch["weight"].to_numpy()[scored])
        self.any_captured |= bool(captured.any())
        self.captured_unscored += int((captured & ~scored).sum())
        formed = forms(batch["uri"])
        columns = [
            formed.forms, batch["node"], batch["captured"], formed.rewritten, formed.reasons,
            batch["listed"],
        ]  # fmt: skip
        return pa.record_batch([pa.array(column) for column in columns], FORMED)

    def wanted(self, *, only_captured: bool) -> Iterator[pa.RecordBatch]:
        """The spellings to list, with or without form."""
        with native_file(self._path) as stream, pa.ipc.open_file(stream) as file:
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                batch = _where(batch, batch["listed"])
                if only_captured:
                    yield _where(batch, batch["captured"])
                else:
                    scored = pc.not_equal(batch["node"], NO_NODE)
                    yield _where(batch, pc.or_(batch["captured"], scored))


def by_frequency(reasons: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


class Changes:
    """Counts of the wanted spellings. formed: those with a form. rewritten: those whose form
    differs from the URI."""

    def __init__(self) -> None:
        self.formed, self.rewritten = 0, 0
        self._reasons: Counter[str] = Counter()
        self.examples: list[str] = []

    def add(self, wanted: pa.RecordBatch) -> None:
        rejected = wanted.filter(pc.is_valid(wanted["reason"]))
        self.formed += len(wanted) - len(rejected)
        self.rewritten += pc.sum(wanted["rewritten"]).as_py() or 0
        if len(rejected):
            self._reasons.update(rejected["reason"].to_pylist())
            examples = {*self.examples, *rejected["form"].to_pylist()}
            self.examples = sorted(examples, key=str.encode)[:EXAMPLES]

    @property
    def by_reason(self) -> dict[str, int]:
        """Rejected spellings, the most frequent reason first."""
        return by_frequency(self._reasons)


class Lines:
    """The lines in order. classes, places: by position; a key without score comes last, in the
    last class (bins). kinds: of the aliases to list besides. hashes: of forms, of 8 bytes, that are
    compared at a time. Memory: 5 bytes a node."""

    def __init__(
        self,
        formed: Formed,
        classes: Numbers,
        places: Order,
        *,
        bins: int,
        only: bool,
        kinds: Sequence[Alias] = (),
        hashes: int = HASHES,
    ) -> None:
        self._formed, self._only, self._kinds, self._hashes = formed, only, kinds, hashes
        self.aliases = 0
        self._classes, self._places, self._bins = classes, places, bins
        self.changes = Changes()
        self.counts: npt.NDArray[np.int64] = np.zeros(bins + 1, np.int64)  # by precedence

    def pieces(self, db: duckdb.DuckDBPyConnection) -> Generator[bytes, None, None]:
        """The file, some lines at a time; changes and counts are complete after the last."""
        meeting = self._find_meeting(db)
        if meeting:
            with _reader(db, self._rows()):
                db.execute("CREATE TABLE met AS " + MET)
        with _reader(db, self._rows()):
            for batch in batches(db, SORTED.format(APART if meeting else "lines")):
                self.aliases += pc.sum(batch["alias"]).as_py() or 0
                precedences = batch["precedence"].to_numpy()
                self.counts += np.bincount(precedences, minlength=len(self.counts))
                yield _written(batch)

    def _find_meeting(self, db: duckdb.DuckDBPyConnection) -> int:
        """Make the table `meeting` of hashes that several rows share; returns its length."""
        rows = self._formed.rows * 2 ** len(self._kinds)
        ranges, changes = 1 + rows // self._hashes, self.changes
        shared: list[npt.NDArray[np.uint64]] = []
        for number in range(ranges):
            query = f"SELECT hash(form) AS h FROM lines WHERE hash(form) % {ranges} = {number}"
            with _reader(db, self._rows(changes if number == 0 else None)):
                parts = [batch.column(0).to_numpy() for batch in batches(db, query)]
            hashes = np.sort(np.concatenate([np.empty(0, np.uint64), *parts]))
            shared.append(np.unique(hashes[1:][hashes[1:] == hashes[:-1]]))
        db.register("shared", pa.table({"h": np.concatenate(shared)}))
        db.execute("CREATE TABLE meeting AS SELECT h FROM shared")
        return sum(map(len, shared))

    def _rows(self, changes: Changes | None = None) -> Iterator[pa.RecordBatch]:
        for wanted in self._formed.wanted(only_captured=self._only):
            if changes:
                changes.add(wanted)
            with_form = _where(wanted, pc.is_null(wanted["reason"]))
            nodes = with_form["node"].to_numpy()
            scored = nodes != NO_NODE
            places = np.where(scored, self._places[nodes], np.int64(len(self._places)))
            classes = np.where(scored, self._classes[nodes], np.int16(self._bins))
            columns = [with_form["form"], pa.array(places), pa.array(classes)]
            yield pa.record_batch(columns, LINES)
            columns[1] = pa.array(places + ALIAS)
            for others in aliases(with_form["form"], self._kinds):
                batch = pa.record_batch([others, *columns[1:]], LINES)
                yield batch.filter(others.is_valid())

    def captured_hosts(self, db: duckdb.DuckDBPyConnection) -> CapturedHosts:
        """What the hosts of captured spellings were met as."""
        feed(db, "spelled", SPELLED, self._captured())
        try:
            return count_hosts(db)
        finally:
            db.unregister("spelled")

    def _captured(self) -> Iterator[pa.RecordBatch]:
        for wanted in self._formed.wanted(only_captured=True):
            with_form = _where(wanted, pc.is_null(wanted["reason"]))
            yield with_form.select(["form"])


def _where(batch: pa.RecordBatch, mask: pa.BooleanArray) -> pa.RecordBatch:
    """The rows of the mask; no copy where these are all."""
    return batch if pc.all(mask).as_py() else batch.filter(mask)


@contextlib.contextmanager
def _reader(db: duckdb.DuckDBPyConnection, rows: Iterator[pa.RecordBatch]) -> Iterator[None]:
    """The rows as the view `lines`, which can be read only once."""
    feed(db, "lines", LINES, rows)
    try:
        yield
    finally:
        db.unregister("lines")


def _written(batch: pa.RecordBatch) -> bytes:
    """`form precedence` and a line end for each row."""
    lines = pc.binary_join_element_wise(batch["form"], TAILS.take(batch["precedence"]), "")
    offsets = np.frombuffer(lines.buffers()[1], np.int32)[lines.offset :]
    return bytes(memoryview(lines.buffers()[2])[offsets[0] : offsets[len(lines)]])


#: of each captured host, `www.` or not, what it was met as
_HOSTS = """
SELECT count(*), count(*) FILTER (http <> https), count(*) FILTER (www <> bare) FROM
(SELECT bool_or(scheme = 'http:') AS http, bool_or(scheme = 'https:') AS https,
 bool_or(host LIKE 'www.%') AS www, bool_or(host NOT LIKE 'www.%') AS bare FROM
 (SELECT DISTINCT split_part(form, '/', 1) AS scheme, split_part(form, '/', 3) AS host FROM spelled)
 GROUP BY regexp_replace(split_part(host, ':', 1), '^www[.]', ''))
"""


@dataclass(frozen=True)
class CapturedHosts:
    """hosts: those captured, with and without www the same. one_scheme: met by http or by https
    alone. one_www: met with www alone, or without it alone."""

    hosts: int
    one_scheme: int
    one_www: int


def count_hosts(db: duckdb.DuckDBPyConnection) -> CapturedHosts:
    """Reads the view `spelled`: the column form, of captured URIs."""
    (counts,) = db.execute(_HOSTS).fetchall()
    return CapturedHosts(*counts)
