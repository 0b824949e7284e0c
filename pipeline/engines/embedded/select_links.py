"""select-links: whose links count where a page was captured several times, and which keys fold.

The rules, with their reasons, are in choosing.py, for one key at a time; here they are SQL over all
keys. Processes of the pool take from the parts what the decisions need (selection_parts.py), one
process decides, and the pool writes the links that count. selected/PART.parquet: target, source,
hop; folds/folds.parquet: key, target_key, kind, hops, by key.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.captures.choosing import NOWHERE, CaptureRules
from crawlrank.jobs.kernel.formats import datasets
from crawlrank.jobs.kernel.formats.rows import BETWEEN, CANONICAL_HOP, Link
from crawlrank.jobs.kernel.keys.keys import Www, forgetful_key_function
from crawlrank.jobs.kernel.links.reference_kinds import links_at
from crawlrank.pipeline.data.arrays import save
from crawlrank.pipeline.data.database import batches, database
from crawlrank.pipeline.data.parquet import parquet_writer, schema_of
from crawlrank.pipeline.engines.embedded.extraction import PROCESS_BYTES, part_results
from crawlrank.pipeline.engines.embedded.selection_parts import (
    TAKEN,
    WITHOUT_CAPTURE,
    SelectionPart,
    prepare,
    select,
)

FOLDS_SCHEMA = schema_of(datasets.FOLDS.columns)
OTHERS_SCHEMA = pa.schema([("part", pa.int32()), ("number", pa.int64()), ("uri", pa.string())])
EdgeRows = npt.NDArray[np.int64]

# vanished: keys that are not there any more. leads: links of redirects. redirecting: keys that have
# these, and else only captures that may confirm them. counting: good captures of other keys. away:
# the links of each key's latest redirect to another key. going: the keys that a key folds into by
# redirect, if it is later than its good captures or it has none.
DECIDING = """
CREATE TABLE vanished AS SELECT key FROM capture
    JOIN (SELECT key, max(timestamp) AS newest FROM capture GROUP BY key) USING (key)
    WHERE $vanish AND timestamp = newest GROUP BY key HAVING bool_and(missing);
CREATE TABLE leads AS SELECT DISTINCT * FROM named
    SEMI JOIN (FROM capture WHERE redirect) USING (uri, timestamp) WHERE hop = 'R';
CREATE TABLE redirecting AS SELECT key FROM capture SEMI JOIN leads USING (key)
    WHERE good GROUP BY key HAVING bool_and(confirmation AND without_status);
CREATE VIEW counting AS FROM capture ANTI JOIN redirecting USING (key) WHERE good;
CREATE VIEW original AS FROM counting WHERE NOT revisit;
CREATE TABLE last_good AS SELECT key, max(timestamp) AS last FROM counting GROUP BY key;
CREATE TABLE away AS SELECT * FROM leads WHERE target_key <> key
    QUALIFY timestamp = max(timestamp) OVER (PARTITION BY key);
CREATE TABLE going AS SELECT DISTINCT key, target_key FROM away LEFT JOIN last_good USING (key)
    ANTI JOIN vanished USING (key)
    WHERE $redirects AND (last IS NULL OR ($latest AND timestamp > last));
CREATE TABLE gone AS SELECT key FROM going GROUP BY key HAVING count(*) = 1;
"""
# by digest, else by an id that one capture has, else by URI and time
ORIGINS = """
INSERT INTO origin SELECT row, key, o.uri, o.timestamp
    FROM ({sought}) r ANTI JOIN origin USING (row)
    JOIN last_same o USING (key, digest);
INSERT INTO origin SELECT row, o.key, o.uri, o.timestamp
    FROM ({sought}) r ANTI JOIN origin USING (row)
    JOIN (SELECT id, max(key) AS key, max(uri) AS uri, max(timestamp) AS timestamp FROM original
          WHERE id <> '-' AND id IN (SELECT refers_to FROM ({sought}))
          GROUP BY id HAVING min(uri) = max(uri) AND min(timestamp) = max(timestamp)) o
    ON o.id = r.refers_to;
