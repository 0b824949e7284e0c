"""Scores to the file that Heritrix loads: `URI precedence`, one line a spelling.

Equation: classes are cut as in pipeline/ranking/classes.py, over the captured nodes (what a recrawl
fetches) or over all; precedence is the class, from 1, crawled first, to B. Dangling nodes are
nodes like others. A captured URI whose key has no score gets B.

The file has each spelling in the form in which Heritrix looks it up (jobs/kernel/heritrix_form),
each form once, at the best class of those that meet in it, in the order of the scores and then of
the bytes. Scores and spellings come from pipeline/precedence/scored.py, lines from
pipeline/precedence/lines.py; URIs need no memory, nodes NODE_BYTES each; DuckDB has what these
leave.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.keys.heritrix_form import NOT_OF_THE_WEB
from pipeline.data.database import database
from pipeline.data.datasets import write_file
from pipeline.data.graph import Floats, Mask
from pipeline.data.memory import half_of_machine
from pipeline.options import PrecedenceOptions, Ties
from pipeline.precedence.caveats import Caveat, CutCounts, LinkCounts, caveats_of
from pipeline.precedence.lines import Formed, Lines
from pipeline.precedence.scored import FIXED, Scored, open_scored
from pipeline.ranking.classes import CUT_BYTES, PREFERENCE_BYTES, Classes, cut, places_of
from pipeline.ranking.digits import rounded

BUDGET = 2 << 30  # bytes of memory, for what does not grow with the nodes alone
NODE_BYTES = 8 + 2 + CUT_BYTES  # scores, two marks, and classes while they are cut
TIED_BYTES = NODE_BYTES + PREFERENCE_BYTES  # with ties by links
KEPT_BYTES = 8 + 2 + 5 + 5  # of them while lines are sorted: places, classes, ids of keys


@dataclass
class ClassSummary:
    """One class: its lines in the file, its nodes, and the range of their scores."""

    precedence: int
    uris: int = 0
    nodes: int = 0
    nodes_captured: int = 0
    score_highest: float | None = None
    score_lowest: float | None = None


@dataclass
class Summary:
    """What `precedence.summary.json` says."""

    bins: int
    unlisted: int
    classes_cut_over: str
    uris: int = 0
    nodes: int = 0
    nodes_captured: int = 0
    nodes_not_captured: int = 0
    nodes_near_a_boundary: int | None = None
    nodes_placed_by_key_alone: int = 0
    nodes_cut_over: int = 0
    nodes_cut_over_placed_by_key_alone: int = 0
    eta: float | None = None
    digits: int = DIGITS
    captured_uris_without_score: int = 0
    spellings_rewritten: int = 0
    spellings_rejected: int = 0
    rejected_by_reason: dict[str, int] = field(default_factory=dict)
    rejected_examples: list[str] = field(default_factory=list)
    duplicates_removed: int = 0
    classes: list[ClassSummary] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)

    def write(self, path: Path) -> None:
        write_file([json.dumps(asdict(self), indent=2).encode() + b"\n"], path)


def export_precedence(
    scores: str | Path,
    uris: str | Path | None,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    *,
    ids: Path | None = None,
    budget: int | None = None,
    threads: int | None = None,
    links: LinkCounts | None = None,
) -> Summary:
    """Write the precedence file `output` from the datasets `scores` and `uris`, text or Parquet.

    Without uris, the URIs of the scores are all the spellings there are, and classes are cut over
    all nodes. ids: where both are the embedded engine's, its file of the ids of key numbers. tmp: a
    folder for what does not fit into memory. budget: bytes of memory, by default those of half of
    the machine. links: what the graph is made of, for the caveats. Raises BadInput, also where the
    bytes are less than NODE_BYTES (TIED_BYTES) a node.
    """
    budget = half_of_machine().budget if budget is None else budget
    threads = threads or os.cpu_count() or 1
    weighed = options.ties == "links"
    with (
        tempfile.TemporaryDirectory(prefix="precedence-", dir=tmp) as name,
        open_scored(
            scores, uris, ids, Path(name), budget=budget, threads=threads,
            node_bytes=TIED_BYTES if weighed else NODE_BYTES, weighed=weighed,
        ) as scored,
    ):  # fmt: skip
        summary = Summary(options.bins, options.unlisted_precedence, options.classes_over)
        summary.eta, summary.digits = options.eta, options.digits
        formed = Formed(
            Path(name, "formed.arrow"), len(scored.scores), scored.spellings(),
            weighed=weighed,
        )  # fmt: skip
        _require_spellings(scored, formed, str(scores))
        lines = _classified(scored.scores, formed, options, summary)
        left = max(0, budget - FIXED)
        half = left // 2 - KEPT_BYTES * len(scored.scores)  # the scores may have the other one
        with (
            database(Path(name), budget=half, threads=threads) as (db, _),
            closing(lines.pieces(db)) as pieces,
        ):
            write_file(_some(pieces, lines, str(scores)), output)
        _tell(lines, formed, summary)
        summary.caveats = caveats_of(links, _cut_counts(scored.scores, summary, options.ties))
    return summary


def _require_spellings(scored: Scored, formed: Formed, where: str) -> None:
    """A page that is scored and has no spelling would be lost silently."""
    lacking = np.flatnonzero(~formed.spelled)
    if len(lacking):
        first = scored.key(int(lacking[0]))
        raise BadInput(
            where,
            f"{len(lacking)} keys that have no spelling in uris, the first {first}",
            "at least one URI for every key",
            "Give the uris of the same canonicalize run.",
        )


def _some(pieces: Iterable[bytes], lines: Lines, where: str) -> Iterator[bytes]:
    """The pieces. Raises BadInput behind the last one, so that no file appears, where no spelling
    was an http or https URI, as in scores that name keys only."""
    yield from pieces
    if not lines.changes.formed and NOT_OF_THE_WEB.issuperset(lines.changes.by_reason):
        cure = "Scores of an import without URIs name keys only."
        raise BadInput(where, "no URI in it", "at least one http or https URI", cure)


def _classified(
    scores: Floats, formed: Formed, options: PrecedenceOptions, summary: Summary
) -> Lines:
    """The lines, once classes are cut; and what the summary says of nodes."""
    over = formed.captured if options.classes_over == "captured" else None
    if over is None or not over.any():
        summary.classes_cut_over = "all"
    classes = cut(
        scores,
        options.bins,
        digits=options.digits,
        mask=over,
        ties=options.ties,
        eta=options.eta or 0.0,
        preferred=formed.preferred,
    )
    formed.preferred = None
    _describe(classes, scores, formed.captured, summary)
    only = options.spellings == "captured" and formed.any_captured
    places = places_of(classes.order)
    return Lines(formed, classes.classes, places, bins=options.bins, only=only)


def _describe(classes: Classes, scores: Floats, captured: Mask, summary: Summary) -> None:
    summary.nodes = len(scores)
    summary.nodes_captured = int(captured.sum())
    summary.nodes_not_captured = summary.nodes - summary.nodes_captured
    if summary.eta is not None:  # what nobody knows is not 0
        summary.nodes_near_a_boundary = int(classes.near.sum())
    summary.nodes_placed_by_key_alone = int(classes.by_key.sum())
    everything = summary.classes_cut_over == "all"
    over = classes.by_key if everything else classes.by_key & captured
    summary.nodes_cut_over_placed_by_key_alone = int(over.sum())
    summary.nodes_cut_over = summary.nodes if everything else summary.nodes_captured
    for precedence in range(1, summary.bins + 1):
        inside = classes.classes == precedence
        entry = ClassSummary(precedence, 0, int(inside.sum()), int((inside & captured).sum()))
        if entry.nodes:
            entry.score_highest = float(scores[inside].max())
            entry.score_lowest = float(scores[inside].min())
        summary.classes.append(entry)


def _tell(lines: Lines, formed: Formed, summary: Summary) -> None:
    """What the summary says of spellings and lines."""
    changes, counts = lines.changes, lines.counts.tolist()
    summary.uris = sum(counts)
    summary.duplicates_removed = changes.formed - summary.uris
    summary.captured_uris_without_score = formed.captured_unscored
    summary.spellings_rewritten = changes.rewritten
    summary.rejected_by_reason = changes.by_reason
    summary.spellings_rejected = sum(changes.by_reason.values())
    summary.rejected_examples = changes.examples
    for entry in summary.classes:
        entry.uris = counts[entry.precedence]


def _cut_counts(scores: Floats, summary: Summary, ties: Ties) -> CutCounts:
    """What the caveats are told of, of a summary that is whole."""
    first, ends = summary.classes[0], np.array([scores.max(), scores.min()])
    highest, lowest = rounded(ends, summary.digits).tolist()
    return CutCounts(
        bins=summary.bins,
        nodes=summary.nodes,
        captured=summary.classes_cut_over == "captured",
        cut_over=summary.nodes_cut_over,
        tied=summary.nodes_cut_over_placed_by_key_alone,
        uris=summary.uris,
        first_uris=first.uris,
        first_nodes=first.nodes,
        first_uncaptured=first.nodes - first.nodes_captured,
        equal=highest == lowest,
        ties=ties,
    )
