"""The folder of a run as a place: what may be in it, what a killed run left, room for a while."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.temporary import plain_path, remove_abandoned
from crawlrank.pipeline.steps import RANK, STEPS, later_steps, written_by
from crawlrank.pipeline.workfolder.dataset_store import NEAR, PART, DatasetStore, remove
from crawlrank.pipeline.workfolder.manifest import Manifest

TMP = ".crawlrank-tmp"
#: everything that a run leaves, by whatever engine
DATASETS = (*written_by(STEPS), "keys", "rounds")
#: of these, what a ranking has of its own
OF_RANKING = (*written_by((RANK, *later_steps(RANK))), "rounds")
MANIFEST = "manifest.json"
#: what may be in a folder before its first run: hidden files, as of a run that was killed, the
#: configuration, logs, and what a new disk has
BEFORE = (".*", "crawlrank.toml", "*.log", "lost+found")


def links_of(work: Path) -> Path:
    """The links that count in a work folder: those that select-links has chosen, or all."""
    selected = work / "selected"
    return selected if selected.exists() else work / "links"


def refuse_dataset(work: Path, output: Path) -> None:
    """Refuse an output that would be among the parts of a dataset, where it would be read as one,
    or would replace a file that the run has written. Raises BadInput."""
    above = (output.resolve(), *output.resolve().parents)
    for name in (*DATASETS, MANIFEST, ".lock", TMP):
        if (work / name).resolve() in above:
            own = output.resolve() == (work / name).resolve()
            where = f"the run's own {name}" if own else f"in the dataset {name}"
            raise BadInput(str(output), where, "a path of its own", "Name another one.")


def refuse_own_file(output: Path, works: Collection[Path] = ()) -> None:
    """Refuse the same in any work folder that the output is in. works: those that are known; others
    are known by their manifest and lock. Raises BadInput."""
    refuse_root(output)
    known = {work.resolve() for work in works}
    for folder in output.resolve().parents:
        if folder in known or is_work_folder(folder):
            refuse_dataset(folder, output)


def is_work_folder(folder: Path) -> bool:
    """A folder that cannot be read is none."""
    return all(os.path.exists(folder / name) for name in (MANIFEST, ".lock"))  # noqa: PTH110


def refuse_root(folder: Path) -> None:
    """Every folder is in it, so nothing may take it for its own. Raises BadInput."""
    if folder.resolve() == Path(folder.resolve().anchor):
        what = "the folder that all others are in"
        raise BadInput(str(folder), what, "a folder of its own", "Name another one.")


def refuse_foreign(work: Path) -> None:
    """A folder without manifest is no work folder, unless nothing is in it but BEFORE: files would
    be mixed up. Nor is one inside a work folder: it could be a dataset of that. Nothing is written
    before this is known. Raises BadInput."""
    refuse_root(work)
    for parent in work.resolve().parents:
        if is_work_folder(parent):
            raise BadInput(
                str(work),
                f"lies inside the work folder {parent}",
                "a folder of its own",
                "Name another work folder.",
            )
    if not work.is_dir() or (work / MANIFEST).exists():
        return
    names = [path.name for path in work.iterdir()]
    others = sorted(name for name in names if not any(fnmatchcase(name, each) for each in BEFORE))
    if others:
        first = next((name for name in others if name in DATASETS), others[0])
        raise BadInput(
            str(work),
            f"holds `{first}`, but no {MANIFEST}",
            "a new folder, or one that `crawlrank run` has made",
            f"Name another one, such as {work / 'work'}.",
        )


def clear_leftovers(work: Path) -> None:
    """Remove what a killed run could not, by the names that only crawlrank gives."""
    for name in DATASETS:
        remove(work / f".{name}.part")
        remove(work / f".{name}.old")
    remove(work / TMP)
    remove_abandoned(work)
    remove_abandoned(work / "report")


def sweep(store: DatasetStore, kept: Collection[str], parts: Collection[str]) -> None:
    """Remove what no entry of the manifest stands for: of datasets all but those in `kept`, of
    those of archives all but these parts, and what jobs of a dead driver put aside at a URL."""
    for name in DATASETS:
        if store.data and name not in NEAR:
            remove(store.work / name)  # of another runner
    with_parts = {part.partition("/")[0] for part in parts}
    drop_unknown(store, kept, [name for name in DATASETS if name not in with_parts])
    if store.data:
        stores.remove(stores.join(store.data, "tmp"))
    for name in with_parts:
        _keep_parts(store, name, parts)


def drop_unknown(store: DatasetStore, kept: Collection[str], names: Collection[str]) -> None:
    """Remove those of the datasets that are not in `kept`."""
    for name in names:
        if name not in kept:
            store.drop(name)


def _keep_parts(store: DatasetStore, dataset: str, known: Collection[str]) -> None:
    location = store.location(dataset)
    names = (
        [path.name for path in location.glob("*") if PART.search(path.name)]
        if isinstance(location, Path)
        else stores.folders(location)
    )
    for name in names:
        if (part := f"{dataset}/{name}") not in known:
            store.drop(part)


class WorkFolder:
    """What engines whose datasets are all in the work folder do alike."""

    work: Path

    def take(self, manifest: Manifest) -> None:
        """Nothing is to be made the work folder's own."""

    def path(self, dataset: str) -> Path:
        return self.work / dataset


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
