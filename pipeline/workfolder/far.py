"""Datasets of a run as the inputs of jobs, and as folders of this machine for a step. (What reads a
finished run asks pipeline/workfolder/results/dataset_folders.py.)"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crawlrank.jobs.kernel.formats.side_lines import download
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore


def of_archives(store: DatasetStore, dataset: str) -> list[PathOrUrl]:
    """The folders that links or captures are of: at a URL one for each extraction."""
    location = store.location(dataset)
    if isinstance(location, Path):
        return [location]
    return [stores.join(location, part) for part in stores.folders(location)]


def links_that_count(store: DatasetStore) -> list[PathOrUrl]:
    """Those that select-links has chosen, or all."""
    if store.exists("selected"):
        return [store.location("selected")]
    return of_archives(store, "links")


def bringing(store: DatasetStore, tmp: Path) -> Callable[[str], Path]:
    """A function that gives a dataset as a folder of parts of this machine, in `tmp` where it lies
    at a URL; none of archives."""

    def brought(dataset: str) -> Path:
        location = store.location(dataset)
        if isinstance(location, Path):
            return location
        folder = tmp / dataset
        if not folder.exists():
            download(location, folder)
        return folder

    return brought
