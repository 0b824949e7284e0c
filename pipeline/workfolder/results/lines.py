"""A finished work folder of the jobs' runners: text by DuckDB, captures by a search for lines.

Each question reads the datasets that it needs once, with all cores. The links are those of the
lines of ranks. Lines of captures may hold any bytes, so the search for them is one for bytes.

Lines of a large text file by their beginning: the file is mapped, and searched as bytes.

The search is C's, a gigabyte in about a second; no line is read but those that are found.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.formats.datasets import DATASETS, HUBS, Dataset
from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_capture
from crawlrank.jobs.kernel.formats.reading import parts
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.rank.equation import FILE, Teleport
from crawlrank.pipeline.data.csr import SOURCES, Csr, id_type
from crawlrank.pipeline.data.database import batches
from crawlrank.pipeline.data.graph import Floats, Mask, Targets
from crawlrank.pipeline.workfolder.results.finished import (
    WEIGHED,
    Finished,
    Incoming,
    LinksOfNodes,
    Node,
)

SQL_TYPES = {"string": "VARCHAR", "int32": "INTEGER", "int64": "BIGINT", "double": "DOUBLE"}
#: a row for each link, of the table of ranks; `dummy` is a target of nodes without links
LINKED = """
    SELECT id AS source, score, len(listed) AS degree, unnest(listed) AS target FROM
    (SELECT id, score, string_split(substr(targets, 3), ',') AS listed FROM {ranks})
"""

#: datasets whose lines may have more columns than are read
VISITED = """
    SELECT field[1] AS uri, nullif(field[2], '-') AS timestamp,
    try_cast(field[3] AS INTEGER) AS status,
    nullif(field[4], '-') AS media_type, nullif(field[5], '-') AS digest, field[6] AS kind,
    nullif(field[15], '-') AS modified, nullif(field[16], '-') AS etag,
    nullif(field[9], '-') AS via, nullif(field[10], '-') AS hops,
    nullif(field[17], '-') AS title FROM
    (SELECT string_split(line, chr(9)) AS field FROM {lines})
"""
DEGREES = """
    SELECT m.key AS key, coalesce(i.links, 0) AS links_in, coalesce(o.links, 0) AS links_out
    FROM {mapped} m
    LEFT JOIN (SELECT target, count(*) AS links FROM {linked} GROUP BY target) i
        ON i.target = m.id::VARCHAR
    LEFT JOIN (SELECT source, count(*) AS links FROM {linked} WHERE target <> '{dummy}'
        GROUP BY source) o ON o.source = m.id::VARCHAR
"""
REDIRECTED = """
    SELECT field[2] AS source, field[1] AS target FROM
    (SELECT string_split(line, ' ') AS field FROM {lines}) WHERE field[3] = 'R'
"""


KEPT = """
    SELECT field[2] AS source, field[1] AS target, coalesce(field[3], 'L') AS hop FROM
    (SELECT string_split(replace(line, chr(9), ' '), ' ') AS field FROM {lines})
"""


WORDS_OF_LINKS = """
    SELECT field[1] AS target, field[2] AS source, field[3] AS words, field[4] AS timestamp,
    field[5] AS around FROM
    (SELECT string_split(line, chr(9)) AS field FROM {lines})
