"""Archives of a work folder: which are new, which have changed, and their entries.

An archive is known by its content (archive_identity.py), whose fingerprint also names its parts in
the datasets links and captures. Only added archives are extracted; the parts of others stay. The
counters of archives add up to those of the step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from crawlrank.jobs.kernel.archive.range_lists import IndexOfRanges
from crawlrank.jobs.kernel.captures.counters import MAX_TYPES, TYPES
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, unreadable
from crawlrank.jobs.kernel.storage.opening import (
    PathOrUrl,
    as_path_or_url,
    is_web,
    name_of,
    real,
    size_to_read,
)
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask
from crawlrank.pipeline.terminal.text import archive_name
from crawlrank.pipeline.workfolder.archive_identity import (
    Glance,
    Identified,
    identify,
    in_threads,
)
from crawlrank.pipeline.workfolder.manifest import Manifest, fingerprint
from crawlrank.pipeline.workfolder.received import Given, is_received

NEVER_READ = [
    "its extraction has not ended",
    "an archive that was read to its end",
    "Run again; the manifest has no entry of it.",
]
REPORTED = [field.name for field in fields(ArchiveReport)]
ArchivePaths = dict[str, PathOrUrl]  # fingerprint -> path or URL


def require_no_web(archives: Sequence[Given]) -> None:
    """Raises BadInput for an archive that the nodes of a cluster are not to fetch, because hundreds
    of them would ask one server at once, and for one that would be made a file of this machine."""
    if any(map(is_received, archives)):
        raise BadInput(
            "archives", "standard input or records of an index, for a cluster",
            "archives at s3://, hdfs:// or file:///, which all nodes reach",
            "Use --runner embedded or local.",
        )  # fmt: skip
    if web := next(
        (each for each in archives if not isinstance(each, IndexOfRanges) and is_web(each)), None
    ):
        raise BadInput(
            str(web), "an archive on a web server, for a cluster",
            "archives at s3://, hdfs:// or file:///, which all nodes reach",
            "Copy it there, or use --runner embedded or local.",
        )  # fmt: skip


def given_archives(paths: Sequence[PathOrUrl], *, skip_bad_files: bool = False) -> ArchivePaths:
    """The archives by the fingerprint of their content; the same content counts once."""
    identified = identify(paths, {}, skip_bad_files=skip_bad_files)
    return {content: archive.glance.path for content, archive in identified.items()}


def archive_tasks(given: ArchivePaths, suffix: str = ".parquet") -> list[ArchiveTask]:
    """What an engine extracts: each archive, and the name of its parts, which ends in `suffix`."""
    return [
        ArchiveTask(content, path, part_name(content, path, suffix))
        for content, path in given.items()
    ]


def extraction_mark(options: ExtractionOptions, content: str, form: str) -> str:
    """The fingerprint of one archive's extraction, to datasets of that form."""
    return fingerprint(content, form, options.parameters())


def extraction_entry(options: ExtractionOptions, manifest: Manifest) -> dict[str, Any]:
    """What the manifest says of the step."""
    return {"parameters": options.parameters(), **extraction_totals(manifest)}


def extraction_totals(manifest: Manifest) -> dict[str, Any]:
    """Rows and counters of the archives that were read so far."""
    total: Counter[str] = Counter()
    for entry in manifest.archives.values():
        add_counters(total, entry["counters"])
    rows = {"links": total["links"], "captures": total["captures"]}
    return {"rows": rows, "counters": dict(sorted(total.items()))}


def reports(manifest: Manifest, given: ArchivePaths) -> list[ArchiveReport]:
    """What the manifest says of the extraction of the given archives; of one that it does not know,
    that it was not read."""
    return [_report(manifest.archives.get(content), path) for content, path in given.items()]


def _report(entry: dict[str, Any] | None, path: PathOrUrl) -> ArchiveReport:
    if entry is None:
        return ArchiveReport(str(path), "", {}, error=NEVER_READ)
    return ArchiveReport(**{name: entry[name] for name in REPORTED if name in entry})


