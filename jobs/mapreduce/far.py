"""What jobs on a cluster told, read from the ends of the parts that they left; and what of this
package goes with them."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from multiprocessing.pool import ThreadPool
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.side_lines import END, NOTES, ROWS, side_name
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import COMPRESSED, ending, open_part, part_sizes
from jobs.mapreduce.outcome import Note, Outcome

AT_ONCE = 16  # parts; a store takes its time for each
LAST = 64  # bytes, more than a line of END has
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say


def outcome_of(dataset: Place) -> Outcome:
    """What the tasks told that wrote the dataset at a URL. Raises OSError."""
    outcome = Outcome()
    parts = part_sizes(dataset)
    with ThreadPool(max(1, min(AT_ONCE, len(parts)))) as pool:
        for (part, _), lines in zip(parts, pool.imap(_notes, parts), strict=True):
            for line in lines:
                name, value = side_name(line), line.partition(b"\t")[2]
                if name == ROWS:
                    outcome.rows.update(json.loads(value))
                outcome.take(name, Note(str(part).rpartition("/")[2], value))
    return outcome


def _notes(part: tuple[Place, int]) -> list[bytes]:
    return [line for line in _last_lines(*part) if side_name(line) in NOTES]


def _last_lines(part: Place, size: int) -> Iterator[bytes]:
    """At least the notes of a part, each without its end and the tab that a cluster adds."""
    if str(part).endswith(COMPRESSED):  # nobody knows where the end begins
        with open_part(part) as stream:
            yield from (_stripped(line) for line in stream if line.startswith(b"@"))
        return
    last = _stripped(ending(part, size, LAST).rstrip(b"\n").rpartition(b"\n")[2])
    if not last.startswith(END + b"\t"):
        return
    count = int(last.partition(b"\t")[2]) + LAST + 1
    lines = ending(part, size, count).split(b"\n")
    yield from map(_stripped, lines[1 if count < size else 0 :])


def _stripped(line: bytes) -> bytes:
    return line.rstrip(b"\n").removesuffix(b"\t")


def first_far_error(outcome: Outcome, inputs: list[str]) -> BadInput:
    """The error to tell, the same whichever task ended first. Lines without their format hide
    others, so they come before groups that do not fit together."""
    error = min(outcome.errors, key=lambda e: ("line" not in e, e.get("file", ""), e["found"]))
    where = error.get("file") or ", ".join(inputs)
    if line := error.get("line"):
        where += f", the line {line[:200]!a}"
    return BadInput(where, error["found"], error.get("expected", ""), error.get("cure", ""))


def write_zip(path: Path) -> Path:
    """This package as tasks import it, `jobs/` and all below; equal files give equal bytes."""
    root = Path(__file__).resolve().parents[1]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for source in sorted(root.rglob("*.py")):
            entry = zipfile.ZipInfo(os.fspath(source.relative_to(root.parent)), EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            file.writestr(entry, source.read_bytes())
    return path
