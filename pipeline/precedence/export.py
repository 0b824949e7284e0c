"""Scores to the file that Heritrix loads: `URI precedence`, one line a spelling.

Equation: classes are cut as in pipeline/ranking/classes.py, over the captured nodes (those that a
recrawl fetches) or over all. Precedence is the class, from 1, crawled first, to B. Dangling nodes
are nodes like others. A captured URI whose key has no score gets B.

The file has each spelling in the form in which Heritrix looks it up
(jobs/kernel/keys/heritrix_form.py). Each form stands there once, with the best class of its
spellings. Lines are ordered by score, then by bytes. Memory: NODE_BYTES a node, none for URIs;
DuckDB gets the rest.

The pages of a ranking as a list: a line a page, best first (score_formats.py), or as the file
that Heritrix loads, with all spellings of the pages that filters take.

To crawlers other than Heritrix, which know no keys, every other spelling would be a page of its
own, so a list has each page once.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.keys.heritrix_form import NOT_OF_THE_WEB
from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.database import batches, database
from crawlrank.pipeline.data.datasets import STDOUT, require_name, write_file, write_output
from crawlrank.pipeline.data.graph import Floats, Mask
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.precedence.beans import beans_fragment
from crawlrank.pipeline.precedence.caveats import Caveat, CutCounts, LinkCounts, caveats_of
from crawlrank.pipeline.precedence.filters import Filter, PageFilters
from crawlrank.pipeline.precedence.lines import CapturedHosts, Formed, Lines
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.page_table import RankedPages, Taken, open_pages
from crawlrank.pipeline.precedence.score_formats import FORMATS, with_bounds
from crawlrank.pipeline.precedence.scored import FIXED, Scored, open_scored
from crawlrank.pipeline.ranking.classes import CUT_BYTES, PREFERENCE_BYTES, Classes, cut, places_of
from crawlrank.pipeline.ranking.options import Ties
from crawlrank.pipeline.steps import BEANS
from crawlrank.pipeline.terminal.text import json_text

BUDGET = 2 << 30  # bytes of memory, for what does not grow with the nodes alone
NODE_BYTES = 8 + 2 + CUT_BYTES  # scores, two masks, and cutting the classes
TIED_BYTES = NODE_BYTES + PREFERENCE_BYTES  # with ties by links
KEPT_BYTES = 8 + 2 + 5 + 5  # while lines are sorted: scores, masks, places and classes, ids of keys


class PartOfPages(NamedTuple):
    """keys: of the pages to list, a file of Parquet. filters: what each filter left."""

    keys: Path
    filters: list[dict[str, str | int]]


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
class PrecedenceSummary:
    """The contents of `precedence.summary.json`."""

    bins: int
    unlisted: int
    classes_cut_over: str
    uris: int = 0
    nodes: int = 0
    nodes_captured: int = 0
    nodes_not_captured: int = 0
    nodes_near_a_boundary: int | None = None
    nodes_near_a_boundary_by_score: int | None = None
    nodes_without_score: int = 0
    nodes_placed_by_key_alone: int = 0
    nodes_cut_over: int = 0
    nodes_cut_over_placed_by_key_alone: int = 0
    eta: float | None = None
    absolute: float | None = None
    digits: int = DIGITS
    captured_uris_without_score: int = 0
    spellings_rewritten: int = 0
    spellings_rejected: int = 0
    rejected_by_reason: dict[str, int] = field(default_factory=dict)
    rejected_examples: list[str] = field(default_factory=list)
    duplicates_removed: int = 0
    alias_lines: int = 0
    hosts_captured: int = 0
    hosts_captured_by_one_scheme: int = 0
    hosts_captured_with_or_without_www_alone: int = 0
    classes: list[ClassSummary] = field(default_factory=list)
    caveats: list[Caveat] = field(default_factory=list)
    filters: list[dict[str, str | int]] = field(default_factory=list)
    planned_from: dict[str, str | None] | None = None

    def write(self, path: Path) -> None:
        write_file([json_text(asdict(self), indent=2).encode() + b"\n"], path)


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
    part: PartOfPages | None = None,
) -> PrecedenceSummary:
    """Write the precedence file `output` from the datasets `scores` and `uris`, text or Parquet;
    beside it its summary and the beans that make Heritrix use it.

    Without uris, the URIs of the scores are the only spellings, and classes are cut over all nodes.
    ids: where both are the embedded engine's, its file of the ids of key numbers. tmp: a folder for
    data larger than memory. budget: bytes of memory, by default half of the machine's. links: for
    the caveats. part: what filters have taken; None: all pages. To standard output the lines go
    alone. Raises BadInput, also if the budget is less than NODE_BYTES (TIED_BYTES) a node.
    """
    require_name(output)
    weighed = options.ties == "links"
    budget = half_of_machine().budget if budget is None else budget
    threads = threads or os.cpu_count() or 1
    with (
        temporary_folder(tmp) as name,
        open_scored(
            scores, uris, ids, name, budget=budget, threads=threads, weighed=weighed,
            node_bytes=TIED_BYTES if weighed else NODE_BYTES, keys=part.keys if part else None,
        ) as scored,
    ):  # fmt: skip
        summary = _export(scored, name, output, options, budget, threads, str(scores))
    summary.filters = part.filters if part else []
    finish(summary, output, options, links)
    return summary


def finish(
    summary: PrecedenceSummary, output: Path, options: PrecedenceOptions, links: LinkCounts | None
) -> None:
    """Add the caveats, and write what is beside the file."""
    summary.caveats = caveats_of(links, _cut_counts(summary, options.ties))
    if output == STDOUT:
        return
    plain = output.name.removesuffix(".gz").removesuffix(".txt")
    summary.write(output.with_name(f"{plain}.summary.json"))
    beans = beans_fragment(unlisted=options.unlisted_precedence)
    write_file([beans.encode()], output.with_name(BEANS))


def _export(
    scored: Scored,
    tmp: Path,
    output: Path,
    options: PrecedenceOptions,
    budget: int,
    threads: int,
    path_or_url: str,
) -> PrecedenceSummary:
    """Write the lines; path_or_url: of the scores, for messages."""
    nodes, weighed = len(scored.scores), options.ties == "links"
    formed = Formed(tmp / "formed.arrow", nodes, scored.spellings(), weighed=weighed)
    _require_spellings(scored, formed, path_or_url)
    lines, summary = _classified(scored.scores, formed, options)
    half = max(0, budget - FIXED) // 2 - KEPT_BYTES * nodes  # the scores may use the other half
    with (
        database(tmp, budget=half, threads=threads) as (db, _),
        closing(lines.pieces(db)) as pieces,
    ):
        write_output(_require_uris(pieces, lines, path_or_url), output)
        _describe_hosts(lines.captured_hosts(db), summary)
    _describe_lines(lines, formed, summary)
    return summary


def _require_spellings(scored: Scored, formed: Formed, path_or_url: str) -> None:
    """Raises BadInput for a scored page without spelling, which would be missing in the file."""
    lacking = np.flatnonzero(~formed.nodes.spelled)
    if len(lacking):
        first = scored.key(int(lacking[0]))
        raise BadInput(
            path_or_url,
            f"{count_of(len(lacking), 'key')} without a spelling in uris, the first {first}",
            "at least one URI for every key",
            "Give the uris of the same canonicalize run.",
        )


def _require_uris(pieces: Iterable[bytes], lines: Lines, path_or_url: str) -> Iterator[bytes]:
    """The pieces. If no spelling is an http or https URI, as in scores that name keys only, raises
    BadInput after the last piece, so that no file appears."""
    yield from pieces
    if not lines.changes.formed and NOT_OF_THE_WEB.issuperset(lines.changes.by_reason):
        cure = "Scores of an import without URIs name keys only."
        raise BadInput(path_or_url, "no URI in it", "at least one http or https URI", cure)


def _classified(
    scores: Floats, formed: Formed, options: PrecedenceOptions
) -> tuple[Lines, PrecedenceSummary]:
    """Cut the classes. The lines to write, and the summary of nodes."""
    summary = PrecedenceSummary(
        options.bins, options.unlisted_precedence, options.classes_over,
        eta=options.eta, absolute=options.absolute, digits=options.digits,
    )  # fmt: skip
    captured = formed.nodes.captured
    over = captured if options.classes_over == "captured" else None
    if over is None or not over.any():
        summary.classes_cut_over = "all"
    classes = cut(
        scores,
        options.bins,
        digits=options.digits,
        mask=over,
        ties=options.ties,
        eta=options.eta or 0.0,
        absolute=options.absolute,
        preferred=formed.nodes.take_preferred(),
    )
    _describe_nodes(classes, scores, captured, summary)
    only = options.spellings == "captured" and formed.any_captured
    places = places_of(classes.order)
    lines = Lines(
        formed, classes.classes, places, bins=options.bins, only=only, kinds=options.aliases
    )
    return lines, summary


def _describe_nodes(
    classes: Classes, scores: Floats, captured: Mask, summary: PrecedenceSummary
) -> None:
    summary.nodes = len(scores)
    summary.nodes_captured = int(captured.sum())
    summary.nodes_not_captured = summary.nodes - summary.nodes_captured
    if summary.eta is not None:  # else the number is unknown, not 0
        summary.nodes_near_a_boundary = int(classes.near.sum())
        by_score = int(np.count_nonzero(classes.near & ~classes.by_key))
        summary.nodes_near_a_boundary_by_score = by_score
    # where nothing is known relative to a score, one up to its bound may be 0
    may_be_0 = (summary.absolute or 0.0) if summary.eta == math.inf else 0.0
    summary.nodes_without_score = int(np.count_nonzero(scores <= may_be_0))
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


def _describe_hosts(hosts: CapturedHosts, summary: PrecedenceSummary) -> None:
    summary.hosts_captured = hosts.hosts
    summary.hosts_captured_by_one_scheme = hosts.one_scheme
    summary.hosts_captured_with_or_without_www_alone = hosts.one_www


def _describe_lines(lines: Lines, formed: Formed, summary: PrecedenceSummary) -> None:
    changes, counts = lines.changes, lines.counts.tolist()
    summary.uris = sum(counts)
    summary.alias_lines = lines.aliases
    summary.duplicates_removed = changes.formed - (summary.uris - lines.aliases)
    summary.captured_uris_without_score = formed.captured_unscored
    summary.spellings_rewritten = changes.rewritten
    summary.rejected_by_reason = changes.by_reason
    summary.spellings_rejected = sum(changes.by_reason.values())
    summary.rejected_examples = changes.examples
    for entry in summary.classes:
        entry.uris = counts[entry.precedence]


def _cut_counts(summary: PrecedenceSummary, ties: Ties) -> CutCounts:
    first, filled = summary.classes[0], [entry for entry in summary.classes if entry.nodes]
    ends = np.array([filled[0].score_highest, filled[-1].score_lowest], np.float64)
    highest, lowest = rounded(ends, summary.digits).tolist()
    return CutCounts(
        bins=summary.bins,
        nodes=summary.nodes,
        captured=summary.classes_cut_over == "captured",
        cut_over=summary.nodes_cut_over,
        tied=summary.nodes_cut_over_placed_by_key_alone,
        uris=summary.uris,
        first_uris=0 if summary.filters else first.uris,  # a part is what was asked for
        first_nodes=first.nodes,
        first_uncaptured=first.nodes - first.nodes_captured,
        equal=highest == lowest,
        ties=ties,
        unscored=summary.nodes_without_score,
        near=summary.nodes_near_a_boundary_by_score,
    )


WITH_ALL_COLUMNS = ("csv", "jsonl", "parquet")
KEYS = pa.schema([("key", pa.string())])
NO_FILTERS = PageFilters()


@dataclass
class Written:
    """pages: lines. without_score: those of them. left_out: pages that no line was written for,
    by reason. taken: what filters left."""

    pages: int = 0
    without_score: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    taken: Taken = field(default_factory=Taken)


def export_scores(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    form: str,
    filters: PageFilters = NO_FILTERS,
    chosen: list[Filter] | None = None,
    replay: str = "",
) -> Written:
    """Write the file `output`, or to standard output, in a format of FORMATS. chosen: the
    conditions of the filters. replay: the prefix of links to captures, for WITH_ALL_COLUMNS. tmp: a
    folder for data larger than memory. Raises BadInput."""
    written = Written()
    columns = form in WITH_ALL_COLUMNS
    with open_pages(
        ranked, tmp, options, filters, chosen or [], columns=columns, replay=replay
    ) as table:
        written.taken = table.count(ranked.where)
        written.left_out["without a URI"] = written.taken.without_uri
        pages = _counted(table.rows(), written)
        if columns:
            pages = (with_bounds(batch, options) for batch in pages)
        write_output(FORMATS[form](pages, written.left_out, options.bins), output)
    return written


def _counted(pages: Iterable[pa.RecordBatch], written: Written) -> Iterator[pa.RecordBatch]:
    for batch in pages:
        written.pages += len(batch)
        written.without_score += batch["score"].null_count
        yield batch


def export_filtered_precedence(
    ranked: RankedPages,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    filters: PageFilters,
    chosen: list[Filter],
    links: LinkCounts | None = None,
) -> tuple[PrecedenceSummary, Taken]:
    """The file that Heritrix loads, with the pages that the filters take. links: for the caveats.
    Raises BadInput."""
    keys = tmp / "taken.parquet"
    with open_pages(ranked, tmp, options, filters, chosen, columns=False) as table:
        taken = table.count(ranked.where)
        with pq.ParquetWriter(keys, KEYS, compression="lz4") as writer:
            for batch in batches(table.db, table.taken("key")):
                writer.write_batch(batch.cast(KEYS))
    part = PartOfPages(keys, taken.summary())
    summary = export_precedence(
        ranked.scores, ranked.uris, output, tmp, options, links=links, part=part
    )
    return summary, taken
