"""What is told of a step that reads archives: bytes of compressed archives, and the time left."""

from __future__ import annotations

import io
import random
import threading
from pathlib import Path

import pytest
from rich.console import Console
from support.inputs.archive_samples import each, page

from jobs.extract_links import ExtractLinks
from jobs.kernel.storage import positions
from jobs.kernel.storage.positions import reported_position
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.runners import bytes_read
from pipeline.progress import Bars, Plain


def test_plain_lines_are_rare(capsys: pytest.CaptureFixture[str]) -> None:
    now = [100.0]
    plain = Plain(clock=lambda: now[0])
    plain.step("extract-links")
    for second in range(1, 101):
        now[0] = 100.0 + second
        plain.read(second * 2_000_000, 200_000_000)
    plain.read(200_000_000, 200_000_000)
    assert capsys.readouterr().err.splitlines() == [
        "    0.0 s  extract-links",
        "   30.0 s    60.0 MB of 200.0 MB, 2.0 MB/s, about 0:01:10 left",
        "   60.0 s    120.0 MB of 200.0 MB, 2.0 MB/s, about 0:00:40 left",
        "   90.0 s    180.0 MB of 200.0 MB, 2.0 MB/s, about 0:00:10 left",
    ]


def test_a_bar_shows_bytes_not_archives() -> None:
    screen = io.StringIO()
    bars = Bars(Console(file=screen, force_terminal=True, width=100))
    bars.step("extract-links")
    bars.task("ExtractLinks", 1, 2)
    bars.read(1_500_000, 3_000_000)
    bars._bars.refresh()
    bars.close()
    assert "1.5 MB of 3.0 MB" in screen.getvalue()
    assert "part 1" not in screen.getvalue()


def test_a_single_record_moves_too() -> None:
    """The place is told while a reader is somewhere inside, and the size in the end."""
    told: list[int] = []
    moved = threading.Event()

    def tell(place: int) -> None:
        told.append(place)
        moved.set()

    with io.BytesIO(bytes(1000)) as stream, reported_position(stream, tell):
        stream.read(400)
        moved.wait(10)
    assert told[0] == 400
    assert told[-1] == 1000


@pytest.fixture
def archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two archives, the second with nothing readable in it; and eager looks at them."""
    monkeypatch.setattr(positions, "SECONDS", 0.001)
    monkeypatch.setattr(bytes_read, "LOOKS", 0.001)
    noise = random.Random(1).randbytes  # the file is read in pieces of 256 KiB
    records = [
        page("<a href=x>" * 200 + noise(1000).hex(), f"http://h/{number}") for number in range(2000)
    ]
    good, bad = tmp_path / "a.warc.gz", tmp_path / "b.warc.gz"
    good.write_bytes(each(records))
    bad.write_bytes(b"no archive" * 1000)
    return [good, bad]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_job_tells_the_bytes_of_all_its_archives(
    runner: str, archives: list[Path], tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    launcher = Launcher(runner, tmp_path, 2, on_read=lambda done, total: told.append((done, total)))
    side = {"captures": tmp_path / "captures"}
    launch(ExtractLinks, archives, tmp_path / "links", launcher, (), side)
    size = sum(path.stat().st_size for path in archives)
    assert {total for _, total in told} == {size}
    assert told[-1][0] == size
    if runner == "inline":  # the other's tasks look at their clock more rarely
        places = {done for done, _ in told}
        assert len([place for place in places if 0 < place < archives[0].stat().st_size]) > 3
