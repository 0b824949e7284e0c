"""Paths without characters that tools take for syntax."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from crawlrank.jobs.kernel.storage.temporary import temporary_folder

_PLAIN = re.compile(r"[A-Za-z0-9_./+=,@-]+\Z")


@contextlib.contextmanager
def plain_path(folder: Path) -> Iterator[Path]:
    """The folder by a name of letters, digits and a few signs, through a link if needed: mrjob
    splits paths at `#`, ends them at blanks, and writes them as UTF-8."""
    path = folder.absolute()
    if _PLAIN.match(str(path)):
        yield path
        return
    with temporary_folder() as near:
        link = Path(near, "work")
        link.symlink_to(path)
        yield link
