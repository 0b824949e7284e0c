"""Scores to the file that Heritrix loads: `URI precedence`, one line a spelling.

Equation: classes are cut as in pipeline/classes.py, over the captured nodes (what a recrawl
fetches) or over all; precedence is the class, from 1, crawled first, to B. Dangling nodes are
nodes like others. A captured URI whose key has no score gets B.

The file has each spelling in the form in which Heritrix looks it up (jobs/kernel/heritrix_form),
each form once, at the best class of those that meet in it, in the order of the scores and then of
the bytes. DuckDB joins and sorts, so URIs need no memory; scores need about 15 arrays of N.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa

from jobs.kernel.errors import BadInput
from jobs.kernel.heritrix_form import HeritrixRejects, heritrix_form
from jobs.kernel.lines import parse_score_row, parse_uri_row
from jobs.kernel.order import DIGITS
from jobs.kernel.reading import read_rows
from jobs.launch import is_plain
from pipeline.classes import Classes, Ties, cut
from pipeline.datasets import write_file

BATCH = 100_000
EXAMPLES = 10


@dataclass(frozen=True)
class Options:
    """How classes are cut and what is listed; DESIGN, precedence.

    eta: the certificate's bound per node, None where it is not known.
    digits: significant digits that scores must share to count as equal.
    """

    bins: int = 5
    unlisted: int | None = None
    classes_over: Literal["captured", "all"] = "captured"
    ties: Ties = "key"
    spellings: Literal["all", "captured"] = "all"
    eta: float | None = None
    digits: int = DIGITS

    @property
    def unlisted_precedence(self) -> int:
        return self.bins + 1 if self.unlisted is None else self.unlisted


@dataclass
class ClassSummary:
    """One class: its lines in the file, its nodes, and the range of their scores."""

    precedence: int
    uris: int = 0
    nodes: int = 0
    nodes_captured: int = 0
    score_highest: float | None = None
    score_lowest: float | None = None


@dataclass
class Summary:
    """What `precedence.summary.json` says."""

    bins: int
    unlisted: int
    classes_cut_over: str
    uris: int = 0
    nodes: int = 0
    nodes_captured: int = 0
    nodes_not_captured: int = 0
    nodes_near_a_boundary: int | None = None
    nodes_placed_by_key_alone: int = 0
    eta: float | None = None
    digits: int = DIGITS
    captured_uris_without_score: int = 0
    spellings_rewritten: int = 0
    spellings_rejected: int = 0
    rejected_by_reason: dict[str, int] = field(default_factory=dict)
    rejected_examples: list[str] = field(default_factory=list)
    duplicates_removed: int = 0
    classes: list[ClassSummary] = field(default_factory=list)

    def write(self, path: Path) -> None:
        write_file([json.dumps(asdict(self), indent=2).encode() + b"\n"], path)


def export_precedence(
    scores: str | Path, uris: str | Path | None, output: Path, tmp: Path, options: Options
) -> Summary:
    """Write the precedence file `output` from the datasets `scores` and `uris`.

    Without uris, the URIs of the scores are all the spellings there are, and classes are cut over
    all nodes. tmp: a folder for what does not fit into memory. Raises BadInput.
    """
    with database(tmp) as db:
        summary = Summary(options.bins, options.unlisted_precedence, options.classes_over)
        summary.eta, summary.digits = options.eta, options.digits
        _load_scores(db, scores)
        _load_spellings(db, uris)
        _require_spellings(db, scores)
        _classify(db, options, summary)
        _list(db, options, summary)
        _write(db, output, summary)
    return summary


@contextlib.contextmanager
def database(tmp: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in the folder tmp, of whatever name; what fails in it is told as BadInput."""
    with contextlib.ExitStack() as stack:
        near = tmp.resolve()
        if not is_plain(near):  # DuckDB takes names in UTF-8 only, and some for globs
            near = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crawlrank-")))
        try:
            with duckdb.connect(str(near / "precedence.duckdb")) as db:
                db.execute("SET temp_directory = $folder", {"folder": str(near)})
                yield db
        except duckdb.Error as error:
            said = str(error).partition("\n")[0]
            raise BadInput(
                str(tmp.resolve()), said, "room for a database", "Make room, or write elsewhere."
            ) from error


def decoded(field: bytes) -> str:
    return field.decode("utf-8", "replace")


