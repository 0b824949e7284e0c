"""A changed run that is killed at a rename or removal, and then done again, ends as a run that
nobody disturbed, for every kind of change and place of datasets."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from support.crawls import MORE_WEB, WEB, write_warc
from support.drawing import examples
from support.faults.failpoints import command
from support.work_folders import results_of

KILLED = -9
KINDS = ("embedded", "inline", "data")
CHANGES = {
    "nodes": ("--nodes", "all"),
    "bins": ("--bins", "2"),
    "tolerance": ("--tolerance", "1e-3"),
    "archive": (),
}
BEFORE = ("--iterations", "2", "--no-validate", "--quiet", "--jobs", "1")


class Case(NamedTuple):
    """A folder that was made with the first options, and what runs in it."""

    folder: Path
    archives: list[Path]
    kind: str

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def words(self, options: tuple[str, ...], archives: list[Path]) -> list[object]:
        if "--tolerance" in options:
            before = tuple(word for word in BEFORE if word not in ("--iterations", "2"))
        else:
            before = BEFORE
        runner = () if self.kind == "embedded" else ("--runner", "inline")
        data = ("--data", f"file://{self.folder}/data") if self.kind == "data" else ()
        if runner:
            before = tuple(word for word in before if word not in ("--jobs", "1"))
        return ["run", *archives, "--work", self.work, *runner, *data, *before, *options]


def undo(case: Case, saved: Path) -> None:
    for name in ("work", "data"):
        shutil.rmtree(case.folder / name, ignore_errors=True)
        if (saved / name).exists():
            shutil.copytree(saved / name, case.folder / name)


class Prepared(NamedTuple):
    case: Case
    saved: Path
    changed: list[object]
    expected: dict[str, bytes]
    changes: int


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Prepared]:
    @cache
    def of(kind: str, change: str) -> Prepared:
        folder = tmp_path_factory.mktemp(f"{kind}-{change}")
        first = write_warc(folder / "web.warc", WEB)
        both = [first, write_warc(folder / "more.warc", MORE_WEB)]
        case, fresh = (Case(folder / name, both, kind) for name in ("here", "fresh"))
        case.folder.mkdir()
        archives = both if change == "archive" else [first]
        options = (*CHANGES[change], "--force")
        assert command(*case.words((), [first])).code == 0
        assert command(*fresh.words(options, archives)).code == 0
        shutil.copytree(case.folder, folder / "saved")
        changed = case.words(options, archives)
        ended = command(*changed, folders=[case.folder])
        assert ended.code == 0, ended.err
        expected = results_of(fresh.work)
        assert results_of(case.work) == expected
        return Prepared(case, folder / "saved", changed, expected, ended.changes)

    return of


def killed_at(number: int, given: Prepared, back: list[object] | None = None) -> None:
    """Kill the changed run there, and do it again; or first what was there before it."""
    undo(given.case, given.saved)
    ended = command(*given.changed, folders=[given.case.folder], last=number)
    # a run has some changes more or less, as the manifest is saved by the clock
    assert ended.code == KILLED or (ended.code == 0 and number >= ended.changes), ended
    if back is not None:
        ended = command(*back)
        assert ended.code == 0, (number, ended.err)
    ended = command(*given.changed)
    assert ended.code == 0, (number, ended.err)
    assert results_of(given.case.work) == given.expected, number


@pytest.mark.slow
@pytest.mark.parametrize("change", ["nodes"])  # the others below
@pytest.mark.parametrize("kind", ["embedded", "data"])
def test_some_kills(kind: str, change: str, prepared: Callable[[str, str], Prepared]) -> None:
    given = prepared(kind, change)
    for number in random.Random(f"{kind} {change}").sample(range(given.changes), 2):
        killed_at(number, given)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_kills(kind: str, change: str, prepared: Callable[[str, str], Prepared]) -> None:
    """At equal distances, from another one for each kind and change."""
    given, begin = prepared(kind, change), random.Random(f"{kind} {change}").random()
    for number in range(examples(6)):
        killed_at(int((number + begin) / examples(6) * given.changes), given)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])]
)
def test_the_first_options_after_a_kill(
    kind: str, prepared: Callable[[str, str], Prepared]
) -> None:
    """A change of mind: what the killed run has changed is changed back."""
    given = prepared(kind, "nodes")
    first = given.case.words(("--force",), [given.case.archives[0]])
    undo(given.case, given.saved)
    before = results_of(given.case.work)
    for number in random.Random(kind).sample(range(given.changes), examples(5) - 1):
        killed_at(number, given, first)
        ended = command(*first)
        assert ended.code == 0, (number, ended.err)
        assert results_of(given.case.work) == before, number
