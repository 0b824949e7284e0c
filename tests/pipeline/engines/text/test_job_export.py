"""The precedence file by jobs: the bytes that one process writes, and its summary, from made scores
with many ties, spellings that meet, and errors that leave classes open."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from support.inputs.made_scores import any_options, made
from support.inputs.samples import write
from support.systems.cluster import MANY_REDUCERS, cluster

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.engines.text.job_export import export_by_jobs
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.steps import PRECEDENCE


def check(tmp: Path, launcher: Launcher, rng: random.Random, nodes: int) -> None:
    scores, rows = made(rng, nodes)
    options = any_options(rng)
    given = write(tmp / "scores", scores), write(tmp / "uris", rows)
    here, there = tmp / "here", tmp / "there"
    here.mkdir()
    there.mkdir()
    export_precedence(*given, here / "precedence.txt", tmp, options)
    export_by_jobs(*given, tmp / "lines", there / "precedence.txt", launcher, options)
    for name in PRECEDENCE:
        assert (there / name).read_text() == (here / name).read_text(), (options, name)


@pytest.mark.parametrize("seed", range(12))
def test_the_bytes_that_one_process_writes(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    check(tmp_path, cluster(tmp_path, rng.choice((1, 3, 7)), seed), rng, rng.choice((1, 2, 40)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 60))
def test_more_of_them(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    check(tmp_path, cluster(tmp_path, rng.choice((1, 5)), seed), rng, rng.choice((1, 9, 300)))


@pytest.mark.parametrize(("reducers", "seed"), [MANY_REDUCERS])
def test_more_reducers_than_lines(reducers: int, seed: int, tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, reducers, seed), random.Random(seed), 20)


def test_a_full_memory_changes_no_line(tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, 3, 4, combined=2), random.Random(5), 30)


@pytest.mark.parametrize(
    ("scores", "rows", "message"),
    [
        ([b"1.0\thttp://b/\tb)/"], [], "the key b)/ without a spelling in uris"),
        ([b"1.0\thttp://a/\ta)/"], [], "two scores for the key a)/"),
    ],
)
def test_what_does_not_fit_is_refused(
    scores: list[bytes], rows: list[bytes], message: str, tmp_path: Path
) -> None:
    usual = [b"2.0\thttp://a/\ta)/"], [b"a)/\thttp://a/\t1\t1\t-"]
    given = write(tmp_path / "scores", usual[0] + scores), write(tmp_path / "uris", usual[1] + rows)
    output = tmp_path / "precedence.txt"
    with pytest.raises(BadInput, match=re.escape(message)):
        export_by_jobs(
            *given, tmp_path / "lines", output, cluster(tmp_path, 2), PrecedenceOptions()
        )
    assert not output.exists()
