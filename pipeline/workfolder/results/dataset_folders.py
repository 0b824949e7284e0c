"""The datasets of a finished run as folders of this machine: the one way to them, whoever ran.

They lie in the work folder, or with `--data` at a URL, from where they are brought. Whoever reads a
dataset asks for its folder here, and does not ask which runner made it.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.formats import downloading
from jobs.kernel.storage import stores
from jobs.kernel.storage.opening import is_url
from pipeline.contract import EMBEDDED
from pipeline.workfolder.dataset_store import NEAR, DatasetStore
from pipeline.workfolder.far import of_archives
from pipeline.workfolder.imported import IMPORT_AGAIN, SELECT, require_finished
from pipeline.workfolder.integrity import AGAIN, fault_of
from pipeline.workfolder.manifest import Manifest, require_manifest
from pipeline.workfolder.work_folder import OF_ARCHIVES

EXPECTED = "a dataset of a finished run"
STORE = "Look at the URL, and at what tells where its store is (HADOOP_CONF_DIR, AWS_REGION)."
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class UnusableDataset(BadInput):
    """A dataset of a finished run that is not there, or not whole; its cure makes it anew."""


def finished_manifest(work: Path) -> Manifest:
    """The manifest of a finished run. Raises BadInput for any other folder."""
    manifest = require_manifest(work)
    require_finished(manifest)
    return manifest


def as_text_cure(where: str) -> str | None:
    """What helps a step that was given a dataset of a work folder which is not there as text.

    where: of a BadInput, a path that something may follow behind a comma.
    """
    path = Path(where.partition(", ")[0])
    try:
        work = next((above for above in path.parents if (above / "manifest.json").exists()), None)
        if work is None or is_url(where):
            return None
        parameters, there = Manifest(work).parameters, path.exists()
    except (BadInput, OSError, ValueError, KeyError):  # no manifest of ours, or no path at all
        return None
    if parameters.get("--data") and not there:
        how = f"lie at {parameters['--data']}"
    elif parameters.get("--runner") == EMBEDDED and path.suffix in (".npy", ".parquet"):
        how = f"are columns, of the runner {EMBEDDED}"
    else:
        return None
    return f"The datasets of {work} {how}: `crawlrank export-text` writes them as text."


class DatasetFolders:
    """The datasets of one finished run, each as the manifest says. tmp: a folder, made in the one
    that is given, in which each dataset that is asked for appears under its name: as a link, or
    brought from its URL, once. digests: compare them; otherwise names and sizes."""

    def __init__(self, work: Path, manifest: Manifest, tmp: Path, *, digests: bool = False) -> None:
        self.work, self.manifest, self.digests = work, manifest, digests
        self.tmp = Path(tempfile.mkdtemp(prefix="datasets-", dir=tmp))
        self.data: str | None = manifest.parameters.get("--data")
        self._store = DatasetStore(work, self.data)
        self._origins: dict[Path, str] = {}  # by folder, as messages name it

    @property
    def has_folds(self) -> bool:
        return SELECT in self.manifest.steps

    def folder(self, dataset: str) -> Path:
        """A dataset, `links` being those that count. Raises UnusableDataset, and OSError for want
        of room."""
        if dataset == "links" and self._chosen:
            dataset = "selected"
        folder = self.tmp / dataset
        if folder not in self._origins:
            if self.data and dataset not in NEAR:
                self._bring(dataset, self.data, folder)
            else:
                self._link(dataset, folder)
        return folder

    @property
    def _chosen(self) -> bool:
        """Whether select-links has chosen some of the links."""
        entry = self.manifest.steps.get(SELECT, {})
        return bool(entry.get("parameters", {}).get("latest"))

    def _link(self, dataset: str, folder: Path) -> None:
        original = self.work / dataset
        if not original.exists():
            raise self._missing(str(original), dataset)
        self._compare(dataset)
        folder.symlink_to(original.absolute())
        self._origins[folder] = str(original)

    def _bring(self, dataset: str, data: str, folder: Path) -> None:
        url = str(stores.join(data, dataset))
        shutil.rmtree(folder, ignore_errors=True)  # of an attempt that failed
        try:
            places = of_archives(self._store, dataset) if dataset in OF_ARCHIVES else [url]
            if not places or not all(map(stores.exists, places)):
                raise self._missing(url, dataset)
            self._compare(dataset)
            for place in places:
                downloading.download(place, folder)
        except (OSError, RuntimeError) as error:  # clients of stores raise both
            if isinstance(error, OSError) and error.errno in FULL:
                raise OSError(error.errno, error.strerror, str(folder)) from error
            said = f"cannot be read ({str(error).partition(chr(10))[0]})"
            raise UnusableDataset(url, said, EXPECTED, f"{STORE} {AGAIN}") from error
        self._origins[folder] = url

    def _compare(self, dataset: str) -> None:
        fault = fault_of(self.work, self.manifest, dataset, digests=self.digests)
        if fault:
            raise UnusableDataset(str(self.work), fault, EXPECTED, self._cure(dataset))

    def _missing(self, where: str, dataset: str) -> UnusableDataset:
        return UnusableDataset(where, "not there", EXPECTED, self._cure(dataset))

    def _cure(self, dataset: str) -> str:
        return IMPORT_AGAIN if dataset in self.manifest.imported.get("datasets", ()) else AGAIN

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Around all that reads the datasets: what shows that one of them is not whole comes out
        as UnusableDataset."""
        try:
            yield
        except UnusableDataset:
            raise
        except BadInput as error:
            if not (dataset := self._named_in(error.where)):
                raise
            where, expected = self._as_named(error.where), error.expected
            raise UnusableDataset(where, error.found, expected, self._cure(dataset)) from error
        except Exception as error:
            if not _is_damage(error):
                raise
            said = str(error).partition("\n")[0]
            cure = self._cure(self._named_in(said) or "")
            raise UnusableDataset(str(self.work), self._as_named(said), EXPECTED, cure) from error

    def _named_in(self, text: str) -> str | None:
        """The dataset of which a message names a file."""
        named = (folder.name for folder in self._origins if str(folder) in text)
        return next(named, None)

    def _as_named(self, text: str) -> str:
        for folder, origin in self._origins.items():
            text = text.replace(str(folder), origin)
        return text


def _is_damage(error: Exception) -> bool:
    """Whether readers of Parquet, arrays and text raise it for a file that is not what it was."""
    import duckdb  # which whoever reads by it has imported

    if isinstance(error, OSError):
        return error.errno in (None, errno.ENOENT, errno.EINVAL)
    of_duckdb = (
        duckdb.BinderException, duckdb.CatalogException, duckdb.ConversionException,
        duckdb.InvalidInputException, duckdb.IOException,
    )  # fmt: skip
    of_readers = (ValueError, IndexError, KeyError, EOFError, zlib.error)
    return isinstance(error, (*of_duckdb, *of_readers))
