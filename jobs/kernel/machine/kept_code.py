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
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

BESIDE = "__pycache__"
GIVEN = "native_code"  # what a wheel brings, beside the modules that it is made of
_DIGEST = 32  # bytes of SHA-256 in front of the code
_CODE = (".native", ".nbi", ".nbc")  # ours, and numba's two
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
