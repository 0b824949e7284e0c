"""Why a page has its score, its class and its line in the precedence file, or has none.

Equation: score = base + sum over incoming links of what each gives. For PageRank the base is 0.15,
and a link gives 0.85 times its source's score, divided by its source's outdegree. Each other
ranking has its own equation, see pipeline/ranking/methods.py. The sum of all parts differs from the
score by no more than the certificate of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.captures.choosing import CHARSET, NOTHING_LEFT
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects
from crawlrank.pipeline.analysis.compare.links_to_page import LinksToPage, links_to_page
from crawlrank.pipeline.analysis.compare.similar import unknown_page
from crawlrank.pipeline.analysis.compare.standing import Standing, standing_of
from crawlrank.pipeline.precedence.caveats import Caveat, caveats_in
from crawlrank.pipeline.precedence.heritrix_column import lasting_form
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.ranking.sites.names import NAMES
from crawlrank.pipeline.steps import SUMMARY
from crawlrank.pipeline.workfolder.results.finished import Finished, Node
from crawlrank.pipeline.workfolder.results.line_search import first_lines
from crawlrank.pipeline.workfolder.results.page_keys import key_maker

SPELLINGS, CAPTURES, FOLDS = 20, 10, 10  # of each, how many are shown


@dataclass(frozen=True)
class IncomingLink:
    """A link to the page. uri, score: of its source. outlinks: how many pages the source links to.
    gives: what the link adds to the score."""

    uri: str
    score: float
    outlinks: int
    gives: float


@dataclass(frozen=True)
class Spelling:
    """precedence: of its line; None if it has none, and `why` says why."""

    uri: str
    captures: int
    links: int
    last: str
    form: str | None
    precedence: int | None
    why: str | None


@dataclass(frozen=True)
class Folded:
    """A page that folds into another one. kind: by a redirect, a canonical address or the charset
    of a query. hops: over so many steps."""

    key: str
    kind: str
    hops: int


@dataclass
class Explanation:
    """One page. uri: as the user wrote it. shown: as the scores show it. key: of the page that it
    folds into, or its own; asked_fold: its own, if it folds; gone: the kind of its first step, if
    nothing is left of it. site: that gives it its score, in a ranking of sites. made_of: the
    rankings that it is made of, with their weights. No link to a page has a part of its own in such
    scores. eta, absolute: bounds of the error of a score, relative to the exact one and in its
    unit."""

    uri: str
    key: str
    asked_fold: Folded | None = None
    gone: str | None = None
    folded_count: int = 0
    folded: list[Folded] = field(default_factory=list)
    shown: str | None = None
    score: float | None = None
    eta: float = 0.0
    absolute: float = 0.0
    site: str | None = None
    made_of: str | None = None
    standing: Standing | None = None
    why_no_score: str | None = None
    hub: float | None = None
    base: float = 0.0
    base_is: str = "every page has this"
    links: int = 0
    links_to_page: LinksToPage | None = None
    given: list[IncomingLink] = field(default_factory=list)
    others_give: float = 0.0
    spellings: list[Spelling] = field(default_factory=list)
    spelling_count: int = 0
    asked_spelling: Spelling | None = None
    capture_count: int = 0
    captures: list[dict[str, Any]] = field(default_factory=list)
    unlisted: int = 0
    ties: str = "key"
    caveats: list[Caveat] = field(default_factory=list)

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.eta, self.absolute)


def explain(finished: Finished, uri: str, key: str, top: int) -> Explanation:
    """The page with a key. top: how many of its links are listed.

    Raises BadInput if the folder does not have it, with similar URIs.
    """
    result = Explanation(uri, key, unlisted=int(finished.parameters["--unlisted"]))
    result.ties = finished.parameters["--ties"]
    if SUMMARY in finished.manifest.datasets():
        finished.folder(SUMMARY)  # raises an error where it is not as it was written
    result.caveats = caveats_in(finished.work, finished.manifest)
    key = _add_folds(result, finished)
    rows = _spellings(finished, key)
    node = finished.node_of(key)
    if not rows and node is None:
        key = _add_charset(result, finished)
        rows, node = _spellings(finished, key), finished.node_of(key)
    if node is None:
        result.why_no_score = _why_no_score(finished, result.gone)
    else:
        _add_score(result, finished, finished.nodes([node])[node], top)
    _add_spellings(result, finished, rows)
    return result


def key_of(finished: Finished, uri: str) -> str:
    """The key that the run makes of a URI; of a key the key itself. Raises NotAURI for all else."""
    return key_maker(finished)(uri)


WHY_GONE = {
    "gone": "its latest capture is 404 or 410",
    "loop": "it redirects in a circle, or into one",
    "redirect": "it redirects to what is gone",
    "canonical": "it names a canonical address that is gone",
}


def _why_no_score(finished: Finished, gone: str | None) -> str:
    bins = finished.parameters["--bins"]
    if gone:
        why = f"{WHY_GONE[gone]}, and no link from or to it counts (--gone)"
        return f"{why}; captured, it is in the last class, {bins}"
    if finished.parameters["--nodes"] == "linked":
        why = "no kept link leads to it, and --nodes linked ranks linked pages only"
        return f"{why}; captured, it is in the last class, {bins}"
    return "it is no node of the graph"


def _add_score(result: Explanation, finished: Finished, node: Node, top: int) -> None:
    result.shown, result.score = node.uri, node.score
    result.eta, result.absolute = finished.bounds
    result.base = finished.base_of(node.id)
    if (hubs := finished.hubs()) is not None:
        result.hub = float(hubs[node.id])
    if finished.method.needs:
        result.base_is = "readers start here"
    order = finished.order_of(node)
    result.standing = standing_of(finished, node.score, order)
    if finished.method.of_sites:
        site_name = NAMES[finished.parameters["--site-by"]]
        result.site = site_name(node.key.partition(")")[0])
    result.made_of = finished.parameters.get("--combine")
    if not finished.method.of_links:
        return
    (incoming,) = finished.incoming([node.id])
    result.links = len(incoming.sources)
    result.links_to_page = links_to_page(finished, node.key)
    best = np.lexsort((incoming.sources, -incoming.gives))[:top]
    sources = incoming.sources[best].tolist()
    nodes = finished.nodes(sources)
    for source, gives, outlinks in zip(
        sources, incoming.gives[best].tolist(), incoming.outdegrees[best].tolist(), strict=True
    ):
        _, _, uri, score = nodes[source]
        result.given.append(IncomingLink(uri, score, outlinks, gives))
    result.others_give = float(np.delete(incoming.gives, best).sum())


def _spellings(finished: Finished, key: str) -> list[tuple[Any, ...]]:
    """The spellings that are captured or linked most, each with the count of all spellings and of
    their captures."""
    return finished.rows(
        "SELECT uri, captures, links, last, count(*) OVER (), sum(captures) OVER ()"
        f" FROM {{spelled}} WHERE key = $key ORDER BY captures DESC, links DESC, uri"
        f" LIMIT {SPELLINGS}",
        key=key,
    )


def _add_charset(result: Explanation, finished: Finished) -> str:
    """Add that links name the page in another charset than it was captured in; the key of that
    page. Raises BadInput where no link does."""
    query = "SELECT key FROM {spelled} WHERE uri = $uri LIMIT 1"
    listed = finished.rows(query, uri=result.uri) if finished.has_uris else []
    if not listed:
        raise unknown_page(finished, result.uri, result.key)
    result.asked_fold, result.key = Folded(result.key, CHARSET.decode(), 1), listed[0][0]
    return result.key


def _add_folds(result: Explanation, finished: Finished) -> str:
    """Add the pages that fold into it, and the page that it folds into; the key of that one."""
    row = "SELECT target_key, kind, hops FROM {folded} WHERE key = $key"
    for target, kind, hops in finished.rows(row, key=result.key):
        if target.encode() in NOTHING_LEFT:
            result.gone = kind
            return result.key
        result.asked_fold, result.key = Folded(result.key, kind, hops), target
    rows = finished.rows(
        "SELECT key, kind, hops, count(*) OVER () FROM {folded} WHERE target_key = $key"
        f" ORDER BY hops, key LIMIT {FOLDS}",
        key=result.key,
    )
    result.folded_count = rows[0][3] if rows else 0
    result.folded = [Folded(*row[:3]) for row in rows]
    return result.key


def _add_spellings(result: Explanation, finished: Finished, rows: list[tuple[Any, ...]]) -> None:
    if rows and finished.has_uris:
        result.spelling_count, result.capture_count = int(rows[0][4]), int(rows[0][5])
        result.spellings = _listed(finished, [row[:4] for row in rows])
        captured = [row[0] for row in rows if row[1]]
        captures = finished.captures(captured)
        captures.sort(key=lambda row: (row["timestamp"] or "", row["archive"] or ""), reverse=True)
        result.captures = captures[:CAPTURES]
        if result.uri != result.key and result.uri not in {row[0] for row in rows}:
            (result.asked_spelling,) = _listed(finished, [(result.uri, 0, 0, "-")])


def _listed(finished: Finished, rows: Sequence[tuple[Any, ...]]) -> list[Spelling]:
    """The spellings with their lines in the precedence file, as the file itself has them."""
    forms = [_form(uri) for uri, *_ in rows]
    known = [form for form, _ in forms if form is not None]
    lines = first_lines(finished.folder("precedence.txt"), [f"{form} ".encode() for form in known])
    line_of = dict(zip(known, lines, strict=True))
    only_captured = finished.parameters["--spellings"] == "captured"
    spellings = []
    for row, (form, reason) in zip(rows, forms, strict=True):
        line = None if form is None else line_of[form]
        precedence = None if line is None else int(line.rpartition(b" ")[2])
        why = None if line else reason or _why_unlisted(row, only_captured)
        spellings.append(Spelling(row[0], row[1], row[2], row[3], form, precedence, why))
    return spellings


def _form(uri: str) -> tuple[str | None, str | None]:
    """The form in which Heritrix looks a URI up, or why there is none."""
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
