"""Why a page has its score, its class and its line in the precedence file, or has none.

Equation: score = 0.15 + 0.85 * sum over incoming links of source's score / source's outdegree; each
summand is what that link gives. What the parts shown and the rest add up to differs from the score
by no more than the certificate of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jobs.kernel.errors import BadInput
from jobs.kernel.keys.heritrix_form import HeritrixRejects
from jobs.kernel.keys.keys import key_function
from jobs.kernel.rank.plain_round import BASE
from pipeline.analysis.compare.similar import similar_uris
from pipeline.analysis.compare.standing import Standing, standing_of
from pipeline.precedence.caveats import Caveat, caveats_in
from pipeline.precedence.heritrix_column import lasting_form
from pipeline.workfolder.results.finished import Finished, Node
from pipeline.workfolder.results.line_search import first_lines

SPELLINGS, CAPTURES, FOLDS = 20, 10, 10  # that are shown


class NotAURI(ValueError):
    """What was asked for is neither a URI nor a key."""


@dataclass(frozen=True)
class Given:
    """A link to the page. outlinks: how many pages its source links to. gives: to the score."""

    uri: str
    score: float
    outlinks: int
    gives: float


@dataclass(frozen=True)
class Spelling:
    """precedence: of its line, None where it has none, and `why` tells why."""

    uri: str
    captures: int
    links: int
    last: str
    form: str | None
    precedence: int | None
    why: str | None


@dataclass(frozen=True)
class Folded:
    """A page that another one stands for: by a redirect or a canonical address, over so many
    steps."""

    key: str
    kind: str
    hops: int


@dataclass
class Explanation:
    """All of one page. uri: as it was asked for. shown: as the scores show it. key: of the page
    that stands for it; asked_fold: its own, if that is another one."""

    uri: str
    key: str
    asked_fold: Folded | None = None
    folded_count: int = 0
    folded: list[Folded] = field(default_factory=list)
    shown: str | None = None
    score: float | None = None
    standing: Standing | None = None
    why_no_score: str | None = None
    base: float = BASE
    links: int = 0
    given: list[Given] = field(default_factory=list)
    others_give: float = 0.0
    spellings: list[Spelling] = field(default_factory=list)
    spelling_count: int = 0
    asked_spelling: Spelling | None = None
    capture_count: int = 0
    captures: list[dict[str, Any]] = field(default_factory=list)
    unlisted: int = 0
    ties: str = "key"
    caveats: list[Caveat] = field(default_factory=list)


def explain(finished: Finished, uri: str, key: str, top: int) -> Explanation:
    """The page with a key. top: how many of its links are told one by one.

    Raises BadInput where the folder does not have it, with the URIs that may have been meant.
    """
    told = Explanation(uri, key, unlisted=int(finished.parameters["--unlisted"]))
    told.ties = finished.parameters["--ties"]
    told.caveats = caveats_in(finished.work, finished.manifest)
    key = _tell_folds(told, finished)
    rows = _spellings(finished, key)
    node = finished.node_of(key)
    if not rows and node is None:
        raise _unknown(finished, uri, key)
    if node is None:
        told.why_no_score = _why_no_score(finished)
    else:
        _tell_score(told, finished, finished.nodes([node])[node], top)
    _tell_spellings(told, finished, rows)
    return told


def key_of(finished: Finished, uri: str) -> str:
    """The key of a URI as the run made it. A key is its own, so that one can be asked for, too.

    Raises NotAURI for what is neither.
    """
    if not uri.lower().startswith(("http://", "https://")):
        if ")" in uri or not finished.has_uris:
            return uri
        raise NotAURI(f"{uri!r} is no URI: write it with http:// or https://, or give a key")
    key = key_function(bool(finished.parameters["--keep-www"]))(uri.encode("utf-8", "replace"))
    if key is None:
        raise NotAURI(f"{uri!r} is a URI of which surt makes no key, so it is never a page")
    return key.decode()


def _unknown(finished: Finished, uri: str, key: str) -> BadInput:
    meant = similar_uris(finished, key)
    cure = f"Did you mean {' or '.join(meant)}?" if meant else "No host is spelled like its own."
    found = f"no page with the key {key}"
    return BadInput(str(finished.work), found, f"the page of {uri}", cure)


def _why_no_score(finished: Finished) -> str:
    bins = finished.parameters["--bins"]
    if finished.parameters["--nodes"] == "linked":
        why = "no kept link leads to it, and --nodes linked ranks linked pages only"
        return f"{why}; captured, it is in the last class, {bins}"
    return "it is no node of the graph"


def _tell_score(told: Explanation, finished: Finished, node: Node, top: int) -> None:
    told.shown, told.score = node.uri, node.score
    order = finished.order_of(node)
    told.standing = standing_of(finished, node.score, order)
    (incoming,) = finished.incoming([node.id])
    told.links = len(incoming.sources)
    best = np.lexsort((incoming.sources, -incoming.gives))[:top]
    sources = incoming.sources[best].tolist()
    nodes = finished.nodes(sources)
    for source, gives, outlinks in zip(
        sources, incoming.gives[best].tolist(), incoming.outdegrees[best].tolist(), strict=True
    ):
        found = nodes[source]
        told.given.append(Given(found.uri, found.score, outlinks, gives))
    told.others_give = float(np.delete(incoming.gives, best).sum())


def _spellings(finished: Finished, key: str) -> list[tuple[Any, ...]]:
    """Those captured or linked most, each with how many spellings and captures there are."""
    return finished.rows(
        "SELECT uri, captures, links, last, count(*) OVER (), sum(captures) OVER ()"
        f" FROM {{spelled}} WHERE key = $key ORDER BY captures DESC, links DESC, uri"
        f" LIMIT {SPELLINGS}",
        key=key,
    )


def _tell_folds(told: Explanation, finished: Finished) -> str:
    """What folds into the page, and into which one it folds itself: that one's key."""
    row = "SELECT target_key, kind, hops FROM {folded} WHERE key = $key"
    for target, kind, hops in finished.rows(row, key=told.key):
        told.asked_fold, told.key = Folded(told.key, kind, hops), target
    rows = finished.rows(
        "SELECT key, kind, hops, count(*) OVER () FROM {folded} WHERE target_key = $key"
        f" ORDER BY hops, key LIMIT {FOLDS}",
        key=told.key,
    )
    told.folded_count = rows[0][3] if rows else 0
    told.folded = [Folded(*row[:3]) for row in rows]
    return told.key


