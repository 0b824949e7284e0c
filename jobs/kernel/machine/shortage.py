"""What the machine has no more of: memory, threads, open files, room on a disk.

Every library says so in words of its own, and some fail while they tidy up after it; here is the
one table of these words. A want is found in an error and in what caused it, in the last lines of a
task, and in its exit code, as a task on a full disk has no last lines.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.kernel.errors import Shortage
from jobs.kernel.machine.addresses import addresses_left, least_left

LEFT = 32 << 20  # bytes of addresses; with fewer left, what fails unexplained failed for them
ELSEWHERE = "Make room, or write elsewhere."
OUT_OF_MEMORY = "out of memory"
MORE_MEMORY = "Use fewer --jobs or less --memory, or raise the limit (ulimit -v, the container's)."


@dataclass(frozen=True)
class Want:
    """code: with which a task ends. numbers: of `errno`; words: what else says so.

    quoting: whether the message has the words of the library, which say how much was wanted.
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
            return False  # of a stream that does not wait, not of a fork
        if isinstance(error, OSError) and error.errno:
            return error.errno in self.numbers
        return self.named(_text(error))

    def named(self, text: str) -> bool:
        return any(word in text for word in self.words)


WANTS = (
    Want(
        101,
        OUT_OF_MEMORY,
        MORE_MEMORY,
        (errno.ENOMEM,),
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
        102,
        "no more threads or processes can be started",
        "Use fewer --jobs, or raise the limit (ulimit -u, the container's number of processes;"
        " ulimit -v, as each thread has a stack).",
        (errno.EAGAIN,),
        (
            "can't start new thread",
            "Resource temporarily unavailable",
            "Cannot fork",  # what a shell says
            "fork: retry",
            "pthread_create",
        ),
    ),
    Want(
        103,
        "too many open files",
        "Use fewer --jobs, or raise the limit (ulimit -n).",
        (errno.EMFILE, errno.ENFILE),
        ("Too many open files",),
    ),
    Want(104, "the disk is full", ELSEWHERE, (errno.ENOSPC,), ("No space left on device",)),
    Want(105, "the quota is used up", ELSEWHERE, (errno.EDQUOT,), ("Disk quota exceeded",)),
    Want(106, "the file system is read-only", ELSEWHERE, (errno.EROFS,), ("Read-only file sy",)),
    Want(
        107,
        "File too large",
        "Raise the limit (ulimit -f), or write where larger files may be.",
        (errno.EFBIG,),
        ("File too large",),
    ),
)

MEMORY = WANTS[0]


def shortage_of(error: BaseException, where: str = "") -> Shortage | None:
    """What the error, or what it came of, says is wanting; None for any other error.

    where: for errors that name no file.
    """
    for cause in _causes(error):
        if want := next((want for want in WANTS if want.meant(cause)), None):
            return _shortage(want, _file(cause) or where, _words(cause))
    if _unexplained(error):
        return _shortage(MEMORY, where, _words(error))
    return None


def require_addresses(needed: int) -> None:
    """Raises Shortage where `ulimit -v` leaves fewer bytes, for what fails badly without them."""
    if (left := addresses_left()) < needed:
        words = f"{max(0, int(left)) >> 20} MiB of addresses left, {needed >> 20} MiB needed"
        raise _shortage(MEMORY, "", words)


def shortage_in(said: str, code: int, where: str) -> Shortage | None:
    """The same of a task: what it said last, and its exit code (`exit_code_of`)."""
    for want in WANTS:
        if want.code == code or want.named(said):
            return _shortage(want, where, said.rpartition("\n")[2])
    return None


def exit_code_of(error: BaseException) -> int | None:
    """With what a task ends that fails for a want; None for any other error."""
    for cause in _causes(error):
        for want in WANTS:
            if want.meant(cause):
                return want.code
    return MEMORY.code if _unexplained(error) else None


def _unexplained(error: BaseException) -> bool:
    """Whether the error says nothing of memory, yet comes of what `ulimit -v` refused: of compiled
    code that did not look at what it had not got, or where all addresses were in use."""
    if isinstance(error, OSError) and error.errno:
        return False
    return least_left() < (math.inf if isinstance(error, SystemError) else LEFT)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and what was being handled then: the pool of threads
    that cannot start the last of them fails once more when it ends the others."""
    todo, seen = [error], set[int]()
    while todo:
        cause = todo.pop(0)
        if id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            todo += [more for more in (cause.__cause__, cause.__context__) if more]


def _shortage(want: Want, where: str, words: str) -> Shortage:
    found = f"{want.found} ({words})" if want.quoting and words else want.found
    return Shortage(where, found, want.cure)


def _file(error: BaseException) -> str:
    name = (error.filename2 or error.filename) if isinstance(error, OSError) else None
    return os.fsdecode(name) if isinstance(name, str | bytes) else ""


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}".rstrip(": ").partition("\n")[0]


def _text(error: BaseException) -> str:
    """Also of an OSError without a number, as loaders of libraries raise it."""
    numbered = not isinstance(error, OSError) or error.errno
    return str(error) if numbered else " ".join(map(str, error.args))
