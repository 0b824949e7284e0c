"""A byte of a dataset that flips is found before anything is made of it.

Each flip is followed by a run that reads the file: with the same options, with other ones, or with
an archive more. A run that ends with 0 has left the results of a run that nobody disturbed; none
ends by a signal, or with an error that nobody foresaw. What no run has read, `check` finds.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from support.crawls import MORE_WEB, WEB, write_warc
from support.faults.failpoints import Ended, command
from support.work_folders import files_of, results_of

KINDS = ("embedded", "inline", "data")
FEW, MANY = 4, 70  # flips of each kind, 210 in all
#: what runs after the flip, and whether it has the second archive
NEXT = {
    "same": ((), False),
    "bins": (("--bins", "2", "--force"), False),
    "nodes": (("--nodes", "all", "--force"), False),
    "archive": ((), True),
}
RESULTS = ("scores", "precedence", "crawler-beans", "report")


class Made(NamedTuple):
    """A finished work folder, kept aside, and what each next run leaves of one without a flip."""

    folder: Path
    expected: dict[str, dict[str, bytes]]


def words(folder: Path, kind: str, name: str) -> list[object]:
    options, more = NEXT[name]
    archives = [folder.parent / "web.warc"] + [folder.parent / "more.warc"] * more
    where: tuple[object, ...] = ("--jobs", 1) if kind == "embedded" else ("--runner", "inline")
    if kind == "data":
        where = (*where, "--data", f"file://{folder}/data")
    return [
        "run", *archives, "--work", folder / "work", "--iterations", 3, "--min-agreement", 0,
        "--quiet", *where, *options,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    @cache
    def of(kind: str) -> Made:
        folder = tmp_path_factory.mktemp(kind)
        write_warc(folder / "web.warc", WEB)
        write_warc(folder / "more.warc", MORE_WEB)
        here, saved = folder / "here", folder / "saved"
        assert command(*words(here, kind, "same")).code == 0
        shutil.copytree(here, saved)
        expected = {}
        for name in NEXT:
            assert command(*words(here, kind, name)).code == 0
            expected[name] = results_of(here / "work")
            back(here, saved)
        return Made(folder, expected)

    return of


def back(here: Path, saved: Path) -> None:
    shutil.rmtree(here)
    shutil.copytree(saved, here)


def dataset_files(here: Path) -> list[Path]:
    """All that a run has left but manifest, lock and marks."""
    outside = ("manifest.json", ".lock", "crawlrank.json")
    return sorted(p for p in here.rglob("*") if p.is_file() and p.name not in outside)


def flip(path: Path, rng: random.Random) -> bool:
    """Another value of one byte, if there is one."""
    data = bytearray(path.read_bytes())
    if data:
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        path.write_bytes(data)
    return bool(data)


def check_flip(kind: str, made: Made, number: int) -> None:
    rng = random.Random(f"{kind} {number}")
    here = made.folder / "here"
    back(here, made.folder / "saved")
    files = dataset_files(here)
    path = files[number * 7 % len(files)]
    if not flip(path, rng):
        return
    name = rng.choice(sorted(NEXT))
    ended = command(*words(here, kind, name))
    of = f"{path.relative_to(here)}, then {name}: {ended}"
    assert ended.code in (0, 3), of
    assert "not foreseen" not in ended.err, of
    assert ended.code == 0, of  # the archives are there, so it is made again
    check_results(here, made.expected[name], of)


def check_results(here: Path, expected: dict[str, bytes], of: str) -> None:
    results = results_of(here / "work")
    for file in results.keys() | expected.keys():
        if file.startswith(RESULTS):
            assert results.get(file) == expected.get(file), (file, of)
    checked: Ended = command("check", "--work", here / "work")
    if results != expected:
        assert checked.code == 3, of
    elif not (here / "data").exists():  # there are notes of jobs and seals there, besides results
        assert checked.code == 0, of


@pytest.mark.parametrize("kind", KINDS)
def test_some_flips(kind: str, made: Callable[[str], Made]) -> None:
    for number in range(FEW):
        check_flip(kind, made(kind), number)


@pytest.mark.kills
@pytest.mark.parametrize("kind", KINDS)
def test_many_flips(kind: str, made: Callable[[str], Made]) -> None:
    for number in range(FEW, MANY):
        check_flip(kind, made(kind), number)


@pytest.mark.parametrize("how", ["cut", "removed", "flipped"])
def test_an_imported_dataset_is_not_made_again(how: str, tmp_path: Path) -> None:
    """Exit 3 with the file and a cure, as there is nothing to make it of."""
    graph = tmp_path / "graph.txt"
    graph.write_text("0\t1.0\tO:1,2\n1\t1.0\tO:0\n2\t1.0\tO:dummy\ndummy\t1.0\tO:dummy\n")
    work = tmp_path / "work"
    assert command("import-text", "--graph", graph, "--work", work).code == 0
    path = work / "graph" / "sources.npy"
    if how == "flipped":
        flip(path, random.Random(1))
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    ended = command("run", "--work", work, "--quiet", "--jobs", 1)
    assert ended.code == 3
    assert f"{path} " in ended.err
    assert "into a new work folder" in ended.err


@pytest.mark.parametrize("name", ["status", "check", "run"])
def test_a_manifest_that_has_changed(name: str, tmp_path: Path) -> None:
    """Whatever byte it is: the manifest has a digest of its own."""
    archive, work = write_warc(tmp_path / "web.warc", WEB), tmp_path / "work"
    made = ["run", archive, "--work", work, "--iterations", 2, "--no-validate", "--quiet"]
    assert command(*made, "--jobs", 1).code == 0
    path, rng = work / "manifest.json", random.Random(name)
    whole, before = path.read_bytes(), files_of(work)
    for _ in range(8):
        flip(path, rng)
        given = made if name == "run" else [name, "--work", work]
        ended = command(*given)
        assert (ended.code, "manifest" in ended.err) == (3, True), ended
        path.write_bytes(whole)
    assert files_of(work) == before
