"""Lines with fewer fields than a table has columns, as of ARC files, which have no record ids."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.crawls import INLINE, ok
from support.paths import ROOT

SAMPLES = (ROOT / "sample_data/aut-example.arc.gz", ROOT / "sample_data/heritrix-loopback.warc.gz")


BOTH, ARC = SAMPLES, SAMPLES[:1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("archives", "more"),
    [
        (BOTH, ("--timestamps", "--validators")),
        (ARC, ("--timestamps", "--titles")),
        (ARC, ()),
        pytest.param(BOTH, ("--timestamps",), marks=pytest.mark.slow),
        pytest.param(BOTH, (), marks=pytest.mark.slow),
        pytest.param(ARC, ("--timestamps",), marks=pytest.mark.slow),
        pytest.param(ARC, ("--timestamps", "--validators"), marks=pytest.mark.slow),
    ],
)
def test_tables_have_the_lines_of_text(
    archives: tuple[Path, ...], more: tuple[str, ...], tmp_path: Path
) -> None:
    for suffix in ("txt", "parquet"):
        names = [tmp_path / f"{name}.{suffix}" for name in ("links", "captures")]
        to = ("--output", names[0], "--captures", names[1])
        ok("step", "extract-links", *archives, *more, *to, *INLINE)
    for name, separator in (("links", " "), ("captures", "\t")):
        table = pq.read_table(tmp_path / f"{name}.parquet")
        rows = [
            ["-" if value is None else str(value) for value in row.values()]
            for row in table.to_pylist()
        ]
        lines = [
            line.split(separator) for line in (tmp_path / f"{name}.txt").read_text().split("\n")
        ]
        padded = [line + ["-"] * (table.num_columns - len(line)) for line in lines[:-1]]
        assert rows == padded
        assert len(rows) > 200
