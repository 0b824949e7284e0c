"""A byte of a dataset that flips is found before anything is made of it.

Each flip is followed by a run that reads the file: with the same options, with other ones, or with
an archive more. A run that ends with 0 has left the results of a run that nobody disturbed; none
ends by a signal, or with an error that nobody foresaw. What no run has read, `check` finds.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from support.crawls import MORE_WEB, WEB, crawlrank, ok, write_warc
from support.drawing import examples
from support.faults.failpoints import Ended, command
from support.runs import copy_of, finished, shared_warc
from support.work_folders import files_of, results_of

KINDS = ("embedded", "inline", "data")
FEW, MANY = 2, 20  # flips of each kind
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
    expected: Callable[[str], dict[str, bytes]]


def words(folder: Path, kind: str, name: str) -> list[object]:
    options, more = NEXT[name]
    archives = [folder.parent / "web.warc"] + [folder.parent / "more.warc"] * more
    where: tuple[object, ...] = ("--jobs", 1) if kind == "embedded" else ("--runner", "inline")
    if kind == "data":
        where = (*where, "--data", f"file://{folder}/data")
    return [
        "run", *archives, "--work", folder / "work", "--iterations", 2, "--min-agreement", 0,
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

        @cache
        def expected(name: str) -> dict[str, bytes]:
            back(here, saved)
            if name == "same":
                return results_of(here / "work")
            assert command(*words(here, kind, name)).code == 0
            return results_of(here / "work")

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
    here, name = made.folder / "here", rng.choice(sorted(NEXT))
    expected = made.expected(name)
    back(here, made.folder / "saved")
    files = dataset_files(here)
    path = files[number * 7 % len(files)]
    if not flip(path, rng):
        return
    ended = command(*words(here, kind, name))
    of = f"{path.relative_to(here)}, then {name}: {ended}"
    assert ended.code in (0, 3), of
    assert "not foreseen" not in ended.err, of
    assert ended.code == 0, of  # the archives are there, so it is made again
    check_results(here, expected, of)


def check_results(here: Path, expected: dict[str, bytes], of: str) -> None:
    results = results_of(here / "work")
    for file in results.keys() | expected.keys():
        if file.startswith(RESULTS):
            assert results.get(file) == expected.get(file), (file, of)
    checked: Ended = command("status", "--check", "--work", here / "work")
    if results != expected:
        assert checked.code == 3, of
    elif not (here / "data").exists():  # there are notes of jobs and seals there, besides results
        assert checked.code == 0, of


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["embedded", "data"])
def test_some_flips(kind: str, made: Callable[[str], Made]) -> None:
    for number in range(FEW):
        check_flip(kind, made(kind), number)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_flips(kind: str, made: Callable[[str], Made]) -> None:
    for number in range(examples(MANY)):
        check_flip(kind, made(kind), number)


@pytest.mark.parametrize("how", ["cut", "removed", "flipped"])
def test_an_imported_dataset_is_not_made_again(how: str, tmp_path: Path) -> None:
    """Exit 3 with the file and a cure, as there is nothing to make it of."""
    graph = tmp_path / "graph.txt"
    graph.write_text("0\t1.0\tO:1,2\n1\t1.0\tO:0\n2\t1.0\tO:dummy\ndummy\t1.0\tO:dummy\n")
    work = tmp_path / "work"
    ok("step", "import-text", "--graph", graph, "--work", work)
    path = work / "graph" / "sources.npy"
    if how == "flipped":
        flip(path, random.Random(1))
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.unlink()
    ended = crawlrank("run", "--work", work, "--quiet", "--jobs", 1)
    assert ended.code == 3
    assert f"{path} " in ended.err
    assert "into a new work folder" in ended.err


def test_a_manifest_that_has_changed(tmp_path: Path) -> None:
    """Whatever byte it is: the manifest has a digest of its own."""
    archive, options = shared_warc("web.warc.gz", WEB), ("--iterations", 2, "--no-validate")
    work = copy_of(finished(archive, *options), tmp_path / "work")
    path, rng = work / "manifest.json", random.Random(1)
    whole, before = path.read_bytes(), files_of(work)
    for name in ("status", "check", "run"):
        given = ("run", archive, *options, "--quiet") if name == "run" else (name,)
        for _ in range(8):
            flip(path, rng)
            said = crawlrank(*given, "--work", work)
            assert (said.code, "manifest" in said.err) == (3, True), said
            path.write_bytes(whole)
    assert files_of(work) == before


#: what shows or writes results, with `WORK` and `OUT` for the folders
READERS = (
    "hosts --work WORK --json OUT/hosts",
    "export-precedence --work WORK --output OUT/p.txt",
    "export-precedence --work WORK --format jsonl --output OUT/pages.jsonl",
    "export-text --work WORK --out OUT/texts",
    "report --work WORK --json OUT/report",
    "explain http://a.example/ --work WORK --json OUT/explained",
    "plan --work WORK --budget 5/day --from 2031-01-01 --output OUT/plan",
    "diff WORK OTHER --json OUT/diff",
)


def read_by(line: str, work: Path, other: Path, out: Path) -> tuple[int, dict[str, bytes], str]:
    """Exit code of a command, what it wrote, and what it said."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    names = {"WORK": str(work), "OTHER": str(other), "OUT": str(out)}
    told = command(*(re.sub("WORK|OTHER|OUT", lambda m: names[m[0]], w) for w in line.split()))
    files = {str(path): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    return told.code, files, told.err


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("line", READERS)
@pytest.mark.parametrize("kind", ["embedded", "inline"])
def test_readers_see_a_flip(kind: str, line: str, tmp_path: Path) -> None:
    """For each dataset they end with 3 and name it, or have read nothing of it. The time of the
    file stays what it was."""
    runner = () if kind == "embedded" else ("--runner", "inline")
    made = finished(shared_warc("web.warc.gz", WEB), "--iterations", 2, "--no-validate", *runner)
    work, other = copy_of(made, tmp_path / "work"), copy_of(made, tmp_path / "other")
    right, rng = read_by(line, work, other, tmp_path / "out"), random.Random(f"{kind} {line}")
    assert right[0] == 0, right
    seen = 0
    for path in dataset_files(work):
        whole, status = path.read_bytes(), path.stat()
        if not flip(path, rng):
            continue
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        code, files, error = read_by(line, work, other, tmp_path / "out")
        dataset = path.relative_to(work).parts[0]
        if code:
            assert (code, dataset in error) == (3, True), (path, error)
            seen += 1
        else:
            assert files == right[1], path
        path.write_bytes(whole)
    assert seen
