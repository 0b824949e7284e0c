"""manifest.json of a work folder: what was done, with what, and what came out.

    {"format": 2, "crawlrank": version,
     "archives": {key: {"path", "size", "part", "counters", "damage", "error",
                        "ends", "modified", "pieces", "digest"}},  see archive_identity.py
     "parts": {part: {dataset: record}},
     "ranking": {"of"}, of a folder of rankings.py
     "imported": {"kind", "files", "datasets": {dataset: record}, "fingerprint"},
     "parameters": {name: value},
     "steps": {name: {"fingerprint", "parameters", "rows", "counters", "seconds", "crawlrank",
                      "datasets": {dataset: record},
                      "rounds": [{"round", "certificate", "eta", …}]}},
     "digest": of all above}

A step is done when its entry is there with the fingerprint of its inputs and parameters, and each
of its datasets is as its record says (dataset_store.py). The entry goes before the first of the
step's datasets is touched, and comes once all are in place and on the disk. An entry without
fingerprint tells how far a step is.

The runs of a work folder, in the section `runs` of its manifest.

    {"count": of all runs, "seconds": of those before the last, "last": [{"arguments",
     "configuration", "crawlrank", "started", "seconds"}, …]}

The last run has no seconds here until another one begins: the lock's file has them, so that a run
need not save a manifest of many archives once more at its end.

`imported` is of a work folder whose first datasets come from text files. Its fingerprint, there
once all is in place, stands for the marks of the steps that `import-text` takes the place of.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import (
    PathOrUrl,
    is_url,
    open_binary,
    read_range,
    size_of,
)
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.ranking.methods import Method, method_of
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.version import crawlrank_version
from crawlrank.pipeline.workfolder.dataset_store import DatasetRecord, sync_folder

FORMAT = 2
LINES = ("archives", "parts")  # of which there may be hundreds of thousands
DIGEST = ',\n "digest": "'  # what stands before the digest, which is the last
SAMPLED = 1 << 16
SAVING = 20  # times as long as the manifest took to save, it is not saved again unless it must be


def fingerprint(*of: Any) -> str:
    """A short digest of values that JSON can hold, equal for equal values."""
    text = json.dumps(of, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def file_fingerprint(path: PathOrUrl) -> str:
    """Digest of a file's size, first and last 64 KiB: what tells files apart at no cost. It does
    not see a change in the middle; archive_identity.py does."""
    size = size_of(path)
    end = max(0, size - SAMPLED)
    if is_url(path):  # there may be hundreds of thousands of them
        return ends_digest(size, *(read_range(path, begin, SAMPLED) for begin in (0, end)))
    with open_binary(path) as file:
        first = file.read(SAMPLED)
        file.seek(end)
        return ends_digest(size, first, file.read(SAMPLED))


def ends_digest(size: int, first: bytes, last: bytes) -> str:
    """first, last: SAMPLED bytes, or all of a file that has fewer."""
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    digest.update(first)
    digest.update(last)
    return digest.hexdigest()


def _written(data: dict[str, Any]) -> str:
    """The text, for people to read, but for archives and their parts: thousands, and damage, on a
    line each, as an indent would take ten times as long with every step that is saved."""
    text = json.dumps({**data, **{name: {} for name in LINES}}, indent=1)
    for name in reversed(LINES):  # the first match is the section, as no entry stands before it
        lines = (f"  {json.dumps(key)}: {json.dumps(entry)}" for key, entry in data[name].items())
        listed = "{\n" + ",\n".join(lines) + "\n }"
        text = text.replace(f'"{name}": {{}}', f'"{name}": {listed}', 1)
    return sealed(text.removesuffix("\n}"))


def sealed(body: str) -> str:
    """The text of a JSON object that has no end yet, ended by the digest of all before it."""
    digest = hashlib.blake2b(body.encode(), digest_size=16).hexdigest()
    return f'{body}{DIGEST}{digest}"\n}}\n'


def require_manifest(work: Path) -> Manifest:
    """The manifest of a work folder. Raises BadInput where there is none."""
    if not (work / "manifest.json").exists():
        raise BadInput(
            str(work), "no manifest.json in it", "a work folder", "Make one with `crawlrank run`."
        )
    return Manifest(work)


class Manifest:
    """The manifest in memory; every change is written through."""

    def __init__(self, work: Path) -> None:
        self.path = work / "manifest.json"
        self._next_save = 0.0
        self._data: dict[str, Any] = {
            "format": FORMAT,
            "crawlrank": crawlrank_version(),
            "archives": {},
            "parts": {},
            "parameters": {},
            "steps": {},
        }
        if self.path.exists():
            self._data = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            text = self.path.read_text()
            data = json.loads(text)
        except (ValueError, OSError, RecursionError) as error:
            raise self._refused(f"cannot be read ({error})") from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            known = isinstance(data, dict) and "format" in data
            raise BadInput(
                str(self.path),
                f"a manifest of format {data['format']}" if known else 'no field "format"',
                f"format {FORMAT}",
                "The folder is of another version of crawlrank: use another one.",
            )
        if text != sealed(text.rpartition(DIGEST)[0]):
            raise self._refused("has changed since crawlrank wrote it")
        del data["digest"]
        return data

    def _refused(self, what: str) -> BadInput:
        cure = "Put the file back as it was, use another work folder, or remove this one."
        return BadInput(str(self.path), what, "the manifest of a work folder", cure)

    def save(self) -> None:
        """Replace the file at once, and bring it to the disk."""
        begun = time.monotonic()
        with replacing(self.path) as path, path.open("w") as file:
            file.write(_written(self._data))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.path.parent)
        now = time.monotonic()
        self._next_save = now + SAVING * (now - begun)

    @property
    def due(self) -> bool:
        """Whether to save what comes often, and may be lost by a kill: a manifest of many archives
        takes its time."""
        return time.monotonic() >= self._next_save

    def section(self, name: str) -> dict[str, Any]:
        """A part of the manifest by its name, made if it is not there."""
        section: dict[str, Any] = self._data.setdefault(name, {})
        return section

    @property
    def archives(self) -> dict[str, dict[str, Any]]:
        return self.section("archives")

    @property
    def parts(self) -> dict[str, dict[str, DatasetRecord]]:
        """part -> records of that part of links and captures."""
        return self.section("parts")

    @property
    def imported(self) -> dict[str, Any]:
        """What text files the folder was made of, if any; see pipeline/workfolder/manifest.py."""
        return self.section("imported")

    @property
    def ranking(self) -> dict[str, str]:
        """For a ranking beside others {"of": mark of its graph} (see rankings.py), else empty."""
        ranking: dict[str, str] = self._data.get("ranking", {})
        return ranking

    @property
    def claims(self) -> dict[str, str]:
        """URLs of folders of data that are this work folder's own; see lock.py."""
        return self.section("claims")

    @property
    def parameters(self) -> dict[str, Any]:
        return self.section("parameters")

    @property
    def steps(self) -> dict[str, dict[str, Any]]:
        return self.section("steps")

    def datasets(self) -> dict[str, DatasetRecord]:
        """The records of all datasets but links and captures, which have parts."""
        records: dict[str, DatasetRecord] = dict(self.imported.get("datasets", {}))
        for entry in self.steps.values():
            records.update(entry.get("datasets", {}))
        return records

    def is_done(self, step: str, mark: str) -> bool:
        return self.steps.get(step, {}).get("fingerprint") == mark

    @property
    def last_command(self) -> str:
        """The command of the last run, as a shell takes it; without its words if they are not
        known."""
        last = [run.get("arguments", []) for run in self.section("runs").get("last", [])][-1:]
        words = last[0] if last else []
        return shlex.join(["crawlrank", *(words or ["rank" if self.ranking else "run"])])

    def require_done(self, *steps: str) -> None:
        """Raise BadInput for the first of the steps that is not."""
        for step in steps:
            entry = self.steps.get(step, {})
            if "fingerprint" not in entry:
                more = ", and a larger --max-rounds if it ends there" if entry.get("rounds") else ""
                cure = f"Finish it with `{self.last_command}`{more}."
                raise BadInput(str(self.path.parent), f"{step} is not done", "a finished run", cure)

    def forget(self, steps: Iterable[str]) -> None:
        """Remove these steps from the manifest before their datasets change."""
        for step in steps:
            self.steps.pop(step, None)
        self.save()

    def progress(self, step: str, mark: str) -> dict[str, Any]:
        """How far a step of that mark is; empty where it has not begun."""
        entry = self.steps.get(step, {})
        return entry if entry.get("of") == mark and "fingerprint" not in entry else {}

    def begun(self, step: str, entry: dict[str, Any]) -> None:
        """Record how far a step is, to be saved."""
        self.steps[step] = {**entry, "crawlrank": crawlrank_version()}

    def done(self, step: str, entry: dict[str, Any]) -> None:
        """Record a finished step and save."""
        self.steps[step] = {**entry, "crawlrank": crawlrank_version()}
        self.save()


