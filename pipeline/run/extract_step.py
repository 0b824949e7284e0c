"""The step extract-links of a run: which archives are new or lost, and their extraction.

The manifest knows each archive by its content, so archives may be moved. What was extracted from
one is kept as long as its part is unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawlrank.jobs.kernel.captures.counters import INDEXES
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.mapreduce.launcher import CLUSTERS
from crawlrank.pipeline.engines.contract import Engine
from crawlrank.pipeline.options import FULL, RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.indexes import is_index, naming_indexes, without_known
from crawlrank.pipeline.run.step_state import StepState
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, StepEntry
from crawlrank.pipeline.workfolder.archive_identity import Identified, identify
from crawlrank.pipeline.workfolder.archives import (
    ArchivePaths,
    archive_tasks,
    check_archives,
    entry_of,
    extraction_entry,
    extraction_mark,
    forget_archives,
    note_glances,
    reports,
    require_no_web,
    require_readable,
    sizes_of,
)
from crawlrank.pipeline.workfolder.manifest import fingerprint
from crawlrank.pipeline.workfolder.work_folder import TMP


class ExtractStep:
    """given: archives by content. identified: the same, with size and time of their files.
    pending: those to extract, by the last `check`."""

    def __init__(
        self, state: StepState, engine: Engine, options: RunOptions, reporter: Reporter
    ) -> None:
        self.state, self.engine, self.options = state, engine, options
        self.reporter = reporter
        self.manifest = state.manifest
        self.given: ArchivePaths = {}
        self.identified: dict[str, Identified] = {}
        self.pending: list[str] = []

    def take(self, archives: Sequence[PathOrUrl]) -> None:
        """Look at the archives of this run. Raises BadInput for one that cannot be read."""
        if self.options.runner in CLUSTERS:
            require_no_web(archives)
        full = self.options.check_archives == FULL
        self.identified = identify(
            archives, self.manifest.archives, full=full, skip_bad_files=self.options.skip_bad_files
        )
        self.given = {content: file.glance.path for content, file in self.identified.items()}

    def check(self) -> None:
        """Find the archives to extract. Raises BadInput for other archives than before, unless
        forced."""
        if not self.manifest.imported:
            self.pending = check_archives(
                self.state.part_is_whole, self.manifest, self.given, self._mark,
                force=self.options.force, skip_bad_files=self.options.skip_bad_files,
            )  # fmt: skip

    def forget(self) -> None:
        """Drop archives from the manifest that are not given or are to be extracted."""
        forget_archives(self.manifest, self.given, self.pending)
        note_glances(self.manifest, self.identified)

    def parameters(self) -> dict[str, Any]:
        options = self.options.extraction.parameters()
        return {"form": self.engine.form, "archives": sorted(self.given), **options}

    def work(self) -> StepEntry:
        """Extract the pending archives. Each is in the manifest soon after it is done; saving takes
        a small part of the time, however many there are."""
        pending = {content: self.given[content] for content in self.pending}
        tasks, sizes = archive_tasks(pending, self.engine.suffix), sizes_of(pending)
        self._resume()
        before, total = len(self.given) - len(pending), len(self.given)
        try:
            indexes = list[tuple[ArchiveTask, ArchiveReport]]()
            done = before
            for task, report in self.engine.extract(tasks, self.options.extraction):
                done += 1
                if is_index(report):
                    indexes.append((task, report))
                else:
                    self._enter(task, report, sizes[task.content])
                self.reporter.archive(report, done, total)
            for task, report in sorted(indexes, key=lambda each: each[0].content):
                self._enter(task, self._without_known(task, report), sizes[task.content])
        finally:
            self.manifest.save()
        self.pending = []
        self.require_readable()
        return extraction_entry(self.options.extraction, self.manifest)

    def _resume(self) -> None:
        """Say what runs before have read."""
        kept = [self.manifest.archives[c] for c in self.given.keys() - set(self.pending)]
        if kept:
            self.reporter.resume(len(kept), sum(entry["size"] for entry in kept))

    def _enter(self, task: ArchiveTask, report: ArchiveReport, size: int) -> None:
        """Into the manifest, once its parts are in place."""
        if task.part not in self.manifest.parts:
            self.state.record_part(task.part)
        content = task.content
        mark = self._mark_of(content, indexed=is_index(report))
        glance = self.identified[content].glance
        self.manifest.archives[content] = entry_of(report, glance, size, task.part, mark)
        if self.manifest.due:
            self.manifest.save()

    def _without_known(self, task: ArchiveTask, report: ArchiveReport) -> ArchiveReport:
        """Leave captures that other archives have out of the part of an index. Raises BadInput
        where the parts lie at a URL."""
        store = self.engine.store
        if store.data:
            raise BadInput(
                report.path, "a CDX index, for a cluster", "WARC, ARC, WAT and WACZ files there",
                "Leave it out, or use --runner embedded or local.",
            )  # fmt: skip
        folder = store.work / "captures"
        others = [folder / part for part in sorted(self.manifest.parts) if part != task.part]
        return without_known(folder / task.part, others, report, store.work / TMP)

    def ids(self, nodes: str) -> StepEntry:
        """Do assign-ids on what was extracted. Raises BadInput where no page gets an id."""
        with naming_indexes(self.manifest.archives.values()):
            return self.engine.assign_ids(nodes)

    def require_readable(self) -> None:
        """Raises BadInput for an archive without anything readable, or, if strict, for damage."""
        given = reports(self.manifest, self.given)
        require_readable(given, self.options.skip_bad_files, self.options.strict)

    def _mark(self, content: str) -> str:
        known = self.manifest.archives.get(content, {}).get("counters", {})
        return self._mark_of(content, indexed=INDEXES in known)

    def _mark_of(self, content: str, *, indexed: bool) -> str:
        """indexed: whether it is an index, of which counts what no other archive has."""
        mark = extraction_mark(self.options.extraction, content, self.engine.form)
        return fingerprint(mark, sorted(self.given)) if indexed else mark