def insert(
    db: duckdb.DuckDBPyConnection, table: str, schema: pa.Schema, rows: Iterable[tuple[Any, ...]]
) -> None:
    """Insert rows in batches through Arrow, which is what makes it fast."""
    iterator = iter(rows)
    while chunk := list(islice(iterator, BATCH)):
        columns = zip(zip(*chunk, strict=True), schema.types, strict=True)
        batch = pa.table([pa.array(values, kind) for values, kind in columns], schema)
        db.register("batch", batch)
        db.execute(f"INSERT INTO {table} SELECT * FROM batch")
        db.unregister("batch")


def _load_scores(db: duckdb.DuckDBPyConnection, scores: str | Path) -> None:
    db.execute("CREATE TABLE scored (key VARCHAR, uri VARCHAR, score DOUBLE)")
    schema = pa.schema([("key", pa.string()), ("uri", pa.string()), ("score", pa.float64())])
    rows = ((decoded(r.key), decoded(r.uri), r.score) for r in read_rows(scores, parse_score_row))
    insert(db, "scored", schema, rows)
    twice = db.execute("SELECT key FROM scored GROUP BY key HAVING count(*) > 1 LIMIT 1").fetchone()
    if twice:
        raise BadInput(str(scores), f"two scores for the key {twice[0]}", "one line for a key")
    if not db.execute("SELECT 1 FROM scored LIMIT 1").fetchone():
        raise BadInput(str(scores), "no scores", "at least one line", "Run join-scores first.")


def _require_spellings(db: duckdb.DuckDBPyConnection, scores: str | Path) -> None:
    """A page that is scored and has no spelling would be lost silently."""
    found = db.execute(
        "SELECT count(*), min(key) FROM scored ANTI JOIN spellings USING (key)"
    ).fetchone()
    assert found is not None  # an aggregate without GROUP BY has a row
    if found[0]:
        raise BadInput(
            str(scores),
            f"{found[0]} keys that have no spelling in uris, the first {found[1]}",
            "at least one URI for every key",
            "Give the uris of the same canonicalize run.",
        )


def _load_spellings(db: duckdb.DuckDBPyConnection, uris: str | Path | None) -> None:
    """The table `spellings`: key, Heritrix form, whether captured; and what was done to it."""
    schema = pa.schema(
        [
            ("key", pa.string()), ("form", pa.string()), ("captured", pa.bool_()),
            ("rewritten", pa.bool_()), ("rejected", pa.string()), ("reason", pa.string()),
        ]
    )  # fmt: skip
    db.execute(
        "CREATE TABLE spellings (key VARCHAR, form VARCHAR, captured BOOLEAN,"
        " rewritten BOOLEAN, rejected VARCHAR, reason VARCHAR)"
    )
    if uris is None:
        found = db.cursor().execute("SELECT key, uri FROM scored")
        rows = ((key, uri, False) for key, uri in iter(found.fetchone, None))
    else:
        rows = (
            (decoded(r.key), decoded(r.uri), r.captures > 0) for r in read_rows(uris, parse_uri_row)
        )
    insert(db, "spellings", schema, _formed(rows))


def _formed(rows: Iterable[tuple[str, str, bool]]) -> Iterator[tuple[Any, ...]]:
    """Each spelling in Heritrix's form, or with the reason why it has none."""
    for key, uri, captured in rows:
        try:
            form = _lasting_form(uri)
        except HeritrixRejects as error:
            yield key, None, captured, False, uri, str(error)
        else:
            yield key, form, captured, form != uri, None, None


def _lasting_form(uri: str) -> str:
    """The form of the URI, if it is also its own: only such a line passes lint."""
    form = heritrix_form(uri)
    if form != uri and heritrix_form(form) != form:
        raise HeritrixRejects("a form that Heritrix reads as another URI")
    return form


def _classify(db: duckdb.DuckDBPyConnection, options: Options, summary: Summary) -> None:
    """The table `nodes`: key, class, place in the order; and what the summary says of nodes."""
    db.execute(
        "CREATE TABLE seen AS SELECT key, bool_or(captured) AS captured FROM spellings GROUP BY key"
    )
    columns = db.sql(
        "SELECT s.key AS key, s.score AS score, coalesce(seen.captured, false) AS captured"
        " FROM scored s LEFT JOIN seen USING (key) ORDER BY s.key"
    ).to_arrow_table()
    scores = columns["score"].to_numpy()
    captured = columns["captured"].to_numpy(zero_copy_only=False).astype(bool)
    over = captured if options.classes_over == "captured" else None
    if over is None or not over.any():
        summary.classes_cut_over = "all"
    classes = cut(
        scores,
        options.bins,
        digits=options.digits,
        mask=over,
        ties=options.ties,
        eta=options.eta or 0.0,
    )
    places = np.empty(len(scores), np.int64)
    places[classes.order] = np.arange(len(scores))
    nodes = pa.table({"key": columns["key"], "class": classes.classes, "place": places})
    db.register("classified", nodes)
    db.execute('CREATE TABLE nodes AS SELECT key, "class", place FROM classified')
    db.unregister("classified")
    _describe(classes, scores, captured, summary)


