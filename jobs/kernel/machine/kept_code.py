"""Machine code that is kept in files, and read only as it was written.

It is kept beside the module that it is made of, or in the user's folder of caches. Code in that
folder is read only if nobody else may write there. Code beside a module needs no such check: who
may write there may write the module. A wheel may bring code in a folder of its own beside the
module, which is only read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

try:
    import fcntl
except ImportError:  # of Windows
    fcntl = None  # type: ignore[assignment]

BESIDE = "__pycache__"
GIVEN = "native_code"  # what a wheel brings, beside the modules that it is made of
_DIGEST = 32  # bytes of SHA-256 in front of the code
_CODE = (".native", ".nbi", ".nbc")  # ours, and numba's two
MOST_WAIT, PAUSE = 60.0, 0.02  # seconds
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def is_private(folder: Path) -> bool:
    """Whether this user alone may write to a folder. One of this user that others may write is
    closed to them, and what code it has is removed: they may have written it."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        status = folder.stat()
        if status.st_uid != os.geteuid():
            return False
        if status.st_mode & _OTHERS:
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
            for path in folder.iterdir():
                if path.suffix in _CODE:
                    path.unlink()
    except OSError:
        return False
    return True


def kept(module: str, name: str) -> bytes | None:
    """The contents of the first file of this name that is whole."""
    return next(filter(None, map(_code_in, _all_kept(module, name))), None)


def can_be_kept(module: str) -> bool:
    return any(os.access(folder, os.W_OK) for folder in _folders(module, make=True))


def keep(module: str, name: str, code: bytes) -> None:
    """Write the code to a file of this name, where a folder can be written."""
    for folder in _folders(module, make=True):
        if _written(folder, name, code):
            break


@contextlib.contextmanager
def alone(module: str, name: str, wait: float = MOST_WAIT) -> Iterator[None]:
    """While this process makes the code for a file, others that need it wait for it: on a machine
    of few cores, several would take several times as long. wait: seconds, at most. Where a folder
    knows no locks, nobody waits."""
    folder = next(_folders(module, make=True), None)
    if fcntl is None or folder is None:
        yield
        return
    path = folder / f"{name}.lock"
    try:
        file = path.open("wb")
    except OSError:
        yield
        return
    with file:
        is_ours = _locked(file.fileno(), time.monotonic() + wait)
        try:
            yield
        finally:
            if is_ours:
                with contextlib.suppress(OSError):
                    path.unlink()


def _locked(number: int, end: float) -> bool:
    """Wait for the lock on a file, until the time has come. Whether it is there."""
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)
        except OSError:
            return False
        else:
            return True


def _folders(module: str, make: bool = False) -> Iterator[Path]:
    """Where code may be kept: beside the module, or where programs of this user keep such, which
    nobody else may write. make: those that are not there."""
    folders = [(beside, 0o777)] if (beside := _beside(module)) else []
    if home := os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME"):
        cache = Path(home) / (".cache" * ("XDG_CACHE_HOME" not in os.environ)) / "crawlrank"
        folders.append((cache, 0o700))
    for folder, mode in folders:
        with contextlib.suppress(OSError):
            if make:
                folder.mkdir(mode, parents=True, exist_ok=True)
            if folder == beside or is_private(folder):
                yield folder


def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except ValueError:  # of a program that was given as a file
        return None


def _beside(module: str) -> Path | None:
    spec = _spec(module)
    return Path(spec.origin).parent / BESIDE if spec and spec.origin else None


def _all_kept(module: str, name: str) -> Iterator[bytes]:
    """The contents of all files of this name, those in a zip that holds the module included."""
    spec = _spec(module)
    get: Callable[[str], bytes] | None = getattr(spec and spec.loader, "get_data", None)
    if get and (beside := _beside(module)):
        for folder in (beside, beside.with_name(GIVEN)):
            with contextlib.suppress(OSError):
                yield get(str(folder / name))
    for folder in _folders(module):
        with contextlib.suppress(OSError):
            yield (folder / name).read_bytes()


def contents_of(code: bytes) -> bytes:
    return hashlib.sha256(code).digest() + code


def _code_in(contents: bytes) -> bytes | None:
    """The code in a file's contents, if they are whole."""
    code = contents[_DIGEST:]
    return code if code and contents == contents_of(code) else None


def _written(folder: Path, name: str, code: bytes) -> bool:
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(contents_of(code))
        Path(file.name).replace(folder / name)
        (folder / name).chmod(0o644)
    except OSError:
        return False
    return True
