"""select-links: whose links count where a page was captured several times, and what folds.

What is chosen, and why, is in choosing.py, for one key at a time; here it is SQL over
all keys. Processes of the pool take from the parts what decides and write what was decided
(selecting_parts.py). selected/PART.parquet: target, source, hop; folds/folds.parquet: key,
target_key, kind, hops, by key.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.kernel.captures.choosing import Rules
from jobs.kernel.errors import BadInput
from pipeline.data.database import batches, database
from pipeline.data.growing import save
from pipeline.data.parquet import CHECKED
from pipeline.data.workers import Died, Tell, answers
from pipeline.engines.embedded.selecting_parts import (
    TAKEN,
    WITHOUT_CAPTURE,
    LookWork,
    SelectWork,
    look,
    select,
)

FOLDS = "folds.parquet"
PROCESS_BYTES = 150 << 20  # of a process that has imported what it needs, and of a block
SCHEMA = pa.schema(
    [
        ("key", pa.string()), ("target_key", pa.string()), ("kind", pa.string()),
        ("hops", pa.int64()),
    ]
)  # fmt: skip
OTHERS_SCHEMA = pa.schema([("part", pa.int32()), ("number", pa.int64()), ("uri", pa.string())])
Work = TypeVar("Work", LookWork, SelectWork)
Answer = TypeVar("Answer")
Steps = npt.NDArray[np.int64]

# leads: links of redirects; away: the latest of each key to another one. going: what a key folds
# into by redirect, if that is later than its good captures or there are none.
DECIDING = """
CREATE VIEW original AS SELECT * FROM capture WHERE good AND NOT revisit;
CREATE TABLE last_good AS SELECT key, max(timestamp) AS last FROM capture WHERE good GROUP BY key;
CREATE TABLE leads AS SELECT DISTINCT * FROM named
    SEMI JOIN (FROM capture WHERE redirect) USING (uri, timestamp) WHERE hop = 'R';
CREATE TABLE away AS SELECT * FROM leads WHERE target_key <> key
    QUALIFY timestamp = max(timestamp) OVER (PARTITION BY key);
CREATE TABLE going AS SELECT DISTINCT key, target_key FROM away LEFT JOIN last_good USING (key)
    WHERE $redirects AND (last IS NULL OR ($latest AND timestamp > last));
CREATE TABLE gone AS SELECT key FROM going GROUP BY key HAVING count(*) = 1;
"""
# Of the keys that are not gone: their latest good captures, or else their latest redirects.
TAKING = """
CREATE VIEW latest AS SELECT capture.* FROM capture JOIN last_good USING (key)
    ANTI JOIN gone USING (key) WHERE good AND timestamp = last;
CREATE TABLE unchanged AS SELECT row_number() OVER () AS row, latest.* FROM latest WHERE revisit;
CREATE TABLE found AS SELECT row, o.key, o.uri, o.timestamp FROM unchanged l JOIN original o
    ON o.key = l.key AND o.digest = l.digest WHERE l.digest <> '-'
    QUALIFY o.timestamp = max(o.timestamp) OVER (PARTITION BY row);
INSERT INTO found SELECT row, o.key, o.uri, o.timestamp FROM unchanged l ANTI JOIN found USING (row)
    JOIN original o ON o.id = l.refers_to WHERE o.id <> '-';
INSERT INTO found SELECT row, o.key, o.uri, o.timestamp FROM unchanged l ANTI JOIN found USING (row)
    JOIN original o ON o.key = l.refers_to_key AND o.timestamp = l.refers_to_timestamp
    WHERE o.timestamp <> '-';
CREATE TABLE taken AS
    SELECT uri, timestamp, NULL AS other, key FROM away SEMI JOIN gone USING (key)
    UNION ALL SELECT uri, timestamp, NULL, key FROM
        (FROM leads ANTI JOIN last_good USING (key) ANTI JOIN gone USING (key)
         QUALIFY timestamp = max(timestamp) OVER (PARTITION BY key))
    UNION ALL SELECT uri, timestamp, NULL, key FROM latest WHERE NOT revisit
    UNION ALL SELECT uri, timestamp, NULL, key FROM unchanged ANTI JOIN found USING (row)
    UNION ALL SELECT f.uri, f.timestamp, CASE WHEN f.key = l.key THEN NULL ELSE l.uri END, l.key
        FROM found f JOIN unchanged l USING (row);
