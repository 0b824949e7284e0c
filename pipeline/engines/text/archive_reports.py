"""What a job of extraction tells of its archives, and the names by which it reads them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jobs.kernel.errors import BadInput
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.outcome import Outcome
from pipeline.contract import ArchiveReport
from pipeline.workfolder.counting import add_counters


def writable_names(archives: Sequence[Place], tmp: Path) -> dict[str, Place]:
    """A path for a job by which to read each archive: its own, or that of a link in tmp where the
    name has what mrjob's list of archives cannot carry."""
    named: dict[str, Place] = {}
    for number, archive in enumerate(archives):
        if not isinstance(archive, Path):
            named[_writable_url(archive)] = archive
            continue
        folder = archive.parent.resolve() if ".." in archive.parts else archive.parent.absolute()
        path = str(folder / archive.name)  # as mrjob will write it: it takes out `..`
        if not path.isprintable() or path != path.strip():
            folder = tmp / f"archive-{number}"
            folder.mkdir()
            link = folder / quote(os.fsencode(archive.name))
            link.symlink_to(path)
            path = str(link.absolute())
        named[path] = archive
    return named


def _writable_url(url: str) -> str:
    if not url.isprintable() or url != url.strip():
        raise BadInput(ascii(url), "a URL with control characters", cure="Copy the archive.")
    return url


def archive_reports(outcome: Outcome, named: Mapping[str, Place]) -> list[ArchiveReport]:
    """What the job told of each archive, under the path that it was given by."""
    damage: dict[str, list[list[Any]]] = {}
    for note in outcome.notes.get("damage", ()):
        archive, *what = json.loads(note.value)
        damage.setdefault(archive, []).append(what)
    reports = []
    for note in outcome.notes.get("archive", ()):
        told = json.loads(note.value)
        path = told["archive"]
        reports.append(
            ArchiveReport(
                str(named[path]),
                note.part,
                told["counters"],
                damage.get(path, []),
                told.get("error"),
                told.get("digest", ""),
            )
        )
    return reports


def require_readable(reports: Sequence[ArchiveReport], skip_bad_files: bool, strict: bool) -> None:
    """Raise BadInput for an archive without anything readable, or, if strict, for any damage."""
    bad = [report for report in reports if report.error]
    if bad and (not skip_bad_files or len(bad) == len(reports)):
        found, expected, cure = bad[0].error or ("", "", "")
        more = f" (and {len(bad) - 1} more archives)" if len(bad) > 1 else ""
        if len(bad) < len(reports):
            cure += " What the other archives gave is kept; --skip-bad-files goes on without it."
        raise BadInput(bad[0].path + more, found, expected, cure.strip())
    damaged = [report for report in reports if report.damage]
    if strict and damaged:
        offset, reason, detail = damaged[0].damage[0]
        raise BadInput(
            f"{damaged[0].path}, offset {offset}",
            f"{reason} ({detail})",
            "no damage, with --strict",
            f"{len(damaged)} of {len(reports)} archives are damaged.",
        )


def totals(reports: Sequence[ArchiveReport]) -> dict[str, int]:
    """Counters of all archives together."""
    total: Counter[str] = Counter()
    for report in reports:
        add_counters(total, report.counters)
    return dict(sorted(total.items()))
