"""Finished runs that many tests look at: each is made once, by the first test that asks for it in
any of the processes of the tests.

    work = finished(LOOPBACK, "--nodes", "all")     # to read only
    work = copy_of(finished(LOOPBACK), tmp_path / "work")   # to change

`pytest` fails at its end if somebody has changed a run that others read.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.crawls import ok, write_warc

FOLDER = "CRAWLRANK_SHARED_RUNS"  # the variable that names where they are
WORK, DIGEST, MAKING = "work", "digest", ".making"


def finished(archives: Path | Sequence[Path], *options: object) -> Path:
    """The work folder of `crawlrank run ARCHIVE… OPTION… --quiet`, in this process alone unless the
    options have `--jobs`. Nobody may change it."""
    given = [archives] if isinstance(archives, Path) else [*archives]
    with _kept("run", *given, *options) as (folder, missing):
        if missing:
            jobs = () if "--jobs" in options else ("--jobs", 1)
            ok("run", *given, "--work", folder / WORK, "--quiet", *jobs, *options)
    return folder / WORK


def ranked(work: Path, *options: object) -> Path:
    """A finished run with one more ranking: `crawlrank rank OPTION…` on a copy of it."""
    with _kept("rank", work, *options) as (folder, missing):
        if missing:
            ok("rank", "--work", copy_of(work, folder / WORK), "--quiet", *options)
    return folder / WORK


def shared_warc(name: str, web: Mapping[str, Sequence[str]]) -> Path:
    """An archive as `write_warc` makes it, for `finished`. name: of the file."""
    with _kept("warc", name, json.dumps(dict(web))) as (folder, missing):
        if missing:
            write_warc(folder / name, web)
    return folder / name


def copy_of(work: Path, to: Path) -> Path:
    """A copy that may be changed, in place too; so no file of it is a link."""
    shutil.copytree(work, to, symlinks=True)
    return to


def changed() -> Iterator[str]:
    """What was asked for of each run that is not as it was made."""
    for path in sorted(Path(os.environ[FOLDER]).glob(f"*/{DIGEST}")):
        made, _, words = path.read_text().partition("\n")
        if made != _digest(path.parent):
            yield words


@contextmanager
def _kept(*words: object) -> Iterator[tuple[Path, bool]]:
    """The folder for what the words ask for, and whether the block has to make it."""
    asked = " ".join(map(str, words))
    folder = Path(os.environ[FOLDER]) / hashlib.sha256(asked.encode()).hexdigest()[:20]
    if (folder / DIGEST).exists():
        yield folder, False
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / MAKING).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = not (folder / DIGEST).exists()
        if missing:
            shutil.rmtree(folder / WORK, ignore_errors=True)  # of a test that failed
        yield folder, missing
        if missing:
            (folder / DIGEST).write_text(f"{_digest(folder)}\n{asked}")


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in (DIGEST, MAKING, ".lock"):
            digest.update(f"{path.relative_to(folder)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
