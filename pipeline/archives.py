"""Archives of a work folder: which are new, which have changed, and the extraction of each.

An archive is known by the fingerprint of its content, which also names its parts in the datasets
links and captures. Added archives are extracted alone; what others gave is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from jobs.extract_links import ExtractLinks
from jobs.kernel.errors import BadInput
from jobs.kernel.opening import Place, place, real, size_of
from jobs.launch import Launcher, launch
from pipeline.manifest import Manifest, file_fingerprint, fingerprint
from pipeline.steps import ArchiveReport, archive_reports, writable_names

REPORTED = [field.name for field in fields(ArchiveReport)]
Given = dict[str, Place]  # fingerprint -> path or URL
DATASETS = ("links", "captures")
PART = re.compile(r"-[0-9a-f]{12}\Z")  # how the name of every part ends
AT_ONCE = 4  # archives for each process in one job


def given_archives(paths: Sequence[Place]) -> Given:
    """The archives by the fingerprint of their content; the same content counts once."""
    found: Given = {}
    for path in paths:
        if isinstance(path, Path) and path.is_dir():
            raise BadInput(
                str(path), "a folder", "an archive file", f"Name its files: {path}/*.warc.gz"
            )
        try:
            found.setdefault(file_fingerprint(path), path)
        except OSError as error:
            raise BadInput(
                str(path), f"cannot be read ({error.strerror or error})", "a WARC or ARC file"
            ) from error
    return found


@dataclass(frozen=True)
class Extraction:
    """Options of extraction that its results depend on."""

    outlinks: str = "auto"
    links: str = "nav"
    max_record: int = 64 * 2**20
    nofollow: str = "keep"
    forms: bool = False
    pdf: bool = False

    def parameters(self) -> dict[str, Any]:
        return {
            "--outlinks": self.outlinks,
            "--links": self.links,
            "--max-record": self.max_record,
            "--nofollow": self.nofollow,
            "--forms": self.forms,
            "--pdf": self.pdf,
        }

    def args(self) -> list[str]:
        given = self.parameters().items()
        flags = [name for name, value in given if value is True]
        pairs = [(name, str(value)) for name, value in given if not isinstance(value, bool)]
        return flags + [word for pair in pairs for word in pair]

    def mark(self, content: str) -> str:
        """Of one archive's extraction."""
        return fingerprint(content, self.parameters())

    def run(
        self,
        work: Path,
        manifest: Manifest,
        given: Given,
        pending: Sequence[str],
        launcher: Launcher,
    ) -> list[ArchiveReport]:
        """Extract the pending archives; returns the reports of all that were given.

        Some archives at a time, so that a kill costs no more than those.
        """
        for content in [known for known in manifest.archives if known not in given]:
            del manifest.archives[content]
        for content in pending:
            manifest.archives.pop(content, None)
        manifest.save()  # before their parts change, so that a kill cannot leave a false entry
        _drop_unknown_parts(work, manifest)
        at_once = AT_ONCE * (launcher.processes or 1)
        for before in range(0, len(pending), at_once):
            there = _counting_from(before, len(pending), launcher)
            some = {content: given[content] for content in pending[before : before + at_once]}
            self._extract(work, manifest, some, there)
            manifest.save()
        return reports(manifest, given)

    def _extract(self, work: Path, manifest: Manifest, some: Given, launcher: Launcher) -> None:
        contents = {str(path): content for content, path in some.items()}
        with launcher.workplace("extract-links") as tmp:
            found, seen = tmp / "links", tmp / "captures"
            named = writable_names(list(some.values()), tmp)
            outcome = launch(
                ExtractLinks, list(named), found, launcher, self.args(), {"captures": seen}
            )
            for report in archive_reports(outcome, named):
                content = contents[report.path]
                entry = self._entry(content, some[content], report)
                _place(found / report.part, work / "links" / entry["part"])
                _place(seen / report.part, work / "captures" / entry["part"])
                manifest.archives[content] = entry

    def _entry(self, content: str, path: Place, report: ArchiveReport) -> dict[str, Any]:
        told = asdict(report)
        told.update(
            path=str(path),
            size=size_of(path),
            part=f"{Path(path).name.lstrip('._').split('.')[0][:40]}-{content[:12]}",
            mark=self.mark(content),
        )
        return told

    def entry(self, manifest: Manifest) -> dict[str, Any]:
        """What the manifest says of the step: totals over the archives."""
        total: Counter[str] = Counter()
        for entry in manifest.archives.values():
            total.update(entry["counters"])
        rows = {"links": total["links"], "captures": total["captures"]}
        return {
            "parameters": self.parameters(),
            "rows": rows,
            "counters": dict(sorted(total.items())),
        }


def reports(manifest: Manifest, given: Given) -> list[ArchiveReport]:
    """What the manifest says of the extraction of the given archives."""
    return [
        ArchiveReport(**{name: manifest.archives[content][name] for name in REPORTED})
        for content in given
    ]


def check_archives(
    work: Path,
    manifest: Manifest,
    given: Given,
    extraction: Extraction,
    *,
    force: bool = False,
    skip_bad_files: bool = False,
) -> list[str]:
    """The archives to extract. Raises BadInput when known ones were removed or changed.

    Those that gave nothing may go; they are tried again, unless bad files are skipped.
    """
    if not given:
        raise BadInput("archives", "none given", "at least one WARC or ARC file")
    missing = [
        content
        for content, entry in manifest.archives.items()
        if content not in given and not entry["error"]
    ]
    if missing and not force:
        path = manifest.archives[missing[0]]["path"]
        changed = real(place(path)) in map(real, given.values())
        raise BadInput(
            path,
            "has changed since it was extracted" if changed else "was in this work folder before",
            "the archives of the earlier run, and any new ones",
            f"Give it again, use another --work, or drop what came of it with --force"
            f" ({len(missing)} such archives).",
        )
    return [
        content
        for content in given
        if (known := manifest.archives.get(content)) is None
        or (known["error"] and not skip_bad_files)
        or known["mark"] != extraction.mark(content)
        or not all((work / dataset / known["part"]).exists() for dataset in DATASETS)
    ]


def _place(found: Path, output: Path) -> None:
    output.parent.mkdir(exist_ok=True)
    found.replace(output)


def _drop_unknown_parts(work: Path, manifest: Manifest) -> None:
    """Remove the parts of archives that were dropped, or that a killed run did not get to enter."""
    known = {entry["part"] for entry in manifest.archives.values()}
    for dataset in DATASETS:
        for part in (work / dataset).glob("*"):
            if part.name not in known and PART.search(part.name):
                part.unlink()


def _counting_from(before: int, total: int, launcher: Launcher) -> Launcher:
    """The launcher, with progress that counts all archives and not only these."""
    if (on_task := launcher.on_task) is None:
        return launcher
    return replace(launcher, on_task=lambda job, done, _: on_task(job, before + done, total))
