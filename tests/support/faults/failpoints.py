"""Commands that are killed at the n-th change of names below a folder, as by a loss of power.

A failpoint is whatever renames, removes or makes a file or folder below one of the watched folders,
seen by an audit hook of Python, and by a file system of pyarrow's that counts (datasets at `file://`
URLs). At the n-th the process kills itself, before it happens, so that the states between all of
them are met.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from support.crawls import Said, checked
from support.faults.forks import SERVER, forked

WATCHED = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink"}
CHANGES = ("delete_dir", "move", "copy_file", "create_dir", "open_output_stream")
SECONDS = 900


class Ended(NamedTuple):
    """code: as of a process, negative for a signal. changes: how many failpoints were passed."""

    code: int
    err: str
    changes: int


class _Counter:
    """Counts changes below folders, and kills this process at number `last`."""

    def __init__(self, folders: Sequence[str], last: int | None) -> None:
        self.folders, self.last, self.changes = tuple(folders), last, 0

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event in WATCHED:
            self.met(args[0])

    def met(self, path: object) -> None:
        if isinstance(path, bytes | str | os.PathLike) and self._watches(os.fsdecode(path)):
            if self.changes == self.last:
                os.kill(os.getpid(), signal.SIGKILL)
            self.changes += 1

    def _watches(self, path: str) -> bool:
        return ".crawlrank-tmp/" not in path and os.path.abspath(path).startswith(self.folders)  # noqa: PTH100


def _counted_files(counter: _Counter) -> None:
    from pyarrow import fs

    class Counting(fs.LocalFileSystem):
        pass

    for name in CHANGES:
        method = getattr(fs.LocalFileSystem, name)

        def counting(self: Any, path: str, *rest: Any, _method: Any = method, **more: Any) -> Any:
            counter.met(path)
            return _method(self, path, *rest, **more)

        setattr(Counting, name, counting)
    fs.LocalFileSystem = Counting


def _serve(words: list[str], folders: list[str], last: int | None, pipe: Any) -> None:
    """In the forked process."""
    counter = _Counter(folders, last)
    _counted_files(counter)
    sys.addaudithook(counter.hook)
    out, err, code = io.StringIO(), io.StringIO(), 0
    from crawlrank.pipeline.cli import main

    try:
        with redirect_stdout(out), redirect_stderr(err):
            main(words, prog_name="crawlrank")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    pipe.send((code, err.getvalue(), counter.changes))
    pipe.close()


def command(*words: object, folders: Sequence[Path] = (), last: int | None = None) -> Ended:
    """Run the command; it is killed before change number `last` (from 0) below the folders."""
    here, there = SERVER.Pipe(duplex=False)
    watched = [str(folder.absolute()) for folder in folders]
    process = forked(_serve, [*map(str, words)], watched, last, there)
    there.close()
    try:
        code, err, changes = here.recv() if here.poll(SECONDS) else (None, "no end", -1)
    except EOFError:  # it died
        code, err, changes = None, "", -1
    process.join(SECONDS)
    if code is None:
        assert process.exitcode is not None, "it did not end"
        return Ended(process.exitcode, err, changes)
    checked(Said(code, "", err))
    return Ended(code, err, changes)
