"""The folder of a job of Heritrix, and the way back to the beans that it had.

Each recrawl has a numbered folder in `crawlrank`, with the files that its beans name, the beans
that were there before, and the digest of those that it writes. The folder is whole before the
beans change, and that is one renaming. So a job is as before or as after, whenever a command is
killed; what was killed is settled by the next command:

    after.sha256   of the beans that were to be written
    before.cxml    the beans that were there
    ended          the beans were written
    undoing        `undo` has begun
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.storage.temporary import remove_abandoned
from pipeline.data.datasets import replacing

BEANS = "crawler-beans.cxml"
FOLDER = "crawlrank"
AFTER, BEFORE, ENDED, UNDOING = "after.sha256", "before.cxml", "ended", "undoing"


class JobFolder:
    """One job; its name is that of the folder. Raises BadInput for any other folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        beans = (
            [path / BEANS]
            if (path / BEANS).is_file()
            else [each for each in sorted(path.glob("*.cxml")) if each.is_file()]
        )
        if len(beans) != 1:
            raise BadInput(
                str(path),
                f"{len(beans) or 'no'} files of beans (.cxml)",
                f"the folder of a job of Heritrix, with its {BEANS}",
                "Jobs are in the folder `jobs`, by name.",
            )
        self.beans = beans[0]

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def crawl_log(self) -> Path:
        """Of the last launch."""
        return self.path / "latest" / "logs" / "crawl.log"

    def folder_of(self, files: Mapping[str, Path]) -> str:
        """The folder, in that of the job, for the files of a recrawl: the last one, if it has the
        same files, or a new one."""
        folders = self._folders()
        for folder in reversed(folders):
            if all(_digest(folder / name) == _digest(new) for name, new in files.items()):
                return f"{FOLDER}/{folder.name}"
            if any((folder / name).exists() for name in files):
                break  # an older one is of another ranking
        return f"{FOLDER}/{int(folders[-1].name) + 1 if folders else 1}"

    def write(self, beans: Path, files: Mapping[str, Path]) -> bool:
        """Make these the beans, and put the files beside, in their place; whether that changes
        anything."""
        own = self.path / self.folder_of(files)
        if _digest(beans) == _digest(self.beans) and (own.exists() or not files):
            return False
        folders = self._folders()
        new = self.path / FOLDER / str(int(folders[-1].name) + 1 if folders else 1)
        part = new.with_name(f".{new.name}.part")
        part.mkdir(parents=True)
        for name, source in files.items() if own == new else ():
            shutil.copyfile(source, part / name)
        shutil.copy2(self.beans, part / BEFORE)
        (part / AFTER).write_text(_digest(beans) or "")
        give(new.parent, self.beans)
        part.rename(new)
        self._put(beans)
        self._mark(new / ENDED)
        return True

    def undo(self) -> None:
        """Take back the last `write` that ended. Raises BadInput where there is none, or where the
        beans were changed since."""
        if self.settle():
            return  # that was an undo which was killed
        folders = self._folders()
        if not folders:
            cure = "Only what `crawlrank recrawl` has written can be taken back."
            raise BadInput(str(self.path / FOLDER), "nothing to undo", "copies of files", cure)
        last = folders[-1]
        if _digest(self.beans) not in (_after(last), _digest(last / BEFORE)):
            raise BadInput(
                str(self.beans),
                "changed since crawlrank wrote it",
                "the bytes that it wrote",
                f"What was there before is in {last / BEFORE}: take from it what you want.",
            )
        self._mark(last / UNDOING)
        self._take_back(last)

    def settle(self) -> bool:
        """Finish what a killed command has left, before the job is read to be changed; whether that
        was an undo."""
        for part in (self.path / FOLDER).glob(".*.part"):
            shutil.rmtree(part)
        remove_abandoned(self.beans.resolve().parent)
        folders = self._folders()
        if not folders:
            return False
        last = folders[-1]
        if (last / UNDOING).exists():
            self._take_back(last)
            return True
        if not (last / ENDED).exists():
            if _digest(self.beans) == _after(last):
                self._mark(last / ENDED)
            else:
                self._remove(last)
        return False

    def _mark(self, path: Path) -> None:
        path.touch()
        give(path, self.beans)

    def _take_back(self, folder: Path) -> None:
        if _digest(self.beans) == _after(folder):
            self._put(folder / BEFORE)
        self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """With its last trace, so that no half of a folder is ever there."""
        part = folder.with_name(f".{folder.name}.part")
        folder.rename(part)
        shutil.rmtree(part)
        if not any(folder.parent.iterdir()):
            folder.parent.rmdir()

    def _put(self, source: Path) -> None:
        """Make a copy the beans, whole or not at all, with the permissions and the owner of what is
        there; a link stays one."""
        target = self.beans.resolve()
        with replacing(target) as path:
            shutil.copyfile(source, path)
            shutil.copymode(target, path)
            give(path, target)

    def _folders(self) -> list[Path]:
        """The folders of recrawls, the oldest first."""
        folders = (path.parent for path in (self.path / FOLDER).glob(f"*/{AFTER}"))
        return sorted((f for f in folders if f.name.isdigit()), key=lambda folder: int(folder.name))


def give(path: Path, model: Path) -> None:
    """Let a file or folder, with all in it, have the owner of another: root works for others."""
    if os.geteuid():
        return
    owner = model.stat()
    for each in (path, *path.rglob("*")) if path.is_dir() else (path,):
        os.chown(each, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _after(folder: Path) -> str:
    return (folder / AFTER).read_text().strip()


def _digest(path: Path) -> str | None:
    """None where there is no file."""
    if not path.is_file():
        return None
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
