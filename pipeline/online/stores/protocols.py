"""What algorithms that run beside a crawl ask of their stores.

Pages are named by bytes, any of them. What a store does not know is None, or left out; adding what
is there and deleting what is not change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

Page = bytes
Edge = tuple[bytes, bytes]  # source, target


class PageGraph(Protocol):
    """Pages and the links between them, each once. An edge brings its pages along."""

    def add_node(self, page: Page) -> None: ...

    def add_nodes(self, pages: Iterable[Page]) -> None: ...

    def add_edge(self, source: Page, target: Page) -> None: ...

    def add_edges(self, edges: Iterable[Edge]) -> None: ...

    def delete_node(self, page: Page) -> None:
        """Delete a page and all its edges."""

    def delete_edge(self, source: Page, target: Page) -> None: ...

    def has_node(self, page: Page) -> bool: ...

    def has_edge(self, source: Page, target: Page) -> bool: ...

    def successors(self, page: Page) -> list[Page]: ...

    def predecessors(self, page: Page) -> list[Page]: ...

    def neighbours(self, page: Page) -> list[Page]:
        """Successors and predecessors, each once."""

    def number_of(self, page: Page) -> int | None:
        """What all stores of one database know a page by."""

    def targets_of(self, numbers: Sequence[int]) -> list[list[int]]:
        """Numbers of the successors of each page, by its number."""

    def sources_of(self, numbers: Sequence[int]) -> list[list[int]]: ...

    def nodes(self) -> Iterator[Page]: ...

    def edges(self) -> Iterator[Edge]: ...

    def node_count(self) -> int: ...

    def edge_count(self) -> int: ...


class Cash(NamedTuple):
    """Of a page, of one kind. history: cash of all reads. cash: what it has now. last: the clock at
    its last read."""

    history: float
    cash: float
    last: float


class PageCash(NamedTuple):
    hub: Cash
    authority: Cash


KINDS = ("hub", "authority")


class HitsCash(Protocol):
    """Cash of both kinds, and the clock of its reads. Kinds are those of KINDS."""

    def transaction(self) -> AbstractContextManager[None]:
        """What is changed within it, in stores of the same database too, is changed whole or not at
        all."""

    def clock(self) -> float: ...

    def advance(self, amount: float) -> None:
        """Move the clock on."""

    def set(self, page: Page, score: PageCash) -> None: ...

    def set_many(self, scores: Iterable[tuple[Page, PageCash]]) -> None: ...

    def get(self, page: Page) -> PageCash | None: ...

    def get_each(self, numbers: Sequence[int]) -> dict[int, PageCash]:
        """Those of pages by their numbers."""

    def delete(self, page: Page) -> None: ...

    def items(self) -> Iterator[tuple[Page, PageCash]]: ...

    def count(self) -> int: ...

    def total(self, kind: str) -> float:
        """Cash of all pages together."""

    def highest(self, kind: str, count: int) -> list[Page]:
        """The pages with the most cash, the richest first."""

    def increase(self, kind: str, pages: Iterable[Page], amount: float) -> None:
        """Give the amount to each of some pages, once for each time that it is named."""

    def increase_each(self, kind: str, amounts: Mapping[int, float]) -> None:
        """Give each page its amount, by its number."""

    def increase_all(self, kind: str, amount: float) -> None:
        """Give the amount to each page, in a time that does not depend on how many there are."""

    def close(self) -> None:
        """Close the database, with all stores on it."""


class Relevance(Protocol):
    """How relevant the contents of pages are, from 0 to 1."""

    def set(self, page: Page, relevance: float) -> None:
        """Raises BadInput for other numbers."""

    def get(self, page: Page) -> float | None: ...

    def get_each(self, numbers: Sequence[int]) -> dict[int, float]:
        """Those of pages by their numbers."""

    def delete(self, page: Page) -> None: ...

    def best(self, count: int) -> list[tuple[Page, float]]:
        """The most relevant pages, the best first."""


class Values(Protocol):
    """What it is worth to fetch each page."""

    def set(self, page: Page, value: float) -> None:
        """Raises BadInput for what is no number."""

    def get(self, page: Page) -> float | None: ...

    def delete(self, page: Page) -> None: ...

    def take_best(self, count: int) -> list[Page]:
        """The most valuable pages, the best first; of the same value, those that came first. They
        are removed."""

    def count(self) -> int: ...


class PageChanges(Protocol):
    """What visits saw of changes of pages."""

    def visit(self, page: Page, digest: bytes) -> str:
        """Take note of the contents of a page now: `new`, `changed` or `same`."""

    def rate(self, page: Page) -> float | None:
        """Changes a day; None for pages that were not visited twice."""

    def delete(self, page: Page) -> None: ...


class Demand(NamedTuple):
    """Of a page. rate: changes a day. value: what a fresh copy is worth."""

    rate: float
    value: float


class Schedule(Protocol):
    """When each page is due, in days of the scheduler's clock, by its demand."""

    def set_rate(self, page: Page, rate: float) -> None: ...

    def set_value(self, page: Page, value: float) -> None: ...

    def get(self, page: Page) -> Demand | None: ...

    def delete(self, page: Page) -> None: ...

    def count(self) -> int:
        """Pages with a value."""

    def sample(self, most: int) -> list[Demand]:
        """Of all pages with a value, or of so many taken at random."""

    def take_due(self, count: int, frequency: Callable[[Demand], float]) -> list[Page]:
        """The pages that are due first, whatever the clock says. Each is due again after its
        interval, by its fetches a day; with none it sleeps, and another one is taken."""

    def wake(self, worth: float) -> None:
        """Pages that sleep and are worth more, by value over rate, are due now."""