"""


class FinishedLines(Finished):
    def queries(self) -> dict[str, Callable[[], str]]:
        table = self._table
        return {
            "mapped": lambda: f"SELECT id, key FROM {table('map')}",
            "nodes": lambda: (
                "SELECT m.id AS id, s.key AS key, s.uri AS uri, s.score AS score"
                f" FROM {table('scores')} s JOIN {table('map')} m USING (key)"
            ),
            "spelled": lambda: f"SELECT key, uri, captures, links, last FROM {table('uris')}",
            "folded": lambda: f"SELECT key, target_key, kind, hops FROM {table('folds')}",
            "visited": lambda: VISITED.format(lines=self._lines("captures")),
            "redirected": lambda: REDIRECTED.format(lines=self._lines("links")),
            "kept": lambda: KEPT.format(lines=self._lines("links")),
            "worded": lambda: WORDS_OF_LINKS.format(lines=self._lines("anchors")),
            "ranked": lambda: (
                "SELECT s.key AS ord, s.score AS score, c.key IS NOT NULL AS captured"
                f" FROM {table('scores')} s LEFT JOIN"
                f" (SELECT DISTINCT key FROM {table('uris')} WHERE captures > 0) c USING (key)"
            ),
            "weighed": lambda: WEIGHED.format(
                ord="key", scores=table("scores"), uris=table("uris")
            ),
            "degrees": lambda: DEGREES.format(
                mapped=self.view("mapped"), linked=self.view("linked"), dummy=DUMMY.decode()
            ),
            "linked": lambda: LINKED.format(ranks=table("ranks")),
        }

    def _table(self, dataset: str) -> str:
        return text_table(DATASETS[dataset], parts(self.folder(dataset)))

    def _lines(self, dataset: str) -> str:
        """The lines of a dataset as a table of one column."""
        return (
            f"read_csv({_literals(parts(self.folder(dataset)))}, delim = '\x01',"
            " header = false, auto_detect = false, quote = '', escape = '',"
            " columns = {'line': 'VARCHAR'})"
        )

    def order_of(self, node: Node) -> str:
        return node.key

    def scores(self) -> Floats:
        with self.reading():
            query = f"SELECT id::BIGINT AS id, score FROM {self._table('ranks')} WHERE id <> $dummy"
            rows = self.db.execute(query, {"dummy": DUMMY.decode()}).fetchnumpy()
            scores: Floats = rows["score"][np.argsort(rows["id"])]
            return scores

    def weights(self) -> Floats | None:
        if not self.method.takes or self._has_hubs:
            return None
        with self.reading():
            nodes = len(self.scores())
            return Teleport(self.folders.beside("ranks", FILE)).of_all(np.arange(nodes))

    def captured(self) -> Mask:
        query = (
            f"SELECT m.id AS id, m.key IN (SELECT key FROM {self.view('spelled')}"
            f" WHERE captures > 0) AS captured FROM {self.view('mapped')} m"
        )
        with self.reading():
            rows = self.db.sql(query).fetchnumpy()
            mask: Mask = rows["captured"][np.argsort(rows["id"])]
            return mask

    def indegrees(self) -> Targets:
        query = (
            f"SELECT m.id AS id, coalesce(count, 0) AS count FROM {self.view('mapped')} m LEFT JOIN"
            f" (SELECT target, count(*) AS count FROM {self.view('linked')} GROUP BY target) l"
            " ON m.id::VARCHAR = l.target"
        )
        with self.reading():
            rows = self.db.sql(query).fetchnumpy()
            counts: Targets = rows["count"][np.argsort(rows["id"])]
            return counts

    def links(self) -> Csr:
        """The links in arrays that are mapped files, because there may be more links than
        memory."""
        with self.reading():
            return links_by_target(
                self.db, self.view("linked"), len(self.scores()), self.folders.tmp
            )

    def keys(self) -> Iterator[pa.RecordBatch]:
        with self.reading():
            yield from batches(self.db, f"SELECT key FROM {self.view('mapped')} ORDER BY id")

    def incoming(self, ids: Sequence[int]) -> list[Incoming]:
        if not ids:
            return []
        wanted = ", ".join(f"'{node}'" for node in ids)
        with self.reading():
            links = self.db.sql(
                "SELECT target::BIGINT AS target, source::BIGINT AS source, score, degree FROM"
                f" {self.view('linked')} WHERE target IN ({wanted}) ORDER BY source::BIGINT"
            ).fetchnumpy()
            more = {"gives": self._hub_column("gives")[links["source"]]} if self._has_hubs else {}
        gives = self.method.scoring.shares(links["score"], links["degree"], more)
        of_target = [links["target"] == node for node in ids]
        return [
            Incoming(links["source"][chosen], links["degree"][chosen], gives[chosen])
            for chosen in of_target
        ]

    def links_of(self, ids: Sequence[int]) -> LinksOfNodes:
        wanted = ", ".join(f"'{node}'" for node in ids) or "NULL"
        with self.reading():
            links = self.db.sql(
                f"SELECT source::BIGINT AS source, target::BIGINT AS target FROM"
                f" {self.view('linked')} WHERE target <> '{DUMMY.decode()}' AND"
                f" (source IN ({wanted}) OR target IN ({wanted})) ORDER BY 2, 1"
            ).fetchnumpy()
        return LinksOfNodes(links["source"], links["target"])

    @property
    def _has_hubs(self) -> bool:
        return HUBS.name in self.method.more

    def column(self, name: str) -> Floats | None:
        with self.reading():
            return self._hub_column("hub") if name == HUBS.name and self._has_hubs else None

    def _hub_column(self, name: str) -> Floats:
        rows = self.db.sql(f"SELECT id, {name} FROM {self._table(HUBS.name)}").fetchnumpy()
        column: Floats = rows[name][np.argsort(rows["id"])]
        return column

    def captures(self, uris: Sequence[str]) -> list[dict[str, Any]]:
        if not uris:
            return []
        rows = []
        with self.reading():
            for part in parts(self.folder("captures")):
                for line in lines_with(part, [uri.encode() + b"\t" for uri in uris]):
                    fields, columns = parse_capture(line)._asdict(), self.capture_columns
                    rows.append({n: _value(kind, fields[n]) for n, kind in columns.items()})
        return rows


def _value(kind: str, field: bytes) -> str | int | None:
    text = field.decode("utf-8", "replace")
    if field == UNKNOWN:
        return None
    return int(text) if kind != "string" and text.isdigit() else text


def _literals(paths: Iterable[Path]) -> str:
    """A list of strings of SQL, in which any character but an apostrophe stands for itself."""
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"


def text_table(dataset: Dataset, texts: Sequence[Path]) -> str:
    """The parts of a dataset as a table of SQL: lines of fields, without quotes and escapes."""
    columns = {name: SQL_TYPES[kind] for name, kind in dataset.columns.items()}
    return (
        f"read_csv({_literals(texts)}, delim = '{dataset.separator}', header = false,"
        f" auto_detect = false, quote = '', escape = '', columns = {columns},"
        f" max_line_size = {dataset.longest}, buffer_size = {2 * dataset.longest})"
    )


NEAR = 1 << 20


def lines_with(path: Path, beginnings: Sequence[bytes]) -> Iterator[bytes]:
    """All lines that begin so, without their ends: of one beginning after the other."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for beginning in beginnings:
            at = _find(data, beginning, 0, len(data))
            while at >= 0:
                yield _line(data, at)
                at = _find(data, beginning, at + 1, len(data))