"""
VERDICTS = f"""
CREATE VIEW known AS SELECT DISTINCT uri, timestamp FROM capture;
CREATE VIEW verdict AS SELECT part, number, {TAKEN} AS verdict FROM groups
    SEMI JOIN (FROM taken WHERE other IS NULL) USING (uri, timestamp)
    UNION ALL SELECT part, number, {WITHOUT_CAPTURE} FROM groups
    ANTI JOIN known USING (uri, timestamp);
"""
OTHERS = """
SELECT DISTINCT part, number, other AS uri FROM groups JOIN taken USING (uri, timestamp)
    WHERE other IS NOT NULL ORDER BY ALL
"""
NAMED_BY_LATEST = """
SELECT taken.key, target_key FROM taken JOIN named USING (uri, timestamp) WHERE hop = 'C'
"""
NAMED_AT_ALL = """
SELECT key, target_key FROM named WHERE hop = 'C'
    QUALIFY timestamp = max(timestamp) OVER (PARTITION BY key)
"""
EDGES = """
CREATE TABLE candidate AS SELECT key, 'redirect' AS kind, target_key FROM going
    UNION SELECT key, 'canonical', target_key FROM ({named}) WHERE $canonical;
CREATE TABLE choice AS SELECT key, kind, min(target_key) AS target_key, count(*) AS targets
    FROM candidate JOIN (SELECT key, max(kind) AS kind FROM candidate GROUP BY key)
    USING (key, kind) GROUP BY key, kind;
CREATE TABLE edge AS SELECT row_number() OVER (ORDER BY key) - 1 AS row, key, kind, target_key
    FROM choice WHERE targets = 1 AND target_key <> key;
"""
NEXT = """
SELECT coalesce(next.row, -1) AS next FROM edge LEFT JOIN edge AS next ON next.key = edge.target_key
    ORDER BY edge.row
"""
ENDED = """
SELECT edge.key, last.target_key, edge.kind, hops FROM edge JOIN chain USING (row)
    JOIN edge AS last ON last.row = chain.last ORDER BY edge.key
"""


def select_links(
    links: Path,
    captures: Path,
    selected: Path,
    folds: Path,
    rules: Rules,
    *,
    budget: int,
    tmp: Path,
    processes: int = 1,
    threads: int = 1,
    keep_www: bool = False,
) -> Counter[str]:
    """Selected links, with rules.latest only, and folds, in new folders; what was counted.

    links, captures: folders of parts, of extraction with its option timestamps. budget: bytes of
    memory for all processes together, and some tens of bytes for each key that folds. tmp: a folder
    for what does not fit. Raises BadInput for a part that cannot be read.
    """
    parts = sorted(links.glob("*.parquet"))
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        folder = Path(name)
        looks = [
            LookWork(number, part, captures / part.name, folder, keep_www, rules.latest)
            for number, part in enumerate(parts)
        ]
        groups = [found for _, found in _done(look, looks, processes)]
        left = max(0, budget - sum(groups) - PROCESS_BYTES)
        with database(folder, budget=left, threads=threads) as (db, near):
            (near / "parts").symlink_to(folder.absolute())
            counters = _decide(db, near / "parts", rules)
            folds.mkdir(parents=True)
            counters += _fold(db, folds / FOLDS)
            if rules.latest:
                _write_verdicts(db, folder, groups)
        if rules.latest:
            selected.mkdir(parents=True)
            selects = [
                SelectWork(w.number, w.links, selected / w.links.name, folder) for w in looks
            ]
            for _, found in _done(select, selects, processes):
                counters += found
    return counters


def _done(
    work: Callable[[Work, Tell], Answer], tasks: Sequence[Work], processes: int
) -> list[tuple[int, Answer]]:
    """Each task's answer, in the order of the parts."""
    found: dict[int, Answer] = {}
    for task, answer in answers(work, tasks, processes):
        if isinstance(answer, Died):
            raise BadInput(
                str(task.links),
                f"the process that read it died ({answer.how})",
                "a part that can be read in the memory there is",
                "Run it again with less --memory or fewer --jobs, so that it takes less.",
            )
        found[task.number] = answer
    return sorted(found.items())


