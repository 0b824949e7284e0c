"""Datasets of a run that lie at a URL, as places of jobs and as folders that were brought here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jobs import stores
from jobs.kernel.opening import Place
from pipeline.dataset_store import NEAR
from pipeline.work_folder import OF_ARCHIVES


def of_archives(data: str, dataset: str) -> list[Place]:
    """The folders that links or captures are of, one for each extraction."""
    folder = stores.join(data, dataset)
    return [stores.join(folder, part) for part in stores.folders(folder)]


def links_that_count(data: str) -> list[Place]:
    """Those that select-links has chosen, or all."""
    selected = stores.join(data, "selected")
    return [selected] if stores.exists(selected) else of_archives(data, "links")


def _places(data: str, dataset: str) -> list[Place]:
    if dataset == "links":
        return links_that_count(data)
    if dataset in OF_ARCHIVES:
        return of_archives(data, dataset)
    return [stores.join(data, dataset)]


def bringing(work: Path, data: str, tmp: Path) -> Callable[[str], Path]:
    """A function that gives a dataset as a folder of parts of this machine, in `tmp` where it was
    not in the work folder."""

    def brought(dataset: str) -> Path:
        if dataset in NEAR:
            return work / dataset
        folder = tmp / dataset
        if not folder.exists():
            places = [stores.join(data, dataset)]
            if dataset in OF_ARCHIVES:
                places = (
                    links_that_count(data) if dataset == "links" else of_archives(data, dataset)
                )
            for place in places:
                stores.download(place, folder)
        return folder

    return brought
