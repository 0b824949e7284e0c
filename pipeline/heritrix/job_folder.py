"""The folder of a job of Heritrix, and the way back to the beans that it had.

Each recrawl has a numbered folder in `crawlrank`, with the files that its beans name, the beans
that were there before, and the digests of these and of those that it writes. The folder is whole
before the beans change, and that is one renaming. So a job is as before or as after, whenever a
command is killed; what was killed is settled by the next command:

    beans.sha256   of the beans that were there, and of those that were to be written, a line each
    before.cxml    the beans that were there
    ended          the beans were written
    undoing        `undo` has begun

A record that is damaged, or leads out of the folder by a link, is refused before anything changes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.temporary import remove_abandoned
from crawlrank.pipeline.data.datasets import replacing

BEANS = "crawler-beans.cxml"
FOLDER = "crawlrank"
DIGESTS, BEFORE, ENDED, UNDOING = "beans.sha256", "before.cxml", "ended", "undoing"
_NUMBER, _PART = re.compile("[1-9][0-9]{0,8}"), re.compile(r"\.[1-9][0-9]{0,8}\.part")
_DIGESTS = re.compile(rb"([0-9a-f]{64})\n([0-9a-f]{64})\n")


class _Record(NamedTuple):
    """The digests of the beans before a recrawl and after it."""

    before: str
    after: str


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
        """The log of the last launch."""
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
        digests = (_digest(part / BEFORE), _digest(beans))
        (part / DIGESTS).write_text("".join(f"{digest}\n" for digest in digests))
        give(new.parent, self.beans)
        part.rename(new)
        self._put(beans)
        self._mark(new / ENDED)
        return True

    def undo(self) -> bool:
        """Take back the last `write` that ended; whether the job is of an earlier recrawl then.
        Raises BadInput where there is none, or where the beans were changed since."""
        if self.settle():
            return bool(self._folders())  # that was an undo which was killed
        folders = self._folders()
        if not folders:
            cure = "Only what `crawlrank recrawl` has written can be taken back."
            raise BadInput(str(self.path / FOLDER), "nothing to undo", "copies of files", cure)
        last = folders[-1]
        if _digest(self.beans) not in _record(last):
            raise BadInput(
                str(self.beans),
                "changed since crawlrank wrote it",
                "the bytes that it wrote",
                f"What was there before is in {last / BEFORE}: take from it what you want.",
            )
        self._mark(last / UNDOING)
        self._take_back(last)
        return bool(self._folders())

    def settle(self) -> bool:
        """Finish what a killed command has left, before the job is read to be changed; whether that
        was an undo."""
        folders = self._folders()
        for part in (self.path / FOLDER).glob(".*.part"):
            if _PART.fullmatch(part.name):
                _discard(part)
        remove_abandoned(self.beans.resolve().parent)
        if not folders:
            return False
        last = folders[-1]
        if (last / UNDOING).exists():
            self._take_back(last)
            return True
        if not (last / ENDED).exists():
            if _digest(self.beans) == _record(last).after:
                self._mark(last / ENDED)
            else:
                self._remove(last)
        return False

    def _mark(self, path: Path) -> None:
        path.touch()
        give(path, self.beans)

    def _take_back(self, folder: Path) -> None:
        if _digest(self.beans) == _record(folder).after:
            self._put(folder / BEFORE)
        self._remove(folder)

    def _remove(self, folder: Path) -> None:
        """Remove a folder with its last trace, so that no half of a folder is ever there."""
        part = folder.with_name(f".{folder.name}.part")
        folder.rename(part)
        _discard(part)
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
        """The folders of recrawls, the oldest first. Raises BadInput for what is none."""
        top = self.path / FOLDER
        if not (top.is_symlink() or top.exists()):
            return []
        _require_folder(top)
        folders = [each for each in top.iterdir() if _NUMBER.fullmatch(each.name)]
        for folder in folders:
            _require_folder(folder)
        return sorted(folders, key=lambda folder: int(folder.name))


def give(path: Path, model: Path) -> None:
    """Let a file or folder, with all in it, have the owner of another: root works for others."""
    if os.geteuid():
        return
    owner = model.stat()
    for each in (path, *path.rglob("*")) if path.is_dir() else (path,):
        os.chown(each, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _require_folder(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        what = "a link" if path.is_symlink() else "no folder"
        cure = "Nothing was changed. Move it away: crawlrank makes a new one."
        raise BadInput(str(path), what, "a folder that crawlrank has made", cure)


def _discard(path: Path) -> None:
    """A folder, or whatever else has its name; never what a link leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _record(folder: Path) -> _Record:
    """Raises BadInput where it is damaged, or no record of these beans."""
    path, before = folder / DIGESTS, folder / BEFORE
    match = None if _is_no_file(path) else _DIGESTS.fullmatch(path.read_bytes())
    record = _Record(match[1].decode(), match[2].decode()) if match else None
    if record is None or _is_no_file(before) or _digest(before) != record.before:
        raise BadInput(
            str(folder), "damaged", f"{BEFORE}, with its digest in {DIGESTS}",
            f"Nothing was changed. Take from {BEFORE} what you want, then move this folder away.",
        )  # fmt: skip
    return record


def _is_no_file(path: Path) -> bool:
    return path.is_symlink() or not path.is_file()


def _digest(path: Path) -> str | None:
    """None where there is no file."""
    if not path.is_file():
        return None
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
