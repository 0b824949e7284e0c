"""Estimates beside the runs that they are of, and what an estimate must not do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import WEB, crawlrank, html, ok, response, write_records, write_warc
from support.runs import finished, shared_warc

import crawlrank as public
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.estimate import report
from crawlrank.pipeline.estimate.estimate import RunEstimate, estimate
from crawlrank.pipeline.estimate.projection import Bracket, ClusterNeeds
from crawlrank.pipeline.estimate.sample import SampleSize
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.plain_lines import Plain
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.workfolder.manifest import Manifest

PAGES, SITES = 3600, 40
SIZE = SampleSize(share=0.2, least=0, small=1 << 16, seconds=60.0)
PARTS = ["sample", "run of a quarter", "run of the sample"]
UNTIED = ("--min-agreement", 0)


class Events(Reporter):
    """Notes which parts of an estimate begin and end."""

    def __init__(self) -> None:
        self.events = list[str]()

    def step(self, name: str, skipped: bool = False) -> None:
        self.events.append(f"begin {name}")

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        self.events.append(f"end {name}")

    def close(self) -> None:
        self.events.append("close")

    def parts(self) -> list[str]:
        """The parts that have begun, each of which has ended before the next one."""
        begun = [event.removeprefix("begin ") for event in self.events if event[:5] == "begin"]
        each = [f"{what} {name}" for name in begun for what in ("begin", "end")]
        assert self.events == [*each, "close"]
        return begun


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
        for n, (begin, end) in enumerate([(0, 2100), (2100, 3300), (3300, PAGES)])
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "options"),
    [
        pytest.param(["--jobs", 1], RunOptions(processes=1), id="embedded, one process"),
        pytest.param(
            ["--nodes", "all", "--captures", "latest", "--jobs", "1"],
            RunOptions(nodes="all", processes=1, rules=RunOptions().rules._replace(latest=True)),
            id="latest captures",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_run_is_as_estimated(
    crawl: list[Path], words: Sequence[str], options: RunOptions, tmp_path: Path
) -> None:
    """With an archive that cannot be read among those of which a sample is taken."""
    bad, events = tmp_path / "bad.warc.gz", Events()
    bad.write_bytes(Random(1).randbytes(400_000))
    result = estimate([crawl[0], bad, *crawl[1:]], options, events, SIZE)
    ok("run", *crawl, "--work", tmp_path / "work", "--quiet", *words,
       *(UNTIED if options.validate else ()))  # fmt: skip
    assert_near(result, tmp_path / "work", 1.5)
    assert 0.15 < result.share < 0.25
    assert result.seconds.low < result.seconds.value < result.seconds.high
    assert result.steps.keys() - {"start"} == Manifest(tmp_path / "work").steps.keys()
    assert all(took.value >= 0 for took in result.steps.values())
    assert 50e6 < result.memory.value < 2e9
    assert list(result.unreadable) == [str(bad)]
    assert (result.archives, result.size) == (3, sum(path.stat().st_size for path in crawl))
    assert events.parts() == PARTS


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny archive is run as a whole. With archives that cannot be read, a method whose pages are
    not in the sample, and names in the current folder, where only the result is written."""
    for name in ("here", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    web, made = write_warc(Path("odd name.warc.gz"), WEB), finished(shared_warc("web.warc.gz", WEB))
    Path("bad.warc.gz").write_bytes(b"no archive" * 99)
    Path("empty.warc.gz").touch()
    Path("seeds.txt").write_text("http://nowhere.example/ 1\n")
    before = {*Path().iterdir()}
    unreadable = ("bad.warc.gz", "missing.warc.gz", "empty.warc.gz")
    words = ("run", web, *unreadable, "--work", "w", "--dry-run", "--json", "estimate.json")
    said = ok(*words, "--jobs", 1, "--method", "personalized", "--teleport", "seeds.txt")
    assert {*Path().iterdir()} - before == {Path("estimate.json")}
    assert list((tmp_path / "temporary").iterdir()) == []
    parts = re.findall(r"^(.+): (?:[0-9.]+ s|[0-9:]+)$", said.err, re.M)
    assert parts == PARTS
    assert "work folder at its largest" in said.out
    assert "PageRank stands for it" in said.out
    assert "--skip-bad-files" in said.out
    for name in unreadable:
        assert f"{name}: " in said.out
    document = json.loads(Path("estimate.json").read_text())
    assert document["schema"] == "crawlrank-estimate-1"
    assert document["bytes"] == document["sampled_bytes"] == web.stat().st_size
    assert document["rows"]["captures"]["value"] == len(WEB)
    for name, bracket in document["rows"].items():
        assert bracket["value"] == counted(made)[name]
    assert document["disk_bytes_end"]["value"] == pytest.approx(size_of(made), rel=0.1)
    assert document["cluster"] is None
    for name in ("seconds", "memory_bytes", "disk_bytes_most", "disk_bytes_end"):
        bracket = document[name]
        assert 0 < bracket["low"] <= bracket["value"] <= bracket["high"]


def test_without_archives() -> None:
    with pytest.raises(BadInput, match="no archive"):
        estimate([], RunOptions())


@pytest.mark.slow
def test_an_unreadable_archive_alone(tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(b"no archive" * 99)
    said = crawlrank("run", bad, "--work", tmp_path / "w", "--dry-run", "--quiet", "--jobs", 1)
    assert said.code == 3
    assert "bad.warc.gz" in said.err


def test_an_empty_archive_is_named_as_the_run_names_it(web: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.warc.gz"
    empty.touch()
    for archives in ([empty], [empty, empty]):
        with pytest.raises(BadInput, match=r"empty\.warc\.gz: an empty file") as refused:
            estimate(archives, RunOptions(processes=1))
    real = crawlrank("run", empty, web, "--work", tmp_path / "w", "--quiet", "--jobs", 1)
    assert real.code == 3
    assert str(refused.value) in real.err


@pytest.mark.slow
def test_a_part_of_an_estimate_that_fails_does_not_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run of a sample in which no page has an id."""
    lonely = write_warc(tmp_path / "lonely.warc", {"http://a.example/": []})
    with pytest.raises(BadInput, match="the sample: no links at all"):
        estimate([lonely], RunOptions(processes=1), Plain(clock=lambda: 0.0))
    lines = capsys.readouterr().err.splitlines()
    *ended, last = PARTS
    assert lines == [*(f"{part}: 0.0 s" for part in ended), f"{last}: not finished after 0.0 s"]


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


@pytest.mark.slow
def test_node_hours_of_a_cluster() -> None:
    """From Python, and beside a run that was made."""
    archive = shared_warc("web.warc.gz", WEB)
    work = finished(archive)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in work.rglob("*")}
    document = public.estimate(
        [archive], work=work, runner="hadoop", data="hdfs:///user/me/x", nodes="all"
    )
    assert document["rows"]["map"]["value"] >= len(WEB)
    assert_of_cluster(document)
    assert before == {
        path: (path.stat().st_mtime_ns, path.stat().st_size) for path in work.rglob("*")
    }


def assert_of_cluster(document: dict[str, Any], starts: int = 54) -> None:
    hours = document["cluster"]["node_hours"]
    assert 0 < hours["low"] < hours["value"] < hours["high"] < 1
    assert document["cluster"]["jobs"] == 54
    assert document["cluster"]["hours_of_starting"] == pytest.approx(starts * 1.5 / 60)


@pytest.mark.slow
@pytest.mark.parametrize(("runner", "data"), [("spark", "file:///tmp/x"), ("emr", "s3://b/x")])
def test_node_hours_of_each_cluster(runner: str, data: str, web: Path, tmp_path: Path) -> None:
    work = tmp_path / "w"
    given = ("run", web, "--work", work, "--dry-run", "--quiet", "--runner", runner, "--data", data)
    said = ok(*given, "--json", tmp_path / "estimate.json")
    document = json.loads((tmp_path / "estimate.json").read_text())
    assert_of_cluster(document, starts=1 if runner == "spark" else 54)
    assert "node-hours" in said.out
    assert not work.exists()


def test_node_hours_are_shown() -> None:
    needs = ClusterNeeds(Bracket(0.1, 0.2, 0.3), 37, 0.9)
    shown = report.estimate_table(result_of(cluster=needs)).lines(None)
    assert any(line.startswith("node-hours, of 16 vCPUs") for line in shown)


def test_wrong_usage(web: Path, tmp_path: Path) -> None:
    said = crawlrank("run", web, "--work", tmp_path / "w", "--json", "-")
    assert said.code == 2
    assert "--dry-run" in said.err
    ok("step", "import-text", "--work", tmp_path / "i", "--links", _links(tmp_path))
    said = crawlrank("run", "--work", tmp_path / "i", "--dry-run")
    assert said.code == 2
    assert "ARCHIVES" in said.err


def _links(tmp_path: Path) -> Path:
    links = tmp_path / "links.txt"
    links.write_text("http://a.example/1 http://a.example/2 L\n")
    return links


def test_inspect_says_it_in_a_line(bucket: Any, web: Path) -> None:
    """Also of an archive in S3."""
    bucket.put_object(Bucket="crawl", Key="web.warc.gz", Body=web.read_bytes())
    said = ok("inspect", "s3://crawl/web.warc.gz", "--estimate", "--quiet", "--jobs", 1)
    assert said.out.splitlines()[-1].startswith("`crawlrank run` takes about ")
    assert "of memory" in said.out
    assert "from 100 % of the bytes" in said.out
    assert "crawlrank run" not in ok("inspect", web, "--quiet", "--jobs", 1).out


@pytest.mark.slow
def test_inspect_says_it_beside_json(web: Path, more_web: Path) -> None:
    beside = ok("inspect", web, more_web, "--estimate", "--json", "-", "--quiet", "--jobs", 1)
    assert json.loads(beside.out)["total"]["archives"] == 2
    assert "takes about" in beside.err


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