KEPT = 20  # runs, of those whose commands are kept


@dataclass(frozen=True)
class Invocation:
    """The command of a run, without secrets. arguments: as given, from the name of the command on.
    configuration: the file of options that were not given, and these, by their names there."""

    arguments: list[str]
    configuration: str | None = None
    configured: dict[str, Any] = field(default_factory=dict)


def utc_now() -> str:
    """`2026-11-25T01:28:42.123Z`"""
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def add_run(manifest: Manifest, invocation: Invocation | None, before: Mapping[str, Any]) -> None:
    """Enter a run that begins, to be saved. before: the state of the run before it."""
    runs, counts = manifest.section("runs"), runs_before(manifest, before)
    last = runs.setdefault("last", [])
    if last and "seconds" not in last[-1]:
        last[-1]["seconds"] = float(before.get("seconds") or 0.0)
    command = asdict(invocation) if invocation else {}
    last.append({**command, "crawlrank": crawlrank_version(), "started": utc_now()})
    del last[:-KEPT]
    runs |= {"count": counts["count"] + 1, "seconds": counts["seconds"]}


def runs_before(manifest: Manifest, before: Mapping[str, Any]) -> dict[str, Any]:
    """Count and seconds of all runs until now. before: the state of the last of them, which knows
    of runs that were killed before they saved the manifest."""
    if earlier := before.get("before"):
        seconds = earlier["seconds"] + before.get("seconds", 0.0)
        return {"count": earlier["count"] + 1, "seconds": round(seconds, 3)}
    runs = manifest.section("runs")
    return {"count": runs.get("count", 0), "seconds": runs.get("seconds", 0.0)}


