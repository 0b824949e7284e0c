"""The document of a report as a page: pipeline/pages/templates/report.html.

The page stays below 5 MB whatever the crawl. Lists of the document are short but for that of the
best pages, and long texts are cut (pipeline/pages/page.py). Where all else takes much, fewer of
the best pages are listed. Scripts get these pages as rows of numbers beside a list of distinct
URIs, and of all else only what they draw.

The page begins with what a reader has to know, in a few sentences. Scores are shown with their
proved digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crawlrank.pipeline.analysis.anchor_texts import AnchorText
from crawlrank.pipeline.pages.page import address, cut, embedded_json, page, percent, size, small
from crawlrank.pipeline.ranking.bounds import Bounds

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
        called=called,
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


def called(page: Mapping[str, Any]) -> str:
    """What links call a page, and how many hosts do; '' where that is not known."""
    texts = [AnchorText(**text) for text in page.get("anchor_texts", ())]
    return "; ".join(f"“{cut(text.words)}” by {text.by}" for text in texts)


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
            title, replay = entry.get("title"), entry.get("replay")
            more = [title and cut(title), replay and address(replay), called(entry)]
            row += more if any(more) else []
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


ReportDocument = Mapping[str, Any]


def in_short(document: ReportDocument) -> list[str]:
    """One fact each: input, graph, exactness, classes, check, and what is not there yet."""
    parts = (_to_do, _input, _damage, _graph, _exactness, _classes, _check)
    return [sentence for part in parts for sentence in part(document)]


def _to_do(document: ReportDocument) -> Iterator[str]:
    if steps := document["run"]["to_do"]:
        yield (
            f"This run is not finished: {', '.join(steps)} {_are(len(steps))} still to do."
            " Run the same command again to continue."
        )
        if document["asked"]["against"] or document["asked"]["rankings"] > 1:
            yield "Once it is finished, it can be compared with other crawls and rankings."
    if left_out := document["left_out"]:
        yield (
            f"Not shown, as not finished or made of an older graph: {', '.join(left_out)}."
            " `crawlrank rank` makes them again."
        )


def _input(document: ReportDocument) -> Iterator[str]:
    given = document["input"]
    if given is None:
        yield "The graph was imported from text files, so there are no captures."
    elif given["captures"]:
        yield (
            f"{_many(given['archives'], 'archive')} of {size(given['size'])}"
            f" {'holds' if given['archives'] == 1 else 'hold'}"
            f" {_many(given['captures'], 'capture')}, {given['html_pages']:,} of them HTML pages."
            f" Links extracted: {given['links']:,}."
        )


def _damage(document: ReportDocument) -> Iterator[str]:
    given = document["input"] or {}
    if unreadable := given.get("unreadable"):
        yield f"{_many(unreadable, 'archive')} could not be read."
    if damage := given.get("damage"):
        yield f"{_many(damage, 'place')} in the archives {_are(damage)} damaged."


def _graph(document: ReportDocument) -> Iterator[str]:
    if graph := document["graph"]:
        yield (
            f"The graph has {_many(graph['nodes'], 'page')} and {_many(graph['edges'], 'link')}"
            " between them. A repeated link counts once; a link of a page to itself does not count."
        )
        if graph["dangling"]:
            yield (
                f"{_many(graph['dangling'], 'page')}, {_share(graph)} of all,"
                f" {'has' if graph['dangling'] == 1 else 'have'} no link to another page of the"
                " graph."
            )


def _share(graph: Mapping[str, Any]) -> str:
    return percent(graph["dangling"] / graph["nodes"] if graph["nodes"] else 0)


def _exactness(document: ReportDocument) -> Iterator[str]:
    rounds = document["rounds"]
    if not rounds:
        return
    if rounds["certificate"] == 0:
        yield f"The scores, by {rounds['method']}, are exact."
    else:
        yield (
            f"{rounds['method']} took {_many(rounds['count'], 'round')}. The sum of all errors is"
            f" below {small(100 * rounds['certificate'])} % of the sum of the scores."
        )


def _classes(document: ReportDocument) -> Iterator[str]:
    if classes := document["classes"]:
        near = classes["nodes_near_a_boundary"]
        yield (
            f"The precedence file puts {_many(classes['uris'], 'URI')} into"
            f" {_many(classes['bins'], 'class', 'classes')}, 1 being crawled first."
            f" {_many(near, 'page')} may belong to a neighbouring class, because the score is"
            " within the error of its limit."
        )


def _check(document: ReportDocument) -> Iterator[str]:
    if opic := document["opic"]:
        if opic["verdict"] == "pass":
            yield "OPIC, which computes the same importance in another way, agrees."
        else:
            yield f"OPIC does not confirm the scores: {'; '.join(opic['reasons'])}."
    elif document["scores"] and document["run"]["has_opic"]:
        yield "The scores were not checked by OPIC."


def _many(number: int, what: str, plural: str | None = None) -> str:
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


SCORES = ("score", "best", "score_highest", "score_lowest", "highest", "lowest", "gives")
OF_RANKING = ("scores", "missed", "classes", "hosts", "sites")  # sections


def with_proved_digits(document: Mapping[str, Any]) -> dict[str, Any]:
    """A copy. document: of report.py, whose scores have all digits."""
    shown = dict(document)
    if document["rounds"] and document["scores"]:
        bounds = bounds_in(document["rounds"])
        shown |= {name: proved(document[name], bounds) for name in OF_RANKING}
    if document["rankings"]:
        shown["rankings"] = [proved(other, bounds_in(other)) for other in document["rankings"]]
    if changes := document["changes"]:
        shown["changes"] = _changes(changes)
    return shown


def bounds_in(section: Mapping[str, Any]) -> Bounds:
    """The bounds in a document that may have been JSON, which has None for infinity."""
    eta, absolute = (
        math.inf if section[name] is None else section[name] for name in Bounds._fields
    )
    return Bounds(eta, absolute)


def proved(value: Any, bounds: Bounds) -> Any:
    """Whatever lists and dicts hold, with rounded scores."""
    if isinstance(value, list):
        return [proved(each, bounds) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: bounds.number(each)
        if name in SCORES and isinstance(each, float)
        else proved(each, bounds)
        for name, each in value.items()
    }


def _changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Pages have the scores of one of two rankings."""
    before, after = bounds_in(changes["before"]), bounds_in(changes["after"])
    moves = {
        name: [
            move | {"before": proved(move["before"], before), "after": proved(move["after"], after)}
            for move in changes[name]
        ]
        for name in ("risen_most", "fallen_most")
    }
    best = {"new_best": proved(changes["new_best"], after)}
    return {**changes, **moves, **best, "gone_best": proved(changes["gone_best"], before)}
