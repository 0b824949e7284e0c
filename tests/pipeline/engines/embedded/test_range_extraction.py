"""Archives that are extracted in ranges give what they give as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.paths import LOOPBACK, SAMPLES

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.engines.embedded.extraction import extract_archives
from crawlrank.pipeline.engines.embedded.range_extraction import (
    ArchiveWork,
    JoinWork,
    Work,
    extract,
)
from crawlrank.pipeline.steps import ArchiveReport
from crawlrank.pipeline.workfolder.archives import archive_tasks, given_archives

ARC, WARC = SAMPLES / "aut-example.arc.gz", SAMPLES / "aut-example.warc.gz"
MUCH = {
    "links": "all", "timestamps": True, "validators": True, "anchor_text": True,
    "words_around": True,
}  # fmt: skip


def in_ranges(work: Work, tell: Tell) -> Any:
    """Reads ranges that fit, and no archive as a whole."""
    assert not isinstance(work, ArchiveWork)
    assert not isinstance(work, JoinWork) or work.fits
    return extract(work, tell)


def extracted(
    folder: Path, paths: Sequence[Path], options: dict[str, Any], **how: Any
) -> tuple[dict[str, ArchiveReport], list[int]]:
    """Reports by archive, and the bytes that were told to be read."""
    read: list[int] = []
    tmp = folder / "tmp"
    tmp.mkdir(parents=True)
    answers = extract_archives(
        archive_tasks(given_archives(paths)), folder, tmp=tmp,
        options=ExtractionOptions(**options), on_read=lambda done, _: read.append(done), **how,
    )  # fmt: skip
    reports = {report.path: report for _, report in answers}
    assert not list(tmp.iterdir())
    return reports, read


def same(one: Path, other: Path, reports: dict[str, ArchiveReport]) -> None:
    for report in reports.values():
        for dataset in {path.name for path in one.iterdir()} - {"tmp"}:
            tables = [pq.read_table(folder / dataset / report.part) for folder in (one, other)]
            assert tables[0].to_pylist() == tables[1].to_pylist()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("paths", "options"),
    [
        ((ARC,), {}),
        ((WARC,), MUCH),
        *(pytest.param((ARC, WARC), each, marks=pytest.mark.slow) for each in ({}, MUCH)),
        pytest.param((LOOPBACK,), MUCH, marks=pytest.mark.slow),
    ],
)
def test_ranges_give_what_the_archive_gives(
    tmp_path: Path, paths: Sequence[Path], options: dict[str, Any]
) -> None:
    whole, _ = extracted(tmp_path / "whole", paths, options)
    sizes = {"least": 10_000, "processes": 2}
    ranges, read = extracted(tmp_path / "ranges", paths, options, reading=in_ranges, **sizes)
    assert ranges == whole
    assert read == sorted(read)
    assert read[-1] == sum(path.stat().st_size for path in paths)
    same(tmp_path / "whole", tmp_path / "ranges", whole)
