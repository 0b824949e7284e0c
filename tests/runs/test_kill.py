"""Runs of jobs that are killed, and end with the bytes of one that was left alone.

A random moment is a random number of progress lines and a few milliseconds, so that it falls into
every step on fast and slow machines alike.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.crawls import FORKED, MORE_WEB, WEB, crawlrank, datasets, environment
from support.drawing import examples
from support.faults.stopping import started
from support.paths import LOOPBACK
from support.runs import finished, shared_warc
from support.systems.own_engine import with_engine
from support.waiting import awaited
from support.work_folders import results_of

from crawlrank.pipeline.engines.text.engine import TextEngine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.run import engine_of
from crawlrank.pipeline.workfolder.lock import locked

OPTIONS = {
    "plain": ("--iterations", "6", "--no-validate"),
    "packed": ("--tolerance", "1e-9"),
    "data": ("--tolerance", "1e-9"),
    "plain-data": ("--iterations", "6"),
}
MOST_LINES = 10  # of about 30 that a run prints with -v


def packed_engine(
    work: Path, options: RunOptions, tmp: Path, reporter: Reporter, stack: ExitStack
) -> TextEngine:
    """The rounds of so small a graph are packed in several partitions, so that there are several
    rounds."""
    engine = engine_of(work, options, tmp, reporter, stack)
    assert isinstance(engine, TextEngine)
    return TextEngine(work, replace(engine.launcher, partitions=4))


@pytest.fixture(scope="module")
def archives() -> list[Path]:
    return [LOOPBACK, shared_warc("more.warc.gz", MORE_WEB)]


Undisturbed = Callable[[str], dict[str, bytes]]


@pytest.fixture(scope="module")
def undisturbed(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    @cache
    def of(kind: str) -> dict[str, bytes]:
        work = tmp_path_factory.mktemp("undisturbed") / "work"
        run_to_its_end(words_of(work, archives, "inline", kind))
        return left_by(work, kind)

    return of


def words_of(work: Path, archives: list[Path], runner: str, kind: str) -> list[str]:
    data = ["--data", f"file://{work}-data"] if kind.endswith("data") else []
    words = ["run", *archives, "--work", work, *OPTIONS[kind], "--runner", runner, *data, "-v"]
    return [*map(os.fspath, words)]


def run_to_its_end(words: list[str]) -> None:
    done = CliRunner().invoke(with_engine(packed_engine), words, catch_exceptions=False)
    assert done.exit_code == 0, done.output


def left_by(work: Path, kind: str) -> dict[str, bytes]:
    return results_of(work) if kind.endswith("data") else datasets(work)


def killed(words: list[str], rng: random.Random, whole_group: bool) -> bool:
    """Start the command and kill it after some lines; whether it was still at work."""
    with started(*words, make_engine=packed_engine) as run:
        lines = rng.randint(1, MOST_LINES)
        awaited(lambda: run.err.count("\n") >= lines or run.wait(0) is not None)
        alive = run.wait(rng.uniform(0, 0.08)) is None
        if alive:
            os.killpg(run.pid, signal.SIGKILL) if whole_group else run.kill()
            run.wait()
    return alive


def until_done(words: list[str], work: Path, seed: int, most_kills: int) -> int:
    """Kill the run again and again, then let it end; the number of kills that met it at work."""
    rng = random.Random(seed)
    kills = 0
    while kills < most_kills and killed(words, rng, whole_group=seed % 2 == 0):
        kills += 1
        with locked(work):  # the lock died with the process
            pass
    run_to_its_end(words)
    return kills


def check(work: Path, expected: dict[str, bytes], kind: str) -> None:
    assert left_by(work, kind) == expected
    assert [path.name for path in work.rglob(".*")] == [".lock"]
    assert not (work / "rounds").exists()
    with locked(work):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("kind", OPTIONS)
def test_inline(kind: str, archives: list[Path], undisturbed: Undisturbed, tmp_path: Path) -> None:
    for seed in range(1, 1 + examples(3)):
        work = tmp_path / f"work-{seed}"
        words = words_of(work, archives, "inline", kind)
        assert until_done(words, work, seed, most_kills=4) >= 3
        check(work, undisturbed(kind), kind)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "kind"), [(10, "packed"), (11, "plain")])
def test_local(
    seed: int, kind: str, archives: list[Path], undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """By even seeds the whole group is killed, by others the driver alone."""
    work = tmp_path / "work"
    words = words_of(work, archives[1:], "local", kind)
    assert until_done(words, work, seed, most_kills=3) >= 2
    alone = tmp_path / "alone"
    run_to_its_end(words_of(alone, archives[1:], "inline", kind))
    check(work, left_by(alone, kind), kind)


@pytest.mark.slow
@pytest.mark.parametrize(
    "killed_after",
    ["canonicalize", "join-scores", pytest.param("page-rank", marks=pytest.mark.slow)],
)
def test_with_other_archives_after_the_kill(killed_after: str, tmp_path: Path) -> None:
    """What a killed run has not finished does not get into the next one."""
    work, web = tmp_path / "work", shared_warc("web.warc.gz", WEB)
    options = ("--iterations", 2, "--no-validate", "--runner", "inline")
    extra = shared_warc("extra.warc.gz", {"http://x.example/": ["http://y.example/"]})
    words = ("run", web, extra, "--work", work, *options, "-v")
    with subprocess.Popen(
        [*FORKED, *map(str, words)],
        env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        assert run.stderr is not None
        for line in run.stderr:
            if killed_after in line.decode():
                break
        run.kill()
    assert crawlrank("run", web, "--work", work, *options, "--force").code == 0
    check(work, datasets(finished(web, *options)), "plain")
