"""Benchmarks still run, on inputs that take no time; what they measure is not looked at here."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import LOOPBACK, ROOT, SCRIPTS

SAMPLE = str(LOOPBACK)
SMALL = {
    "../online/bench_aopic.py": ["--nodes", "500", "--sweeps", "2"],
    "bench_compare.py": ["--links", "0.005"],
    "bench_digests.py": [SAMPLE],
    "bench_harmonic.py": ["--edges", "0.02"],
    "bench_jobs.py": [SAMPLE, "--copies", "1"],
    "bench_opic.py": ["--edges", "20000"],
    "bench_pipeline.py": [SAMPLE, "--mb", "0.1", "--jobs", "1", "--runners", "embedded"],
    "bench_scale.py": ["--links", "0.005"],
    "../costs/skew.py": ["--links", "400", "--growth", "2"],
    "../pages/bench_report.py": ["--links", "20000"],
    "bench_structure.py": ["--pages", "2000", "--copies", "2", "--peer-pages", "1000"],
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SMALL)
def test_it_runs(script: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "bench" / script), *SMALL[script]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert any(letter.isdigit() for letter in done.stdout)


@pytest.mark.slow
def test_jobs_are_compared_by_step() -> None:
    command = [sys.executable, str(SCRIPTS / "bench" / "bench_scale.py"), "--links", "0.005"]
    done = subprocess.run([*command, "--jobs", "1,2"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for jobs in (1, 2):
        assert re.search(rf"--jobs {jobs} +canonicalize +[0-9.]+ +[0-9.]+ +[0-9]+%", done.stdout)


@pytest.mark.slow
def test_every_table_of_the_page_is_made_by_make_benchmarks() -> None:
    """Each shows what `make benchmarks` measures, and the page has no other table between marks."""
    tables = runpy.run_path(str(SCRIPTS / "docs" / "make_benchmarks_page"))["TABLES"]
    makefile = (ROOT / "Makefile").read_text()
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    marks = re.findall("^<!-- (.*) -->$", page, flags=re.M)
    assert marks == [word for name in marks[::2] for word in (name, "end")]
    assert sorted(marks[::2]) == sorted(tables)
    for figures, _ in tables.values():
        assert f"work/benchmarks/{figures}.json" in makefile
