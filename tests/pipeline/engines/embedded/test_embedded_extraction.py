"""The engine's extraction gives the job's links and captures, in Parquet."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.crawls import ok
from support.paths import DAMAGED, LOOPBACK, SAMPLES, SMALL_ARCHIVES
from support.systems.cluster import inline
from support.work_folders import results_of

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import (
    format_capture,
    format_link,
    parse_capture,
    parse_link,
)
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.pipeline.data.parquet import schema_of
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.engines.embedded.columns import CAPTURE_SCHEMA
from crawlrank.pipeline.engines.embedded.extraction import ReadWork, extract_archives
from crawlrank.pipeline.engines.embedded.range_extraction import LEAST, Work, extract
from crawlrank.pipeline.engines.text import steps
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask
from crawlrank.pipeline.workfolder.archives import archive_tasks, given_archives

SMALL = [LOOPBACK, *DAMAGED.iterdir(), SMALL_ARCHIVES / "samples__warcs__HTTP404.warc"]
WHOLE = SMALL_ARCHIVES / "samples__warcs__salam-home.warc"
ARCHIVES = [*SAMPLES.glob("aut-example.*arc.gz"), *SMALL]


def tasks_of(*paths: Path) -> list[ArchiveTask]:
    return archive_tasks(given_archives(paths))


def extracted(
    work: Path,
    *paths: Path,
    processes: int = 1,
    least: int = LEAST,
    reading: ReadWork = extract,
    **options: Any,
) -> tuple[dict[str, ArchiveReport], list[tuple[int, int]]]:
    """Reports by archive, and what was told of the bytes read."""
    read: list[tuple[int, int]] = []
    tmp = work / "tmp"
    tmp.mkdir(parents=True)
    found = extract_archives(
        tasks_of(*paths), work, tmp=tmp,
        options=ExtractionOptions(**options), processes=processes,
        on_read=lambda *far: read.append(far), least=least, reading=reading,
    )  # fmt: skip
    reports = {report.path: report for _, report in found}
    assert not list(tmp.iterdir())
    return reports, read


def links_of(part: Path) -> list[bytes]:
    table = pq.read_table(part).to_pydict()
    rows = zip(table["target"], table["source"], table["hop"], strict=True)
    return [b"%s %s %s" % tuple(field.encode() for field in row) for row in rows]


def captures_of(part: Path, **asked: bool) -> list[bytes]:
    table = pq.read_table(part)
    columns = CAPTURES.first(ExtractionOptions(**asked).capture_columns)  # type: ignore[arg-type]
    assert table.schema.equals(schema_of(columns) if asked else CAPTURE_SCHEMA)
    rows = [row.values() for row in table.to_pylist()]
    fields = [[UNKNOWN if v is None else str(v).encode() for v in row] for row in rows]
    return [format_capture(Capture(*row), **asked) for row in fields]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kept", "archives"),
    [
        ("nav", ARCHIVES),
        ("all", SMALL),
        pytest.param("all", ARCHIVES, marks=pytest.mark.slow),
    ],
)
def test_links_captures_and_reports_are_those_of_the_job(
    tmp_path: Path, kept: Any, archives: list[Path]
) -> None:
    reports, read = extracted(tmp_path / "work", *archives, links=kept)
    total = sum(path.stat().st_size for path in archives)
    assert read[-1] == (total, total)
    assert [done for done, _ in read] == sorted(done for done, _ in read)
    for path in archives:
        links, captures = tmp_path / f"{path.name}.txt", tmp_path / f"{path.name}.tsv"
        job_reports = steps.extract_links(
            [path], links, captures, inline(tmp_path), ExtractionOptions(links=kept)
        )
        (expected,) = job_reports
        told = reports[str(path)]
        assert (told.counters, told.damage, told.error) == (
            expected.counters, expected.damage, expected.error,
        )  # fmt: skip
        part = tmp_path / "work" / "links" / told.part
        job = [format_link(parse_link(line)) for line in links.read_bytes().splitlines()]
        assert links_of(part) == job
        job = [format_capture(parse_capture(line)) for line in captures.read_bytes().splitlines()]
        assert captures_of(tmp_path / "work" / "captures" / told.part) == job


def by_both_engines(folder: Path, archive: Path, **asked: bool) -> list[bytes]:
    """The captures of the jobs, as lines. Both engines make equal tables of them."""
    reports, _ = extracted(folder / "with", archive, **asked)
    part = folder / "with" / "captures" / reports[str(archive)].part

    def by_jobs(name: str) -> Path:
        links, captures = folder / f"links-{name}", folder / name
        options = ExtractionOptions(**asked)  # type: ignore[arg-type]
        steps.extract_links([archive], links, captures, inline(folder), options)
        return captures

    texts = by_jobs("more.txt").read_bytes().splitlines()
    assert captures_of(part, **asked) == texts
    assert pq.read_table(by_jobs("more.parquet")).equals(pq.read_table(part))
    return texts


@pytest.mark.slow
def test_validators_are_columns_behind_all_others(tmp_path: Path) -> None:
    texts = by_both_engines(tmp_path, SAMPLES / "aut-example.warc.gz", validators=True)
    assert {line.count(b"\t") for line in texts} == {15}
    assert {line.split(b"\t")[14][-6:].isdigit() for line in texts} == {False, True}
    assert {line.split(b"\t")[15][:1] for line in texts} >= {b'"', b"-"}
    reports, _ = extracted(tmp_path / "without", SAMPLES / "aut-example.warc.gz")
    (report,) = reports.values()
    usual = captures_of(tmp_path / "without" / "captures" / report.part)
    assert [b"\t".join(line.split(b"\t")[:10]) for line in texts] == usual


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("validators", [False, True])
def test_titles_are_the_last_column(tmp_path: Path, validators: bool) -> None:
    asked = {"titles": True, "validators": validators}
    texts = by_both_engines(tmp_path, SAMPLES / "aut-example.warc.gz", **asked)
    assert {line.count(b"\t") for line in texts} == {16}
    assert sum(b" " in line.split(b"\t")[16] for line in texts) > 50
    assert any(line.split(b"\t")[14] != b"-" for line in texts) == validators


def test_an_unreadable_archive_leaves_the_others(tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(b"no archive")
    reports, _ = extracted(tmp_path / "work", bad, LOOPBACK)
    assert reports[str(LOOPBACK)].error is None
    found, expected, _ = reports[str(bad)].error or ["", "", ""]
    assert "no gzip, although its name ends in .gz" in found
    assert "WARC" in expected
    part = tmp_path / "work" / "links" / reports[str(bad)].part
    assert pq.read_table(part).num_rows == 0


def dying(work: Work, tell: Tell) -> Any:
    """Reads one archive as a whole, and one range of another, to the end of the process."""
    name = Path(getattr(work, "archive", work).task.archive).name
    if name == WHOLE.name or (name == LOOPBACK.name and getattr(work, "number", 1) == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return extract(work, tell)


@pytest.mark.slow
def test_a_parser_that_crashes_costs_one_archive(tmp_path: Path) -> None:
    others, bad = [*DAMAGED.iterdir()], tmp_path / "bad.warc.gz"
    bad.write_bytes(b"no archive")
    given = (LOOPBACK, WHOLE, bad, *others)
    reports, _ = extracted(tmp_path / "work", *given, processes=2, least=10_000, reading=dying)
    for path in (LOOPBACK, WHOLE):
        report = reports.pop(str(path))
        assert report.error
        assert "died (SIGKILL)" in report.error[0]
        for dataset in ("links", "captures"):
            assert not pq.read_table(tmp_path / "work" / dataset / report.part).num_rows
    found, *_ = reports.pop(str(bad)).error or [""]
    assert "no gzip, although its name ends in .gz" in found
    assert [report.error for report in reports.values()] == [None] * len(others)
    assert others


def seconds_of_processes(*words: object) -> float:
    """CPU seconds of the processes that a run has started."""
    before = os.times()
    ok("run", *words, "--captures", "latest")
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def test_no_process_reads_small_archives(web: Path, more_web: Path, tmp_path: Path) -> None:
    assert seconds_of_processes(web, more_web, "--work", tmp_path / "work") == 0


@pytest.mark.slow
def test_processes_that_are_asked_for_read_small_archives(
    web: Path, more_web: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    rounds = ("--iterations", 3)  # scores within bounds may differ with the number of threads
    assert seconds_of_processes(web, more_web, "--work", one, "--jobs", 1, *rounds) == 0
    assert seconds_of_processes(web, more_web, "--work", two, "--jobs", 2, *rounds) > 0
    assert results_of(one) == results_of(two)
