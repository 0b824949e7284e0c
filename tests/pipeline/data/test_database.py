"""Databases follow each other in one instance of DuckDB, and see nothing of each other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.crawls import environment

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.database import LEAST, database, feed, write_behind

NUMBERS = pa.schema([("n", pa.int64())])
TABLES = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views()"
OURS = f"{TABLES} WHERE NOT internal"

PROGRAM = """
import os, sys
from pathlib import Path
from crawlrank.pipeline.data.database import database

def answer():
    with database(Path(sys.argv[1]), budget=1 << 28, threads=4) as (db, _):
        return db.execute("SELECT sum(range) FROM range(1000000)").fetchone()[0]

def threads():
    return len(os.listdir("/proc/self/task"))

before = threads()
answer()
assert threads() == before, "threads are left at a fork"
child = os.fork()
right = answer() == 499999500000
if not child:
    os._exit(not right)  # DuckDB 1.5 aborts a fork that ends otherwise, whatever was before
assert right and os.waitpid(child, 0)[1] == 0
"""


def fill(db: duckdb.DuckDBPyConnection) -> None:
    db.execute("CREATE TABLE t AS SELECT 1 AS n")
    db.execute("CREATE VIEW v AS SELECT * FROM t")
    db.execute('CREATE VIEW "a ""b" AS SELECT * FROM v')
    db.execute("CREATE TEMP TABLE near AS SELECT 2 AS n")
    db.register("given", pa.table({"n": [3]}))
    feed(db, "fed", NUMBERS, iter([pa.record_batch([[4, 5]], NUMBERS)]))
    rows = 'SELECT n FROM "a ""b" UNION ALL FROM near UNION ALL FROM given UNION ALL FROM fed'
    assert sorted(db.execute(rows).fetchall()) == [(1,), (2,), (3,), (4,), (5,)]


def test_a_database_has_nothing_of_those_before(tmp_path: Path) -> None:
    for _ in range(3):
        with database(tmp_path, budget=LEAST, threads=2) as (db, _):
            assert db.execute(OURS).fetchall() == []
            fill(db)
    assert [*tmp_path.iterdir()] == []


def test_one_instance_serves_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless one took long: none does ten times."""
    made, connect = [], duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda **more: made.append(more) or connect(**more))
    for _ in range(10):
        with database(tmp_path, budget=LEAST, threads=2) as (db, _):
            fill(db)
    assert len(made) < 10


def test_two_at_a_time_have_an_instance_each(tmp_path: Path) -> None:
    with database(tmp_path, budget=LEAST, threads=1) as (outer, _):
        fill(outer)
        for _ in range(2):
            with database(tmp_path, budget=2 * LEAST, threads=2) as (inner, _):
                assert inner.execute(OURS).fetchall() == []
                fill(inner)
        limits = outer.execute("SELECT current_setting('memory_limit')").fetchall()
        assert limits == [("64.0 MiB",)]


def test_limits_and_threads_are_those_of_each(tmp_path: Path) -> None:
    settings = "SELECT current_setting('memory_limit'), current_setting('threads')"
    for budget, threads, size in ((LEAST, 1, "64.0 MiB"), (1 << 30, 3, "1.0 GiB")):
        with database(tmp_path, budget=budget, threads=threads) as (db, near):
            assert db.execute(settings).fetchall() == [(size, threads)]
            folder = db.execute("SELECT current_setting('temp_directory')").fetchone()
            assert folder == (str(near / "spilled"),)


def test_an_instance_in_which_something_failed_is_not_used_again(tmp_path: Path) -> None:
    with (
        pytest.raises(BadInput, match="Catalog Error"),
        database(tmp_path, budget=LEAST, threads=1) as (db, _),
    ):
        db.execute("SET preserve_insertion_order = false")
        db.execute("FROM nothing")
    with database(tmp_path, budget=LEAST, threads=1) as (db, _):
        kept = db.execute("SELECT current_setting('preserve_insertion_order')").fetchone()
        assert kept == (True,)


@pytest.mark.slow
def test_a_database_follows_one_that_spilled(tmp_path: Path) -> None:
    """However long that took: the folder to which an instance has spilled cannot be changed."""
    made = (
        "CREATE TABLE t AS SELECT hash(range) AS n, repeat('x', 90) AS x FROM range({}) ORDER BY n"
    )
    for _ in range(2):
        with database(tmp_path, budget=LEAST, threads=2) as (db, near):
            db.execute(made.format(800_000))
            assert (near / "spilled").exists()
            assert db.execute("SELECT count(*) FROM t").fetchone() == (800_000,)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads by /proc")
def test_a_fork_uses_an_instance_of_its_own(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, tmp_path],
        env=environment(), capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_tables_without_rows_are_passed_by(tmp_path: Path) -> None:
    tables = [pa.table({"n": pa.array(rows, pa.int64())}) for rows in ([], [1, 2], [], [3])]
    with pq.ParquetWriter(tmp_path / "n.parquet", tables[0].schema) as file:
        write_behind(file, tables)
    assert pq.read_table(tmp_path / "n.parquet")["n"].to_pylist() == [1, 2, 3]
    assert pq.ParquetFile(tmp_path / "n.parquet").num_row_groups == 2
