"""A finished work folder opened, whichever engine made it."""

from __future__ import annotations

from pathlib import Path

import duckdb

from pipeline.contract import EMBEDDED
from pipeline.workfolder.dataset_folders import finished_manifest
from pipeline.workfolder.results.columns import FinishedColumns
from pipeline.workfolder.results.finished import Finished
from pipeline.workfolder.results.lines import FinishedLines


def open_finished(work: Path, db: duckdb.DuckDBPyConnection, near: Path, name: str) -> Finished:
    """The work folder in a database. near: a folder under a name that SQL takes as it is, for links
    to the datasets, or for themselves where they lie at a URL.

    Raises BadInput where it is none, or not finished; what is asked of it raises UnusableDataset.
    """
    manifest = finished_manifest(work)
    if manifest.parameters["--runner"] == EMBEDDED:
        return FinishedColumns(work, manifest, db, near, name)
    return FinishedLines(work, manifest, db, near, name)
