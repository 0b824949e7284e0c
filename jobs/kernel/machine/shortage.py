"""What the machine has run out of: memory, threads, open files, room on a disk.

Every library says so in its own words, and some fail again while they tidy up; this is the table of
these words. A shortage is found in an error and its causes, in the last lines of a task, and in its
exit code: a task on a full disk has no last lines.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import resource
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import CrawlrankError, Shortage

LEFT = 32 << 20  # bytes of addresses; an unexplained failure with fewer left is for want of them
ELSEWHERE = "Make room, or write elsewhere."
OUT_OF_MEMORY = "out of memory"
MORE_MEMORY = "Use fewer --jobs or less --memory, or raise the limit (ulimit -v, the container's)."


class Want(NamedTuple):
    """code: with which a task ends. numbers: of `errno`. words: in messages.

    quoting: whether our message quotes the library, which says how much was wanted.
    """

    code: int
    found: str
    cure: str
    numbers: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    quoting: bool = False

    def meant(self, error: BaseException) -> bool:
        if isinstance(error, MemoryError):
            return errno.ENOMEM in self.numbers
        if isinstance(error, BlockingIOError) and error.strerror != os.strerror(errno.EAGAIN):
            return False  # a non-blocking stream's, no fork's
        if isinstance(error, OSError) and error.errno:
            return error.errno in self.numbers
        return self.named(_text(error))

    def named(self, text: str) -> bool:
        return any(word in text for word in self.words)


WANTS = (
    Want(
        101, OUT_OF_MEMORY, MORE_MEMORY, (errno.ENOMEM,),
        (
            "MemoryError",  # also numpy's and pyarrow's
            "Cannot allocate memory",
            "cannot allocate memory for",
            "failed to map segment",  # of a library that is loaded
            "bad_alloc",
            "Allocation failure",  # DuckDB's, of less than its own limit
            "bad allocation",
        ),
        quoting=True,
    ),
    Want(
        102, "no more threads or processes can be started",
        "Use fewer --jobs, or raise the limit (ulimit -u, the container's number of processes;"
        " ulimit -v, as each thread has a stack).",
        (errno.EAGAIN,),
        (
            "can't start new thread",
            "Resource temporarily unavailable",
            "Cannot fork",  # a shell's
            "fork: retry",
            "pthread_create",
        ),
    ),
    Want(
        103, "too many open files", "Use fewer --jobs, or raise the limit (ulimit -n).",
        (errno.EMFILE, errno.ENFILE), ("Too many open files",),
    ),
    Want(104, "the disk is full", ELSEWHERE, (errno.ENOSPC,), ("No space left on device",)),
    Want(105, "the quota is used up", ELSEWHERE, (errno.EDQUOT,), ("Disk quota exceeded",)),
    Want(106, "the file system is read-only", ELSEWHERE, (errno.EROFS,), ("Read-only file sy",)),
    Want(
        107, "File too large", "Raise the limit (ulimit -f), or write where larger files may be.",
        (errno.EFBIG,), ("File too large",),
    ),
)  # fmt: skip

MEMORY, FULL = WANTS[0], WANTS[3]
_NAMED = re.compile(r"\[Errno \d+\] [^:\n]+: '([^'\n]+)'")  # the file of an OSError, in a trace


def shortage_of(error: BaseException, where: str = "") -> Shortage | None:
    """The shortage that the error or one of its causes shows; None for any other error.

    where: for errors that name no file.
    """
    for cause in _causes(error):
        if want := next((want for want in WANTS if want.meant(cause)), None):
            return _shortage(want, _file(cause) or where, _words(cause))
    if _unexplained(error):
        return _shortage(MEMORY, where, _words(error))
    return None


@contextlib.contextmanager
def naming_shortages() -> Iterator[None]:
    """Raise Shortage in place of an error that shows one."""
    try:
        yield
    except Exception as error:
        shortage = None if isinstance(error, CrawlrankError) else shortage_of(error)
        if shortage is None:
            raise
        raise shortage from error


def with_folder(shortage: Shortage, folders: Iterable[Path]) -> Shortage:
    """The shortage, naming the folder with the least room where a disk is full and no error says
    which: libraries that write files leave that out."""
    if shortage.where or shortage.found != FULL.found:
        return shortage
    room = {folder: stat.f_bavail * stat.f_frsize for folder, stat in _file_systems(folders)}
    where = min(room, key=lambda folder: room[folder], default="")
    return Shortage(str(where), shortage.found, shortage.cure)


def _file_systems(folders: Iterable[Path]) -> Iterator[tuple[Path, os.statvfs_result]]:
    for folder in folders:
        with contextlib.suppress(OSError, ValueError):
            yield folder, os.statvfs(folder)


def require_addresses(needed: int) -> None:
    """Raises Shortage if `ulimit -v` leaves fewer bytes, before code that would fail badly."""
    if (left := addresses_left()) < needed:
        words = f"{max(0, int(left)) // 10**6} MB of addresses left, {needed // 10**6} MB needed"
        raise _shortage(MEMORY, "", words)


def shortage_in(lines: str, code: int, where: str) -> Shortage | None:
    """The shortage of a task, by its last lines and its exit code (`exit_code_of`)."""
    for want in WANTS:
        if want.code == code or want.named(lines):
            file = _NAMED.search(lines) or re.search(f"Shortage: (.+): {want.found}", lines)
            return _shortage(want, file[1] if file else where, lines.rpartition("\n")[2])
    return None


def exit_code_of(error: BaseException) -> int | None:
    """The exit code of a task that fails for a shortage; None for any other error."""
    for cause in _causes(error):
        for want in WANTS:
            if want.meant(cause):
                return want.code
    return MEMORY.code if _unexplained(error) else None


def _unexplained(error: BaseException) -> bool:
    """Whether `ulimit -v` is behind an error that does not mention memory: compiled code that did
    not check an allocation, or any error while all addresses were in use."""
    if isinstance(error, OSError) and error.errno:
        return False
    return addresses_left("VmPeak:") < (math.inf if isinstance(error, SystemError) else LEFT)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and what was being handled then: a pool that cannot
    start its last thread fails again when it ends the others."""
    todo, seen = [error], set[int]()
    while todo:
        cause = todo.pop(0)
        if id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            todo += filter(None, (cause.__cause__, cause.__context__))


def _shortage(want: Want, where: str, words: str) -> Shortage:
    found = f"{want.found} ({words})" if want.quoting and words else want.found
    return Shortage(where, found, want.cure)


def _file(error: BaseException) -> str:
    name = (error.filename2 or error.filename) if isinstance(error, OSError) else None
    return os.fsdecode(name) if isinstance(name, str | bytes) else ""


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}".rstrip(": ").partition("\n")[0]


def _text(error: BaseException) -> str:
    """The message of an error, also of an OSError without a number, as loaders of libraries raise
    it."""
    numbered = not isinstance(error, OSError) or error.errno
    return str(error) if numbered else " ".join(map(str, error.args))


# ---- addresses of this process under `ulimit -v`, which counts reserved ones, used or not -------


def addresses_left(status: str = "VmSize:") -> float:
    """Bytes that can still be reserved, or could at the peak; infinite without a limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if limit == resource.RLIM_INFINITY else limit - _status(status)


def _status(name: str) -> int:
    """Bytes; 0 on systems other than Linux."""
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition(name)[2].split()[0]) << 10
    return 0
