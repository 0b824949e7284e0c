"""Sizes and digests of the files of a dataset: whether what was written is what is there.

A record of files is {name: [bytes, digest]}: of a folder by the names of its files, hidden ones
left out; of a dataset that is one file, under the name "". The digest is BLAKE2b of 128 bits over
the file's bytes, in hexadecimal; files are read in blocks, so memory is BLOCK whatever their size.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from crawlrank.jobs.kernel.errors import count_of

FileRecords = dict[str, list[int | str]]
BLOCK = 1 << 20  # bytes


def files_of(dataset: Path) -> Iterator[tuple[str, Path]]:
    """The files of a dataset with their names in a record, in order."""
    if not dataset.is_dir():
        yield "", dataset
        return
    for file in sorted(dataset.rglob("*")):
        name = file.relative_to(dataset).as_posix()
        if file.is_file() and not name.startswith("."):
            yield name, file


def recorded(dataset: Path) -> FileRecords:
    """The record of a dataset that is in place, once its bytes and names are on the disk: whoever
    saves the record later is never ahead of the data, not even after a loss of power."""
    files: FileRecords = {}
    for name, path in files_of(dataset):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            files[name] = [os.fstat(file.fileno()).st_size, _digest(file.fileno())]
    for folder in {path.parent for _, path in files_of(dataset)} | {dataset.parent}:
        sync_folder(folder)
    return files


def difference(dataset: Path, files: FileRecords, *, digests: bool) -> str | None:
    """What is wrong with a dataset beside its record, for people; None where all is right.

    digests: read every file; otherwise names and sizes are compared.
    """
    if not dataset.exists():
        return f"{dataset} is not there"
    present = dict(files_of(dataset))
    if absent := sorted(files.keys() - present.keys()):
        return f"{dataset / absent[0]} is not there"
    if unknown := sorted(present.keys() - files.keys()):
        return f"{dataset / unknown[0]} is not of it"
    for name, (size, digest) in files.items():
        path = present[name]
        if (there := path.stat().st_size) != size:
            return f"{path} has {count_of(there, 'byte')}, not {size:,}"
        if digests and digest_of(path) != digest:
            return f"{path} has changed since it was written"
    return None


def digest_of(path: Path) -> str:
    """Of the bytes of a file."""
    with path.open("rb") as file:
        return _digest(file.fileno())


def _digest(descriptor: int) -> str:
    digest, block = hashlib.blake2b(digest_size=16), memoryview(bytearray(BLOCK))
    while size := os.readv(descriptor, [block]):
        digest.update(block[:size])
    return digest.hexdigest()


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the file system can."""
    with contextlib.suppress(OSError):  # some network file systems refuse it
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
