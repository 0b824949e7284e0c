"""The document of a report as a page: pipeline/pages/templates/report.html.

The page stays below 5 MB whatever the crawl. Lists of the document are short but for that of the
best pages, and long texts are cut (pipeline/pages/formats.py). Where all else takes much, fewer of
the best pages are listed. Scripts get these pages as rows of numbers beside a list of distinct
URIs, and of all else only what they draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crawlrank.pipeline.analysis.report.in_short import in_short, with_proved_digits
from crawlrank.pipeline.pages.formats import cut
from crawlrank.pipeline.pages.page import address, embedded_json, page

SHOWN = 25  # rows of a long table that are there without scripts
BYTES = 3_000_000  # of the best pages
MOST_BYTES = 4_900_000  # of the whole page; what is over is taken from the best pages
COLUMNS = ("position", "score", "class", "inlinks", "outlinks", "captures", "last")


def report_page(document: Mapping[str, Any]) -> str:
    """The text of the page. document: of report.py."""
    document = with_proved_digits(document)
    text = _page(document, BYTES)
    over = len(text.encode()) - MOST_BYTES
    return text if over <= 0 else _page(document, max(0, BYTES - over))


def _page(document: Mapping[str, Any], room: int) -> str:
    packed = _Packed(room)
    rows = packed.fitting(document["scores"]["best"] if document["scores"] else ())
    return page(
        "report.html",
        {**_drawn(document), "best": rows, "uris": packed.uris},
        libraries=["d3", "plot", "datatables"],
        scripts=["charts.js", "report.js"],
        styles=["report.css"],
        report=document,
        in_short=in_short(document),
        shown=SHOWN,
        listed=len(rows),
    )


def _drawn(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the charts and the table of hosts show."""
    parts = {
        "input": ("by_status", "by_type"), "captured_hosts": ("listed",), "links": ("by_hop",),
        "structure": ("indegrees", "outdegrees", "parts"), "rounds": ("rounds",),
        "scores": ("all", "of_captured"), "classes": ("classes",), "hosts": ("listed", "linked"),
        "opic": ("opic",), "changes": ("classes",), "run": ("steps",),
    }  # fmt: skip
    drawn: dict[str, Any] = {
        section: {name: document[section].get(name) for name in names}
        if document[section] is not None
        else None
        for section, names in parts.items()
    }
    if drawn["hosts"]:
        drawn["hosts"]["listed"] = [
            row | {"host": cut(row["host"]), "site": cut(row["site"])}
            for row in drawn["hosts"]["listed"]
        ]
    return drawn


class _Packed:
    """Rows of pages with their URIs as numbers. uris: each [text] or [text, target of the link],
    the latter where they differ or where there is no link, as None."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.uris: list[list[str | None]] = []
        self._numbers: dict[str, int] = {}
        self._bytes = 0

    def fitting(self, pages: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """The rows that there is room for, in bytes, best first."""
        return list(self._rows(pages))

    def _rows(self, pages: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
        for entry in pages:
            why = [[self._number(link["uri"]), link["gives"]] for link in entry["why"]]
            row = [self._number(entry["uri"]), *(entry[name] for name in COLUMNS), why]
            self._bytes += len(embedded_json(row)) + 1
            if self._bytes > self._room:
                return
            yield row

    def _number(self, uri: str) -> int:
        if uri not in self._numbers:
            self._numbers[uri] = len(self.uris)
            text, target = cut(uri), address(uri)
            self.uris.append([text] if text == target else [text, target])
            self._bytes += len(embedded_json(self.uris[-1])) + 1
        return self._numbers[uri]
