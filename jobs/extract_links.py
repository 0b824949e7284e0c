"""extract_links: archives to links and captures; one archive a task, read where it is.

Reads archives (jobs/kernel/archive/sources.py). Writes links, `target source hop`, the side dataset
`captures` (10 columns, more on request) and, with --anchor-text, `anchors`. Damage goes out as
`@damage` lines (JSON: archive, offset, reason, detail). Each archive ends with an `@archive` line:
its digest and counters, or the error that made it useless; then none of its rows goes out. No
shuffle: the output is as large as the links of the pages, a few per cent of a gzipped archive. On
clusters (`--listed`) a task reads the archives of one line of a list, so that small ones share it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, get_args

from mrjob.step import MRStep

from crawlrank.jobs.kernel.archive.damage import MAX_LISTED, of_unread
from crawlrank.jobs.kernel.captures.counters import Counters, require_pages
from crawlrank.jobs.kernel.captures.extraction import extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import (
    DEFAULTS,
    ON_REQUEST,
    ExtractionOptions,
    LinksKept,
    Nofollow,
    Outlinks,
)
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import format_capture, format_link
from crawlrank.jobs.kernel.formats.rows import AnchorRun, Capture, LinkRun
from crawlrank.jobs.kernel.formats.side_lines import (
    ANCHORS,
    ARCHIVE,
    CAPTURES,
    DAMAGE,
    READ,
    to_json,
)
from crawlrank.jobs.kernel.links.pdf_links import require_reader
from crawlrank.jobs.kernel.storage.opening import name_of, opened
from crawlrank.jobs.kernel.storage.while_reading import SECONDS, digested, reported_position
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue

HELD = 1 << 23  # bytes of lines that wait in memory for the end of their archive; more, on disk


class ExtractLinks(Job):
    DATASET = "links"
    SIDE_DATASETS = ("captures", "anchors")
    REPORTS = SECONDS  # between two reports of how much of an archive was read

    def configure_args(self) -> None:
        super().configure_args()
        for name, choices in (("outlinks", Outlinks), ("links", LinksKept), ("nofollow", Nofollow)):
            self.add_passthru_arg(
                f"--{name}", choices=get_args(choices), default=getattr(DEFAULTS, name)
            )
        for name in ("--forms", "--pdf", *(f"--{name.replace('_', '-')}" for name in ON_REQUEST)):
            self.add_passthru_arg(name, action="store_true")
        self.add_passthru_arg(
            "--listed",
            action="store_true",
            help="the input's lines are JSON lists of paths and URLs of archives, each for a task",
        )
        self.add_passthru_arg("--max-record", type=int, default=DEFAULTS.max_record)
        self.add_passthru_arg("--max-links-per-page", type=int, default=DEFAULTS.max_links_per_page)

    def mapper_raw(self, input_path: str, input_uri: str) -> Iterator[tuple[None, bytes]]:
        for line in self.notes.taken_from(self._lines(input_path, input_uri)):
            yield None, line
        self.notes.add(*self.notes.ran())
        for line in self.notes.at_end():
            yield None, line

    # on a cluster: lists of archives, one a task

    def steps(self) -> list[MRStep]:
        if not self.options.listed:
            return super().steps()
        return [MRStep(mapper=self._mapper, mapper_final=self._mapper_final)]

    def by_line(self) -> bool:
        return bool(self.options.listed)

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        for archive in json.loads(line):
            try:
                for row in self._lines(archive, archive):
                    yield b"", row
            except Exception as error:  # our fault, not the archive's: the log must name it
                raise RuntimeError(f"{archive}: {type(error).__name__}: {error}") from error

    def extraction(self) -> ExtractionOptions:
        names = [name for name in ExtractionOptions._fields if name != "bodies"]
        return ExtractionOptions(**{name: getattr(self.options, name) for name in names})

    def _lines(self, path: str, uri: str) -> Iterator[bytes]:
        counters = Counters()
        end: dict[str, Any] = {"archive": uri, "counters": counters}
        damage: list[list[object]] = []
        with tempfile.SpooledTemporaryFile(HELD) as held:
            try:
                for line in self._read(path, uri, end, damage):
                    held.write(line + b"\n")
            except BadInput as error:
                end["error"] = [error.found, error.expected, error.cure]
                end["counters"] = of_unread(counters)
                held.truncate(0)
            held.seek(0)
            yield from (line[:-1] for line in held)
        yield from (DAMAGE + b"\t" + to_json([uri, *item]) for item in damage)
        yield ARCHIVE + b"\t" + to_json(end)

    def _read(
        self, path: str, uri: str, end: dict[str, Any], damage: list[list[object]]
    ) -> Iterator[bytes]:
        """The rows of an archive. The first damages go to a list, its digest to its end."""
        options, counters = self.extraction(), end["counters"]
        line_of = partial(format_capture, validators=options.validators, titles=options.titles)
        if options.pdf:
            require_reader()
        with (
            opened(path) as file,
            reported_position(file, self._report, self.REPORTS),
            digested(file, partial(end.__setitem__, "digest")) as stream,
        ):
            for item in extract_runs(stream, name_of(uri), options, counters):
                if isinstance(item, LinkRun):
                    yield from map(format_link, item.links())
                elif isinstance(item, Capture):
                    yield CAPTURES + b"\t" + line_of(item)
                elif isinstance(item, AnchorRun):
                    for row in item.anchors():
                        yield ANCHORS + b"\t" + b"\t".join(row[: options.anchor_columns])
                elif len(damage) < MAX_LISTED:
                    damage.append(list(item))
        require_pages(uri, counters)

    def report(self, notes: Mapping[str, Sequence[Any]]) -> None:
        for _, damage in notes.get("damage", ()):
            uri, *words = json.loads(damage)
            sys.stderr.write(f"{uri}: {' '.join(map(str, words))}\n")
        for end in (json.loads(note) for _, note in notes.get("archive", ())):
            if "error" in end:
                raise BadInput(end["archive"], *end["error"])

    def _report(self, position: int) -> None:
        """Progress, and a sign of life for Hadoop, which ends silent tasks."""
        self.set_status(READ % position)


if __name__ == "__main__":
    main(ExtractLinks)
