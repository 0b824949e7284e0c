"""DuckDB within bounds, for what is sorted or joined by strings and may be larger than memory.

To make an instance of DuckDB takes some 30 ms, and a run of a few pages needs three, a quarter of
its time. So an instance that was used for less than BRIEF seconds, and in which nothing has failed
or was spilled, is emptied and kept for the next database of the process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.shortage import shortage_of
from crawlrank.jobs.kernel.storage.temporary import plain_path
from crawlrank.pipeline.data.memory import ROOM
from crawlrank.pipeline.data.pairs import in_order

LEAST = 64 << 20  # bytes: with less DuckDB does not sort at all
BATCH = 1 << 17  # rows
BRIEF = 1.0
AnyRows = TypeVar("AnyRows")


@contextlib.contextmanager
def database(
    tmp: Path, *, budget: int, threads: int
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database in memory that spills into a folder of its own in tmp, and that folder under a
    name that SQL takes as it is. Who sets a setting of the instance sets it back. Raises Shortage
    for what the machine lacks, and BadInput for what else fails in it, such as a sort with too
    little budget; what ends rows that `feed` gives, as itself."""
    ROOM.require(threads)
    fed = _Fed([])
    with tempfile.TemporaryDirectory(dir=tmp) as folder, plain_path(Path(folder)) as spill_dir:
        try:
            spilled = spill_dir / "spilled"
            with _connection(spilled, threads) as db, _interruptible(db, fed):
                _feeds[id(db)] = fed
                limit(db, budget)
                try:
                    yield db, spill_dir
                finally:
                    fed.ended = True  # or closing waits for a query that waits for rows
        except Exception as error:
            if fed.errors and fed.errors[0] is not error:
                raise fed.errors[0] from None
            if not isinstance(error, duckdb.Error):
                raise
            if shortage := shortage_of(error, f"a sort in {tmp.resolve()}"):
                raise shortage from error
            reason = str(error).partition("\n")[0]
            if not isinstance(error, duckdb.OutOfMemoryException):
                raise BadInput(str(tmp.resolve()), reason) from error
            cure = "Make room there, or give more --memory."
            raise BadInput(str(tmp.resolve()), reason, "room for a sort", cure) from error
        finally:
            _feeds.pop(next((k for k, kept in _feeds.items() if kept is fed), 0), None)


_idle: list[duckdb.DuckDBPyConnection] = []  # one at most, to an instance that has nothing in it


@contextlib.contextmanager
def _connection(spilled: Path, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an instance that nobody else has."""
    began = time.monotonic()
    instance = _taken(spilled, threads)
    try:
        with instance.cursor() as db:
            yield db
        brief = time.monotonic() - began < BRIEF
        if brief and not spilled.exists() and not _idle:
            _empty(instance)
            _idle.append(instance)
    finally:
        if instance not in _idle:
            instance.close()


def _taken(spilled: Path, threads: int) -> duckdb.DuckDBPyConnection:
    """The idle instance, or a new one."""
    try:
        instance = _idle.pop()
    except IndexError:
        instance = duckdb.connect(config={"threads": threads})
    instance.execute(f"SET threads = {threads}")
    _set_async(instance, "RESET async_threads")
    instance.execute("SET temp_directory = $folder", {"folder": str(spilled)})
    return instance


def _empty(instance: duckdb.DuckDBPyConnection) -> None:
    """Remove the tables and views of other connections, with whom temporary ones are gone, and end
    all threads, which a fork would not copy."""
    for kind in ("view", "table"):
        query = f"SELECT {kind}_name FROM duckdb_{kind}s() WHERE NOT internal"
        for (name,) in instance.execute(query).fetchall():
            quoted = name.replace('"', '""')
            instance.execute(f'DROP {kind} "{quoted}"')
    instance.execute("SET threads = 1")
    _set_async(instance, "SET async_threads = 0")


def _set_async(instance: duckdb.DuckDBPyConnection, command: str) -> None:
    """Threads that read and write, which DuckDB has from 2.0 on."""
    with contextlib.suppress(duckdb.CatalogException):
        instance.execute(command)


def _close_idle() -> None:
    while _idle:
        _idle.pop().close()


def _forget_idle() -> None:
    """In a fork: what it has copied is not to be used, nor to be closed."""
    _copied.extend(_idle)
    _idle.clear()


_copied: list[duckdb.DuckDBPyConnection] = []
atexit.register(_close_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_idle)


@dataclass
class _Fed:
    """What a database is fed. errors: what has ended its rows. ended: nobody wants more of them.
    DuckDB looks for an interruption between its batches of results, and until 2.0 not while rows
    come of which none is one."""

    errors: list[BaseException]
    ended: bool = False


_feeds: dict[int, _Fed] = {}  # by the database


def feed(
    db: duckdb.DuckDBPyConnection, name: str, schema: pa.Schema, rows: Iterable[pa.RecordBatch]
) -> None:
    """Give a database of `database` rows under a name, to be read once. What ends them is raised
    in the end as it is: DuckDB makes another error of it."""

    fed = _feeds[id(db)]

    def careful() -> Iterator[pa.RecordBatch]:
        try:
            for batch in rows:
                if fed.ended:
                    raise InterruptedError("nobody wants more rows")
                yield batch
        except Exception as error:
            if not fed.ended:
                fed.errors.append(error)
            raise

    db.register(name, pa.RecordBatchReader.from_batches(schema, careful()))


@contextlib.contextmanager
def _interruptible(db: duckdb.DuckDBPyConnection, fed: _Fed) -> Iterator[None]:
    """Signals end a query at once: Python's own handlers, which raise what is to be raised, are
    called when DuckDB has returned, and a sort may take minutes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading_end, writing_end = os.pipe()
    os.set_blocking(writing_end, False)
    before = signal.set_wakeup_fd(writing_end)  # that of a database around this one, or -1
    listener = threading.Thread(target=_interrupt, args=(db, fed, reading_end, before), daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing_end)
        listener.join()
        os.close(reading_end)


def _interrupt(db: duckdb.DuckDBPyConnection, fed: _Fed, reading_end: int, before: int) -> None:
    while number := os.read(reading_end, 1):
        if number[0] in (signal.SIGINT, signal.SIGTERM):
            fed.ended = True
            db.interrupt()
        if before >= 0:
            os.write(before, number)


def limit(db: duckdb.DuckDBPyConnection, budget: int) -> None:
    """Limit the memory of a database, in bytes, from now on. It spills what it holds beyond."""
    db.execute("SET memory_limit = $limit", {"limit": f"{max(LEAST, budget)}B"})


def write_behind(file: pq.ParquetWriter, tables: Iterable[pa.Table]) -> None:
    """Write each table as a row group, by a thread, while the next one is made."""

    def write(table: pa.Table) -> None:
        if len(table):  # a row group has rows
            file.write_table(table, row_group_size=len(table))

    with ThreadPoolExecutor(1) as pool:
        for _ in in_order(pool, write, tables, 2):
            pass


def read_ahead(rows: Iterator[AnyRows]) -> Iterator[AnyRows]:
    """The rows, of which a thread makes the next while the caller works on the latest."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, rows, None)
        while (latest := coming.result()) is not None:
            coming = pool.submit(next, rows, None)
            yield latest


def batches(db: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    """The rows of a query, a batch at a time."""
    rows: Any = db.sql(query)
    if hasattr(rows, "to_arrow_reader"):
        yield from rows.to_arrow_reader(BATCH)
    else:  # its name until DuckDB 1.4
        yield from rows.fetch_arrow_reader(BATCH)
