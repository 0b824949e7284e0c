"""Links and captures of a sample several times over, each time of other hosts.

The steps behind extraction are soon done with a sample. What a row costs shows only beside more
rows, and a run on copies has these, without extracting anything again. A copy has hosts of its own,
so that distinct URIs are as many times as many: rates are seconds a row, and how many rows there
will be is another question (growth.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.machine.cores import at_a_time
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter
from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine
from crawlrank.pipeline.engines.text.engine import TextEngine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress import Reporter
from crawlrank.pipeline.progress.running import Running
from crawlrank.pipeline.run.run import PipelineRun
from crawlrank.pipeline.steps import EMBEDDED, ArchiveReport, ArchiveTask
from crawlrank.pipeline.workfolder.lock import locked
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.work_folder import OF_ARCHIVES, temporary

URIS = ("target", "source", "uri")
BEFORE_HOST = r"^([a-z]+://)"
_SCHEMES = re.compile(rb"(?<![^ \n])([a-z]+://)")  # at the beginning of a line or of a column
_FIRST_SCHEME = re.compile(rb"^([a-z]+://)", re.MULTILINE)


class _Copying:
    """sample: the work folder that links and captures are taken from in place of extraction."""

    sample: Path
    copies: int

    def numbers(self, part: int, parts: int) -> range:
        """The copies that are in a part."""
        return range(part, self.copies, parts)

    def files(self, dataset: str) -> list[Path]:
        return sorted(path for path in (self.sample / dataset).rglob("*") if path.is_file())


class CopyingColumns(_Copying, EmbeddedEngine):
    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        for name in OF_ARCHIVES:
            self.path(name).mkdir(exist_ok=True)
        for part, task in enumerate(tasks):
            links = LinksWriter(self.path("links") / task.part, dated=options.timestamps)
            captures = CapturesWriter(
                self.path("captures") / task.part, columns=options.capture_columns
            )
            with links, captures:
                for number in self.numbers(part, len(tasks)):
                    self._append("links", links, number)
                    self._append("captures", captures, number)
            rows = {"links": links.rows, "captures": captures.rows}
            yield task, ArchiveReport(str(task.archive), task.part, rows)

    def _append(self, name: str, writer: LinksWriter | CapturesWriter, number: int) -> None:
        for path in self.files(name):
            writer.append(_passing(path, self.tmp / f"{name}-copy", writer.schema, number))


class CopyingLines(_Copying, TextEngine):
    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        for part, task in enumerate(tasks):
            rows = {}
            for name, pattern in zip(OF_ARCHIVES, (_SCHEMES, _FIRST_SCHEME), strict=True):
                path, rows[name] = self.launcher.tmp / f"{name}-copy", 0
                with path.open("wb") as stream:
                    for number in self.numbers(part, len(tasks)):
                        for file in self.files(name):
                            lines = pattern.sub(rb"\1copy%d." % number, file.read_bytes())
                            rows[name] += lines.count(b"\n")
                            stream.write(lines)
                self.store.put_file(path, f"{name}/{task.part}")
            yield task, ArchiveReport(str(task.archive), task.part, rows)


def _passing(part: Path, path: Path, schema: pa.Schema, number: int) -> Path:
    """A part with other hosts, as a writer appends it."""
    with (
        open_parquet(part) as file,
        path.open("wb") as stream,
        pa.ipc.new_stream(stream, schema) as writer,
    ):
        for group in range(file.num_row_groups):
            writer.write_table(_renamed(file.read_row_group(group), schema, number))
    return path


def _renamed(table: pa.Table, schema: pa.Schema, number: int) -> pa.Table:
    columns = []
    for field in schema:
        column = table.column(field.name).combine_chunks()
        if field.name in URIS:
            column = pc.replace_substring_regex(column, BEFORE_HOST, rf"\1copy{number}.")
        encoded = pa.types.is_dictionary(field.type)
        columns.append(column.dictionary_encode() if encoded else column)
    return pa.Table.from_arrays(columns, schema=schema)


def run_copies(sample: Path, work: Path, copies: int, parts: int, options: RunOptions) -> None:
    """A run in the new folder `work` on so many copies of what the work folder `sample` has, in so
    many parts, as from archives."""
    archives = work.with_name(f"{work.name}-archives")
    archives.mkdir()
    for number in range(min(parts, copies)):
        (archives / f"{number:05}.warc").write_text(f"part {number} of {parts}\n")
    with locked(work) as lock, temporary(work) as tmp:
        engine = _engine(work, tmp, options)
        engine.sample, engine.copies = sample, copies
        running = Running(lock, Manifest(work))
        pipeline_run = PipelineRun(work, options, engine, Reporter(), running)
        pipeline_run.all_steps(sorted(archives.iterdir()))


def _engine(work: Path, tmp: Path, options: RunOptions) -> CopyingColumns | CopyingLines:
    if options.runner != EMBEDDED:
        return CopyingLines(work, Launcher(options.runner, tmp, options.processes))
    memory, processes = options.memory or half_of_machine(), at_a_time(options.processes)
    return CopyingColumns(work, tmp, memory, processes, lambda done, total: None)
