"""The step extract-links of a run: which archives are new or lost, and their extraction.

The manifest knows each archive by its content, so archives may be moved. What was extracted from
one is kept as long as its part is unchanged.

A capture that an index names may be known already, from archives or from an earlier index. It is
taken out of the index's part, so that no capture counts twice. A capture is known by its URI and
its time, of seconds. An archive says more of a capture than a line of an index, so the line goes.
An index is extracted again when other archives are given. Memory: DuckDB's, which spills, and eight
bytes for each line of the index.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.captures.counters import INDEXES, TYPES
from crawlrank.jobs.kernel.errors import BadInput, NoNodes
from crawlrank.jobs.kernel.formats.lines import parse_capture
from crawlrank.jobs.kernel.formats.reading import open_part
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.mapreduce.launcher import CLUSTERS
from crawlrank.pipeline.data.database import database, feed
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.parquet import parquet_writer
from crawlrank.pipeline.engines.contract import Engine
from crawlrank.pipeline.engines.embedded.columns import capture_blocks
from crawlrank.pipeline.options import FULL, RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.step_state import StepState
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, StepEntry, datasets_of
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
from crawlrank.pipeline.workfolder.received import (
    FOLDER,
    PIPE,
    Given,
    drop_unused,
    received,
    received_before,
)
from crawlrank.pipeline.workfolder.work_folder import TMP

KNOWN = "dropped.capture.known"
BUDGET = 1 << 29  # bytes of memory
BATCH = 1 << 16  # lines
_TIMED = pa.schema([("uri", pa.string()), ("timestamp", pa.string())])
_NUMBERED = pa.schema([*_TIMED, ("number", pa.int64())])
_FIRST = """
    SELECT min(number) FROM (SELECT * FROM new ANTI JOIN known USING (uri, timestamp))
    GROUP BY uri, timestamp ORDER BY 1
