"""What is told of a step that reads archives: bytes of compressed archives, and the time left."""

from __future__ import annotations

import io
import random
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from support.inputs.archive_samples import each, page

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.storage.while_reading import reported_position
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.progress.bars import Bars
from crawlrank.pipeline.progress.plain_lines import Plain
from crawlrank.pipeline.progress.reporter import ProgressTracker, duration
from crawlrank.pipeline.ranking.options import Round, Stop


def test_plain_lines_are_rare(capsys: pytest.CaptureFixture[str]) -> None:
    now = [100.0]
    plain = Plain(clock=lambda: now[0])
    plain.step("extract-links")
    for second in range(1, 101):
        now[0] = 100.0 + second
        plain.read(second * 2_000_000, 200_000_000)
    plain.read(200_000_000, 200_000_000)
    plain.done("extract-links", {})
    assert capsys.readouterr().err.splitlines() == [
        "extract-links: 60.0 MB of 200.0 MB, 2.0 MB/s, about 0:01:10 left",
        "extract-links: 120.0 MB of 200.0 MB, 2.0 MB/s, about 0:00:40 left",
        "extract-links: 180.0 MB of 200.0 MB, 2.0 MB/s, about 0:00:10 left",
        "extract-links: 0:01:40",
    ]


def test_archives_of_runs_before_count_but_not_for_the_speed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    plain = Plain(clock=lambda: now[0])
    plain.step("extract-links")
    plain.resume(archives=3, size=100_000_000)
    now[0] = 50.0
    plain.read(50_000_000, 100_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "extract-links: 150.0 MB of 200.0 MB, 1.0 MB/s, about 0:00:50 left"
    ]


def a_round(number: int, certificate: float, seconds: float = 2.0) -> Round:
    return {
        "round": number, "residual_l1": 1.0, "certificate": certificate, "eta": 0.5, "mass": 11.0,
        "seconds": seconds,
    }  # fmt: skip


