"""The datasets of a work folder: where each lies, and whether it is what its step has left.

Most lie in the work folder. With `--data` all lie at that URL but for NEAR, what a user takes away.
When a step is done, the manifest keeps a record of each of its datasets: sizes and digests of its
files. Beside a dataset at a URL lies a seal, a file with a mark of its own and the
sizes of the parts; the record in the manifest is that mark. So a dataset that another run has put
there is never taken for this one; the bytes at a URL are checked by the store itself, as HDFS and
S3 do whenever they are read.

A record of files is {name: [bytes, digest]}: of a folder by the names of its files, hidden ones
left out; of a dataset that is one file, under the name "". The digest is BLAKE2b of 128 bits over
the file's bytes, in hexadecimal; files are read in blocks, so memory is BLOCK whatever their size.

Jobs get datasets as inputs, and steps as folders of this machine. What reads a finished run asks
pipeline/workfolder/results/dataset_folders.py.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.side_lines import download
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import FILE, PathOrUrl, local_path
from crawlrank.pipeline.data.datasets import move
from crawlrank.pipeline.steps import BEANS, SUMMARY

DatasetRecord = dict[str, Any]
NEAR = ("scores", "precedence.txt", SUMMARY, BEANS, "report")
SEAL = "_crawlrank.json"
PART = re.compile(r"-[0-9a-f]{12}(\.parquet)?\Z")  # how the name of every part of these ends


def remove(path: Path) -> None:
    """A file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@dataclass(frozen=True)
class DatasetStore:
    """work: the work folder. data: URL of the folder of all datasets but NEAR, if there is one.

    Datasets are named as in the manifest, parts of one as `links/PART`.
    """

    work: Path
    data: str | None = None

    def location(self, dataset: str) -> PathOrUrl:
        """The path or URL of a dataset."""
        if self.data and dataset.partition("/")[0] not in NEAR:
            return stores.join(self.data, dataset)
        return self.work / dataset

    def exists(self, dataset: str) -> bool:
        return stores.exists(self.location(dataset))

    def drop(self, dataset: str) -> None:
        """Remove a dataset, whole or not, if it is there."""
        location = self.location(dataset)
        if isinstance(location, Path):
            remove(location)
        else:
            stores.remove(location)

    def put(self, folder: PathOrUrl, dataset: str) -> None:
        """A dataset that lies elsewhere in the same store becomes the one of this name."""
        location = self.location(dataset)
        if isinstance(location, Path):
            move(Path(folder), location)
        else:
            stores.remove(location)
            stores.rename(folder, location)

    def put_file(self, file: Path, part: str) -> None:
        """A file of this machine becomes a part of a dataset in the work folder."""
        output = self.work / part
        output.parent.mkdir(exist_ok=True)
        file.replace(output)

    def record(self, dataset: str) -> DatasetRecord:
        """The record of a dataset that is in place, for the manifest."""
        location = self.location(dataset)
        if isinstance(location, Path):
            return {"files": recorded(location)}
        mark = secrets.token_hex(8)
        seal = {"mark": mark, "files": _parts(location)}
        stores.write(stores.join(location, SEAL), json.dumps(seal).encode())
        return {"mark": mark}

    def fault(self, dataset: str, record: DatasetRecord, *, digests: bool) -> str | None:
        """What is wrong with a dataset beside its record; None where all is right. Raises OSError
        where a store cannot be reached."""
        location = self.location(dataset)
        if isinstance(location, Path):
            if "files" not in record:
                return f"{location} was at a URL"
            return difference(location, record["files"], digests=digests)
        return _fault_at(location, record, digests=digests)


def _parts(dataset: PathOrUrl) -> DatasetRecord:
    """Names and sizes of the parts at a URL; digests, too, where it is a folder of this machine,
    which has no checksums of its own."""
    if str(dataset).startswith(FILE):
        return {
            name: entry
            for name, entry in recorded(local_path(dataset)).items()
            if not name.startswith("_")
        }
    return {str(part).rpartition("/")[2]: [size, ""] for part, size in stores.part_sizes(dataset)}


def _fault_at(dataset: PathOrUrl, record: DatasetRecord, *, digests: bool) -> str | None:
    seal = stores.read(stores.join(dataset, SEAL))
    if seal is None:
        return f"{dataset} is not there"
    try:
        sealed = json.loads(seal)
        mark, files = sealed["mark"], dict(sealed["files"])
    except (ValueError, KeyError, TypeError):
        return f"{stores.join(dataset, SEAL)} is damaged"
    if mark != record.get("mark"):
        return f"{dataset} is of another run"
    there = {str(part).rpartition("/")[2]: size for part, size in stores.part_sizes(dataset)}
    if unknown := sorted(there.keys() - files.keys()):
        return f"{stores.join(dataset, unknown[0])} is not of it"
    for name in sorted(files):
        size = files[name][0]
        if there.get(name) != size:
            length = count_of(there.get(name, 0), "byte")
            return f"{stores.join(dataset, name)} has {length}, not {size:,}"
    if digests and str(dataset).startswith(FILE):
        for name, entry in files.items():
            if wrong := difference(local_path(dataset) / name, {"": entry}, digests=True):
                return wrong
    return None


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
    """The digest of the bytes of a file."""
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


def of_archives(store: DatasetStore, dataset: str) -> list[PathOrUrl]:
    """The folders that links or captures are of: at a URL one for each extraction. Where a folder
    has files that are no parts, the parts in it."""
    location = store.location(dataset)
    if isinstance(location, Path):
        files = sorted(location.glob("[!._]*"))
        parts = [path for path in files if PART.search(path.name)]
        return [location] if len(parts) in (0, len(files)) else [*parts]
    return [stores.join(location, part) for part in stores.folders(location)]


def links_that_count(store: DatasetStore) -> list[PathOrUrl]:
    """The links that select-links has chosen, or all."""
    if store.exists("selected"):
        return [store.location("selected")]
    return of_archives(store, "links")


def local_copies(store: DatasetStore, tmp: Path) -> Callable[[str], Path]:
    """A function that gives a dataset as a folder of parts of this machine, in `tmp` where it lies
    at a URL; none of archives."""

    def local_copy(dataset: str) -> Path:
        location = store.location(dataset)
        if isinstance(location, Path):
            return location
        folder = tmp / dataset
        if not folder.exists():
            download(location, folder)
        return folder

    return local_copy
