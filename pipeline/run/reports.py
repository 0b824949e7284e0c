"""Tables of a work folder, and the document of `status --json`, whose fields are in
docs/output.md."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.archive.damage import REASONS
from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.datasets import is_file, replacing
from crawlrank.pipeline.data.scores_file import best_first
from crawlrank.pipeline.progress.run_state import RunState
from crawlrank.pipeline.ranking.bounds import Bounds
from crawlrank.pipeline.ranking.methods import method_of
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.validation.report import ValidationReport
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.terminal.counter_meanings import DROPPED, meaning_of
from crawlrank.pipeline.terminal.text import archive_name, json_text
from crawlrank.pipeline.workfolder.manifest import SELECT, Manifest, require_finished
from crawlrank.pipeline.workfolder.rankings import is_stale, labels, ranking_folder
from crawlrank.pipeline.workfolder.results.dataset_folders import Checked

MAX_ROWS = 20


def write_report(report: ValidationReport, output: Path) -> None:
    """Write the file `output` if its name has an extension, else report.json in that folder."""
    path = output if is_file(output) else output / "report.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(json_text(report.as_dict(), indent=1) + "\n")


def status_tables(
    manifest: Manifest,
    names: Sequence[str],
    faults: Sequence[Checked] = (),
    *,
    verbose: bool = False,
) -> Iterator[TextTable]:
    """Steps, rounds, archives, and what is left out or damaged; some tables may have no rows.
    faults: datasets that are not what their step has written. verbose: with every figure of the
    rounds."""
    yield _steps_table(manifest, names, {fault.step for fault in faults})
    yield _faults_table(faults)
    rounds = manifest.steps.get(RANK, {}).get("rounds", ())
    yield _rounds_table(rounds, method_of(manifest.parameters).title, verbose=verbose)
    if imported := manifest.imported:
        yield _imported_table(imported["files"])
    else:
        yield _archives_table(list(manifest.archives.values()))
    if SELECT in manifest.steps:
        yield selection_table(manifest.steps[SELECT])
    yield charsets_table(manifest.steps.get("canonicalize", {}))
    yield _dropped_table(manifest)
    table = TextTable("damage", ">count", "=reason", "~which is")
    for reason, count in damage_by_reason(manifest).most_common():
        table.add(count, reason, REASONS[reason])
    yield table


def rankings_table(work: Path) -> TextTable:
    """The rankings beside that of the run."""
    table = TextTable("rankings", "label", "method", "state", ">rounds", ">error at most")
    for label in labels(work):
        folder = ranking_folder(work, label)
        manifest = Manifest(folder)
        title = method_of(manifest.parameters).title
        rounds = manifest.steps.get(RANK, {}).get("rounds", ())
        last = _bound(rounds[-1]["certificate"]) if rounds else None
        state = "stale" if is_stale(folder, manifest) else _state_of(manifest)
        table.add(label, title, state, len(rounds), last)
    return table


def _state_of(manifest: Manifest) -> str:
    try:
        require_finished(manifest)
    except BadInput:
        return "begun"
    return "done"


def _steps_table(manifest: Manifest, names: Sequence[str], damaged: Collection[str]) -> TextTable:
    table = TextTable("steps", "=step", "~state", "~rows", ">seconds", ">start-up")
    for name in names:
        entry = manifest.steps.get(name, {})
        state = _state_of_step(name, entry, damaged)
        if again := entry.get("launched_again"):
            state += f", {count_of(sum(again.values()), 'job')} again as nodes were lost"
        rows = ", ".join(f"{dataset} {count:,}" for dataset, count in entry.get("rows", {}).items())
        seconds, starting = (
            f"{entry[part]:.1f}" if part in entry else "" for part in ("seconds", "starting")
        )
        table.add(name, state, rows, seconds, starting)
    return table


def _faults_table(faults: Sequence[Checked]) -> TextTable:
    table = TextTable(
        "not as it was left; `crawlrank run` makes it again", "step", "~what is wrong"
    )
    for result in faults[:MAX_ROWS]:
        table.add(result.step, result.fault)
    _add_more(table, len(faults))
    return table


def _add_more(table: TextTable, rows: int) -> None:
    if rows > MAX_ROWS:
        table.note(f"… and {rows - MAX_ROWS:,} more")


def checked_table(results: Sequence[Checked]) -> TextTable:
    """Datasets with their files and bytes; a row for all parts of links, and one for captures."""
    table = TextTable("datasets", "=step", "=dataset", ">files", ">bytes", "state")
    groups: dict[tuple[str, str], list[Checked]] = {}
    for result in results:
        name = result.dataset.partition("/")[0]
        groups.setdefault((result.step, name), []).append(result)
    for (step, name), group in groups.items():
        files = [size for result in group for size, _ in result.record.get("files", {}).values()]
        state = "damaged" if any(result.fault for result in group) else "as it was left"
        known = all("files" in result.record for result in group)
        sizes = (len(files), sum(files)) if known else (None, None)
        table.add(step, name, *sizes, state)
    return table


def _rounds_table(rounds: Sequence[Round], title: str, *, verbose: bool) -> TextTable:
    """The error of all scores together, relative to their sum, with the certificate's name for
    those who look it up. verbose: the other figures too."""
    more = (">error of shares at most", ">of one score (eta)", ">residual", ">sum of scores (mass)")
    table = TextTable(
        f"rounds of {title}", ">round", ">error at most (certificate)",
        *(more if verbose else ()), ">seconds",
    )  # fmt: skip
    for entry in rounds:
        inner = (
            _bound(entry["probability_certificate"]),
            _bound(entry["eta"]),
            f"{entry['residual_l1']:.3e}",
            f"{entry['mass']:.9g}",
        )
        bound, seconds = _bound(entry["certificate"]), f"{entry['seconds']:.1f}"
        table.add(entry["round"], bound, *(inner if verbose else ()), seconds)
    return table


def _bound(number: float | None) -> str:
    return f"{number:.3e}" if number is not None and math.isfinite(number) else "not known"


def _imported_table(files: Sequence[str]) -> TextTable:
    table = TextTable(f"imported text files ({len(files):,})", "/file")
    for name in files[:MAX_ROWS]:
        table.add(name)
    _add_more(table, len(files))
    return table


def _archives_table(archives: Sequence[dict[str, Any]]) -> TextTable:
    columns = ("/archive", ">captures", ">HTML pages", ">links", ">damage", "~error")
    table = TextTable(f"archives ({len(archives):,})", *columns)
    # those that need attention first
    ordered = sorted(archives, key=lambda a: (not a["error"], not a["damage"], a["path"]))
    names = ("captures", "pages.html", "links", "damage")
    for entry in ordered[:MAX_ROWS]:
        counts = (entry["counters"].get(name, 0) for name in names)
        table.add(
            archive_name(entry["path"]), *counts, entry["error"][0] if entry["error"] else None
        )
    _add_more(table, len(archives))
    return table


#: counter of select-links -> what it counts
_SELECTED = {
    "revisits": "pages whose latest capture is a revisit",
    "revisits.original": "of these, with the links of the capture that it stands for",
    "revisits.own-outlinks": "of these, with their own links, as that capture is not here",
    "links.superseded": "links of captures that are not the latest, left out",
    "links.unresolved": "references without a target at the address of a revisit, left out",
    "links.without-capture": "links without a capture to date them, kept",
    "folds.redirect": "pages that become one with the target of their redirect",
    "folds.canonical": "pages that become one with their canonical address",
    "folds.gone": "pages whose latest capture is 404 or 410, whose links do not count",
    "folds.loop": "redirects in a circle, or before one, whose links do not count",
    "unfolded.ambiguous": "pages with several such targets at a time, not changed",
    "unfolded.loop": "pages in a loop of such targets or before one, not changed",
}


def selection_table(entry: dict[str, Any]) -> TextTable:
    """The results of select-links for pages with several captures."""
    table = TextTable("several crawls", "~what", ">count")
    for name, meaning in _SELECTED.items():
        if count := entry["counters"].get(name):
            table.add(meaning, count)
    return table


def charsets_table(entry: dict[str, Any]) -> TextTable:
    """The pages that links name in another charset than they were captured in."""
    table = TextTable("other charsets", "~what", ">count")
    if count := entry.get("counters", {}).get("folds.charset"):
        what = "pages whose links have the query in the charset of their page, found in UTF-8"
        table.add(what, count)
    return table


def _dropped_table(manifest: Manifest) -> TextTable:
    """Links and captures that steps left out, and why."""
    table = TextTable("left out", "=step", ">count", "=reason", "~which is", "example")
    for step, entry in manifest.steps.items():
        dropped = [example.partition("\t") for example in entry.get("examples", ())]
        for name, count in sorted(entry.get("counters", {}).items()):
            if name.startswith(DROPPED) and count:
                reason = name.removeprefix(DROPPED)
                example = next((uri for why, _, uri in dropped if why == reason), None)
                table.add(step, count, reason, meaning_of(name), example)
    return table


def damage_by_reason(manifest: Manifest) -> Counter[str]:
    reasons: Counter[str] = Counter()
    for entry in manifest.archives.values():
        for name, count in entry["counters"].items():
            if name.startswith("damage."):
                reasons[name.removeprefix("damage.")] += count
    return reasons


def summary_table(path: Path, bounds: Bounds) -> TextTable:
    """The classes of a precedence.summary.json. bounds: of its scores."""
    table = TextTable(
        "precedence",
        ">precedence",
        ">URIs",
        ">pages",
        ">of them captured",
        ">highest score",
        ">lowest score",
    )
    for entry in json.loads(path.read_text())["classes"]:
        highest, lowest = entry["score_highest"], entry["score_lowest"]
        table.add(
            entry["precedence"],
            entry["uris"],
            entry["nodes"],
            entry["nodes_captured"],
            None if highest is None else bounds.text(highest),
            None if lowest is None else bounds.text(lowest),
        )
    return table


def best_table(scores: Path, count: int, digits: int, bounds: Bounds) -> TextTable:
    """The first rows of a scores dataset. digits: by which they are ordered."""
    table = TextTable("pages with the highest scores", ">", ">score", "URI")
    for position, row in enumerate(islice(best_first(scores, digits), count), 1):
        uri = row.uri.decode("utf-8", "replace")
        table.add(position, bounds.text(row.score), uri)
    return table


SCHEMA = "crawlrank-status/1"


def status_document(
    work: Path,
    manifest: Manifest,
    run: RunState,
    names: Sequence[str],
    faults: Sequence[Checked],
) -> dict[str, Any]:
    """names: the steps of the run, in order. faults: datasets that are not as they were left."""
    damaged = {fault.step for fault in faults}
    archives = manifest.archives.values()
    return {
        "work": str(work),
        "run": run.document(),
        "steps": [_step(name, manifest.steps.get(name, {}), damaged) for name in names],
        "rounds": manifest.steps.get(RANK, {}).get("rounds", []),
        "archives": {
            "read": sum(not entry["error"] for entry in archives),
            "unreadable": [archive_name(entry["path"]) for entry in archives if entry["error"]],
            "bytes": sum(entry["size"] for entry in archives),
        },
        "damage": dict(damage_by_reason(manifest)),
        "faults": [{"step": fault.step, "fault": fault.fault} for fault in faults],
        "rankings": labels(work),
    }


def _step(name: str, entry: Mapping[str, Any], damaged: set[str]) -> dict[str, Any]:
    known = {key: entry.get(key, {}) for key in ("rows", "counters")}
    state = _state_of_step(name, entry, damaged)
    return {"step": name, "state": state, **known, "seconds": entry.get("seconds")}


def _state_of_step(name: str, entry: Mapping[str, Any], damaged: Collection[str]) -> str:
    if name in damaged:
        return "damaged"
    return "done" if "fingerprint" in entry else "begun" if entry else "to do"
