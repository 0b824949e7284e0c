"""Estimates beside the runs that they are of, and what an estimate must not do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import (
    MORE_WEB,
    WEB,
    crawlrank,
    html,
    ok,
    process,
    response,
    write_records,
    write_warc,
)

import crawlrank as public
from jobs.kernel.errors import BadInput
from pipeline.estimate import estimate as module
from pipeline.estimate import report
from pipeline.estimate.estimate import RunEstimate, estimate
from pipeline.estimate.growth import Bracket
from pipeline.options import RunOptions
from pipeline.progress.plain_lines import Plain
from pipeline.progress.reporter import Reporter
from pipeline.workfolder.manifest import Manifest

PAGES, SITES = 6000, 40


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawls of some hundred kB are sampled, too."""
    given = {"share": 0.2, "small": 1 << 16, "seconds": 60.0}
    monkeypatch.setattr(module.take_sample, "__kwdefaults__", given)
    monkeypatch.setattr(module, "COPIED", (40_000, 10_000))


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Sites with menus and lists, as archives of three sizes."""
    draw, folder = Random(3), tmp_path_factory.mktemp("crawl")
    records = []
    for number in range(PAGES):
        site = number * SITES // PAGES
        menu = [f"http://s{site}.example/menu/{n}" for n in range(6)]
        near = [f"http://s{site}.example/{number + draw.randrange(-9, 9)}" for _ in range(5)]
        far = [f"http://s{draw.randrange(SITES)}.example/{draw.randrange(PAGES * 3)}"]
        text = " ".join(f"{draw.random():.9f}" for _ in range(12))
        body = html([*menu, *near, *far]) + text.encode()
        records.append(response(f"http://s{site}.example/{number}", body))
    return [
        write_records(folder / f"{n}.warc.gz", records[begin:end])
        for n, (begin, end) in enumerate([(0, 3500), (3500, 5500), (5500, PAGES)])
    ]


def counted(work: Path) -> dict[str, int]:
    steps = Manifest(work).steps
    rows: dict[str, int] = {}
    for entry in steps.values():
        rows |= entry["rows"]
    return rows


def size_of(work: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in work.rglob("*") if path.is_file())


def assert_near(result: RunEstimate, work: Path, factor: float) -> None:
    rows = counted(work)
    for name, bracket in result.rows.items():
        assert rows[name] / factor <= bracket.value <= rows[name] * factor, name
        assert bracket.low <= rows[name] * 1.15, name
        assert rows[name] <= bracket.high * 1.15, name
    assert size_of(work) / factor <= result.disk_end.value <= size_of(work) * factor
    assert result.disk_end.value <= result.disk_most.value


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("words", "options"),
    [
        pytest.param([], RunOptions(), id="embedded"),
        pytest.param(
            ["--nodes", "all", "--captures", "latest", "--jobs", "1"],
            RunOptions(nodes="all", processes=1, rules=RunOptions().rules._replace(latest=True)),
            id="latest captures",
        ),
        pytest.param(
            ["--runner", "inline", "--no-validate"],
            RunOptions(runner="inline", validate=False),
            id="jobs",
        ),
    ],
)
def test_a_run_is_as_estimated(
    crawl: list[Path], words: Sequence[str], options: RunOptions, tmp_path: Path
) -> None:
    result = estimate(crawl, options)
    agreement = ["--min-agreement", "0"] if options.validate else []
    ok("run", *crawl, "--work", tmp_path / "work", "--quiet", *words, *agreement)
    assert_near(result, tmp_path / "work", 1.5)
    assert 0.15 < result.share < 0.25
    assert result.seconds.low < result.seconds.value < result.seconds.high
    assert result.steps.keys() - {"start"} == Manifest(tmp_path / "work").steps.keys()
    assert all(took.value >= 0 for took in result.steps.values())
    assert 50e6 < result.memory.value < 2e9


def test_one_tiny_archive_is_run_as_a_whole(web: Path, tmp_path: Path) -> None:
    result = estimate([web], RunOptions(processes=1))
    ok("run", web, "--work", tmp_path / "work", "--quiet", "--min-agreement", 0)
    rows = counted(tmp_path / "work")
    assert {name: bracket.value for name, bracket in result.rows.items()} == {
        name: rows[name] for name in result.rows
    }
    assert result.share == 1
    assert result.disk_end.value == pytest.approx(size_of(tmp_path / "work"), rel=0.1)


def test_without_archives() -> None:
    with pytest.raises(BadInput, match="no archive"):
        estimate([], RunOptions())


def test_nothing_is_written_to_the_work_folder(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    out = ok("run", web, "--work", work, "--dry-run", "--quiet").out
    assert not work.exists()
    assert {path.name for path in tmp_path.iterdir()} == {web.name}
    assert "work folder at its largest" in out
    ok("run", web, "--work", work, "--quiet")
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in work.rglob("*")}
    ok("run", web, "--work", work, "--dry-run", "--quiet", "--nodes", "all")
    assert before == {
        path: (path.stat().st_mtime_ns, path.stat().st_size) for path in work.rglob("*")
    }


def test_temporary_files_are_removed(
    web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    estimate([web], RunOptions(processes=1))
    assert list(temporary.glob("crawlrank-estimate-*")) == []


def test_json(web: Path, tmp_path: Path) -> None:
    out = ok("run", web, "--work", tmp_path / "w", "--dry-run", "--json", "-", "--quiet").out
    document = json.loads(out)
    assert document["schema"] == "crawlrank-estimate-1"
    assert document["bytes"] == document["sampled_bytes"] == web.stat().st_size
    assert document["rows"]["captures"]["value"] == len(WEB)
    assert document["cluster"] is None
    for name in ("seconds", "memory_bytes", "disk_bytes_most", "disk_bytes_end"):
        bracket = document[name]
        assert 0 < bracket["low"] <= bracket["value"] <= bracket["high"]


def test_unreadable_archives_are_named_and_left_out(web: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(b"no archive" * 99)
    missing = tmp_path / "missing.warc.gz"
    said = ok("run", web, bad, missing, "--work", tmp_path / "w", "--dry-run", "--quiet")
    assert "bad.warc.gz: " in said.out
    assert "missing.warc.gz: " in said.out
    assert "--skip-bad-files" in said.out
    alone = crawlrank("run", bad, "--work", tmp_path / "w", "--dry-run", "--quiet")
    assert alone.code == 3
    assert "bad.warc.gz" in alone.err


def test_an_empty_archive_is_named_as_the_run_names_it(web: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.warc.gz"
    empty.touch()
    result = estimate([empty, web], RunOptions(processes=1))
    assert (list(result.unreadable), result.archives) == ([str(empty)], 1)
    real = crawlrank("run", empty, web, "--work", tmp_path / "w", "--quiet")
    assert real.code == 3
    assert str(result.unreadable[str(empty)]) in real.err
    for archives in ([empty], [empty, empty]):
        with pytest.raises(BadInput, match=r"empty\.warc\.gz: an empty file"):
            estimate(archives, RunOptions(processes=1))


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("few", [1, 3])  # archives; one is run as a whole
def test_each_part_of_an_estimate_ends(few: int, crawl: list[Path], web: Path) -> None:
    class Events(Reporter):
        def step(self, name: str, skipped: bool = False) -> None:
            events.append(f"begin {name}")

        def done(self, name: str, entry: Mapping[str, Any]) -> None:
            events.append(f"end {name}")

        def close(self) -> None:
            events.append("close")

    events: list[str] = []
    estimate(crawl if few == 3 else [web], RunOptions(processes=1), Events())
    names = [event.removeprefix("begin ") for event in events if event.startswith("begin")]
    assert len(names) == (4 if few == 3 else 2)
    assert events == [*(f"{what} {name}" for name in names for what in ("begin", "end")), "close"]


def test_a_part_of_an_estimate_that_fails_does_not_end(
    web: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise BadInput("here", "a fault", "none")

    monkeypatch.setattr(module, "run_sample", fails)
    with pytest.raises(BadInput, match="a fault"):
        estimate([web], RunOptions(processes=1), Plain(clock=lambda: 0.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["sample: 0.0 s", "run of the sample: not finished after 0.0 s"]


@given(st.floats(1e-12, 1e12))
def test_numbers_of_an_estimate_have_no_exponent(number: float) -> None:
    shown = report.two_digits(number)
    assert float(shown) == float(f"{number:.2g}")
    assert set(shown) <= {*"0123456789."}


@given(st.floats(1e-12, 1))
def test_only_all_bytes_are_shown_as_all(share: float) -> None:
    shown = report.percent(share)
    assert (shown == "100 %") == (share == 1)
    assert float(shown.removesuffix(" %")) == pytest.approx(100 * share, rel=0.06)


@pytest.mark.usefixtures("sampled")
def test_an_unreadable_archive_among_sampled_ones(crawl: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(Random(1).randbytes(400_000))
    result = estimate([crawl[0], bad, crawl[1]], RunOptions(processes=1))
    assert list(result.unreadable) == [str(bad)]
    assert result.size == sum(path.stat().st_size for path in crawl[:2])
    assert result.archives == 2


def test_a_method_whose_pages_are_not_in_the_sample(web: Path, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://nowhere.example/ 1\n")
    said = ok(
        "run", web, "--work", tmp_path / "w", "--dry-run", "--quiet", "--method", "personalized",
        "--teleport", seeds,
    )  # fmt: skip
    assert "PageRank stands for it" in said.out


@pytest.mark.parametrize("runner", ["hadoop", "spark", "emr"])
def test_node_hours_of_a_cluster(runner: str, web: Path, tmp_path: Path) -> None:
    data = {"hadoop": "hdfs:///user/me/x", "spark": "file:///tmp/x", "emr": "s3://b/x"}[runner]
    work = tmp_path / "w"
    given = ("run", web, "--work", work, "--dry-run", "--quiet", "--runner", runner, "--data", data)
    said = ok(*given, "--json", tmp_path / "estimate.json")
    document = json.loads((tmp_path / "estimate.json").read_text())
    hours = document["cluster"]["node_hours"]
    assert 0 < hours["low"] < hours["value"] < hours["high"] < 1
    assert document["cluster"]["jobs"] == 37
    assert document["cluster"]["hours_of_starting"] == pytest.approx(37 * 1.5 / 60)
    assert "node-hours" in said.out
    assert not work.exists()


def test_wrong_usage(web: Path, tmp_path: Path) -> None:
    said = crawlrank("run", web, "--work", tmp_path / "w", "--json", "-")
    assert said.code == 2
    assert "--dry-run" in said.err
    ok("import-text", "--work", tmp_path / "i", "--links", _links(tmp_path))
    said = crawlrank("run", "--work", tmp_path / "i", "--dry-run")
    assert said.code == 2
    assert "ARCHIVES" in said.err


def _links(tmp_path: Path) -> Path:
    links = tmp_path / "links.txt"
    links.write_text("http://a.example/1 http://a.example/2 L\n")
    return links


def test_inspect_says_it_in_a_line(web: Path, more_web: Path) -> None:
    said = ok("inspect", web, more_web, "--estimate", "--quiet")
    assert said.out.splitlines()[-1].startswith("`crawlrank run` takes about ")
    assert "of memory" in said.out
    assert "from 100 % of the bytes" in said.out
    assert "crawlrank run" not in ok("inspect", web, "--quiet").out
    beside = ok("inspect", web, "--estimate", "--json", "-", "--quiet")
    assert json.loads(beside.out)["total"]["archives"] == 1
    assert "takes about" in beside.err


def test_from_python(web: Path, tmp_path: Path) -> None:
    document = public.estimate([web], nodes="all", quiet=True)
    assert document["rows"]["map"]["value"] >= len(WEB)


def test_as_a_process_from_another_folder(tmp_path: Path) -> None:
    write_warc(tmp_path / "odd name.warc.gz", MORE_WEB)
    said = process("run", "odd name.warc.gz", "--work", "w", "--dry-run", cwd=tmp_path)
    assert said.code == 0, said.err
    assert [path.name for path in tmp_path.iterdir()] == ["odd name.warc.gz"]


def test_archives_in_s3(bucket: Any, web: Path, tmp_path: Path) -> None:
    bucket.put_object(Bucket="crawl", Key="web.warc.gz", Body=web.read_bytes())
    result = estimate(["s3://crawl/web.warc.gz"], RunOptions(processes=1))
    assert result.rows["captures"].value == len(WEB)


@pytest.mark.parametrize(
    ("links", "times", "runner", "copies"),
    [
        (5_000, 20, "embedded", 20),
        (50_000, 20, "embedded", 5),
        (3_000_000, 400, "embedded", 2),
        (3_000_000, 400, "emr", 2),
        (10, 1e6, "embedded", 64),
        (0, 20, "local", 2),
    ],
)
def test_how_many_copies_show_a_rate(links: int, times: float, runner: str, copies: int) -> None:
    assert module.copies_of(links, times, runner) == copies


def result_of(**values: Any) -> RunEstimate:
    one = Bracket(1, 2, 3)
    rows = dict.fromkeys(("captures", "links", "uris", "map"), one)
    given = {
        "runner": "embedded", "archives": 1, "size": 100, "sampled": 5, "seconds": one, "steps": {},
        "memory": one, "disk_end": one, "disk_most": one, "rows": rows, "cluster": None,
        "unreadable": {},
    }  # fmt: skip
    return RunEstimate(**{**given, **values})


def test_too_little_disk_or_memory_is_said(tmp_path: Path) -> None:
    assert list(report.warnings(result_of(), tmp_path / "new" / "work")) == []
    much = Bracket(1, 1e18, 1e19)
    disk, memory = report.warnings(result_of(memory=much, disk_most=much), tmp_path / "new")
    assert disk.startswith("Warning: 1,000,000 TB of disk are needed, and ")
    assert memory.startswith("Warning: 1,000,000 TB of memory are needed, and ")
    (perhaps,) = report.warnings(result_of(disk_most=Bracket(1, 2, 1e18)), tmp_path)
    assert perhaps.startswith("Warning: up to 1,000,000 TB of disk may be needed")