"""
Kept = npt.NDArray[np.int64]  # numbers of rows, ascending


@contextmanager
def naming_indexes(archives: Collection[Mapping[str, Any]]) -> Iterator[None]:
    """Where no page gets an id, say so of indexes that are alone. archives: of the manifest."""
    try:
        yield
    except NoNodes as error:
        read = [entry for entry in archives if not entry["error"]]
        if not read or any(INDEXES not in entry["counters"] for entry in read):
            raise
        more = f" and {len(read) - 1:,} more" if len(read) > 1 else ""
        raise NoNodes(
            f"{read[0]['path']}{more}", "an index of captures, which has no links, and no archive",
            "at least one archive with links",
            "Give the archives too, or rank the captures alike with --nodes all.",
        ) from error  # fmt: skip


def is_index(report: ArchiveReport) -> bool:
    return report.counters.get(INDEXES, 0) > 0


def without_known(
    part: Path, others: Sequence[Path], report: ArchiveReport, tmp: Path
) -> ArchiveReport:
    """Take what is known out of a part of captures; the report of what is left. others: parts of
    captures in the same form that count."""
    kept = _kept(part, others, tmp)
    counters = Counter(report.counters)
    rewrite = _rewrite_table if part.suffix == ".parquet" else _rewrite_lines
    with replacing(part) as output:
        for status, media_type in rewrite(part, output, kept):
            counters[KNOWN] += 1
            name = TYPES + media_type
            name = name if counters[name] else f"{TYPES}other"
            gone = ("captures", f"captures.{INDEX}", f"captures.status.{status}", name)
            counters.subtract(gone)
    return replace(report, counters={name: n for name, n in counters.items() if n})


def _kept(part: Path, others: Sequence[Path], tmp: Path) -> Kept:
    """The rows of the part that are not known, and of several with one name the first."""
    with database(tmp, budget=BUDGET, threads=os.cpu_count() or 1) as (db, _):
        feed(db, "rows", _NUMBERED, _numbered(_timed(part)))
        db.execute("CREATE TABLE new AS SELECT * FROM rows")
        feed(db, "known", _TIMED, (batch for other in others for batch in _timed(other)))
        numbers = db.sql(_FIRST).fetchnumpy()
    return np.asarray(next(iter(numbers.values())), np.int64)


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    begin = 0
    for batch in batches:
        numbers = pa.array(np.arange(begin, begin + len(batch)))
        yield pa.record_batch([*batch.columns, numbers], _NUMBERED)
        begin += len(batch)


def _timed(part: Path) -> Iterator[pa.RecordBatch]:
    """URIs and timestamps of a part, null where they are not known. None of a part that an archive
    without captures has not made."""
    if not part.exists():
        return
    if part.suffix == ".parquet":
        for block in capture_blocks(part):
            yield from block.cast(_TIMED).to_batches()
        return
    uris, times = list[bytes](), list[bytes | None]()
    with open_part(part) as lines:
        for line in lines:
            uri, time = line.split(b"\t", 2)[:2]
            uris.append(uri)
            times.append(None if time == UNKNOWN else time)
            if len(uris) == BATCH:
                yield _batch(uris, times)
                uris, times = [], []
    yield _batch(uris, times)


def _batch(uris: list[bytes], times: list[bytes | None]) -> pa.RecordBatch:
    columns = [pa.array(each, pa.binary()).cast(pa.string()) for each in (uris, times)]
    return pa.record_batch(columns, _TIMED)


def _rewrite_table(part: Path, output: Path, kept: Kept) -> Iterator[tuple[str, str]]:
    """Write the rows that are kept; status and media type of the others."""
    begin = 0
    with (
        open_parquet(part) as source,
        parquet_writer(output, source.schema_arrow) as file,
    ):
        for number in range(source.num_row_groups):
            group = source.read_row_group(number)
            end = begin + len(group)
            mask = np.zeros(len(group), np.bool_)
            mask[kept[np.searchsorted(kept, begin) : np.searchsorted(kept, end)] - begin] = True
            file.write_table(group.filter(pa.array(mask)))
            gone = group.filter(pa.array(~mask))
            for status, media_type in zip(
                gone["status"].to_pylist(), gone["media_type"].to_pylist(), strict=True
            ):
                yield str(status or "-"), media_type or "-"
            begin = end


def _rewrite_lines(part: Path, output: Path, kept: Kept) -> Iterator[tuple[str, str]]:
    """Rewrite parts that are lines."""
    following = iter(kept.tolist())
    wanted = next(following, -1)
    with open_part(part) as lines, output.open("wb") as file:
        for number, line in enumerate(lines):
            if number == wanted:
                file.write(line)
                wanted = next(following, -1)
            else:
                capture = parse_capture(line.rstrip(b"\n"))
                yield capture.status.decode(), capture.media_type.decode()


class ExtractStep:
    """given: archives by content. identified: the same, with size and time of their files.
    pending: those to extract, by the last `check`."""

    def __init__(
        self, state: StepState, engine: Engine, options: RunOptions, reporter: Reporter
    ) -> None:
        self.state, self.engine, self.options = state, engine, options
        self.reporter = reporter
        self.manifest = state.manifest
        self.folder = engine.store.work / FOLDER  # for what is received
        self.before: list[Path] = []  # what runs before have received
        self.given: ArchivePaths = {}
        self.identified: dict[str, Identified] = {}
        self.pending: list[str] = []

    def take(self, archives: Sequence[Given]) -> None:
        """Look at the archives of this run. Raises BadInput for one that cannot be read."""
        if self.options.runner in CLUSTERS:
            require_no_web(archives)
        full = self.options.check_archives == FULL
        self.identified = identify(
            self._received(archives),
            self.manifest.archives,
            full=full,
            skip_bad_files=self.options.skip_bad_files,
        )
        self.given = {content: file.glance.path for content, file in self.identified.items()}

    def _received(self, archives: Sequence[Given]) -> list[PathOrUrl]:
        """The archives as files. Raises BadInput for an input without a byte."""
        tmp, before = self.folder.parent / TMP, received_before(self.folder)
        self.before = before
        name = shlex.quote(str(before[0])) if before else ""
        cure = f"{PIPE} That of a run before is kept: name {name}." if before else PIPE
        return received(archives, self.folder, tmp, self.reporter.note, cure)

    def check(self) -> None:
        """Find the archives to extract. Raises BadInput for other archives than before, unless
        forced."""
        if self.manifest.imported:
            return
        try:
            self.pending = check_archives(
                self.state.part_is_whole, self.manifest, self.given, self._mark,
                force=self.options.force, skip_bad_files=self.options.skip_bad_files,
            )  # fmt: skip
            indexes = {content for content in self.given if self._is_known_index(content)}
            if {*self.pending} - indexes:  # one that could not be read before is none of theirs
                self.pending = [*self.pending, *sorted(indexes - {*self.pending})]
        except BadInput:
            drop_unused(self.folder, self.before)
            raise

    def forget(self) -> None:
        """Drop archives from the manifest that are not given or are to be extracted."""
        forget_archives(self.manifest, self.given, self.pending)
        drop_unused(self.folder, self.given.values())
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
            self.state.record_part(task.part, datasets_of(self.options.extraction))
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
        return self._mark_of(content, indexed=self._is_known_index(content))

    def _is_known_index(self, content: str) -> bool:
        return INDEXES in self.manifest.archives.get(content, {}).get("counters", {})

    def _mark_of(self, content: str, *, indexed: bool) -> str:
        """indexed: whether it is an index, of which counts what no other archive has."""
        mark = extraction_mark(self.options.extraction, content, self.engine.form)
        return fingerprint(mark, sorted(self.given)) if indexed else mark