@pytest.mark.parametrize("verbose", [False, True])
def test_lines_of_rounds_are_five_seconds_apart(
    verbose: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    plain, stop = Plain(lambda: now[0], verbose=verbose), Stop(iterations=100)
    rounds: list[Round] = []
    plain.step("page-rank")
    for number in range(1, 101):
        now[0] = number / 4
        rounds.append(a_round(number, 0.9**number))
        plain.round(rounds, stop)
    lines = [line for line in capsys.readouterr().err.splitlines() if ": round " in line]
    assert len(lines) == (100 if verbose else 25 // 5)
    assert all(("eta" in line) == verbose for line in lines)


@given(st.floats(0.1, 0.95), st.integers(3, 40), st.floats(0.01, 100))
def test_the_time_left_of_rounds_is_that_of_a_geometric_series(
    factor: float, done: int, seconds: float
) -> None:
    """Compared with counting the rounds until the certificate is small enough."""
    stop, rounds = Stop(tolerance=1e-9), [a_round(n, factor**n, seconds) for n in (done - 1, done)]
    needed = next(n for n in range(1000) if factor**n <= 1e-9 * (1 + 1e-9))
    tracking = ProgressTracker(lambda: 0.0)
    tracking.step("page-rank")
    tracking.round(rounds, stop)
    assert tracking.measure is not None
    assert tracking.measure.left == pytest.approx(
        max(0, needed - done) * seconds, abs=1.01 * seconds
    )


def test_a_step_that_does_not_end_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    plain = Plain(clock=lambda: 0.0)
    plain.step("canonicalize")
    plain.close()
    assert capsys.readouterr().err == "canonicalize: not finished after 0.0 s\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (59.94, "59.9 s"),
        (59.96, "0:01:00"),
        (3725, "1:02:05"),
        (9e4, "1 day, 1:00:00"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_bar_shows_bytes_not_archives() -> None:
    screen = io.StringIO()
    bars = Bars(Console(file=screen, force_terminal=True, width=100), refreshes=False)
    bars.step("extract-links")
    bars.task("ExtractLinks", 1, 2)
    bars.read(1_500_000, 3_000_000)
    bars._bars.refresh()
    bars.close()
    assert "1.5 MB of 3.0 MB" in screen.getvalue()
    assert "part 1" not in screen.getvalue()


@pytest.mark.parametrize("width", [80, 100, 160])
def test_times_of_a_bar_are_whole_and_named(width: int) -> None:
    """In the longest lines of a long run."""
    screen, now = io.StringIO(), [0.0]
    console = Console(file=screen, force_terminal=True, width=width)
    bars = Bars(console, lambda: now[0], refreshes=False)
    bars.step("extract-links")
    bars.archives = (12_345, 67_890)
    for now[0] in (10.0, 20.0):
        bars.read(int(now[0] * 5_000_000_000), 345_600_000_000)
        bars._bars.refresh()
    bars.step("page-rank")
    bars.round([a_round(117, 1e-8)], Stop())
    bars._bars.refresh()
    bars.close()
    lines = [
        Text.from_ansi(line).plain.rstrip() for line in re.split(r"[\r\n]+", screen.getvalue())
    ]
    shown = [line for line in lines if " of " in line]
    (*_, reading), (*_, ranking) = (
        [line for line in shown if name in line] for name in ("extract-links", "page-rank")
    )
    assert max(map(cell_len, lines)) <= width
    assert reading.endswith(" 0:00:20 spent, 0:00:50 left")
    assert "archive 12345 of 67890, 100" in reading
    assert ranking.endswith("certificate 1.00e-08 of 1e-09 0:00:00 spent")


def test_a_single_record_moves_too() -> None:
    """The place is told while a reader is somewhere inside, and the size in the end."""
    told: list[int] = []
    moved = threading.Event()

    def tell(place: int) -> None:
        told.append(place)
        if place:  # the first look may come before the first reading
            moved.set()

    with io.BytesIO(bytes(1000)) as stream, reported_position(stream, tell, 0.001):
        stream.read(400)
        moved.wait(600)
    assert 400 in told
    assert told[-1] == 1000


class Eager(ExtractLinks):
    REPORTS = 0.001


@pytest.fixture
def archives(tmp_path: Path) -> list[Path]:
    """Two archives, the second with nothing readable in it."""
    noise = random.Random(1).randbytes  # the file is read in pieces of 256 KiB
    records = [
        page("<a href=x>" * 200 + noise(1000).hex(), f"http://h/{number}") for number in range(2000)
    ]
    good, bad = tmp_path / "a.warc.gz", tmp_path / "b.warc.gz"
    good.write_bytes(each(records))
    bad.write_bytes(b"no archive" * 1000)
    return [good, bad]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("runner", "job"), [("inline", Eager), ("local", ExtractLinks)])
def test_a_job_tells_the_bytes_of_all_its_archives(
    runner: str, job: type[ExtractLinks], archives: list[Path], tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    launcher = Launcher(runner, tmp_path, 2, on_read=lambda *far: told.append(far), looks=0.001)
    side = {"captures": tmp_path / "captures"}
    launch(job, archives, tmp_path / "links", launcher, (), side)
    size = sum(path.stat().st_size for path in archives)
    assert {total for _, total in told} == {size}
    assert told[-1][0] == size
    if job is Eager:  # the other's tasks tell it more rarely
        places = {done for done, _ in told}
        assert len([place for place in places if 0 < place < archives[0].stat().st_size]) > 3


def test_no_more_is_told_than_was_read() -> None:
    """Where reading is interrupted; an archive that cannot be read is done."""
    for error, seen in (
        (KeyboardInterrupt, {0, 300}),
        (GeneratorExit, {0, 300}),
        (OSError, {1000}),
    ):
        told, stream = list[int](), io.BytesIO(bytes(1000))
        with pytest.raises(error), reported_position(stream, told.append, 60):
            stream.read(300)
            raise error
        assert {*told} <= seen
