"""Beans of a job written and taken back: whole, in order, never over what people changed, and
whenever a command is killed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.heritrix.job_folder import JobFolder

FIRST = b"first"


def job(folder: Path) -> JobFolder:
    folder.mkdir()
    (folder / "crawler-beans.cxml").write_bytes(FIRST)
    return JobFolder(folder)


def recrawled(one: JobFolder, tmp: Path, pages: bytes | None, extra: bytes = b"") -> bool:
    """Write beans that name a file of pages, where there is one."""
    one.settle()
    files = {}
    if pages is not None:
        files["pages"] = tmp / "pages"
        files["pages"].write_bytes(pages)
    named = one.folder_of(files) if files else "-"
    (tmp / "beans").write_bytes(named.encode() + extra)
    return one.write(tmp / "beans", files)


def meaning(one: JobFolder) -> tuple[bytes, bytes | None]:
    """The beans, without the number of a recrawl, and the pages that they name."""
    beans = one.beans.read_bytes()
    named = re.match(rb"crawlrank/\d+", beans)
    if not named:
        return beans, None
    extra = beans[named.end() :]
    return b"crawlrank" + extra, (one.path / named[0].decode() / "pages").read_bytes()


def test_several_writes_are_taken_back_one_by_one(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    one.beans.chmod(0o640)
    states = [meaning(one)]
    for pages, extra in ((b"a", b""), (b"b", b""), (b"b", b" noted"), (None, b""), (b"b", b"")):
        assert recrawled(one, tmp_path, pages, extra)
        states.append(meaning(one))
        assert not recrawled(one, tmp_path, pages, extra)
        assert meaning(one) == states[-1]
    assert len(set(states[:-1])) == 5
    assert one.beans.stat().st_mode & 0o777 == 0o640
    for number, state in reversed([*enumerate(states[:-1])]):
        assert one.undo() == (number > 0)
        assert meaning(one) == state
    assert [path.name for path in one.path.iterdir()] == ["crawler-beans.cxml"]
    with pytest.raises(BadInput, match="nothing to undo"):
        one.undo()


def test_a_file_that_was_changed_since_is_not_overwritten(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    recrawled(one, tmp_path, b"a")
    one.beans.write_bytes(b"edited")
    with pytest.raises(BadInput, match="changed since crawlrank wrote it") as caught:
        one.undo()
    assert one.beans.read_bytes() == b"edited"
    assert (one.path / "crawlrank" / "1" / "before.cxml").read_bytes() == FIRST
    assert "crawlrank/1/before.cxml" in caught.value.cure


def test_what_was_taken_back_by_hand_is_undone(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    recrawled(one, tmp_path, b"a")
    recrawled(one, tmp_path, b"b")
    shutil.copy(one.path / "crawlrank" / "2" / "before.cxml", one.beans)
    one.undo()
    assert meaning(one) == (b"crawlrank", b"a")


def test_beans_that_are_a_link_stay_one(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    shared = tmp_path / "shared.cxml"
    one.beans.rename(shared)
    one.beans.symlink_to(shared)
    recrawled(one, tmp_path, b"a")
    assert one.beans.is_symlink()
    assert shared.read_bytes().startswith(b"crawlrank")
    one.undo()
    assert shared.read_bytes() == FIRST


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_root_leaves_files_to_their_owner(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    os.chown(one.beans, 12345, 12346)
    recrawled(one, tmp_path, b"a")
    made = [one.beans, one.path / "crawlrank", *(one.path / "crawlrank").rglob("*")]
    assert len(made) == 7  # with its folder, pages, beans before, digest and mark
    for path in made:
        assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


def test_folders_that_are_no_jobs(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(BadInput, match="no files of beans"):
        JobFolder(tmp_path / "none")
    (tmp_path / "none" / "a.cxml").touch()
    assert JobFolder(tmp_path / "none").beans.name == "a.cxml"
    (tmp_path / "none" / "b.cxml").touch()
    with pytest.raises(BadInput, match="2 files of beans"):
        JobFolder(tmp_path / "none")


# ---- records that nobody of ours has left ----------------------------------------------------


def linked(path: Path, evil: Path) -> None:
    """What was there is behind a link now."""
    shutil.move(path, evil / path.name)
    path.symlink_to(evil / path.name)


def piped(path: Path, evil: Path) -> None:
    path.unlink()
    os.mkfifo(path)


HOSTILE: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "no text": ("1/beans.sha256", lambda path, evil: path.write_bytes(b"\xff\xfe")),
    "another place": ("1/beans.sha256", lambda path, evil: path.write_text("../../../evil\n")),
    "no digests": ("1/beans.sha256", lambda path, evil: path.unlink()),
    "digests in a pipe": ("1/beans.sha256", piped),
    "digests behind a link": ("1/beans.sha256", linked),
    "no beans": ("1/before.cxml", lambda path, evil: path.unlink()),
    "half of the beans": ("1/before.cxml", lambda path, evil: path.write_bytes(FIRST[:2])),
    "beans in a pipe": ("1/before.cxml", piped),
    "beans behind a link": ("1/before.cxml", linked),
    "a link to a folder": ("1", linked),
    "a link to all": ("", linked),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("killed", [False, True])
def test_a_damaged_or_hostile_record_is_refused(name: str, killed: bool, tmp_path: Path) -> None:
    """Before anything changes, here or behind a link; by `recrawl` as by `undo`, after a kill."""
    one, evil = job(tmp_path / "job"), tmp_path / "evil"
    recrawled(one, tmp_path, b"a")
    evil.mkdir()
    folder = one.path / "crawlrank"
    if killed:
        (folder / "1" / "ended").unlink()
    where, damage = HOSTILE[name]
    damage(folder / where, evil)
    before, commands = snapshot(tmp_path), [one.undo, one.settle] if killed else [one.undo]
    for command in commands:
        with pytest.raises(BadInput, match=r"damaged|a link") as caught:
            command()
        assert "Nothing was changed" in caught.value.cure
        assert snapshot(tmp_path) == before


def snapshot(folder: Path) -> list[tuple[str, bytes | None]]:
    return [
        (str(path), path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    ]


def test_names_that_are_no_numbers_and_abandoned_parts(tmp_path: Path) -> None:
    """Names of others stay; a link in place of a part goes, and what it leads to stays."""
    one, evil = job(tmp_path / "job"), tmp_path / "evil"
    recrawled(one, tmp_path, b"a")
    evil.mkdir()
    folder = one.path / "crawlrank"
    for name in ("²", "notes", ".part"):
        (folder / name).mkdir()
    (folder / ".2.part").symlink_to(evil)
    (folder / ".3.part").touch()
    recrawled(one, tmp_path, b"b")
    assert sorted(path.name for path in folder.iterdir()) == [".part", "1", "2", "notes", "²"]
    assert evil.is_dir()
    one.undo()
    assert meaning(one) == (b"crawlrank", b"a")


# ---- kills -----------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone: nothing that it would do afterwards happens."""


