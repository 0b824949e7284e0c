"""The archives of an extraction job: their names on its command line, and its reports of them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask
from crawlrank.pipeline.workfolder.counting import add_counters

ExtractedArchive = tuple[ArchiveTask, ArchiveReport]


def writable_names(archives: Sequence[PathOrUrl], tmp: Path) -> dict[str, PathOrUrl]:
    """name for the job -> archive. The name is the archive's own, or that of a link in tmp where
    mrjob's list of archives cannot have the own one."""
    names: dict[str, PathOrUrl] = {}
    for number, archive in enumerate(archives):
        if not isinstance(archive, Path):
            names[_writable_url(archive)] = archive
            continue
        folder = archive.parent.resolve() if ".." in archive.parts else archive.parent.absolute()
        path = str(folder / archive.name)  # as mrjob will write it, without `..`
        if not path.isprintable() or path != path.strip():
            folder = tmp / f"archive-{number}"
            folder.mkdir()
            link = folder / quote(os.fsencode(archive.name))
            link.symlink_to(path)
            path = str(link.absolute())
        names[path] = archive
    return names


def _writable_url(url: str) -> str:
    if not url.isprintable() or url != url.strip():
        raise BadInput(ascii(url), "a URL with control characters", cure="Copy the archive.")
    return url


def archive_reports(outcome: Outcome, names: Mapping[str, PathOrUrl]) -> list[ArchiveReport]:
    """The job's report of each archive. names: of writable_names."""
    damage: dict[str, list[list[Any]]] = {}
    for note in outcome.notes.get("damage", ()):
        name, *item = json.loads(note.value)
        damage.setdefault(name, []).append(item)
    reports = []
    for note in outcome.notes.get("archive", ()):
        end = json.loads(note.value)
        name, error, digest = end["archive"], end.get("error"), end.get("digest", "")
        path, damaged = str(names[name]), damage.get(name, [])
        reports.append(ArchiveReport(path, note.part, end["counters"], damaged, error, digest))
    return reports


def totals(reports: Sequence[ArchiveReport]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for report in reports:
        add_counters(total, report.counters)
    return dict(sorted(total.items()))