def check_archives(
    intact: Callable[[str], bool],
    manifest: Manifest,
    given: ArchivePaths,
    mark: Callable[[str], str],
    *,
    force: bool = False,
    skip_bad_files: bool = False,
) -> list[str]:
    """The archives to extract. Raises BadInput when known ones were removed or changed.

    intact: whether a part is as it was left. mark: of an archive's extraction, by its content.
    Known archives that could not be read may be left out; otherwise they are tried again, unless
    bad files are skipped without force. A part that archives share goes with the first of them
    that is left out.
    """
    if not given:
        raise BadInput("archives", "none given", "at least one WARC or ARC file")
    missing = [
        content
        for content, entry in manifest.archives.items()
        if content not in given and not entry["error"]
    ]
    if missing and not force:
        raise _archives_missing(manifest.archives[missing[0]]["path"], given, len(missing))
    parts = {entry["part"] for entry in manifest.archives.values()}
    parts -= {manifest.archives[content]["part"] for content in missing}
    parts = {part for part in parts if intact(part)}
    return [
        content
        for content in given
        if (known := manifest.archives.get(content)) is None
        or (known["error"] and (force or not skip_bad_files))
        or known["mark"] != mark(content)
        or known["part"] not in parts
    ]


def _archives_missing(path: str, given: ArchivePaths, count: int) -> BadInput:
    """The error for the first of `count` known archives that are not given."""
    changed = real(as_path_or_url(path)) in map(real, given.values())
    return BadInput(
        archive_name(path),
        "has changed since it was extracted" if changed else "was in this work folder before",
        "the archives of the earlier run, and any new ones",
        "Give it again, use another work folder, or run with --force, which removes its captures"
        f" and links. Archives of the earlier run that are missing or changed: {count:,}.",
    )


def part_name(content: str, path: PathOrUrl, suffix: str) -> str:
    """The name of the archive's file in links and captures: for people its name, for us its
    content."""
    return f"{name_of(path).lstrip('._').split('.')[0][:40]}-{content[:12]}{suffix}"


def sizes_of(given: ArchivePaths) -> dict[str, int]:
    """The sizes in bytes, by fingerprint."""
    return dict(zip(given, in_threads(size_to_read, given.values()), strict=True))


def entry_of(
    report: ArchiveReport, glance: Glance, size: int, part: str, mark: str
) -> dict[str, Any]:
    """What the manifest says of an archive of `size` bytes."""
    return {**asdict(report), **glance.noted(), "size": size, "part": part, "mark": mark}


def note_glances(manifest: Manifest, identified: Mapping[str, Identified]) -> None:
    """Note how archives that are kept look now, as they may have been touched or copied."""
    for content, archive in identified.items():
        if entry := manifest.archives.get(content):
            entry.update(archive.glance.noted(), path=str(archive.glance.path))
            entry["digest"] = entry.get("digest") or archive.digest


def forget_archives(manifest: Manifest, given: ArchivePaths, pending: Sequence[str]) -> None:
    """Drop archives that are not given, and what was made of those about to be extracted.

    To be saved before their parts change, so that a kill cannot leave a false entry.
    """
    for content in [known for known in manifest.archives if known not in given]:
        del manifest.archives[content]
    for content in pending:
        manifest.archives.pop(content, None)
    used = {entry["part"] for entry in manifest.archives.values()}
    for part in [known for known in manifest.parts if known not in used]:
        del manifest.parts[part]


def forget_part(manifest: Manifest, part: str) -> None:
    """Drop a part that is not as it was left, and the archives that it is of."""
    manifest.parts.pop(part, None)
    of_part = [c for c, entry in manifest.archives.items() if entry["part"] == part]
    for content in of_part:
        del manifest.archives[content]


def require_readable(reports: Sequence[ArchiveReport], skip_bad_files: bool, strict: bool) -> None:
    """Raise BadInput for an archive without anything readable, or, if strict, for any damage."""
    bad = [report for report in reports if report.error]
    if bad and (not skip_bad_files or len(bad) == len(reports)):
        kept = "The results of other archives are kept; --skip-bad-files continues without "
        kept += "it." if len(bad) == 1 else "these."
        errors = [(archive_name(report.path), report.error or [""]) for report in bad]
        raise unreadable(errors, len(reports), kept if len(bad) < len(reports) else "")
    damaged = [report for report in reports if report.damage]
    if strict and damaged:
        offset, reason, detail = damaged[0].damage[0]
        raise BadInput(
            f"{archive_name(damaged[0].path)}, offset {offset}",
            f"{reason} ({detail})",
            "no damage, with --strict",
            f"Damaged archives: {len(damaged):,} of {len(reports):,}.",
        )


_OTHER = TYPES + "other"


def add_counters(total: Counter[str], counters: Mapping[str, int]) -> None:
    """Add those of one archive. Of media types, which are input, the MAX_TYPES that are most common
    so far keep their names, so that a million archives cannot fill a manifest either."""
    total.update(counters)
    names = [name for name in total if name.startswith(TYPES) and name != _OTHER]
    names.sort(key=lambda name: (-total[name], name))
    for name in names[MAX_TYPES:]:
        total[_OTHER] += total.pop(name)