INSERT INTO origin SELECT row, o.key, o.uri, o.timestamp
    FROM ({sought}) r ANTI JOIN origin USING (row)
    JOIN (SELECT key, timestamp, max(uri) AS uri FROM original
          WHERE timestamp <> '-' AND key IN (SELECT refers_to_key FROM ({sought}))
          GROUP BY key, timestamp) o
    ON o.key = r.refers_to_key AND o.timestamp = r.refers_to_timestamp;
"""
LATEST_FIRST = """row_number() OVER (PARTITION BY {of} ORDER BY timestamp DESC, revisit, uri DESC,
    digest DESC, refers_to DESC, refers_to_uri DESC, refers_to_timestamp DESC) = 1"""
# taken: captures whose links count. Of keys that are not gone these are the latest good ones, or
# else the latest redirects, to other keys if there are any; of an unchanged revisit the original.
# recipient: another URI that gets the links of it. same: the latest originals with each digest.
# before: the capture that a 304 stands for if it names no original that is here.
TAKING = f"""
CREATE VIEW latest AS SELECT counting.* FROM counting JOIN last_good USING (key)
    ANTI JOIN gone USING (key) ANTI JOIN vanished USING (key) WHERE timestamp = last;
CREATE TABLE unchanged AS SELECT row_number() OVER () AS row, latest.* FROM latest WHERE revisit;
CREATE TABLE same AS SELECT DISTINCT key, digest, uri, timestamp FROM
    (SELECT key, unnest(string_split(digest, '{BETWEEN}')) AS digest, uri, timestamp FROM original
     SEMI JOIN unchanged USING (key) WHERE digest <> '-')
    QUALIFY timestamp = max(timestamp) OVER (PARTITION BY key, digest);
CREATE VIEW last_same AS SELECT key, digest, timestamp, max(uri) AS uri FROM same GROUP BY ALL;
CREATE TABLE origin (row BIGINT, key VARCHAR, uri VARCHAR, timestamp VARCHAR);
{ORIGINS.format(sought="FROM unchanged")}
CREATE TABLE content AS FROM counting SEMI JOIN unchanged USING (key) WHERE NOT confirmation
    QUALIFY {LATEST_FIRST.format(of="key, counting.uri")};
CREATE TABLE confirming AS SELECT row, key, uri FROM unchanged ANTI JOIN origin USING (row)
    WHERE confirmation;
CREATE TABLE before AS SELECT row, content.* FROM confirming JOIN content USING (key, uri);
INSERT INTO before SELECT row, c.* FROM confirming ANTI JOIN before USING (row)
    JOIN (FROM content QUALIFY {LATEST_FIRST.format(of="key")}) c USING (key);
INSERT INTO origin SELECT row, key, uri, timestamp FROM before WHERE NOT revisit;
{ORIGINS.format(sought="FROM before WHERE revisit")}
CREATE TABLE taken AS
    SELECT uri, timestamp, NULL AS recipient, key FROM away SEMI JOIN gone USING (key)
    UNION ALL SELECT uri, timestamp, NULL, key FROM
        (FROM leads ANTI JOIN last_good USING (key) ANTI JOIN gone USING (key)
         ANTI JOIN vanished USING (key)
         QUALIFY rank() OVER (PARTITION BY key ORDER BY target_key <> key DESC, timestamp DESC) = 1)
    UNION ALL SELECT uri, timestamp, NULL, key FROM latest WHERE NOT revisit
    UNION ALL SELECT uri, timestamp, NULL, key FROM same SEMI JOIN unchanged USING (key, digest)
    UNION ALL SELECT uri, timestamp, NULL, key FROM unchanged ANTI JOIN origin USING (row)
    UNION ALL SELECT uri, timestamp, NULL, key FROM before ANTI JOIN origin USING (row)
    UNION ALL SELECT o.uri, o.timestamp, CASE WHEN o.key = l.key THEN NULL ELSE l.uri END, l.key
        FROM origin o JOIN unchanged l USING (row);
"""
VERDICTS = f"""
CREATE VIEW known AS SELECT DISTINCT uri, timestamp FROM capture;
CREATE VIEW verdict AS SELECT part, number, {TAKEN} AS verdict FROM groups
    SEMI JOIN (FROM taken WHERE recipient IS NULL) USING (uri, timestamp)
    UNION ALL SELECT part, number, {WITHOUT_CAPTURE} FROM groups
    ANTI JOIN known USING (uri, timestamp);
