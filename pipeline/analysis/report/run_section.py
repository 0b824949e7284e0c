"""What went into a run, and how it went.

The input is archives, captures, damage and links, by the counters of the manifest. The run is its
steps and what is still to do. The commands repeat the run, and say what its results are for.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.captures.counters import CAPTURED
from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.rows import HOPS
from crawlrank.pipeline.options import RANKING_PARAMETERS, RunOptions, option_words
from crawlrank.pipeline.ranking.methods import METHODS, method_of
from crawlrank.pipeline.steps import BEANS, EMBEDDED, RANK, STEPS
from crawlrank.pipeline.terminal import counter_meanings
from crawlrank.pipeline.terminal.text import archive_name, masked
from crawlrank.pipeline.workfolder.manifest import Manifest, steps_of
from crawlrank.pipeline.workfolder.rankings import OWN
from crawlrank.pipeline.workfolder.results.dataset_folders import UnusableDataset
from crawlrank.pipeline.workfolder.results.finished import CURE, Finished

ARCHIVES = PLACES = 100  # listed
HOSTS = 25
TYPES = 25  # media types and statuses listed; the others are one row
HOST = r"^[a-z]+://(?:[^/?#@]*@)?(\[[^/?#\]]*\]|[^/?#:]*)"  # of a URI, without its port
EXAMPLES = 3  # of what was dropped, for each reason
EXTRACT = "extract-links"


def input_section(manifest: Manifest) -> dict[str, Any] | None:
    """Archives, captures and damage; None for a folder that was made from text files."""
    if manifest.imported:
        return None
    totals: Counter[str] = Counter()
    for entry in manifest.archives.values():
        totals.update(entry["counters"])
    return {
        "archives": len(manifest.archives),
        "unreadable": sum(1 for entry in manifest.archives.values() if entry["error"]),
        "size": sum(entry.get("size") or 0 for entry in manifest.archives.values()),
        "bytes": totals["bytes"],
        "records": totals["records"],
        "captures": totals["captures"],
        "html_pages": totals["pages.html"],
        "links": totals["links"],
        "damage": totals["damage"],
        "by_status": _most(_counted(totals, "captures.status.", "status"), "status"),
        "by_kind": _counted(totals, "captures.", "kind", (*CAPTURED, INDEX)),
        "by_type": _most(_counted(totals, "captures.type.", "type"), "type"),
        "listed": _archives(manifest.archives.values()),
        "damage_by_reason": _counted(totals, "damage.", "reason"),
        "damage_places": _places(manifest.archives.values()),
    }


def links_section(manifest: Manifest) -> dict[str, Any]:
    """Links by kind and by where they stand, and what the steps left out, by reason."""
    counters: Counter[str] = Counter(manifest.steps.get(EXTRACT, {}).get("counters", {}))
    hops = _counted(counters, "links.", "hop", HOPS)
    return {
        "links": counters["links"],
        "by_hop": [row | {"meaning": HOPS[row["hop"]].name} for row in hops],
        "by_source": _counted(counters, "links.from.", "source"),
        "nofollow": counters["flagged.nofollow"],
        "dropped": [row for step, entry in manifest.steps.items() for row in _dropped(step, entry)],
    }


def _counted(
    counters: Mapping[str, int], prefix: str, name: str, names: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """The counters with a prefix, the largest first. names: these alone."""
    named = [key.removeprefix(prefix) for key in counters if key.startswith(prefix)]
    chosen = named if names is None else [each for each in names if each in named]
    rows = [{name: each, "count": counters[prefix + each]} for each in chosen]
    return sorted((row for row in rows if row["count"]), key=lambda row: (-row["count"], row[name]))


def _most(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The first rows, and one for all others."""
    if len(rows) <= TYPES:
        return rows
    others = sum(row["count"] for row in rows[TYPES:])
    return [*rows[:TYPES], {name: count_of(len(rows) - TYPES, "other"), "count": others}]


def meaning_of(reason: str) -> str | None:
    """What a reason of `dropped.REASON` says, in words."""
    return counter_meanings.meaning_of(f"dropped.{reason}") or None