def first_lines(path: Path, beginnings: Sequence[bytes], near: int = NEAR) -> list[bytes | None]:
    """For each beginning the first line that has it. Lines near the one that was found last are
    looked at before all others, as the spellings of a page stand together. near: bytes on each
    side."""
    lines: list[bytes | None] = []
    if not path.stat().st_size:
        return [None] * len(beginnings)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        last = 0
        for beginning in beginnings:
            at = _find(data, beginning, max(0, last - near), min(len(data), last + near))
            if at < 0:
                at = _find(data, beginning, 0, len(data))
            lines.append(None if at < 0 else _line(data, at))
            last = max(at, 0) or last
    return lines


def _find(data: mmap.mmap, beginning: bytes, begin: int, end: int) -> int:
    """Where the first line between two places starts that begins so, or -1."""
    if begin == 0 and data[: len(beginning)] == beginning:
        return 0
    at = data.find(b"\n" + beginning, max(0, begin - 1), end)
    return at + 1 if at >= 0 else -1


def _line(data: mmap.mmap, at: int) -> bytes:
    end = data.find(b"\n", at)
    return data[at : len(data) if end < 0 else end]


def links_by_target(db: duckdb.DuckDBPyConnection, linked: str, nodes: int, folder: Path) -> Csr:
    """The graph of a view with the columns source and target, of text. folder: for the file."""
    real = f"FROM {linked} WHERE target <> '{DUMMY.decode()}'"
    rows: Any = db.execute(f"SELECT count(*) {real}").fetchall()
    edges = int(rows[0][0])
    kind: Any = id_type(nodes)
    sources: Any = (
        np.lib.format.open_memmap(folder / SOURCES, "w+", kind, (edges,))
        if edges
        else np.empty(0, kind)
    )
    indegrees, at = np.zeros(nodes, np.int64), 0
    outdegrees: Any = np.zeros(nodes, kind)
    query = f"SELECT target::BIGINT AS target, source::BIGINT AS source {real} ORDER BY 1, 2"
    for batch in batches(db, query):
        targets, origins = (batch[name].to_numpy() for name in ("target", "source"))
        sources[at : at + len(batch)] = origins
        at += len(batch)
        np.add.at(indegrees, targets, 1)
        np.add.at(outdegrees, origins, kind(1))
    offsets = np.zeros(nodes + 1, np.int64)
    np.cumsum(indegrees, out=offsets[1:])
    return Csr(offsets, sources, outdegrees)