def _tell_spellings(told: Explanation, finished: Finished, rows: list[tuple[Any, ...]]) -> None:
    if rows and finished.has_uris:
        told.spelling_count, told.capture_count = int(rows[0][4]), int(rows[0][5])
        told.spellings = _listed(finished, [row[:4] for row in rows])
        captured = [row[0] for row in rows if row[1]]
        found = finished.captures(captured)
        found.sort(key=lambda row: (row["timestamp"] or "", row["archive"] or ""), reverse=True)
        told.captures = found[:CAPTURES]
        if told.uri != told.key and told.uri not in {row[0] for row in rows}:
            (told.asked_spelling,) = _listed(finished, [(told.uri, 0, 0, "-")])


def _listed(finished: Finished, rows: Sequence[tuple[Any, ...]]) -> list[Spelling]:
    """Whether each has a line in the precedence file: as the file itself says."""
    forms: list[str | None] = []
    reasons: list[str | None] = []
    for uri, *_ in rows:
        form, reason = _form(uri)
        forms.append(form)
        reasons.append(reason)
    known = [form for form in forms if form is not None]
    lines = first_lines(finished.folder("precedence.txt"), [f"{form} ".encode() for form in known])
    line_of = dict(zip(known, lines, strict=True))
    only = finished.parameters["--spellings"] == "captured"
    found = []
    for row, form, reason in zip(rows, forms, reasons, strict=True):
        line = None if form is None else line_of[form]
        precedence = None if line is None else int(line.rpartition(b" ")[2])
        why = None if line else reason or _why_unlisted(row, only)
        found.append(Spelling(row[0], row[1], row[2], row[3], form, precedence, why))
    return found


def _form(uri: str) -> tuple[str | None, str | None]:
    try:
        return lasting_form(uri), None
    except HeritrixRejects as error:
        return None, f"Heritrix rejects it: {error}"


def _why_unlisted(row: tuple[Any, ...], only_captured: bool) -> str:
    _, captures, links, _ = row
    if not captures and not links:
        return "this spelling was neither captured nor linked"
    if not captures and only_captured:
        return "it was not captured, and --spellings captured lists captured ones only"
    return "it has no line in precedence.txt"
