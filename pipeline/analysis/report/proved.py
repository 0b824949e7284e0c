"""The document of a report with scores as people are shown them: with their proved digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from crawlrank.pipeline.ranking.bounds import Bounds

SCORES = ("score", "best", "score_highest", "score_lowest", "highest", "lowest", "gives")
OF_RANKING = ("scores", "classes", "hosts", "sites")  # sections


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
    """Of a document that may have been JSON, which has no infinity but None."""
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
