"""Which page to fetch next."""

from __future__ import annotations

from pipeline.online.stores.protocols import Page, Values


class BestFirst:
    """The page of the largest value first, each once; a page comes again when it gets a value
    again. What is taken is removed from the store before it is given out: a crawler that is killed
    then asks for these pages again by giving them values, as it knows what was in flight."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def set_rate(self, page: Page, rate: float) -> None:
        """Rates of changes do not matter here."""

    def set_value(self, page: Page, value: float) -> None:
        self._values.set(page, value)

    def delete(self, page: Page) -> None:
        self._values.delete(page)

    def get_next_pages(self, count: int = 1) -> list[Page]:
        return self._values.take_best(count)
