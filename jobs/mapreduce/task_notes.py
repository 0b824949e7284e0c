"""The notes of one task, and when it ran: its output ends with them (side_lines.py)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.side_lines import END, NOTES, RAN, ROWS, side_name, to_json


class TaskNotes:
    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._rows: Counter[bytes] = Counter()  # written, by the name of their side lines
        self._began, self._ended = time.time(), 0.0  # of this task and of map tasks it knows of

    def add(self, name: bytes, value: bytes) -> None:
        self._lines.append(name + b"\t" + value)

    def taken_from(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        """The lines that are no notes, counted; notes are kept for the end of the task."""
        for line in lines:
            name = side_name(line)
            if name in NOTES:
                self._lines.append(line)
            else:
                self._rows[name] += 1
                yield line

    def at_end(self) -> Iterator[bytes]:
        """The notes, and behind them their number of bytes at most: a cluster may write each with a
        tab at its end."""
        if self._rows:
            rows = {name[1:].decode() or "main": count for name, count in self._rows.items()}
            self.add(ROWS, to_json(rows))
            self._rows.clear()
        if self._lines:
            yield from self._lines
            yield END + b"\t%d" % sum(len(line) + 2 for line in self._lines)
            self._lines.clear()

    def ran(self) -> tuple[bytes, bytes]:
        """The note of when the task began and ended, in seconds by the clock of its machine."""
        return RAN, b"%.3f %.3f" % (self._began, max(self._ended, time.time()))

    def add_ran(self, tasks: Iterator[bytes]) -> None:
        """Count in map tasks of this job, so that one note tells of them and of their reducer."""
        for value in tasks:
            began, ended = map(float, value.split())
            self._began, self._ended = min(self._began, began), max(self._ended, ended)
