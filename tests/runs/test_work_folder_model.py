"""A work folder under whatever comes: a model says what it must hold after each run that ends well.

Runs with changing options and archives, some with --force, some killed at a change of names, two
folders of data, files that are cut, flipped or removed. After each run that ends with 0, the folder
is as a new one made with the same options and archives; one that is refused changes nothing.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from support.crawls import MORE_WEB, WEB, write_warc
from support.drawing import examples
from support.faults.failpoints import command
from support.work_folders import results_of

OTHER_WEB = {"http://a.example/": ["/news", "http://d.example/"], "http://d.example/": ["/1"]}
KILLED = -9
RESULTS = ("scores", "precedence", "crawler-beans", "report")


class Asked(NamedTuple):
    """What a run is asked for. place: of the datasets."""

    place: str = "embedded"
    nodes: str = "linked"
    bins: int = 5
    links: str = "nav"
    captures: str = "union"
    stop: str = "--iterations 2"
    validate: bool = False
    archives: tuple[str, ...] = ("web",)

    def words(self, folder: Path, work: Path) -> list[object]:
        archives = [folder / f"{name}.warc" for name in self.archives]
        where: list[object] = ["--jobs", 1]
        if self.place != "embedded":
            where = ["--runner", "inline"]
        if self.place.startswith("data"):
            where += ["--data", f"file://{work.with_name(f'{work.name}-{self.place}')}"]
        return [
            "run", *archives, "--work", work, *where, *self.stop.split(), "--quiet",
            "--nodes", self.nodes, "--bins", self.bins, "--links", self.links,
            "--captures", self.captures,
            *(("--min-agreement", 0) if self.validate else ("--no-validate",)),
        ]  # fmt: skip


CHANGES: dict[str, tuple[Any, ...]] = {
    "place": ("embedded", "inline", "data-a", "data-b"),
    "nodes": ("linked", "all"),
    "bins": (5, 2),
    "links": ("nav", "all"),
    "captures": ("union", "latest"),
    "stop": ("--iterations 2", "--iterations 3", "--tolerance 1e-3"),
    "validate": (False, True),
    "archives": (("web",), ("web", "more"), ("other",), ("web", "more", "other")),
}


class WorkFolder(RuleBasedStateMachine):
    fresh: dict[tuple[Asked, int], dict[str, bytes]]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="crawlrank-model-"))
        self.work = self.folder / "work"
        self.fresh = {}
        self.asked, self.version, self.damaged = Asked(), 0, False
        self._write_archives()

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def _write_archives(self) -> None:
        for name, web in (("web", WEB), ("more", MORE_WEB), ("other", OTHER_WEB)):
            changed = {**web, f"http://a.example/v{self.version}": ["/"]}
            write_warc(self.folder / f"{name}.warc", changed if name == "other" else web)

    def _expected(self) -> dict[str, bytes]:
        key = (self.asked, self.version)
        if key not in self.fresh:
            work = self.folder / f"fresh-{len(self.fresh)}"
            ended = command(*self.asked.words(self.folder, work))
            assert ended.code == 0, ended.err
            self.fresh[key] = results_of(work)
        return self.fresh[key]

    def _run(self, *more: object, last: int | None = None) -> int:
        words = [*self.asked.words(self.folder, self.work), *more]
        ended = command(*words, folders=[self.work], last=last)
        assert ended.code in (0, 3, KILLED), ended
        if ended.code == 0:
            self._check(ended.err)
        return ended.code

    def _check(self, said: str) -> None:
        """All is as in a new folder; but for damage in what no step of this run has read, which is
        in no result, and `check` finds it."""
        left, expected = results_of(self.work), self._expected()
        if not self.asked.validate:  # the report of an earlier run is still that of these ranks
            left.pop("report/report.json", None)
        wrong = {name for name in left.keys() | expected if left.get(name) != expected.get(name)}
        assert not any(name.startswith(RESULTS) for name in wrong), (self.asked, wrong, said)
        if wrong:
            assert self.damaged, (self.asked, wrong, said)
            assert command("status", "--check", "--work", self.work).code == 3, (
                self.asked,
                wrong,
                said,
            )

    @initialize()
    def first(self) -> None:
        assert self._run() == 0

    @rule(name=st.sampled_from(sorted(CHANGES)), choice=st.integers(0, 3))
    def change_an_option(self, name: str, choice: int) -> None:
        values = CHANGES[name]
        self.asked = self.asked._replace(**{name: values[choice % len(values)]})

    @rule()
    def change_an_archive(self) -> None:
        self.version += 1
        self._write_archives()

    @rule()
    def run_without_force(self) -> None:
        """Refused, and nothing is touched; or done."""
        before = self._files()
        if self._run() == 3:
            assert self._files() == before

    @rule()
    def run_with_force(self) -> None:
        assert self._run("--force") == 0

    @rule(last=st.integers(0, 60))
    def kill(self, last: int) -> None:
        self._run("--force", last=last)

    @rule(seed=st.integers(0, 10**6), how=st.sampled_from(("cut", "flip", "remove")))
    def damage(self, seed: int, how: str) -> None:
        """A file of a dataset, whatever step it is of."""
        rng = random.Random(seed)
        files = sorted(
            path
            for path in self.work.rglob("*")
            if path.is_file() and path.name not in (".lock", "manifest.json")
        )
        if files:
            self.damaged = True
            spoil(rng.choice(files), how, rng)

    def _files(self) -> dict[str, bytes]:
        """But for what a killed run has left under hidden names, which any run removes."""
        return {
            name: path.read_bytes()
            for path in self.work.rglob("*")
            if path.is_file() and "/." not in (name := f"/{path.relative_to(self.work)}")
        }


def spoil(path: Path, how: str, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    if how == "remove" or not data:
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[: rng.randrange(len(data))])
    else:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)


def check(examples: int, steps: int) -> None:
    run_state_machine_as_test(
        WorkFolder,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.slow
def test_some_histories() -> None:
    check(2, 7)


@pytest.mark.slow
def test_many_histories() -> None:
    check(examples(10), 20)
