"""The numbers of a report, as one document that JSON can hold.

Every number is what another command has of the same work folder: the counters of the manifest
(`status`), precedence.summary.json, report.json (`validate-opic`), positions, classes and links
(`explain`) and `diff`. Only lists of bounded length and aggregates are in it. A section is
None where its step is not done, or where the folder has no such data.

Memory: NODE_BYTES a page, of which DuckDB has half; links are read where they are mapped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from crawlrank.pipeline.analysis.compare.agree import agree, sides_of
from crawlrank.pipeline.analysis.compare.diff import Side, diff
from crawlrank.pipeline.analysis.report.graph_section import (
    counts_section,
    hosts_section,
    sites_section,
    structure_section,
)
from crawlrank.pipeline.analysis.report.missed_section import missed_section
from crawlrank.pipeline.analysis.report.run_section import (
    beans,
    commands,
    hosts_captured,
    input_section,
    links_section,
    run_section,
)
from crawlrank.pipeline.analysis.report.score_section import (
    classes_section,
    opic_section,
    page_rows,
    rounds_section,
    scores_section,
)
from crawlrank.pipeline.data.memory import require_memory
from crawlrank.pipeline.precedence.caveats import caveats_in
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.manifest import Manifest, require_manifest
from crawlrank.pipeline.workfolder.rankings import ranking_folder, require_current
from crawlrank.pipeline.workfolder.results.dataset_folders import finished_manifest
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished

SCHEMA = "crawlrank-report-1"
NODE_BYTES = 2 * 64  # scores, classes and places 47, of the structure 17; twice, for DuckDB
BESIDE = 50  # pages listed of each further ranking
OF_DATASETS = (
    "captured_hosts", "structure", "scores", "missed", "classes", "hosts", "sites", "opic", "beans",
)  # fmt: skip
MOVED, LINKS = 10, 3  # pages of each kind in a comparison, and links of each


class ReportRequest(NamedTuple):
    """What a report is of. labels: of rankings, the first being the one that is described. older:
    a work folder that it is compared with. top: pages listed. budget: bytes. left_out: rankings
    that are stale or not finished, which nobody asked for. crawl_logs: that say why pages were
    missed. replay: the prefix of links to captures, '' for none."""

    work: Path
    labels: Sequence[str]
    older: Path | None
    top: int
    budget: int
    left_out: Sequence[str] = ()
    crawl_logs: Sequence[Path] = ()
    replay: str = ""


def report(
    request: ReportRequest,
    db: duckdb.DuckDBPyConnection,
    near: Path,
    begin: Callable[[str], object] = lambda part: None,
) -> dict[str, Any]:
    """near: a folder for links to datasets, as `open_finished` needs it. begin: is called with the
    name of each part that takes a while.

    A run that is not finished has the sections of its manifest alone. Raises BadInput for what is
    no work folder, and for damaged datasets.
    """
    work = ranking_folder(request.work, request.labels[0])
    manifest = require_manifest(work)
    require_current(work, manifest)
    document = _of_manifest(request, work, manifest)
    if not document["run"]["to_do"]:
        nodes = manifest.steps[RANK]["rounds"][-1]["nodes"]
        require_memory("report", nodes, NODE_BYTES, request.budget)
        _require_finished(request)
        finished = open_finished(work, db, near, "reported")
        document |= _of_datasets(finished, request, begin)
        if len(request.labels) > 1:
            begin("other rankings")
            document["rankings"] = _rankings(request, db, near)
        if request.older:
            begin("changes")
            document["changes"] = _changes(request, finished, db, near)
    return document


def _require_finished(request: ReportRequest) -> None:
    """Raise BadInput for what cannot be compared with, before anything takes a while."""
    for label in request.labels[1:]:
        finished_manifest(ranking_folder(request.work, label))
    if request.older:
        finished_manifest(ranking_folder(request.older, request.labels[0]))


def _of_manifest(request: ReportRequest, work: Path, manifest: Manifest) -> dict[str, Any]:
    return {
        "work": str(request.work),
        "ranking": request.labels[0],
        "run": run_section(manifest),
        "commands": commands(request.work, request.labels[0], manifest),
        "left_out": [*request.left_out],
        "asked": {"against": request.older is not None, "rankings": len(request.labels)},
        "caveats": [asdict(caveat) for caveat in caveats_in(work, manifest)],
        "input": input_section(manifest),
        "links": links_section(manifest),
        "graph": counts_section(manifest),
        "rounds": rounds_section(manifest),
        **dict.fromkeys(OF_DATASETS),
        "rankings": [],
        "changes": None,
    }


def _of_datasets(
    finished: Finished, request: ReportRequest, begin: Callable[[str], object]
) -> dict[str, Any]:
    begin("scores and captures")
    side, csr = Side(finished, finished.parameters), finished.links()
    sections: dict[str, Any] = {
        "captured_hosts": hosts_captured(finished),
        "classes": classes_section(finished),
        "opic": opic_section(finished),
        "beans": beans(finished),
        "sites": sites_section(finished),
    }
    begin("structure of the graph")
    sections["structure"] = structure_section(side, csr)
    begin("best pages")
    sections["scores"] = scores_section(side, csr, request.top, request.replay)
    begin("missed pages")
    sections["missed"] = missed_section(side, csr, request.top, request.crawl_logs)
    begin("hosts")
    return sections | {"hosts": hosts_section(side, csr)}


def _rankings(
    request: ReportRequest, db: duckdb.DuckDBPyConnection, near: Path
) -> list[dict[str, Any]]:
    """The best pages of further rankings, and how far each agrees with the first."""
    opened = [
        (label, open_finished(ranking_folder(request.work, label), db, near, f"ranking{number}"))
        for number, label in enumerate(request.labels)
    ]
    first, *others = sides_of(opened)
    return [
        {
            "label": other.label,
            "method": other.finished.method.title,
            "digits": other.finished.digits,
            **other.finished.bounds._asdict(),
            "agreement": asdict(agree(first, other, 0)),
            "sites": sites_section(other.finished),
            "best": page_rows(Side(other.finished, other.finished.parameters), None, BESIDE),
        }
        for other in others
    ]


def _changes(
    request: ReportRequest, finished: Finished, db: duckdb.DuckDBPyConnection, near: Path
) -> dict[str, Any]:
    assert request.older is not None
    older = open_finished(ranking_folder(request.older, request.labels[0]), db, near, "older")
    return asdict(diff(older, finished, top=MOVED, links=LINKS))
