"""Temporary files and folders, which end with their process, however that ends; and links to
folders by names without characters that tools take for syntax."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

BESIDE, AWAY = ".crawlrank-beside-", "crawlrank-away-"  # beginnings of names


class _Unnamed(io.FileIO):
    """Errors of writing name the folder of temporary files: the file has no name, so that a full
    disk would be taken for that of something else."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = tempfile.gettempdir()
            raise


def temporary_file() -> io.BufferedRandom:
    """A new file that ends when it is closed."""
    with tempfile.TemporaryFile(buffering=0) as file:
        return io.BufferedRandom(_Unnamed(os.dup(file.fileno()), "r+"))


@contextmanager
def temporary_folder(near: Path | None = None) -> Iterator[Path]:
    """A new folder that is removed when the block ends. near: its parent, by default the folder
    of temporary files.

    A process that is killed leaves its folder. So each is locked while its process, or one that it
    has started, lives, and whoever makes one removes those beside it that nobody has locked.
    """
    parent = near or Path(tempfile.gettempdir())
    prefix = BESIDE if near else AWAY
    remove_abandoned(parent, prefix)
    folder, lock = _locked_folder(parent, prefix)
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


@contextmanager
def output_folder(folder: Path) -> Iterator[None]:
    """The folder, made for the block with those above it. One that was made and is still empty
    after an error is removed."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # one that is not empty
            for each in missing:
                each.rmdir()
        raise


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and its lock. Another process may remove the folder before it is locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            _try_lock(lock)
            if folder.exists():
                return folder, lock
            os.close(lock)


def remove_abandoned(parent: Path, prefix: str = BESIDE) -> None:
    """Remove the temporary folders in a folder that no process owns."""
    for name in _names(parent, prefix):
        with contextlib.suppress(OSError):  # another's, or removed meanwhile
            folder = parent / name
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid() and _try_lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _names(parent: Path, prefix: str) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        return [entry.name for entry in entries if entry.name.startswith(prefix)]
    return []


def _try_lock(folder: int) -> bool:
    """Whether this process has the lock now. File systems without locks give none to anybody."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


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
