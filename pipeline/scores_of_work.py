"""The scores and URIs of a finished run, of either engine, as `export-precedence` takes them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pipeline.contract import RANK
from pipeline.workfolder.imported import WITHOUT_URIS
from pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest


class ScoresAndUris(NamedTuple):
    """eta: the error bound of a score, where it is known. digits: those that scores share."""

    scores: Path
    uris: Path | None
    eta: float | None
    digits: int


def scores_of_work(work: Path, tmp: Path) -> ScoresAndUris:
    """Those of the ranking in a folder. tmp: for datasets at a URL. Raises BadInput where it is not
    finished."""
    manifest = finished_manifest(work)
    folders = DatasetFolders(work, manifest, tmp)
    with folders.reading():
        has_uris = manifest.imported.get("kind") not in WITHOUT_URIS
        scores = _table(folders.folder("scores"))
        uris = _table(folders.folder("uris")) if has_uris else None
    eta = float(manifest.steps[RANK]["rounds"][-1]["eta"])
    digits = int(manifest.steps["join-scores"]["parameters"]["digits"])
    return ScoresAndUris(scores, uris, eta, digits)


def _table(folder: Path) -> Path:
    """The Parquet file of a dataset of columns, the folder of its parts otherwise."""
    table = folder / f"{folder.name}.parquet"
    return table if table.exists() else folder
