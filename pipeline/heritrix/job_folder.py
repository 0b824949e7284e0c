"""The folder of a job of Heritrix, and the way back to what its files were.

Before a file is written for the first time, or again with other bytes, a copy of what was there
goes to a numbered folder in `crawlrank-undo`. `undo` takes back the last of these.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from jobs.kernel.errors import BadInput
from pipeline.data.datasets import replacing, write_file

BEANS = "crawler-beans.cxml"
UNDO = "crawlrank-undo"
RECORD = "written.json"  # in a folder of copies: file -> the digest of what was written


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

    def write(self, files: Mapping[str, Path]) -> list[str]:
        """Put the contents of these files under these names, after copies of what is there; the
        names of those that changed."""
        changed = [name for name, new in files.items() if _digest(self.path / name) != _digest(new)]
        if not changed:
            return []
        copies = self._copies()
        folder = self.path / UNDO / str(int(copies[-1].name) + 1 if copies else 1)
        shutil.rmtree(folder, ignore_errors=True)  # of a write that was killed before its record
        folder.mkdir(parents=True)
        for name in changed:
            if (self.path / name).exists():
                shutil.copy2(self.path / name, folder / name)
        record = {name: _digest(files[name]) for name in changed}
        write_file([json.dumps(record, indent=1).encode()], folder / RECORD)
        for name in changed:
            _put(files[name], self.path / name)
        return changed

    def undo(self) -> list[str]:
        """Take back the last `write`; the names of its files. Raises BadInput where there is none,
        or where a file was changed since."""
        copies = self._copies()
        if not copies:
            cure = "Only what `crawlrank recrawl` has written can be taken back."
            raise BadInput(str(self.path / UNDO), "nothing to undo", "copies of files", cure)
        record = json.loads((copies[-1] / RECORD).read_text())
        for name, written in record.items():
            if _digest(self.path / name) not in (written, _digest(copies[-1] / name)):
                raise BadInput(
                    str(self.path / name),
                    "changed since crawlrank wrote it",
                    "the bytes that it wrote",
                    f"What was there before is in {copies[-1]}: take from it what you want.",
                )
        for name in record:
            if (copies[-1] / name).exists():
                _put(copies[-1] / name, self.path / name)
            else:
                (self.path / name).unlink(missing_ok=True)
        shutil.rmtree(copies[-1])
        if len(copies) == 1:
            (self.path / UNDO).rmdir()
        return list(record)

    def _copies(self) -> list[Path]:
        """The folders of copies that are whole, the oldest first."""
        folders = (path.parent for path in (self.path / UNDO).glob(f"*/{RECORD}"))
        return sorted((f for f in folders if f.name.isdigit()), key=lambda folder: int(folder.name))


def _digest(path: Path) -> str | None:
    """None where there is no file."""
    if not path.exists():
        return None
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _put(source: Path, target: Path) -> None:
    """A copy in place of what is there, whole or not at all, with its permissions."""
    with replacing(target) as path:
        shutil.copyfile(source, path)
        if target.exists():
            shutil.copymode(target, path)
