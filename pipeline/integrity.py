"""Whether the datasets of a work folder are what the manifest says, for commands that make none."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from jobs.kernel.errors import BadInput
from pipeline.dataset_store import DatasetStore, Record
from pipeline.imported import REPLACED
from pipeline.manifest import Manifest

EXTRACT = "extract-links"
CURE = "Run the same `crawlrank run` again: it makes again what is not as it was left."
CURE_IMPORTED = "Import it again into a new folder with `crawlrank import-text`."


class Checked(NamedTuple):
    """A dataset, or a part of links and captures, of a step. fault: what is wrong with it, for
    people; None where it is as it was left."""

    step: str
    dataset: str
    record: Record
    fault: str | None


def store_of(work: Path, manifest: Manifest) -> DatasetStore:
    """Where the datasets of the last run lie."""
    return DatasetStore(work, manifest.parameters.get("--data"))


def checked(work: Path, manifest: Manifest, *, digests: bool) -> Iterator[Checked]:
    """Every dataset that the manifest stands for. digests: read all files, otherwise names and
    sizes are compared. Raises OSError where a store cannot be reached."""
    store = store_of(work, manifest)
    for step, dataset, record in _records(manifest):
        yield Checked(step, dataset, record, store.fault(dataset, record, digests=digests))


def _records(manifest: Manifest) -> Iterator[tuple[str, str, Record]]:
    for records in manifest.parts.values():
        yield from ((EXTRACT, *of) for of in records.items())
    if imported := manifest.imported:
        step = REPLACED[imported["kind"]][-1]
        yield from ((step, *of) for of in imported["datasets"].items())
    for step, entry in manifest.steps.items():
        yield from ((step, *of) for of in entry.get("datasets", {}).items())


def require_whole(
    work: Path, manifest: Manifest, datasets: Collection[str], *, digests: bool = False
) -> None:
    """Raise BadInput for the first of these datasets that is not as it was left."""
    store = store_of(work, manifest)
    for step, dataset, record in _records(manifest):
        if dataset.partition("/")[0] in datasets and (
            fault := store.fault(dataset, record, digests=digests)
        ):
            raise damaged(work, manifest, step, fault)


def damaged(work: Path, manifest: Manifest, step: str, fault: str) -> BadInput:
    """The error to raise for a dataset of that step."""
    imported = manifest.imported and step == REPLACED[manifest.imported["kind"]][-1]
    expected = f"what {'import-text' if imported else step} has left"
    return BadInput(str(work), fault, expected, CURE_IMPORTED if imported else CURE)
