"""Why a page has its score, its class and its line in the precedence file, or has none.

Equation: score = base + sum over incoming links of what each gives. For PageRank the base is 0.15,
and a link gives 0.85 times its source's score, divided by its source's outdegree. Each other
ranking has its own equation, see pipeline/ranking/methods.py. The sum of all parts differs from the
score by no more than the certificate of the run.

The error for a page that a work folder lacks, with URIs of it that are similar: of the page's
host, or of hosts with a similar name.

How many links to a page were counted, how many of them count for its score, and why the others
do not.

A link counts once for each page that has it, whatever the spellings and however often the page was
captured; never for the page itself; and only if that page has a rank. Reads all links once, as they
are not sorted by their targets.

The position and the class of one page, from counts instead of a sort.

Rounding is monotone, so the scores that count as equal to a score are those between two doubles
(`tie_bounds`), and the position of a page is a count: of pages above it, and of equal ones with a
smaller key. Its class follows from the same counts over the captured pages, by the equation of
pipeline/ranking/classes.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.captures.choosing import CHARSET, NOTHING_LEFT
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import BEST_SPELLING_FIRST, rounded
from crawlrank.jobs.kernel.formats.rows import LINK_HOPS
from crawlrank.jobs.kernel.keys.form_columns import lasting_form
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects
from crawlrank.pipeline.analysis.anchor_texts import AnchorTexts, anchor_texts
from crawlrank.pipeline.data.site_names import NAMES
from crawlrank.pipeline.precedence.caveats import Caveat, caveats_in
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.ranking.classes import class_of
from crawlrank.pipeline.steps import SUMMARY
from crawlrank.pipeline.workfolder.results.finished import Finished, Node
from crawlrank.pipeline.workfolder.results.lines import first_lines
from crawlrank.pipeline.workfolder.results.weights import key_maker

SHOWN = 3
EDITS = 3  # letters by which a host may differ

OF_HOST = f"""
    SELECT arg_max(uri, captures) FROM {{spelled}} WHERE key >= $low AND key < $high
    GROUP BY key ORDER BY jaro_winkler_similarity(key, $key) DESC, key LIMIT {SHOWN}
"""
OF_OTHERS = f"""
    SELECT min(uri) FROM (SELECT split_part(key, ')', 1) AS host, uri FROM {{spelled}})
    WHERE levenshtein(host, $host) <= {EDITS} OR starts_with(host, $host || ',')
       OR starts_with($host, host || ',')
    GROUP BY host ORDER BY levenshtein(host, $host), host LIMIT {SHOWN}
"""


def unknown_page(finished: Finished, uri: str, key: str) -> BadInput:
    similar = similar_uris(finished, key)
    cure = f"Did you mean {' or '.join(similar)}?" if similar else "No host has a similar name."
    return BadInput(str(finished.work), f"no page with the key {key}", f"the page of {uri}", cure)


def similar_uris(finished: Finished, key: str) -> list[str]:
    """The most similar first. Keys of a host follow each other, so few other keys are read."""
    host = key.partition(")")[0]
    # keys of the host begin with it and `)`; the character after `)` is `*`
    rows = finished.rows(OF_HOST, low=f"{host})", high=f"{host}*", key=key)
    return [uri for (uri,) in rows or finished.rows(OF_OTHERS, host=host)]


#: by the key of the source: the links from there, and whether it has an id
_OF_SOURCES = """
    WITH target AS (SELECT DISTINCT uri FROM {spelled} WHERE key = $key),
    source AS (
        SELECT l.source AS uri, count(*) AS links FROM {kept} l
        WHERE l.target IN (SELECT uri FROM target) AND list_contains($hops, l.hop)
        GROUP BY l.source
    ),
    spelling AS (SELECT uri, min(key) AS key FROM {spelled}
        WHERE uri IN (SELECT uri FROM source) GROUP BY uri),
    page AS (SELECT spelling.key AS key, sum(links) AS links FROM source
        LEFT JOIN spelling USING (uri) GROUP BY spelling.key)
    SELECT coalesce(sum(links), 0)::BIGINT,
        coalesce(sum(links) FILTER (page.key = $key), 0)::BIGINT,
        coalesce(sum(links) FILTER (page.key IS DISTINCT FROM $key AND m.id IS NULL), 0)::BIGINT,
        (count(*) FILTER (page.key <> $key AND m.id IS NOT NULL))::BIGINT
    FROM page LEFT JOIN {mapped} m ON m.key = page.key