"""
OTHERS = """
SELECT DISTINCT part, number, recipient AS uri FROM groups JOIN taken USING (uri, timestamp)
    WHERE recipient IS NOT NULL ORDER BY ALL
"""
# by a page itself, and by one that has the same body, whose references are joined anew
NAMED_BY_LATEST = """
SELECT taken.key, target_key FROM taken JOIN named USING (uri, timestamp)
    WHERE hop = 'C' AND recipient IS NULL
    UNION ALL SELECT key, target_key FROM named_elsewhere
"""
NAMED_FOR_OTHERS = """
SELECT taken.key, recipient, target, reference FROM taken JOIN named USING (uri, timestamp)
    WHERE hop = 'C' AND recipient IS NOT NULL
"""
NAMED_AT_ALL = """
SELECT key, target_key FROM named WHERE hop = 'C'
    QUALIFY timestamp = max(timestamp) OVER (PARTITION BY key)
"""
EDGES = """
CREATE TABLE candidate AS SELECT key, 'redirect' AS kind, target_key FROM going
    UNION SELECT key, 'canonical', target_key FROM ({named}) WHERE $canonical
    UNION SELECT key, 'gone', '$nowhere' FROM vanished;
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
    JOIN edge AS last ON last.row = chain.last
"""
CIRCLES = """
UNION ALL SELECT key, '$nowhere', 'loop', 0 FROM edge ANTI JOIN chain USING (row)
"""


def decide(
    db: duckdb.DuckDBPyConnection, parts: Path, rules: CaptureRules, www: Www
) -> Counter[str]:
    """Make the tables of which the functions below write folds and verdicts."""
    for name in ("capture", "named", "groups"):
        db.execute(f"CREATE VIEW {name} AS FROM '{parts}/{name}-*.parquet'")
    values = {
        "$redirects": rules.redirects, "$latest": rules.latest, "$canonical": rules.canonical,
        "$vanish": rules.latest and rules.nowhere is not None,
        "$nowhere": (rules.nowhere or NOWHERE).decode(),
    }  # fmt: skip

    def execute(statements: str) -> None:
        for word, value in values.items():
            statements = statements.replace(word, str(value))
        db.execute(statements)

    db.execute("SET preserve_insertion_order = false")  # keeping it takes memory
    execute(DECIDING)
    counters = Counter[str]()
    if rules.latest:
        execute(TAKING)
        revisits = _count(db, "FROM unchanged")
        restored = _count(db, "FROM unchanged SEMI JOIN origin USING (row)")
        counters["revisits"] = revisits
        counters["revisits.original"] = restored
        counters["revisits.own-outlinks"] = revisits - restored
        db.register("named_elsewhere", _named_elsewhere(db, www, counters))
    execute(EDGES.format(named=NAMED_BY_LATEST if rules.latest else NAMED_AT_ALL))
    counters["unfolded.ambiguous"] = _count(db, "FROM choice WHERE targets > 1")
    return counters


def _named_elsewhere(db: duckdb.DuckDBPyConnection, www: Www, counters: Counter[str]) -> pa.Table:
    """Canonical addresses in the bodies of other pages, as the pages that have them too name them:
    few."""
    key_of, named = forgetful_key_function(www), list[tuple[str, bytes]]()
    for key, uri, target, kinds in db.execute(NAMED_FOR_OTHERS).fetchall():
        link = Link(target.encode(), b"", CANONICAL_HOP.encode())
        for one in links_at(uri.encode(), link, kinds.encode(), counters):
            if target_key := key_of(one.target):
                named.append((key, target_key))
    keys, targets = zip(*named, strict=True) if named else ((), ())
    return pa.table(
        [pa.array(keys, pa.string()), pa.array(targets, pa.binary()).cast(pa.string())],
        names=["key", "target_key"],
    )


def _count(db: duckdb.DuckDBPyConnection, rows: str) -> int:
    (count,) = db.sql(f"SELECT count(*) {rows}").fetchall()[0]
    return int(count)


def write_folds(
    db: duckdb.DuckDBPyConnection, output: Path, circle_target: bytes | None
) -> Counter[str]:
    """Write each key that folds, with the key at the end of its chain, in a new folder.
    circle_target: what keys in a loop, or before one, fold into."""
    output.parent.mkdir(parents=True)
    db.execute("SET preserve_insertion_order = true")
    following = np.concatenate(
        [np.zeros(0, np.int64), *(batch["next"].to_numpy() for batch in batches(db, NEXT))]
    )
    last, hops = chain_ends(following)
    ended = np.flatnonzero(hops)
    chain = pa.table({"row": ended, "last": last[ended], "hops": hops[ended]})
    query, counters = ENDED, Counter({"folds": len(ended)})
    if circle_target:
        query += CIRCLES.replace("$nowhere", circle_target.decode())
        counters["folds"] = len(hops)
    else:
        counters["unfolded.loop"] = len(hops) - len(ended)
    db.register("chain", chain)
    with parquet_writer(output, FOLDS_SCHEMA) as file:
        for batch in batches(db, f"FROM ({query}) ORDER BY key"):
            file.write_batch(batch.cast(FOLDS_SCHEMA))
            counters.update(f"folds.{kind}" for kind in batch["kind"].to_pylist())
    db.unregister("chain")
    return counters


def chain_ends(following: EdgeRows) -> tuple[EdgeRows, EdgeRows]:
    """The last edge of the chain that begins at each edge, and the length of the chain; 0 for an
    edge that is in a loop or leads to one. following: the next edge, -1 for none.

    Every edge takes the follower of its follower, so that a round doubles the known part of a
    chain. The rounds end when one completes no chain: every longer chain contains chains of all
    shorter lengths, so no other is left.
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