PATHS = ("mkdir", "rename", "replace", "touch", "unlink", "rmdir", "write_text")
STEPS: list[tuple[Any, str]] = [
    *((Path, name) for name in PATHS),
    *((shutil, name) for name in ("copyfile", "copy2", "copymode", "rmtree")),
]


@contextmanager
def killed_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """At the n-th change of a file in the block; yields how many there were."""
    count = [0]

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            if count[0] >= step:
                raise Killed
            count[0] += 1
            return real(*arguments, **options)

        return counted

    with monkeypatch.context() as patched, suppress(Killed):
        for owner, name in STEPS:
            patched.setattr(owner, name, counting(getattr(owner, name)))
        yield count


def steps_of(command: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    with killed_at(10**6, monkeypatch) as count:
        command()
    return count[0]


def two_recrawls(folder: Path, tmp: Path) -> JobFolder:
    one = job(folder)
    recrawled(one, tmp, b"a")
    recrawled(one, tmp, b"b")
    return one


A, B, C = ((b"crawlrank", pages) for pages in (b"a", b"b", b"c"))
COMMANDS: dict[str, Callable[[JobFolder, Path], object]] = {
    "recrawl": lambda one, tmp: recrawled(one, tmp, b"c"),
    "undo": lambda one, tmp: one.undo(),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("second", COMMANDS)
@pytest.mark.parametrize("first", COMMANDS)
def test_a_job_is_as_before_or_as_after_any_two_kills(
    first: str, second: str, half: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kills are of a command and of the next one; undo then goes back to what was before the
    last recrawl that ended. half: of all pairs of places."""
    one = two_recrawls(tmp_path / "job", tmp_path)
    most = steps_of(lambda: COMMANDS[first](one, tmp_path), monkeypatch)
    assert most >= 4
    for step in range(most + 1):
        for again in range((step + half) % 2, most + 8, 2):
            shutil.rmtree(one.path)
            one = two_recrawls(one.path, tmp_path)
            with killed_at(step, monkeypatch):
                COMMANDS[first](one, tmp_path)
            middle = meaning(one)
            assert middle in ({B, C} if first == "recrawl" else {B, A})
            with killed_at(again, monkeypatch):
                COMMANDS[second](one, tmp_path)
            require_way_back(one, tmp_path)


def require_way_back(one: JobFolder, tmp: Path) -> None:
    """From wherever it is, a recrawl that ends can be taken back, and all before it."""
    now = meaning(one)
    assert now in {A, B, C, (FIRST, None)}
    if not one.settle():
        assert meaning(one) == now
    now = meaning(one)
    recrawled(one, tmp, b"d")
    assert meaning(one) == (b"crawlrank", b"d")
    one.undo()
    assert meaning(one) == now
    before = {C: B, B: A, A: (FIRST, None)}
    while now in before:
        one.undo()
        assert meaning(one) in ({before[now]} if now != C else {B, A, (FIRST, None)})
        now = meaning(one)
    assert now == (FIRST, None)
    assert [path.name for path in one.path.iterdir()] == ["crawler-beans.cxml"]
