"""What people read: time left, tables of a work folder, of a validation, of a lint."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rich.table import Table

from pipeline.contract import Round, Stop
from pipeline.data.datasets import is_file, replacing
from pipeline.data.scores_table import best_first
from pipeline.ranking.validation_report import ValidationReport
from pipeline.terminal import cell, new_table
from pipeline.workfolder.imported import SELECT
from pipeline.workfolder.integrity import Checked
from pipeline.workfolder.manifest import Manifest

MAX_ARCHIVES = 20
MAX_EXAMPLES = 3


def round_line(rounds: Sequence[Round], stop: Stop) -> str:
    """The last round for people, with an estimate of the time left."""
    last = rounds[-1]
    said = f"residual {last['residual_l1']:.2e}, certificate {last['certificate']:.2e}"
    if stop.iterations is not None:
        left: float = stop.iterations - len(rounds)
        said = f"round {len(rounds)} of {stop.iterations}: {said}"
    else:
        left = _rounds_left(rounds, stop.bound)
        said = f"round {len(rounds)}: {said} of {stop.bound:g}"
    return said + (f", about {left * last['seconds']:.0f} s left" if 0 < left < math.inf else "")


def _rounds_left(rounds: Sequence[Round], tolerance: float) -> float:
    """From the pace of the certificate, which falls by a steady factor."""
    before = rounds[-2]["certificate"] if len(rounds) > 1 else 0.0
    now = rounds[-1]["certificate"]
    if not 0 < now < before or now <= tolerance:
        return 0 if now <= tolerance else math.inf
    return math.ceil(math.log(tolerance / now) / math.log(now / before))


def write_report(report: ValidationReport, output: Path) -> None:
    """The file `output` if its name has an extension, else report.json in that folder."""
    path = output if is_file(output) else output / "report.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as place:
        place.write_text(json.dumps(report.as_dict(), indent=1) + "\n")


def status_tables(
    manifest: Manifest, names: Sequence[str], faults: Sequence[Checked] = ()
) -> Iterator[Table]:
    """Steps, rounds, and archives with what is wrong with them. faults: of datasets that are not as
    they were left."""
    yield _steps_table(manifest, names, {fault.step for fault in faults})
    if faults:
        yield _faults_table(faults)
    if rounds := manifest.steps.get("page-rank", {}).get("rounds"):
        yield _rounds_table(rounds)
    if imported := manifest.imported:
        yield _imported_table(imported["files"])
    else:
        yield _archives_table(list(manifest.archives.values()))
    if SELECT in manifest.steps:
        yield selection_table(manifest.steps[SELECT])
    dropped = _dropped_table(manifest)
    if dropped.row_count:
        yield dropped
    if damage := damage_by_reason(manifest):
        table = new_table("damage", "reason", ">count")
        for reason, count in damage.most_common():
            table.add_row(cell(reason), f"{count:,}")
        yield table


def _steps_table(manifest: Manifest, names: Sequence[str], damaged: Collection[str]) -> Table:
    table = new_table("steps", "step", "state", ">rows", ">seconds", ">of these, starting")
    for name in names:
        entry = manifest.steps.get(name, {})
        state = "done" if "fingerprint" in entry else "begun" if entry else "to do"
        state = "damaged" if name in damaged else state
        if again := entry.get("launched_again"):
            state += f", {sum(again.values())} jobs again as nodes were lost"
        rows = ", ".join(f"{count:,} {dataset}" for dataset, count in entry.get("rows", {}).items())
        seconds, starting = (
            f"{entry[part]:.1f}" if part in entry else "" for part in ("seconds", "starting")
        )
        table.add_row(name, state, rows, seconds, starting)
    return table


def _faults_table(faults: Sequence[Checked]) -> Table:
    table = new_table("not as it was left; `crawlrank run` makes it again", "step", "what is wrong")
    for result in faults[:MAX_ARCHIVES]:
        table.add_row(result.step, cell(result.fault or ""))
    if len(faults) > MAX_ARCHIVES:
        table.add_row(f"… and {len(faults) - MAX_ARCHIVES} more", "")
    return table


def checked_table(results: Sequence[Checked]) -> Table:
    """Datasets with their files and bytes; parts of links and captures together."""
    table = new_table("datasets", "step", "dataset", ">files", ">bytes", "state")
    groups: dict[tuple[str, str], list[Checked]] = {}
    for result in results:
        name = result.dataset.partition("/")[0]
        groups.setdefault((result.step, name), []).append(result)
    for (step, name), group in groups.items():
        files = [size for result in group for size, _ in result.record.get("files", {}).values()]
        wrong = sum(result.fault is not None for result in group)
        state = "damaged" if wrong else "as it was left"
        known = all("files" in result.record for result in group)
        sizes = (f"{len(files):,}", f"{sum(files):,}") if known else ("", "")
        table.add_row(step, name, *sizes, state)
    return table


def _rounds_table(rounds: Sequence[Round]) -> Table:
    table = new_table(
        "rounds of PageRank", ">round", ">certificate", ">of probabilities", ">eta", ">residual",
        ">mass", ">seconds",
    )  # fmt: skip
    for entry in rounds:
        table.add_row(
            str(entry["round"]),
            f"{entry['certificate']:.3e}",
            f"{entry['probability_certificate']:.3e}",
            f"{entry['eta']:.3e}",
            f"{entry['residual_l1']:.3e}",
            f"{entry['mass']:.9g}",
            f"{entry['seconds']:.1f}",
        )
    return table


def _imported_table(files: Sequence[str]) -> Table:
    table = new_table(f"imported text files ({len(files)})", "file")
    for name in files[:MAX_ARCHIVES]:
        table.add_row(cell(name))
    if len(files) > MAX_ARCHIVES:
        table.add_row(f"… and {len(files) - MAX_ARCHIVES} more")
    return table


def _archives_table(archives: Sequence[dict[str, Any]]) -> Table:
    title = f"archives ({len(archives)})"
    table = new_table(title, "archive", ">captures", ">HTML pages", ">links", ">damage", "error")
    # the ones in need of attention first
    ordered = sorted(archives, key=lambda a: (not a["error"], not a["damage"], a["path"]))
    for entry in ordered[:MAX_ARCHIVES]:
        counters = entry["counters"]
        table.add_row(
            cell(entry["path"]),
            f"{counters.get('captures', 0):,}",
            f"{counters.get('pages.html', 0):,}",
            f"{counters.get('links', 0):,}",
            f"{counters.get('damage', 0):,}",
            cell(entry["error"][0]) if entry["error"] else "",
        )
    if len(archives) > MAX_ARCHIVES:
        table.add_row(f"… and {len(archives) - MAX_ARCHIVES} more", "", "", "", "", "")
    return table


#: counter of select-links -> what it counts
_SELECTED = {
    "revisits": "pages whose latest capture is a revisit",
    "revisits.original": "of these, with the links of the capture that it refers to",
    "revisits.own-outlinks": "of these, with links of their own, as that capture is not here",
    "links.superseded": "links of captures that are not the latest, left out",
    "links.without-capture": "links without a capture to date them, kept",
    "folds.redirect": "pages that are one with what they redirect to",
    "folds.canonical": "pages that are one with their canonical address",
    "unfolded.ambiguous": "pages with several such targets at a time, left as they are",
    "unfolded.loop": "pages in a loop of such targets or leading there, left as they are",
}


def selection_table(entry: dict[str, Any]) -> Table:
    """What select-links made of several captures of pages."""
    table = new_table("several crawls", "what", ">count")
    for name, meaning in _SELECTED.items():
        if count := entry["counters"].get(name):
            table.add_row(meaning, f"{count:,}")
    return table


def _dropped_table(manifest: Manifest) -> Table:
    """Links and captures that steps left out, and why."""
    table = new_table("left out", "step", "reason", ">count", "examples")
    for step, entry in manifest.steps.items():
        told = [example.partition("\t") for example in entry.get("examples", ())]
        for name, count in sorted(entry.get("counters", {}).items()):
            if name.startswith("dropped.") and count:
                reason = name.removeprefix("dropped.")
                examples = [uri for why, _, uri in told if why == reason][:MAX_EXAMPLES]
                table.add_row(step, cell(reason), f"{count:,}", cell(" ".join(examples)))
    return table


def damage_by_reason(manifest: Manifest) -> Counter[str]:
    found: Counter[str] = Counter()
    for entry in manifest.archives.values():
        for name, count in entry["counters"].items():
            if name.startswith("damage."):
                found[name.removeprefix("damage.")] += count
    return found


def summary_table(path: Path) -> Table:
    """The classes of a precedence.summary.json."""
    told = json.loads(path.read_text())
    table = new_table(
        "precedence", ">precedence", ">URIs", ">pages", ">captured", ">highest score", ">lowest"
    )
    for entry in told["classes"]:
        highest, lowest = entry["score_highest"], entry["score_lowest"]
        table.add_row(
            str(entry["precedence"]),
            f"{entry['uris']:,}",
            f"{entry['nodes']:,}",
            f"{entry['nodes_captured']:,}",
            "" if highest is None else f"{highest:.6g}",
            "" if lowest is None else f"{lowest:.6g}",
        )
    return table


def best_table(scores: Path, count: int, digits: int) -> Table:
    """The first lines of a scores dataset, scores to the digits that they were ordered by."""
    table = new_table(f"the {count} pages with the highest scores", ">", ">score", "URI")
    for place, row in enumerate(islice(best_first(scores, digits), count), 1):
        table.add_row(
            str(place), f"{row.score:#.{digits}g}", cell(row.uri.decode("utf-8", "replace"))
        )
    return table
