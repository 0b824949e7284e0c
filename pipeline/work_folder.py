"""The folder of a run as a place: what may be in it, what a killed run left, room for a while."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.launch import plain_path
from pipeline.precedence_files import BEANS

TMP = ".crawlrank-tmp"
#: everything that a run leaves, by whatever engine
DATASETS = (
    "links", "captures", "keys", "selected", "folds", "canonical_links", "uris", "numbers",
    "input_links", "map", "graph", "ranks", "scores", "precedence.txt", "report",
)  # fmt: skip
OF_ARCHIVES = ("links", "captures")
PART = re.compile(r"-[0-9a-f]{12}(\.parquet)?\Z")  # how the name of every part of these ends
FILES = ("manifest.json", "precedence.summary.json", BEANS)


def links_of(work: Path) -> Path:
    """The links that count in a work folder: those that select-links has chosen, or all."""
    selected = work / "selected"
    return selected if selected.exists() else work / "links"


def refuse_foreign(work: Path) -> None:
    """A folder without manifest is no work folder: what is in it would be overwritten. Nor is
    one inside a work folder: it could be a dataset of that. Raises BadInput."""
    for parent in work.resolve().parents:
        if (parent / "manifest.json").exists() and (parent / ".lock").exists():
            raise BadInput(
                str(work),
                f"lies inside the work folder {parent}",
                "a folder of its own",
                "Name another one with --work.",
            )
    there = [name for name in DATASETS if (work / name).exists()]
    if there and not (work / "manifest.json").exists():
        raise BadInput(
            str(work),
            f"holds `{there[0]}`, but no manifest.json",
            "a new folder, or one that `crawlrank run` has made",
            "Name another one with --work.",
        )


def clear_leftovers(work: Path) -> None:
    """Remove what a killed run could not, by the names that only crawlrank gives."""
    ends = ("part", "[0-9]*.part", "old")
    patterns = [f".{name}.{end}" for name in (*DATASETS, *FILES) for end in ends]
    patterns += [".crawlrank-*", "report/.report.json.[0-9]*.part"]
    for path in [path for pattern in patterns for path in work.glob(pattern)]:
        remove(path)


def remove(path: Path) -> None:
    """A file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class WorkFolder:
    """What engines whose datasets are all in the work folder do alike."""

    work: Path

    def path(self, dataset: str) -> Path:
        return self.work / dataset

    def has(self, dataset: str) -> bool:
        return self.path(dataset).exists()

    def drop(self, dataset: str) -> None:
        remove(self.path(dataset))

    def has_part(self, part: str) -> bool:
        return all((self.path(dataset) / part).exists() for dataset in OF_ARCHIVES)

    def keep_parts(self, known: Collection[str]) -> None:
        for dataset in OF_ARCHIVES:
            for part in self.path(dataset).glob("*"):
                if part.name not in known and PART.search(part.name):
                    part.unlink()


@contextlib.contextmanager
def temporary(work: Path) -> Iterator[Path]:
    """A folder in the work folder, under a name that every tool takes; removed afterwards."""
    tmp = work / TMP
    tmp.mkdir(exist_ok=True)
    try:
        with plain_path(tmp) as near:
            yield near
    finally:
        shutil.rmtree(tmp, ignore_errors=True)
