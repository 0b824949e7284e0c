"""Archives that are extracted in ranges give what they give as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.paths import SAMPLES

from jobs.kernel.captures.extraction_options import ExtractionOptions
from pipeline.contract import ArchiveReport
from pipeline.engines.embedded import range_extraction
from pipeline.engines.embedded.extraction import extract_archives
from pipeline.workfolder.archives import archive_tasks, given_archives

CUT = sorted(SAMPLES.glob("*arc.gz"))


def extracted(
    folder: Path, paths: list[Path], processes: int, **options: Any
) -> tuple[dict[str, ArchiveReport], list[int]]:
    """Reports by archive, and the bytes that were told to be read."""
    read: list[int] = []
    tmp = folder / "tmp"
    tmp.mkdir(parents=True)
    answers = extract_archives(
        archive_tasks(given_archives(paths)), folder / "links", folder / "captures", tmp=tmp,
        options=ExtractionOptions(**options), processes=processes,
        on_read=lambda done, _: read.append(done),
    )  # fmt: skip
    reports = {report.path: report for _, report in answers}
    assert not list(tmp.iterdir())
    return reports, read


def same(one: Path, other: Path, reports: dict[str, ArchiveReport]) -> None:
    for report in reports.values():
        for dataset in ("links", "captures"):
            tables = [pq.read_table(folder / dataset / report.part) for folder in (one, other)]
            assert tables[0].to_pylist() == tables[1].to_pylist()


@pytest.mark.parametrize("options", [{}, {"links": "all", "timestamps": True, "validators": True}])
def test_ranges_give_what_the_archive_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    whole, _ = extracted(tmp_path / "whole", CUT, 1, **options)
    monkeypatch.setattr(range_extraction, "LEAST", 10_000)
    monkeypatch.setattr(range_extraction, "SHARES", 1000)
    joined: list[range_extraction.JoinWork] = []
    add = range_extraction.Joining.add

    def adding(self: range_extraction.Joining, *answer: Any) -> Any:
        work = add(self, *answer)
        joined.extend([work] if isinstance(work, range_extraction.JoinWork) else [])
        return work

    monkeypatch.setattr(range_extraction.Joining, "add", adding)
    ranges, read = extracted(tmp_path / "ranges", CUT, 2, **options)
    assert sorted(work.archive.name for work in joined if work.fits) == sorted(
        path.name for path in CUT
    )
    assert ranges == whole
    assert read == sorted(read)
    assert read[-1] == sum(path.stat().st_size for path in CUT)
    same(tmp_path / "whole", tmp_path / "ranges", whole)
