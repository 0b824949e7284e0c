"""Files of a job written and taken back: whole, in order, and never over what people changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.kernel.errors import BadInput
from pipeline.heritrix import job_folder
from pipeline.heritrix.job_folder import JobFolder


def job(folder: Path, **files: bytes) -> JobFolder:
    folder.mkdir()
    (folder / "crawler-beans.cxml").write_bytes(b"first")
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return JobFolder(folder)


def write(one: JobFolder, tmp: Path, **files: bytes) -> list[str]:
    made = {}
    for name, data in files.items():
        made[name.replace("beans", "crawler-beans.cxml").replace("seeds", "seeds.txt")] = tmp / name
        (tmp / name).write_bytes(data)
    return one.write(made)


def contents(one: JobFolder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in one.path.iterdir() if path.is_file()}


def test_several_writes_are_taken_back_one_by_one(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    states = [contents(one)]
    (one.path / "crawler-beans.cxml").chmod(0o640)
    for beans, seeds in ((b"second", b"a"), (b"second", b"b"), (b"third", b"b")):
        assert write(one, tmp_path, beans=beans, seeds=seeds)
        states.append(contents(one))
    assert write(one, tmp_path, beans=b"third", seeds=b"b") == []
    assert (one.path / "crawler-beans.cxml").stat().st_mode & 0o777 == 0o640
    for state in reversed(states[:-1]):
        one.undo()
        assert contents(one) == state
    assert sorted(path.name for path in one.path.iterdir()) == ["crawler-beans.cxml"]
    with pytest.raises(BadInput, match="nothing to undo"):
        one.undo()


def test_a_file_that_was_changed_since_is_not_overwritten(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    write(one, tmp_path, beans=b"second", seeds=b"a")
    (one.path / "crawler-beans.cxml").write_bytes(b"edited")
    before = contents(one)
    with pytest.raises(BadInput, match="changed since crawlrank wrote it") as caught:
        one.undo()
    assert contents(one) == before
    assert (one.path / "crawlrank-undo" / "1" / "crawler-beans.cxml").read_bytes() == b"first"
    assert "crawlrank-undo" in caught.value.cure


def test_what_was_taken_back_by_hand_is_undone(tmp_path: Path) -> None:
    one = job(tmp_path / "job")
    write(one, tmp_path, beans=b"second", seeds=b"a")
    (one.path / "crawler-beans.cxml").write_bytes(b"first")
    (one.path / "seeds.txt").unlink()
    one.undo()
    assert contents(one) == {"crawler-beans.cxml": b"first"}


def test_copies_that_are_not_whole_are_not_taken_back(tmp_path: Path) -> None:
    """A kill between the copies and their record has written nothing yet."""
    one = job(tmp_path / "job")
    (one.path / "crawlrank-undo" / "1").mkdir(parents=True)
    (one.path / "crawlrank-undo" / "1" / "crawler-beans.cxml").write_bytes(b"fir")
    with pytest.raises(BadInput, match="nothing to undo"):
        one.undo()
    write(one, tmp_path, beans=b"second")
    one.undo()
    assert contents(one)["crawler-beans.cxml"] == b"first"


def test_folders_that_are_no_jobs(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(BadInput, match="no files of beans"):
        JobFolder(tmp_path / "none")
    (tmp_path / "none" / "a.cxml").touch()
    assert JobFolder(tmp_path / "none").beans.name == "a.cxml"
    (tmp_path / "none" / "b.cxml").touch()
    with pytest.raises(BadInput, match="2 files of beans"):
        JobFolder(tmp_path / "none")


@pytest.mark.parametrize("puts", [0, 1])
@pytest.mark.parametrize("again", [False, True])
def test_a_write_that_is_killed_is_taken_back(
    puts: int, again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its files, whether it is given once more or not."""
    one = job(tmp_path / "job")
    write(one, tmp_path, seeds=b"a")
    before, real, done = contents(one), job_folder._put, list[Path]()

    def killed(source: Path, target: Path) -> None:
        if len(done) == puts:
            raise KeyboardInterrupt
        done.append(target)
        real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(job_folder, "_put", killed)
        with pytest.raises(KeyboardInterrupt):
            write(one, tmp_path, beans=b"second", seeds=b"b")
    if again:
        write(one, tmp_path, beans=b"second", seeds=b"b")
        assert contents(one) == {"crawler-beans.cxml": b"second", "seeds.txt": b"b"}
        one.undo()
    one.undo()
    assert contents(one) == before
    one.undo()
    assert contents(one) == {"crawler-beans.cxml": b"first"}
