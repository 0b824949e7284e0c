"""A finished work folder of the jobs' runners: text by DuckDB, captures by a search for lines.

Each question reads the datasets that it needs once, with all cores; links are those of the lines of
ranks, an id each. Lines of captures may hold any bytes, so they are looked for as bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import DUMMY, parse_capture
from jobs.kernel.formats.reading import parts
from jobs.kernel.formats.rows import UNKNOWN
from jobs.kernel.rank.plain_round import DAMPING
from pipeline.data.graph import Floats, Mask, Positions
from pipeline.workfolder.results.finished import CAPTURE_COLUMNS, WEIGHED, Finished, Incoming, Node
from pipeline.workfolder.results.line_search import lines_with

#: bytes of a line: of a page with two million links, and of two URIs
LONGEST = {"ranks": 1 << 24} | dict.fromkeys(("scores", "uris", "map", "folds"), 1 << 20)
COLUMNS = {
    "map": {"id": "BIGINT", "key": "VARCHAR"},
    "scores": {"score": "DOUBLE", "uri": "VARCHAR", "key": "VARCHAR"},
    "folds": {"key": "VARCHAR", "target_key": "VARCHAR", "kind": "VARCHAR", "hops": "BIGINT"},
    "ranks": {"id": "VARCHAR", "score": "DOUBLE", "targets": "VARCHAR"},
    "uris": {
        "key": "VARCHAR", "uri": "VARCHAR", "captures": "BIGINT", "links": "BIGINT",
        "last": "VARCHAR",
    },
}  # fmt: skip
NUMBERS = ("status", "offset")


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
            "ranked": lambda: (
                "SELECT s.key AS ord, s.score AS score, c.key IS NOT NULL AS captured"
                f" FROM {table('scores')} s LEFT JOIN"
                f" (SELECT DISTINCT key FROM {table('uris')} WHERE captures > 0) c USING (key)"
            ),
            "weighed": lambda: WEIGHED.format(
                ord="key", scores=table("scores"), uris=table("uris")
            ),
        }

    def _table(self, dataset: str) -> str:
        """Its parts as a table: lines of fields, without quotes and escapes."""
        names = list(map(str, parts(self.folder(dataset))))
        columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS[dataset].items())
        longest = LONGEST[dataset]
        separator = " " if dataset == "map" else "\\t"
        return (
            f"read_csv({names}, delim = '{separator}', header = false, auto_detect = false,"
            f" quote = '', escape = '', columns = {{{columns}}}, max_line_size = {longest},"
            f" buffer_size = {2 * longest})"
        )

    def order_of(self, node: Node) -> str:
        return node.key

    def scores(self) -> Floats:
        with self.reading():
            query = f"SELECT id::BIGINT AS id, score FROM {self._table('ranks')} WHERE id <> $dummy"
            rows = self.db.execute(query, {"dummy": DUMMY.decode()}).fetchnumpy()
            scores: Floats = self._by_id("ranks", rows["id"], rows["score"])
            return scores

    def captured(self) -> Mask:
        query = (
            f"SELECT m.id AS id, m.key IN (SELECT key FROM {self.view('spelled')}"
            f" WHERE captures > 0) AS captured FROM {self.view('mapped')} m"
        )
        with self.reading():
            rows = self.db.sql(query).fetchnumpy()
            mask: Mask = self._by_id("map", rows["id"], rows["captured"])
            return mask

    def _by_id(self, dataset: str, ids: Positions, values: Any) -> Any:
        """The column in the order of the ids. Raises BadInput where they are not 0 to N-1."""
        order = np.argsort(ids)
        if not np.array_equal(ids[order], np.arange(len(ids))):
            what, where = f"{len(ids)} ids that are not those from 0 on", str(self.folder(dataset))
            raise BadInput(where, what, f"the ids 0 to {len(ids) - 1}, each once")
        return values[order]

    def incoming(self, ids: Sequence[int]) -> list[Incoming]:
        if not ids:
            return []
        wanted = ", ".join(f"'{node}'" for node in ids)
        with self.reading():
            found = self.db.sql(
                "SELECT target::BIGINT AS target, id::BIGINT AS source, score, degree FROM"
                " (SELECT id, score, len(listed) AS degree, unnest(listed) AS target FROM"
                f" (SELECT id, score, string_split(substr(targets, 3), ',') AS listed"
                f" FROM {self._table('ranks')})) WHERE target IN ({wanted}) ORDER BY source"
            ).fetchnumpy()
        gives = DAMPING * (found["score"] / found["degree"])
        of_target = [found["target"] == node for node in ids]
        return [
            Incoming(found["source"][mine], found["degree"][mine], gives[mine])
            for mine in of_target
        ]

    def captures(self, uris: Sequence[str]) -> list[dict[str, Any]]:
        if not uris:
            return []
        rows = []
        with self.reading():
            for part in parts(self.folder("captures")):
                for line in lines_with(part, [uri.encode() + b"\t" for uri in uris]):
                    fields = parse_capture(line)[: len(CAPTURE_COLUMNS)]
                    row = dict(zip(CAPTURE_COLUMNS, fields, strict=True))
                    rows.append({name: _value(name, field) for name, field in row.items()})
        return rows


def _value(name: str, field: bytes) -> str | int | None:
    text = field.decode("utf-8", "replace")
    if field == UNKNOWN:
        return None
    return int(text) if name in NUMBERS and text.isdigit() else text
