"""What a job told besides its datasets: rows, counters, sums, errors and other notes."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jobs.kernel.formats.side_lines import COUNTERS, END, ERROR, RAN, ROWS, SUMS
from jobs.mapreduce.bad_lines import Error


class Note(NamedTuple):
    """A side line that belongs to no dataset, and the part that it was in."""

    part: str
    value: bytes


@dataclass
class Outcome:
    """What a job told besides its datasets."""

    rows: Counter[str] = field(default_factory=Counter)  # lines written, by dataset
    counters: Counter[str] = field(default_factory=Counter)
    sums: list[dict[str, Any]] = field(default_factory=list)
    errors: list[Error] = field(default_factory=list)
    notes: dict[str, list[Note]] = field(default_factory=dict)  # other side lines, by name
    ran: tuple[float, float] | None = None  # when the first task began and the last one ended

    def take(self, name: bytes, note: Note) -> None:
        """A note of that name; those of rows are left to whoever counts the rows."""
        if name == COUNTERS:
            self.counters.update(json.loads(note.value))
        elif name == SUMS:
            self.sums.append(json.loads(note.value))
        elif name == ERROR:
            self.errors.append(json.loads(note.value))
        elif name == RAN:
            began, ended = map(float, note.value.split())
            before = self.ran or (began, ended)
            self.ran = min(before[0], began), max(before[1], ended)
        elif name not in (END, ROWS):
            self.notes.setdefault(name[1:].decode(), []).append(note)
