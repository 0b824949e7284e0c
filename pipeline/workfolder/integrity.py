"""Whether the datasets of a work folder are what the manifest says, for commands that make none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import as_path_or_url, size_of
from crawlrank.pipeline.workfolder.archive_identity import digest_of
from crawlrank.pipeline.workfolder.dataset_store import DatasetRecord, DatasetStore
from crawlrank.pipeline.workfolder.imported import IMPORT_AGAIN, REPLACED
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.work_folder import OF_RANKING

EXTRACT, ARCHIVES = "extract-links", "archives"
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
