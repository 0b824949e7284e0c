"""The scores and URIs of a finished run, of either engine, as `export-precedence` takes them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.imported import WITHOUT_URIS
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest


class ScoresAndUris(NamedTuple):
    """digits: that scores share to count as equal. bounds: of the error of a score, if known."""

    scores: Path
    uris: Path | None
    digits: int
    bounds: Bounds | None


def scores_of_work(work: Path, tmp: Path) -> ScoresAndUris:
    """The scores of the ranking in a folder. tmp: for datasets at a URL. Raises BadInput where it
    is not finished."""
    manifest = finished_manifest(work)
    folders = DatasetFolders(work, manifest, tmp)
    with folders.reading():
        has_uris = manifest.imported.get("kind") not in WITHOUT_URIS
        scores = _table(folders.folder("scores"))
        uris = _table(folders.folder("uris")) if has_uris else None
    bounds = bounds_of(manifest.steps[RANK]["rounds"][-1])
    digits = int(manifest.steps["join-scores"]["parameters"]["digits"])
    return ScoresAndUris(scores, uris, digits, bounds)


def _table(folder: Path) -> Path:
    """The Parquet file of a dataset of columns, the folder of its parts otherwise."""
    table = folder / f"{folder.name}.parquet"
    return table if table.exists() else folder
