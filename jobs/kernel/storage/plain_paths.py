"""Paths in which no tool takes anything for syntax."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PLAIN = re.compile(r"[A-Za-z0-9_./+=,@-]+\Z")


def is_plain(path: Path) -> bool:
    """Whether no tool takes anything in the path for syntax."""
    return bool(_PLAIN.match(str(path)))


@contextlib.contextmanager
def plain_path(folder: Path) -> Iterator[Path]:
    """The folder under a name of letters, digits and a few signs, that of a link if need be: mrjob
    splits paths at `#`, ends them at blanks, and writes them as UTF-8."""
    path = folder.absolute()
    if is_plain(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="crawlrank-") as near:
        link = Path(near, "work")
        link.symlink_to(path)
        yield link