def _archives(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The archives, first those that need attention."""
    ordered = sorted(entries, key=lambda a: (not a["error"], not a["damage"], a["path"]))
    return [
        {
            "path": archive_name(entry["path"]),
            "size": entry.get("size"),
            "captures": entry["counters"].get("captures", 0),
            "html_pages": entry["counters"].get("pages.html", 0),
            "links": entry["counters"].get("links", 0),
            "damage": entry["counters"].get("damage", 0),
            "error": entry["error"][0] if entry["error"] else None,
        }
        for entry in ordered[:ARCHIVES]
    ]


def _places(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    damaged = (
        {
            "archive": archive_name(entry["path"]),
            "offset": offset,
            "reason": reason,
            "detail": detail,
        }
        for entry in entries
        for offset, reason, detail in entry["damage"]
    )
    return list(islice(damaged, PLACES))


def _dropped(step: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    examples = [example.partition("\t") for example in entry.get("examples", ())]
    rows = _counted(entry.get("counters", {}), "dropped.", "reason")
    for row in rows:
        row["meaning"] = meaning_of(row["reason"])
        uris = [uri for reason, _, uri in examples if reason == row["reason"]]
        row["step"], row["examples"] = step, uris[:EXAMPLES]
    return rows


def hosts_captured(finished: Finished) -> dict[str, Any] | None:
    """Captures by host, as the URIs name it, without a port; None where there are no captures."""
    if finished.manifest.imported:
        return None
    rows = finished.rows(
        "SELECT host, count(*) AS captures, count(*) OVER (), FROM"
        f" (SELECT regexp_extract(lower(uri), '{HOST}', 1) AS host"
        " FROM {visited}) GROUP BY host ORDER BY captures DESC, host LIMIT $most",
        most=HOSTS,
    )
    listed = [{"host": host, "count": captures} for host, captures, _ in rows]
    return {"hosts": int(rows[0][2]) if rows else 0, "listed": listed}


#: parameters that follow from others, and are no options
DERIVED = ("--runner", "--timestamps", "--canonical")
FILES = {option for method in METHODS.values() for option in method.takes}  # given as digests
VALIDATION = "validate-opic"


def commands(work: Path, label: str, manifest: Manifest) -> dict[str, str]:
    """The commands, ready to copy except for words in capitals. Paths are as the user gave them."""
    own = label == OWN and not manifest.ranking
    folder = shlex.quote(str(work))
    ranking = "" if own else f" --ranking {label}"
    return {
        "again": _again(work, label, manifest),
        "recrawl": f"crawlrank recrawl {folder}{ranking} --job HERITRIX_HOME/jobs/NAME"
        " --heritrix HERITRIX_HOME",
        "look_up": f"crawlrank explain {folder} URI{ranking}",
        "other_crawlers": f"crawlrank export {folder}{ranking} --format csv --output pages.csv",
    }


def _again(work: Path, label: str, manifest: Manifest) -> str:
    folder = shlex.quote(str(work))
    if manifest.ranking:
        words = ["crawlrank rank", folder, f"--name {label}"]
        parameters = {
            option: value
            for option, value in manifest.parameters.items()
            if option in RANKING_PARAMETERS
        }
        if "--combine" in parameters:
            parameters.pop("--method", None)
    else:
        words = ["crawlrank run", *_archive_words(manifest), f"--work {folder}"]
        parameters = dict(manifest.parameters)
        if not _validated(manifest):
            words.append("--no-validate")
    return " ".join([*words, *_options(parameters, _last_arguments(manifest))])


def _archive_words(manifest: Manifest) -> list[str]:
    """The archives for a shell, `ARCHIVE…` for more than ARCHIVES."""
    paths = [masked(entry["path"]) for entry in manifest.archives.values()]
    return sorted(map(shlex.quote, paths)) if len(paths) <= ARCHIVES else ["ARCHIVE…"]


def _last_arguments(manifest: Manifest) -> dict[str, str]:
    """The options of the last run as they were given, with their values."""
    *_, last = manifest.section("runs").get("last") or [{}]
    words = [str(word) for word in last.get("arguments", [])]
    pairs = [word.partition("=")[::2] for word in words if word.startswith("--") and "=" in word]
    return dict([*pairwise(words), *pairs])


def _validated(manifest: Manifest) -> bool:
    """False for a run that has left the check by OPIC out."""
    checked = VALIDATION in manifest.steps or not method_of(manifest.parameters).opic
    return checked or "fingerprint" not in manifest.steps.get("join-scores", {})


def _options(parameters: Mapping[str, Any], given: Mapping[str, str]) -> Iterator[str]:
    """The options that are not the defaults, as the command line takes them. given: options of the
    last run, for files, of which the parameters have the digests."""
    runner = parameters.get("--runner", EMBEDDED)
    usual = RunOptions().parameters()
    if runner != EMBEDDED:
        yield f"--runner {'hadoop' if '--data' in parameters else 'local'}"
    usual["--unlisted"] = parameters.get("--bins", 0) + 1
    for name, value in parameters.items():
        if name in DERIVED or value in (None, False) or value == usual.get(name):
            continue
        if name in FILES:
            yield f"{name} {shlex.quote(given[name]) if name in given else 'FILE'}"
        else:
            yield from map(shlex.quote, option_words(name, value))


def run_section(manifest: Manifest) -> dict[str, Any]:
    """Steps with their state, rows, seconds and memory; parameters; the command that ran.

    state: `done`, `begun` or `to do`. memory: bytes that this process and its largest child had
    taken at most until the end of the step; None where that was not noted.
    """
    steps = [_step(name, manifest.steps.get(name, {})) for name in steps_of(manifest, list(STEPS))]
    return {
        "steps": steps,
        "to_do": _to_do(steps),
        "has_opic": any(step["step"] == "validate-opic" for step in steps),
        "seconds": round(sum(step["seconds"] or 0 for step in steps), 3),
        "memory": max((step["memory"] or 0 for step in steps), default=0) or None,
        "parameters": dict(manifest.parameters),
        "imported": manifest.imported.get("kind"),
        "versions": sorted({step["crawlrank"] for step in steps if step["crawlrank"]}),
        "pythons": sorted({step["python"] for step in steps if step["python"]}),
    }


def _to_do(steps: list[dict[str, Any]]) -> list[str]:
    """The steps that are not done; the check by OPIC may be left out of a run that has all else."""
    left = [step["step"] for step in steps if step["state"] != "done"]
    return [] if left == ["validate-opic"] else left


def _step(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    state = "done" if "fingerprint" in entry else "begun" if entry else "to do"
    return {
        "step": name,
        "state": state,
        "rows": entry.get("rows", {}),
        "seconds": entry.get("seconds"),
        "memory": entry.get("memory"),
        "rounds": len(entry.get("rounds", ())) if name == RANK else None,
        "crawlrank": entry.get("crawlrank"),
        "python": entry.get("python"),
    }


def beans(finished: Finished) -> str | None:
    """The fragment for Heritrix beside the precedence file; None where there is none. Raises
    BadInput where it is damaged."""
    if not finished.has_uris:
        return None
    path = finished.folder(BEANS)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UnusableDataset(str(finished.work / BEANS), "not UTF-8", "XML", CURE) from error