def _decide(db: duckdb.DuckDBPyConnection, parts: Path, rules: Rules) -> Counter[str]:
    for name, files in (("capture", "captures"), ("named", "named"), ("groups", "groups")):
        if name != "groups" or rules.latest:
            db.execute(f"CREATE VIEW {name} AS FROM '{parts}/{files}-*.parquet'")
    asked = {"$redirects": rules.redirects, "$latest": rules.latest, "$canonical": rules.canonical}

    def run(statements: str) -> None:
        for word, value in asked.items():
            statements = statements.replace(word, str(value))
        db.execute(statements)

    db.execute("SET preserve_insertion_order = false")  # order takes memory, and is for later
    run(DECIDING)
    counters = Counter[str]()
    if rules.latest:
        run(TAKING)
        counters["revisits"] = _count(db, "FROM unchanged")
        counters["revisits.original"] = _count(db, "FROM unchanged SEMI JOIN found USING (row)")
        lost = counters["revisits"] - counters["revisits.original"]
        counters["revisits.own-outlinks"] = lost
    run(EDGES.format(named=NAMED_BY_LATEST if rules.latest else NAMED_AT_ALL))
    counters["unfolded.ambiguous"] = _count(db, "FROM choice WHERE targets > 1")
    return counters


def _count(db: duckdb.DuckDBPyConnection, rows: str) -> int:
    found: Any = db.sql(f"SELECT count(*) {rows}")
    return int(found.fetchall()[0][0])


def _fold(db: duckdb.DuckDBPyConnection, output: Path) -> Counter[str]:
    """Write the folds at the ends of chains."""
    db.execute("SET preserve_insertion_order = true")
    following = np.concatenate(
        [np.zeros(0, np.int64), *(batch["next"].to_numpy() for batch in batches(db, NEXT))]
    )
    last, hops = chain_ends(following)
    ended = np.flatnonzero(hops)
    chain = pa.table({"row": ended, "last": last[ended], "hops": hops[ended]})
    counters = Counter({"unfolded.loop": len(hops) - len(ended)})
    db.register("chain", chain)
    with output.open("wb") as stream, _writer(stream) as file:
        for batch in batches(db, ENDED):
            file.write_batch(batch.cast(SCHEMA))
            counters.update(f"folds.{kind}" for kind in batch["kind"].to_pylist())
    db.unregister("chain")
    counters["folds"] = len(ended)
    return counters


def _writer(stream: BinaryIO) -> pq.ParquetWriter:
    return pq.ParquetWriter(stream, SCHEMA, compression="zstd", **CHECKED)


def chain_ends(following: Steps) -> tuple[Steps, Steps]:
    """Of steps, each followed by one or by none (-1): the last one of the chain that begins there,
    and how many it has; 0 for those in loops or leading there.

    Every step takes its follower's follower, so that a round doubles what is known of a chain.
    After a round in which no chain came to its end there is none left, as chains of all shorter
    lengths come with each.
    """
    own = np.arange(len(following))
    ends = following < 0
    last, hops = np.where(ends, own, following), np.where(ends, 0, 1)
    before, ended = -1, int(np.count_nonzero(ends[last]))
    while before < ended < len(own):
        hops += hops[last]
        last = last[last]
        before, ended = ended, int(np.count_nonzero(ends[last]))
    return last, np.where(ends[last], hops + 1, 0)


def _write_verdicts(db: duckdb.DuckDBPyConnection, folder: Path, groups: Sequence[int]) -> None:
    """A verdict on every group of every part. Memory: a byte a group."""
    first = np.cumsum([0, *groups])
    verdicts = np.zeros(first[-1], np.uint8)
    db.execute(VERDICTS)
    for batch in batches(db, "FROM verdict"):
        places = first[batch["part"].to_numpy()] + batch["number"].to_numpy()
        verdicts[places] = batch["verdict"].to_numpy()
    others = pa.Table.from_batches(list(batches(db, OTHERS)) or [], OTHERS_SCHEMA)
    for number in range(len(groups)):
        save(folder / f"{number}.npy", verdicts[first[number] : first[number + 1]])
        ours = others.filter(pc.equal(others["part"], number))
        if len(ours):
            with (folder / f"others-{number}.parquet").open("wb") as stream:
                pq.write_table(ours, stream)