def write_verdicts(db: duckdb.DuckDBPyConnection, folder: Path, groups: Sequence[int]) -> None:
    """Write a verdict on every group of every part. Memory: a byte a group."""
    first = np.cumsum([0, *groups])
    verdicts = np.zeros(first[-1], np.uint8)
    db.execute(VERDICTS)
    for batch in batches(db, "FROM verdict"):
        positions = first[batch["part"].to_numpy()] + batch["number"].to_numpy()
        verdicts[positions] = batch["verdict"].to_numpy()
    others = pa.Table.from_batches(batches(db, OTHERS), OTHERS_SCHEMA)
    for number in range(len(groups)):
        save(folder / f"{number}.npy", verdicts[first[number] : first[number + 1]])
        of_part = others.filter(pc.equal(others["part"], number))
        if len(of_part):
            with (folder / f"others-{number}.parquet").open("wb") as stream:
                pq.write_table(of_part, stream)


FOLDS = "folds.parquet"


def select_links(
    links: Path,
    captures: Path,
    selected: Path,
    folds: Path,
    rules: CaptureRules,
    *,
    budget: int,
    tmp: Path,
    processes: int = 1,
    www: Www = "strip",
) -> Counter[str]:
    """Write folds and, with rules.latest only, selected links, in new folders. Returns counters.

    links, captures: folders of parts with timestamps. budget: bytes of memory for all processes,
    besides some tens of bytes for each key that folds. tmp: a folder for what does not fit. Raises
    BadInput for a part that cannot be read.
    """
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        folder = Path(name)
        parts = [
            SelectionPart(
                number, path, captures / path.name, selected / path.name, folder, www,
                rules.latest,
            )
            for number, path in enumerate(sorted(links.glob("*.parquet")))
        ]  # fmt: skip
        groups = part_results(prepare, parts, processes, lambda part: part.links)
        left = budget - sum(groups) - PROCESS_BYTES  # a byte for each verdict
        with database(folder, budget=left, threads=processes) as (db, spill_dir):
            (spill_dir / "parts").symlink_to(folder.absolute())
            counters = decide(db, spill_dir / "parts", rules, www)
            counters += write_folds(db, folds / FOLDS, rules.circle_target)
            if rules.latest:
                write_verdicts(db, folder, groups)
        if rules.latest:
            selected.mkdir(parents=True)
            counts = part_results(select, parts, processes, lambda part: part.links)
            counters += sum(counts, Counter())
    return counters
