"""Datasets of a run that lie at a URL, as places of jobs and as folders that were brought here for
a step. (What reads a finished run asks pipeline/workfolder/dataset_folders.py.)"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jobs.kernel.formats import downloading
from jobs.kernel.storage import stores
from jobs.kernel.storage.opening import Place
from pipeline.workfolder.dataset_store import NEAR


def of_archives(data: str, dataset: str) -> list[Place]:
    """The folders that links or captures are of, one for each extraction."""
    folder = stores.join(data, dataset)
    return [stores.join(folder, part) for part in stores.folders(folder)]


def links_that_count(data: str) -> list[Place]:
    """Those that select-links has chosen, or all."""
    selected = stores.join(data, "selected")
    return [selected] if stores.exists(selected) else of_archives(data, "links")


def bringing(work: Path, data: str, tmp: Path) -> Callable[[str], Path]:
    """A function that gives a dataset as a folder of parts of this machine, in `tmp` where it was
    not in the work folder; none of archives."""

    def brought(dataset: str) -> Path:
        if dataset in NEAR:
            return work / dataset
        folder = tmp / dataset
        if not folder.exists():
            downloading.download(stores.join(data, dataset), folder)
        return folder

    return brought