def _describe(classes: Classes, scores: Any, captured: Any, summary: Summary) -> None:
    summary.nodes = len(scores)
    summary.nodes_captured = int(captured.sum())
    summary.nodes_not_captured = summary.nodes - summary.nodes_captured
    if summary.eta is not None:  # what nobody knows is not 0
        summary.nodes_near_a_boundary = int(classes.near.sum())
    summary.nodes_placed_by_key_alone = int(classes.by_key.sum())
    for precedence in range(1, summary.bins + 1):
        inside = classes.classes == precedence
        entry = ClassSummary(precedence, 0, int(inside.sum()), int((inside & captured).sum()))
        if entry.nodes:
            entry.score_highest = float(scores[inside].max())
            entry.score_lowest = float(scores[inside].min())
        summary.classes.append(entry)


def _list(db: duckdb.DuckDBPyConnection, options: Options, summary: Summary) -> None:
    """The table `lines`: each form once, with the class and the place of the best node in it."""
    captures = _number(db, "SELECT count(*) FROM spellings WHERE captured")
    only_captured = options.spellings == "captured" and captures > 0
    db.execute(
        'CREATE VIEW wanted AS SELECT s.*, n."class", n.place'
        " FROM spellings s LEFT JOIN nodes n USING (key)"
        f" WHERE s.captured OR (n.key IS NOT NULL AND NOT {only_captured})"
    )
    db.execute(
        'CREATE TABLE lines AS SELECT form, min(coalesce("class", $bins)) AS precedence,'
        " min(coalesce(place, $last)) AS place, count(*) AS spellings"
        " FROM wanted WHERE form IS NOT NULL GROUP BY form",
        {"bins": options.bins, "last": summary.nodes},
    )
    _count_changes(db, summary)
    summary.captured_uris_without_score = _number(
        db, "SELECT count(*) FROM spellings s ANTI JOIN nodes n USING (key) WHERE s.captured"
    )
    summary.uris = _number(db, "SELECT count(*) FROM lines")
    summary.duplicates_removed = (
        _number(db, "SELECT coalesce(sum(spellings), 0) FROM lines") - summary.uris
    )
    counted = db.execute("SELECT precedence, count(*) FROM lines GROUP BY precedence").fetchall()
    for precedence, count in counted:
        summary.classes[precedence - 1].uris = count


def _count_changes(db: duckdb.DuckDBPyConnection, summary: Summary) -> None:
    """Spellings rewritten or rejected, of those that would be listed; in no order of the input."""
    summary.spellings_rewritten = _number(db, "SELECT count(*) FROM wanted WHERE rewritten")
    reasons = db.execute(
        "SELECT reason, count(*) FROM wanted WHERE reason IS NOT NULL"
        " GROUP BY reason ORDER BY count(*) DESC, reason"
    ).fetchall()
    summary.rejected_by_reason = dict(reasons)
    summary.spellings_rejected = sum(summary.rejected_by_reason.values())
    examples = db.execute(
        "SELECT DISTINCT rejected FROM wanted WHERE rejected IS NOT NULL"
        " ORDER BY rejected LIMIT $examples",
        {"examples": EXAMPLES},
    ).fetchall()
    summary.rejected_examples = [uri for (uri,) in examples]


def _number(db: duckdb.DuckDBPyConnection, query: str) -> int:
    row = db.execute(query).fetchone()
    assert row is not None  # an aggregate without GROUP BY has a row
    return int(row[0])


def _write(db: duckdb.DuckDBPyConnection, output: Path, summary: Summary) -> None:
    found = db.execute("SELECT form, precedence FROM lines ORDER BY place, form")
    batches = iter(lambda: found.fetchmany(BATCH), [])
    rows = (row for batch in batches for row in batch)
    write_file((f"{form} {precedence}\n".encode("ascii") for form, precedence in rows), output)