def seconds_of_steps(manifest: Manifest, before: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of each step by the manifest; of one that is not done, by the state of the run that
    began it."""
    spent = {name: float(seconds) for name, seconds in before.get("spent", {}).items()}
    done = {name: entry["seconds"] for name, entry in manifest.steps.items() if "seconds" in entry}
    return {**spent, **done}


LINKS, KEYS, GRAPH, URI_GRAPH = "links", "keys", "graph", "graph of URIs"
SELECT = "select-links"  # the step that only some runs have

#: kind -> the steps that it takes the place of; the last one is shown as done
REPLACED = {
    LINKS: ("extract-links",),
    KEYS: ("extract-links",),
    **dict.fromkeys(
        (GRAPH, URI_GRAPH), ("extract-links", "canonicalize", "assign-ids", "gen-graph")
    ),
}
IMPORT_AGAIN = "Import the text files into a new work folder with `crawlrank step import-text`."
WITHOUT_URIS = (KEYS, GRAPH)  # so there is nothing that Heritrix could look up


def steps_of(
    manifest: Manifest,
    steps: Sequence[str],
    *,
    selects: bool | None = None,
    method: Method | None = None,
) -> list[str]:
    """The steps that a run in this work folder has. selects: whether it selects links.
    method: its ranking. Both are by default as the parameters in the manifest say."""
    kind = manifest.imported.get("kind")
    usual = CaptureRules().parameters()
    if selects is None:
        selects = any(manifest.parameters.get(name, usual[name]) != usual[name] for name in usual)
    no_steps = set() if selects else {SELECT}
    if not (method or method_of(manifest.parameters)).opic:
        no_steps.add("validate-opic")
    if kind is None:
        return [step for step in steps if step not in no_steps]
    no_steps.update(REPLACED[kind][:-1])
    if kind in WITHOUT_URIS:
        no_steps.add("export-precedence")
    return [step for step in steps if step not in no_steps]


def require_finished(manifest: Manifest) -> None:
    """Raise BadInput where a step that a run in this work folder has is not done; validation may
    be left out."""
    without = manifest.imported.get("kind") in WITHOUT_URIS
    manifest.require_done("page-rank", "join-scores" if without else "export-precedence")


def require_import(
    work: Path, manifest: Manifest, archives: Sequence[object], runner: str
) -> dict[str, str]:
    """The marks of the steps that were replaced. Raises BadInput for what does not go with them."""
    imported = manifest.imported
    if archives:
        raise BadInput(
            str(work),
            "was made from text files by `crawlrank step import-text`, and now"
            f" {archives[0]} is given",
            "a work folder for archives, or one for text files",
            "Leave the archives out, or name another work folder for them.",
        )
    if runner != EMBEDDED:
        raise BadInput(
            str(work),
            f"was made for the runner {EMBEDDED}, now it is {runner}",
            f"--runner {EMBEDDED}",
            "The commands of the single steps run the jobs on text files.",
        )
    if "fingerprint" not in imported:
        cure = "Run it again."
        raise BadInput(str(work), "import-text was interrupted", "a finished import", cure)
    return dict.fromkeys(REPLACED[imported["kind"]], imported["fingerprint"])
