"""A finished work folder opened, and the scores and URIs of one, as `export-precedence` takes them.
Of all readers, only this module asks which engine made the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import is_url
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of
from crawlrank.pipeline.steps import EMBEDDED, RANK
from crawlrank.pipeline.workfolder.manifest import WITHOUT_URIS, Manifest
from crawlrank.pipeline.workfolder.results.dataset_folders import DatasetFolders, finished_manifest

if TYPE_CHECKING:
    import duckdb

    from crawlrank.pipeline.workfolder.results.finished import Finished


def are_columns(parameters: Mapping[str, Any]) -> bool:
    """Whether the datasets of a run are columns and arrays; otherwise they are text."""
    return parameters.get("--runner") == EMBEDDED


def open_finished(work: Path, db: duckdb.DuckDBPyConnection, near: Path, name: str) -> Finished:
    """The work folder in a database. near: a folder under a name that SQL takes as it is, for links
    to the datasets, or for the datasets themselves where they are at a URL.

    Raises BadInput where it is none, or not finished; its methods raise UnusableDataset.
    """
    return opened(work, finished_manifest(work), db, near, name)


def opened(
    work: Path, manifest: Manifest, db: duckdb.DuckDBPyConnection, near: Path, name: str
) -> Finished:
    """Open a work folder like `open_finished`, but some of its steps may not be done."""
    # what they import takes a while, and errors of every command ask this module
    from crawlrank.pipeline.workfolder.results.columns import FinishedColumns
    from crawlrank.pipeline.workfolder.results.lines import FinishedLines

    kind = FinishedColumns if are_columns(manifest.parameters) else FinishedLines
    return kind(work, manifest, db, near, name)


def require_same_keys(one: Finished, other: Finished) -> None:
    """Raises BadInput for a run whose keys are made by another rule."""
    from crawlrank.jobs.kernel.keys.keys import www_rule  # as its libraries take time to load

    if www_rule(one.parameters) != www_rule(other.parameters):
        what = "keys of another kind"
        expected = f"a run with the same of --keep-www and --surt-exact as {other.work}"
        raise BadInput(str(one.work), what, expected, "Name such a run.")


@contextmanager
def temporary_database(budget: int) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database in the folder for temporary files, as nothing is written to a work folder, and a
    folder for `open_finished`. budget: bytes of memory, half of which are for arrays."""
    from crawlrank.pipeline.data.database import database

    with (
        temporary_folder() as tmp,
        database(tmp, budget=budget // 2, threads=os.cpu_count() or 1) as db_and_folder,
    ):
        yield db_and_folder


def as_text_cure(where: str) -> str | None:
    """What helps a step that was given a dataset of a work folder which is not there as text.

    where: of a BadInput, a path that something may follow after a comma.
    """
    path = Path(where.partition(", ")[0])
    try:
        work = next((above for above in path.parents if (above / "manifest.json").exists()), None)
        if work is None or is_url(where):
            return None
        parameters, is_there = Manifest(work).parameters, path.exists()
    except (BadInput, OSError, ValueError, KeyError):  # no manifest of ours, or no path at all
        return None
    if parameters.get("--data") and not is_there:
        how = f"lie at {parameters['--data']}"
    elif are_columns(parameters) and path.suffix in (".npy", ".parquet"):
        how = f"are columns, of the runner {EMBEDDED}"
    else:
        return None
    return f"The datasets of {work} {how}: `crawlrank export --format text` writes them as text."


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
