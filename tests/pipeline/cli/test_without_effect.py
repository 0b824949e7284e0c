"""Options that a command would not heed are refused where the user gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK

FAST = ("--iterations", 1, "--quiet")
REFUSED = {
    "run {a} --work {w} --reducers 3": "--reducers is for runs with --data",
    "run {a} --work {w} --runner inline --reducers 3": "--reducers is for runs with --data",
    "run {a} --work {w} --forms": "--forms goes with --links all",
    "run {a} --work {w} --forms --links nav": "--forms goes with --links all",
    "inspect {a} --forms": "--forms goes with --links all",
    "extract-links {a} --output {w} --captures {w} --forms": "--forms goes with --links all",
    "run {a} --work {w} --no-validate --min-agreement 0.5": "which --no-validate omits",
    "run {a} --work {w} --iterations 5 --max-rounds 3": "--iterations 5 does exactly this number",
    "rank --work {w} --iterations 5 --max-rounds 3": "--iterations 5 does exactly this number",
    "page-rank {a} --output {w} --iterations 5 --max-rounds 3": "does exactly this number",
    "run {a} --work {w} --gone keep": "--gone goes with the latest captures",
    "run {a} --work {w} --gone keep --fold canonical": "--gone goes with the latest captures",
    "rank --work {w} --combine-by position": "--combine-by goes with --combine",
}


@pytest.mark.parametrize("line", REFUSED)
def test_an_option_without_effect_is_refused(line: str, tmp_path: Path) -> None:
    names = {"a": LOOPBACK, "w": tmp_path / "work"}
    said = crawlrank(*(word.format_map(names) for word in line.split()))
    assert said.code == 2, said
    assert REFUSED[line] in " ".join(said.err.split())
    assert not (tmp_path / "work").exists()


@pytest.mark.slow
def test_options_of_the_configuration_file_are_put_aside(tmp_path: Path) -> None:
    """It serves several runs, and the same values in it have no effect either."""
    config = tmp_path / "crawlrank.toml"
    config.write_text(
        "[run]\nreducers = 3\nforms = true\nmin-agreement = 0.5\nvalidate = false\n"
        "iterations = 1\nmax-rounds = 3\ngone = 'keep'\n"
    )
    ok("run", LOOPBACK, "--work", tmp_path / "file", "--config", config, "--quiet")
    ok("run", LOOPBACK, "--work", tmp_path / "plain", "--no-validate", *FAST)
    one, other = (tmp_path / name / "precedence.txt" for name in ("file", "plain"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.slow
def test_the_same_options_with_an_effect(tmp_path: Path) -> None:
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/data", "--reducers", 2)
    words = ("--links", "all", "--forms", "--captures", "latest", "--gone", "keep")
    ok("run", LOOPBACK, "--work", tmp_path / "w", *data, *words, "--no-validate", *FAST)
    rounds = ("--tolerance", "1e-14", "--max-rounds", 1, "--quiet", "--min-agreement", 0)
    assert crawlrank("run", LOOPBACK, "--work", tmp_path / "v", *rounds).code == 4
