"""The datasets of a work folder: where each lies, and whether it is what its step has left.

Most lie in the work folder. With `--data` all lie at that URL but for NEAR, what a user takes away.
When a step is done, the manifest keeps a record of each of its datasets: sizes and digests of its
files (digests.py). Beside a dataset at a URL lies a seal, a file with a mark of its own and the
sizes of the parts; the record in the manifest is that mark. So a dataset that another run has put
there is never taken for this one; the bytes at a URL are checked by the store itself, as HDFS and
S3 do whenever they are read.
"""

from __future__ import annotations

import json
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import FILE, PathOrUrl, local_path
from crawlrank.pipeline.data.datasets import move
from crawlrank.pipeline.steps import BEANS, SUMMARY
from crawlrank.pipeline.workfolder.digests import difference, recorded

DatasetRecord = dict[str, Any]
NEAR = ("scores", "precedence.txt", SUMMARY, BEANS, "report")
SEAL = "_crawlrank.json"


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
        """Of a dataset that is in place, to be kept by the manifest."""
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
