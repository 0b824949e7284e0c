"""A graph of pages on SQLite, and numbers for each page: how relevant its contents are, and what it
is worth to fetch it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.stores.database import Database, Edge, Page

_TABLES = (
    "CREATE TABLE IF NOT EXISTS nodes (number INTEGER PRIMARY KEY)",
    """CREATE TABLE IF NOT EXISTS edges (source INTEGER, target INTEGER,
        PRIMARY KEY (source, target)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS edges_by_target ON edges (target, source)",
)
_ENDS = "SELECT {start}, {end} FROM edges WHERE {start} IN ({{numbers}}) ORDER BY {start}, {end}"
_NAMED = "SELECT number FROM pages WHERE page = ?"


class SqliteGraph:
    """Pages and the links between them, each once. An edge brings its pages along."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            for table in _TABLES:
                database.execute(table)

    def add_node(self, page: Page) -> None:
        self.add_nodes([page])

    def add_nodes(self, pages: Iterable[Page]) -> None:
        with self._database.transaction():
            self._add(self._database.numbers_of(pages))

    def add_edge(self, source: Page, target: Page) -> None:
        self.add_edges([(source, target)])

    def add_edges(self, edges: Iterable[Edge]) -> None:
        pairs, database = list(edges), self._database
        with database.transaction():
            sources = database.numbers_of(source for source, _ in pairs)
            targets = database.numbers_of(target for _, target in pairs)
            self._add([*sources, *targets])
            numbers = sorted(zip(sources, targets, strict=True))
            database.execute_many("INSERT OR IGNORE INTO edges VALUES (?, ?)", numbers)

    def delete_node(self, page: Page) -> None:
        """Delete a page and all its edges."""
        with self._database.transaction():
            if (number := self._database.number_of(page)) is not None:
                self._database.execute("DELETE FROM edges WHERE source = ?", (number,))
                self._database.execute("DELETE FROM edges WHERE target = ?", (number,))
                self._database.execute("DELETE FROM nodes WHERE number = ?", (number,))

    def delete_edge(self, source: Page, target: Page) -> None:
        where = f"source = ({_NAMED}) AND target = ({_NAMED})"
        self._database.execute(f"DELETE FROM edges WHERE {where}", (source, target))

    def has_node(self, page: Page) -> bool:
        query = f"SELECT 1 FROM nodes WHERE number = ({_NAMED})"
        return self._database.number(query, (page,)) is not None

    def has_edge(self, source: Page, target: Page) -> bool:
        query = f"SELECT 1 FROM edges WHERE source = ({_NAMED}) AND target = ({_NAMED})"
        return self._database.number(query, (source, target)) is not None

    def successors(self, page: Page) -> list[Page]:
        return self._pages(page, self.targets_of)

    def predecessors(self, page: Page) -> list[Page]:
        return self._pages(page, self.sources_of)

    def number_of(self, page: Page) -> int | None:
        """What all stores of one database know a page by."""
        return self._database.number_of(page)

    def targets_of(self, numbers: Sequence[int]) -> list[list[int]]:
        """Numbers of the successors of each page, by its number."""
        return self._ends(numbers, "source", "target")

    def sources_of(self, numbers: Sequence[int]) -> list[list[int]]:
        return self._ends(numbers, "target", "source")

    def neighbours(self, page: Page) -> list[Page]:
        """Successors and predecessors, each once."""
        return list(dict.fromkeys(self.successors(page) + self.predecessors(page)))

    def nodes(self) -> Iterator[Page]:
        for (page,) in self._database.rows("SELECT page FROM nodes JOIN pages USING (number)"):
            yield page

    def edges(self) -> Iterator[Edge]:
        query = """SELECT s.page, t.page FROM edges
            JOIN pages s ON s.number = source JOIN pages t ON t.number = target"""
        yield from self._database.rows(query)

    def node_count(self) -> int:
        return int(self._database.number("SELECT count(*) FROM nodes"))

    def edge_count(self) -> int:
        return int(self._database.number("SELECT count(*) FROM edges"))

    def _add(self, numbers: list[int]) -> None:
        rows = ((number,) for number in sorted(set(numbers)))
        self._database.execute_many("INSERT OR IGNORE INTO nodes VALUES (?)", rows)

    def _ends(self, numbers: Sequence[int], start: str, end: str) -> list[list[int]]:
        ends: dict[int, list[int]] = {number: [] for number in numbers}
        for number, other in self._database.rows_of(_ENDS.format(start=start, end=end), [*ends]):
            ends[number].append(other)
        return [ends[number] for number in numbers]

    def _pages(self, page: Page, ends: Callable[[Sequence[int]], list[list[int]]]) -> list[Page]:
        number = self._database.number_of(page)
        if number is None:
            return []
        return [self._database.page_of(end) for end in ends([number])[0]]


_NUMBER = "number = (SELECT number FROM pages WHERE page = ?)"


class _PageNumbers:
    """A number for each page, in a table with the columns `number` and `_column`."""

    _table: str
    _column: str
    _index: str
    _order: str  # of the column, best first

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table}"
                f" (number INTEGER PRIMARY KEY, {self._column} REAL NOT NULL)"
            )
            database.execute(
                f"CREATE INDEX IF NOT EXISTS {self._index} ON {self._table} {self._order}"
            )

    def _set(self, page: Page, number: float) -> None:
        with self._database.transaction():
            numbers = self._database.numbers_of([page])
            query = f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)"
            self._database.execute(query, (*numbers, number))

    def get(self, page: Page) -> float | None:
        query = f"SELECT {self._column} FROM {self._table} WHERE {_NUMBER}"
        number: float | None = self._database.number(query, (page,))
        return number

    def delete(self, page: Page) -> None:
        self._database.execute(f"DELETE FROM {self._table} WHERE {_NUMBER}", (page,))


class SqliteRelevance(_PageNumbers):
    """How relevant the contents of pages are, from 0 to 1."""

    _table, _column, _index, _order = "relevance", "relevance", "by_relevance", "(relevance)"

    def set(self, page: Page, relevance: float) -> None:
        """Raises BadInput for other numbers."""
        if not 0 <= relevance <= 1:
            raise BadInput(f"relevance of {page!r}", f"{relevance:g}", "a number from 0 to 1")
        self._set(page, relevance)

    def get_each(self, numbers: Sequence[int]) -> dict[int, float]:
        """The relevance of pages, by their numbers."""
        query = "SELECT number, relevance FROM relevance WHERE number IN ({numbers})"
        return dict(self._database.rows_of(query, numbers))

    def best(self, count: int) -> list[tuple[Page, float]]:
        """The most relevant pages, the best first."""
        query = """SELECT page, relevance FROM relevance JOIN pages USING (number)
            ORDER BY relevance DESC, number LIMIT ?"""
        return [(page, relevance) for page, relevance in self._database.rows(query, (count,))]


class SqliteValues(_PageNumbers):
    """What it is worth to fetch each page."""

    _table, _column, _index, _order = "page_values", "value", "by_value", "(value DESC, number)"

    def set(self, page: Page, value: float) -> None:
        """Raises BadInput for what is no number."""
        if not math.isfinite(value):
            raise BadInput(f"value of {page!r}", f"{value:g}", "a number")
        self._set(page, value)

    def take_best(self, count: int) -> list[Page]:
        """The most valuable pages, the best first; of the same value, those that came first. They
        are removed."""
        query = """SELECT number, page FROM page_values JOIN pages USING (number)
            ORDER BY value DESC, number LIMIT ?"""
        with self._database.transaction():
            best = self._database.execute(query, (count,)).fetchall()
            delete = "DELETE FROM page_values WHERE number = ?"
            self._database.execute_many(delete, ((number,) for number, _ in best))
        return [page for _, page in best]

    def count(self) -> int:
        return int(self._database.number("SELECT count(*) FROM page_values"))
