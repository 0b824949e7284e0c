"""The datasets of a finished run as folders of this machine, whichever runner made them.

They are in the work folder, or with `--data` at a URL, from which they are downloaded. They are
checked to be what the manifest says, for commands that make none.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.side_lines import download
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import as_path_or_url, size_of
from crawlrank.pipeline.steps import OF_ARCHIVES
from crawlrank.pipeline.workfolder.archive_identity import digest_of
from crawlrank.pipeline.workfolder.dataset_store import (
    NEAR,
    DatasetRecord,
    DatasetStore,
    of_archives,
)
from crawlrank.pipeline.workfolder.manifest import (
    IMPORT_AGAIN,
    REPLACED,
    SELECT,
    Manifest,
    require_finished,
    require_manifest,
)
from crawlrank.pipeline.workfolder.rankings import require_current
from crawlrank.pipeline.workfolder.work_folder import OF_RANKING

EXTRACT, ARCHIVES = "extract-links", "archives"
_STRAY = re.compile("[\udc80-\udcff]").search  # a byte that is not UTF-8
AGAIN = "Run `crawlrank run` again with the same archives and options: it makes it anew."
RANK_AGAIN = "Run `crawlrank rank` again with the same --name and options: it makes it anew."


def cure_of(manifest: Manifest, dataset: str) -> str:
    """What makes a dataset anew."""
    if manifest.ranking and dataset in OF_RANKING:
        return RANK_AGAIN
    return IMPORT_AGAIN if dataset in manifest.imported.get("datasets", {}) else AGAIN


class Checked(NamedTuple):
    """A dataset, or a part of links and captures, of a step. fault: what is wrong with it, for
    people; None where it is as it was left."""

    step: str
    dataset: str
    record: DatasetRecord
    fault: str | None


def store_of(work: Path, manifest: Manifest) -> DatasetStore:
    """Where the datasets of the last run lie."""
    return DatasetStore(work, manifest.parameters.get("--data"))


def checked(work: Path, manifest: Manifest, *, digests: bool) -> Iterator[Checked]:
    """Every dataset that the manifest records. digests: read all files, otherwise names and
    sizes are compared. Raises OSError where a store cannot be reached."""
    store = store_of(work, manifest)
    for step, dataset, record in _records(manifest):
        yield Checked(step, dataset, record, store.fault(dataset, record, digests=digests))


def checked_archives(manifest: Manifest) -> Iterator[Checked]:
    """Every archive whose digest is known, at the path where it was read last: all is read."""
    for entry in manifest.archives.values():
        path, digest = entry["path"], entry.get("digest")
        if digest:
            record = {"files": {path: [entry["size"], digest]}}
            yield Checked(EXTRACT, ARCHIVES, record, _archive_fault(path, entry["size"], digest))


def _archive_fault(path: str, size: int, digest: str) -> str | None:
    archive = as_path_or_url(path)
    try:
        same = size_of(archive) == size and digest_of(archive) == digest
    except BadInput as error:
        return f"{path} {error.found}"
    except OSError as error:
        return f"{path} cannot be read ({error.strerror or error})"
    return None if same else f"{path} has changed"


def _records(manifest: Manifest) -> Iterator[tuple[str, str, DatasetRecord]]:
    for records in manifest.parts.values():
        yield from ((EXTRACT, *of) for of in records.items())
    if imported := manifest.imported:
        step = REPLACED[imported["kind"]][-1]
        yield from ((step, *of) for of in imported["datasets"].items())
    for step, entry in manifest.steps.items():
        yield from ((step, *of) for of in entry.get("datasets", {}).items())


def fault_of(work: Path, manifest: Manifest, dataset: str, *, digests: bool) -> str | None:
    """What is wrong with one dataset, of whatever parts; None where all is as it was left."""
    store = store_of(work, manifest)
    faults = (
        store.fault(part, record, digests=digests)
        for _, part, record in _records(manifest)
        if part.partition("/")[0] == dataset
    )
    return next(filter(None, faults), None)


def damaged(work: Path, manifest: Manifest, result: Checked) -> BadInput:
    """The error to raise for a dataset or an archive with a fault."""
    if result.dataset == ARCHIVES:
        cure = "Put it back, or run again with --force to take it as it is now."
        return BadInput(str(work), result.fault or "", "the archive that was extracted", cure)
    imported = result.dataset in manifest.imported.get("datasets", {})
    expected = f"what {'import-text' if imported else result.step} has left"
    return BadInput(str(work), result.fault or "", expected, cure_of(manifest, result.dataset))


EXPECTED = "a dataset of a finished run"
STORE = "Look at the URL, and at what tells where its store is (HADOOP_CONF_DIR, AWS_REGION)."
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class UnusableDataset(BadInput):
    """A dataset of a finished run that is not there, or not whole; its cure makes it anew."""


def finished_manifest(work: Path) -> Manifest:
    """The manifest of a finished run. Raises BadInput for any other folder."""
    manifest = require_manifest(work)
    require_current(work, manifest)
    require_finished(manifest)
    return manifest


class DatasetFolders:
    """The datasets of one finished run, each checked against its record in the manifest.

    tmp: a new folder in the one given; each dataset that is asked for appears there under its name,
    as a link, or downloaded once.
    """

    def __init__(self, work: Path, manifest: Manifest, tmp: Path) -> None:
        self.work, self.manifest = work, manifest
        self.tmp = Path(tempfile.mkdtemp(prefix="datasets-", dir=tmp))
        self.data: str | None = manifest.parameters.get("--data")
        self._store = DatasetStore(work, self.data)
        self._origins: dict[Path, str] = {}  # by folder, as messages name it

    @property
    def has_folds(self) -> bool:
        return SELECT in self.manifest.steps

    def folder(self, dataset: str) -> Path:
        """A dataset, `links` being those that count. Raises UnusableDataset, and OSError for want
        of room."""
        if dataset == "links" and self.has_selected:
            dataset = "selected"
        folder = self.tmp / dataset
        if folder not in self._origins:
            if self.data and dataset not in NEAR:
                self._bring(dataset, self.data, folder)
            else:
                self._link(dataset, folder)
        return folder

    def beside(self, dataset: str, name: str) -> Path:
        """A file beside the parts of a dataset. Raises UnusableDataset."""
        path = self.folder(dataset) / name
        if path.exists():
            return path
        location = stores.join(self._store.location(dataset), name)
        data = stores.read(location) if self.data else None
        if data is None:
            raise self._missing(str(location), dataset)
        path.write_bytes(data)
        return path

    @property
    def has_selected(self) -> bool:
        """Whether select-links has chosen some of the links."""
        entry = self.manifest.steps.get(SELECT, {})
        return bool(entry.get("parameters", {}).get("latest"))

    def _link(self, dataset: str, folder: Path) -> None:
        original = self.work / dataset
        if not original.exists():
            raise self._missing(str(original), dataset)
        self._compare(dataset)
        if original.is_dir() and any(_STRAY(part.name) for part in original.iterdir()):
            folder.mkdir()
            for part in original.absolute().iterdir():
                (folder / _in_utf8(part.name)).symlink_to(part)
        else:
            folder.symlink_to(original.absolute())
        self._origins[folder] = str(original)

    def _bring(self, dataset: str, data: str, folder: Path) -> None:
        url = str(stores.join(data, dataset))
        shutil.rmtree(folder, ignore_errors=True)  # of an attempt that failed
        try:
            locations = of_archives(self._store, dataset) if dataset in OF_ARCHIVES else [url]
            if not locations or not all(map(stores.exists, locations)):
                raise self._missing(url, dataset)
            self._compare(dataset)
            for location in locations:
                download(location, folder)
            for part in filter(lambda part: _STRAY(part.name), [*folder.iterdir()]):
                part.rename(folder / _in_utf8(part.name))
        except (OSError, RuntimeError) as error:  # clients of stores raise both
            if isinstance(error, OSError) and error.errno in FULL:
                raise OSError(error.errno, error.strerror, str(folder)) from error
            reason = f"cannot be read ({str(error).partition(chr(10))[0]})"
            raise UnusableDataset(url, reason, EXPECTED, f"{STORE} {AGAIN}") from error
        self._origins[folder] = url

    def _compare(self, dataset: str) -> None:
        fault = fault_of(self.work, self.manifest, dataset, digests=True)
        if fault:
            raise UnusableDataset(str(self.work), fault, EXPECTED, self._cure(dataset))

    def _missing(self, where: str, dataset: str) -> UnusableDataset:
        return UnusableDataset(where, "not there", EXPECTED, self._cure(dataset))

    def _cure(self, dataset: str) -> str:
        return cure_of(self.manifest, dataset)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Around all that reads the datasets: errors of a dataset that is not whole are raised as
        UnusableDataset."""
        try:
            yield
        except UnusableDataset:
            raise
        except BadInput as error:
            if not (dataset := self._named_in(error.where)):
                raise
            where, expected = self._as_named(error.where), error.expected
            raise UnusableDataset(where, error.found, expected, self._cure(dataset)) from error
        except Exception as error:
            if not _is_damage(error):
                raise
            reason = str(error).partition("\n")[0]
            cure = self._cure(self._named_in(reason) or "")
            raise UnusableDataset(str(self.work), self._as_named(reason), EXPECTED, cure) from error

    def _named_in(self, text: str) -> str | None:
        """The dataset of which a message names a file."""
        named = (folder.name for folder in self._origins if str(folder) in text)
        return next(named, None)

    def _as_named(self, text: str) -> str:
        for folder, origin in self._origins.items():
            text = text.replace(str(folder), origin)
        return text


def _in_utf8(name: str) -> str:
    """The name of a part for DuckDB, which takes names in UTF-8 only."""
    return "".join(f"%{os.fsencode(c).hex()}" if _STRAY(c) else c for c in name)


def _is_damage(error: Exception) -> bool:
    """Whether readers of Parquet, arrays and text raise it for a file that is not what it was."""
    import duckdb  # which whoever reads by it has imported

    if isinstance(error, OSError):
        return error.errno in (None, errno.ENOENT, errno.EINVAL)
    of_duckdb = (
        duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException,
        duckdb.InvalidInputException, duckdb.IOException,
    )  # fmt: skip
    of_readers = (ValueError, IndexError, KeyError, EOFError, zlib.error)
    return isinstance(error, (*of_duckdb, *of_readers))
