"""Side lines: what a job has to tell besides the lines of its dataset, in the same output.

A job writes its dataset as plain lines. Whatever else it has to tell travels in the same output as
lines that start with `@name<TAB>`: rows of a second dataset (`@captures`, `@uris`, `@map`),
counters and sums (JSON; mrjob's own counters are whole numbers and few), when tasks ran, and input
errors. No line of a dataset starts so. Every runner thus carries them, jobs that read such output
skip them, and jobs/mapreduce/outcome.py sorts them out. In the shuffle they use the key `@name`.
Their names are those of SIDE_NAMES; any other line that starts with `@` is a line like all others.

Side lines that are no rows of a dataset are notes. They are few and come last in the part of a
task, with a line `@end<TAB>bytes` after them: a driver far from the data reads the ends of parts
only.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from crawlrank.jobs.kernel.formats.reading import SIDE
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url


def download(dataset: PathOrUrl, folder: Path) -> None:
    """The lines of a dataset at a URL as parts in a folder, after those that are there, without
    what is not of it."""
    folder.mkdir(parents=True, exist_ok=True)
    first = len(list(folder.iterdir()))
    for number, (part, _) in enumerate(stores.part_sizes(dataset), first):
        name = f"part-{number:05d}"
        with closing(part_rows(part)) as rows, (folder / name).open("wb") as file:
            file.writelines(rows)


def part_rows(part: PathOrUrl) -> Generator[bytes, None, None]:
    """The lines of a part on disk or at a URL, with their ends, without what is not of its
    dataset."""
    with stores.open_part(part) if is_url(part) else Path(part).open("rb") as stream:
        for line in stream:
            if not side_name(line):
                yield line[:-2] + b"\n" if line[-2:] == b"\t\n" else line


COUNTERS, SUMS, ERROR, PLAN = b"@counters", b"@sums", b"@error", b"@plan"
ANCHORS, ARCHIVE, CAPTURES, DAMAGE = b"@anchors", b"@archive", b"@captures", b"@damage"
DROPPED, FOLDS, HUBS, MAP, URIS = b"@dropped", b"@folds", b"@hubs", b"@map", b"@uris"
END, RAN, ROWS = b"@end", b"@ran", b"@rows"
ROWS_ASIDE = frozenset((ANCHORS, CAPTURES, FOLDS, HUBS, MAP, URIS))
NOTES = frozenset((COUNTERS, ROWS, RAN, SUMS, ERROR, PLAN, ARCHIVE, DAMAGE, DROPPED))
SIDE_NAMES = ROWS_ASIDE | NOTES | {END}
READ = "read %d bytes"  # the status of a task that reads an archive


def side_name(line: bytes) -> bytes:
    """The name of a side line, with its `@`; empty for any other line."""
    if line[:1] != SIDE:
        return b""
    name, tab, _ = line.partition(b"\t")
    return name if tab and name in SIDE_NAMES else b""


def to_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