"""


@dataclass(frozen=True)
class LinksToPage:
    """counted: links of archives to any spelling of the page. own: of these, the page's. unranked:
    those of pages without an id. repeated: those of a page whose link counts already. counting:
    the others, which give to the score."""

    counted: int
    own: int
    unranked: int
    repeated: int
    counting: int


def links_to_page(finished: Finished, key: str) -> LinksToPage | None:
    """None where that would take more than the folder has: links at a URL, links of imported text,
    and pages that stand for others."""
    folds = finished.parameters.get("--fold", "none") != "none"
    if folds or finished.folders.data or finished.manifest.imported:
        return None
    rows = finished.rows(_OF_SOURCES, key=key, hops=list(LINK_HOPS))
    counted, own, unranked, counting = map(int, rows[0])
    repeated = counted - own - unranked - counting
    return LinksToPage(counted, own, unranked, repeated, counting)


COUNTS = """
    SELECT count(*), fsum(score), count(*) FILTER (score >= $low AND score <= $high),
           count(*) FILTER (before), count(*) FILTER (over), count(*) FILTER (over AND before),
           count(*) FILTER (over AND score > $high), count(*) FILTER (over AND score >= $low)
    FROM (SELECT score, captured OR $all AS over, score > $high OR (score >= $low AND (
"""
BY_KEY = COUNTS + "ord < $ord)) AS before FROM {ranked})"
BY_LINKS = (
    COUNTS
    + """
          r.links > n.links OR (r.links = n.links AND (r.captures > n.captures
          OR (r.captures = n.captures AND ord < $ord))))) AS before
          FROM (SELECT * FROM {ranked} JOIN {weighed} USING (ord)) r,
          (SELECT links, captures FROM {weighed} WHERE ord = $ord) n)
"""
)


@dataclass(frozen=True)
class Standing:
    """position: from 1, of `nodes`. equal: nodes with its score, itself included; the key orders
    them, with --ties links after links and captures. probability: to 12 digits; further ones depend
    on the order of a sum. cut_over: how many nodes the classes are cut over."""

    nodes: int
    position: int
    equal: int
    probability: float
    precedence: int
    bins: int
    cut_over: int


def standing_of(finished: Finished, score: float, order: int | str) -> Standing:
    """order: what orders the node among equal ones: its id or, in text datasets, its key."""
    low, high = tie_bounds(score, finished.digits)
    parameters, values = finished.parameters, {"low": low, "high": high, "ord": order}
    query = BY_LINKS if parameters["--ties"] == "links" else BY_KEY
    row = finished.rows(query, **values, all=parameters["--classes-over"] == "all")[0]
    if not row[4]:  # nothing was captured
        row = finished.rows(query, **values, all=True)[0]
    nodes, total, equal, before, over, over_before, above, at_least = row
    bins = int(parameters["--bins"])
    if parameters["--ties"] != "together":
        precedence = int(class_of(over_before, over, bins))
    else:
        precedence = int(class_of(above + max(at_least - 1, above), 2 * over, bins))
    probability = float(f"{score / total:.12g}")
    return Standing(nodes, before + 1, equal, probability, precedence, bins, over)


def tie_bounds(score: float, digits: int) -> tuple[float, float]:
    """The least and the greatest double that round to the same `digits` significant digits."""
    if not score:
        return 0.0, 0.0
    value = rounded(score, digits)
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)

    def last(outside: float) -> float:
        """The double nearest to `outside` that still counts as equal."""
        inside = score
        while (middle := (inside + outside) / 2) not in (inside, outside):
            if rounded(middle, digits) == value:
                inside = middle
            else:
                outside = middle
        return inside

    return last(value - 2 * unit), last(value + 2 * unit)


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
    of a query. hops: the number of steps."""

    key: str
    kind: str
    hops: int


@dataclass
class Explanation:
    """One page. uri: as the user wrote it. shown: as the scores show it. key: of the page that it
    folds into, or its own; asked_fold: its own, if it folds; gone: the kind of its first step, if
    nothing is left of it. site: that gives it its score, in a ranking of sites. made_of: the
    rankings that it is made of, with their weights. No link to a page has a part of its own in such
    scores. title: of the latest capture that has one, where the run kept titles. anchor_texts: the
    words of links to it, where the run kept them. eta, absolute: bounds of the error of a score,
    relative to the exact one and in its unit."""

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
    reach: float | None = None
    closeness: float | None = None
    base: float = 0.0
    base_is: str = "every page has this"
    links: int = 0
    links_to_page: LinksToPage | None = None
    given: list[IncomingLink] = field(default_factory=list)
    others_give: float = 0.0
    spellings: list[Spelling] = field(default_factory=list)
    spelling_count: int = 0
    asked_spelling: Spelling | None = None
    title: str | None = None
    anchor_texts: AnchorTexts | None = None
    capture_count: int = 0
    captures: list[dict[str, Any]] = field(default_factory=list)
    unlisted: int = 0
    ties: str = "key"
    caveats: list[Caveat] = field(default_factory=list)

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.eta, self.absolute)


def explain(finished: Finished, uri: str, key: str, top: int) -> Explanation:
    """The page with a key. top: how many of its links, and of their texts, are listed.

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
    result.anchor_texts = anchor_texts(finished, [key], top).get(key)
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
    result.hub = _further(finished, "hubs", node)
    result.reach = _further(finished, "reach", node)
    result.closeness = _further(finished, "closeness", node)
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


def _further(finished: Finished, name: str, node: Node) -> float | None:
    column = finished.column(name)
    return None if column is None else float(column[node.id])


def _spellings(finished: Finished, key: str) -> list[tuple[Any, ...]]:
    """The spellings that are captured or linked most, each with the count of all spellings and of
    their captures."""
    return finished.rows(
        "SELECT uri, captures, links, last, count(*) OVER (), sum(captures) OVER ()"
        f" FROM {{spelled}} WHERE key = $key ORDER BY {BEST_SPELLING_FIRST}"
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
        result.captures = finished.latest_captures(result.key, CAPTURES)
        result.title = finished.title_of(result.key)
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
