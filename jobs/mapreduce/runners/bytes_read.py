"""How many bytes of archives the tasks of a job have read so far, from the status of each task.

A status is a line `reporter:status:…` in the task's stderr, as Hadoop knows it; the last counts.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crawlrank.jobs.kernel.formats.side_lines import READ
from crawlrank.jobs.kernel.storage.while_reading import repeated

LOOKS = 0.5
_LAST = 1000  # bytes from the end of a stderr in which its last status is
_STATUS = re.compile(b"reporter:status:%s\n" % READ.encode().replace(b"%d", b"([0-9]+)"))


class BytesRead:
    """The bytes read by tasks that have ended and by tasks at work."""

    def __init__(self) -> None:
        self._before = 0
        self._at_work: set[Path] = set()  # the stderr of each
        self._lock = threading.Lock()

    def total(self) -> int:
        with self._lock:
            return self._before + sum(map(bytes_read, self._at_work))

    @contextmanager
    def by_task(self, stderr: str) -> Iterator[None]:
        """Count the task with this stderr, which works while the block runs."""
        path = Path(stderr)
        with self._lock:
            self._at_work.add(path)
        try:
            yield
        finally:
            with self._lock:
                self._at_work.discard(path)
                self._before += bytes_read(path)

    @contextmanager
    def reported_to(self, on_read: Callable[[int], None] | None, looks: float) -> Iterator[None]:
        """Call `on_read` with the total now and then, and once at the end. looks: seconds between
        two looks."""
        if on_read is None:
            yield
            return
        with repeated(lambda: on_read(self.total()), looks):
            yield
        on_read(self.total())


def bytes_read(stderr: Path) -> int:
    """The bytes in the last status of the task with this stderr."""
    with stderr.open("rb") as file:
        file.seek(max(0, stderr.stat().st_size - _LAST))
        statuses = _STATUS.findall(file.read())
    return int(statuses[-1]) if statuses else 0
