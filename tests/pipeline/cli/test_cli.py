"""The command line: help, every step on every kind of input and output, and `run` is its steps."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click
import pyarrow.parquet as pq
import pytest
from support.crawls import INLINE, Said, crawlrank, datasets, environment, ok
from support.paths import LOOPBACK, ROOT

from crawlrank.pipeline.cli import COMMANDS, GROUPS, loaded, main
from crawlrank.pipeline.steps import STEPS

HEAVY = {"numpy", "numba", "pyarrow", "duckdb", "mrjob", "selectolax"}
OF_FOLDERS = ("status", "diff", "explain")


def test_the_steps_are_commands() -> None:
    assert {f"step {name}" for name in STEPS} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(name: str, option: str) -> None:
    said = ok(*name.split(), option)
    assert said.out.startswith("Usage: ")
    command = loaded(name)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.opts[0] in said.out
    assert not said.err


def test_version() -> None:
    assert re.fullmatch(
        r"crawlrank, version \S+, extraction: (Python|compiled)\n", ok("--version").out
    )
    assert ok("-V") == ok("--version")


def test_the_group_says_what_it_is_for() -> None:
    said = ok("--help")
    assert all(name in said.out for name in {words.split()[0] for words in COMMANDS})


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_lists_its_commands(name: str) -> None:
    said = ok(name, "--help")
    own = [words.split()[1] for words in COMMANDS if words.startswith(f"{name} ")]
    assert own
    assert all(re.search(rf"^  {each} ", said.out, re.MULTILINE) for each in own)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_group_has_the_first_sentence_of_each_help(name: str) -> None:
    *group, last = name.split()
    commands = cast(click.Group, main.commands[group[0]]).commands if group else main.commands
    listed, command = commands[last], loaded(name)
    assert command.name == last
    for limit in range(10, 120):
        assert listed.get_short_help_str(limit) == command.get_short_help_str(limit)


def heavy_libraries_of(*commands: Sequence[object]) -> list[set[str]]:
    """The libraries that a new process has loaded after each of the commands, one after the
    other."""
    code = f"""
import json, os, sys
from crawlrank.pipeline.__main__ import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["crawlrank", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, words
    os.write(2, (" ".join({HEAVY!r} & sys.modules.keys()) + "\\n").encode())
"""
    words = json.dumps([list(map(str, command)) for command in commands])
    command = [sys.executable, "-c", code, words]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stderr.splitlines()]


@pytest.mark.slow
def test_a_command_loads_what_it_needs() -> None:
    """The group, and what only looks at folders, no heavy library at all."""
    few = [["--help"], ["--version"], *([*name.split(), "--help"] for name in OF_FOLDERS)]
    *none, inspect, extract = heavy_libraries_of(
        *few, ["inspect", "--help"], ["step", "extract-links", "--help"]
    )
    assert none == [set()] * len(few)
    assert inspect <= {"selectolax"}
    assert extract <= {"numba", "numpy", "pyarrow", "mrjob", "selectolax"}


@pytest.mark.slow
def test_a_run_loads_mrjob_for_jobs_alone(tmp_path: Path) -> None:
    run = ("run", LOOPBACK, "-q", "--no-validate", "--work")
    embedded, inline = heavy_libraries_of(
        [*run, tmp_path / "embedded"], [*run, tmp_path / "inline", *INLINE]
    )
    assert "mrjob" not in embedded
    assert "mrjob" in inline


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    pages = "\n".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    assert name in pages
    options = [p for p in loaded(name).params if isinstance(p, click.Option) and not p.hidden]
    missing = [option.opts[0] for option in options if option.opts[0] not in pages]
    assert not missing


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name: str) -> None:
    options = [p for p in loaded(name).params if isinstance(p, click.Option)]
    assert [option.opts[0] for option in options if not option.help] == []


class Steps:
    """All steps as commands, on files of that ending, or on folders where there is none."""

    def __init__(self, folder: Path, ending: str) -> None:
        self.folder, self.ending = folder, ending

    def path(self, name: str) -> Path:
        return self.folder / f"{name}{self.ending}"

    def step(self, command: str, *args: object) -> Said:
        return ok("step", command, *args, *INLINE)

    def all(self, *archives: Path, rounds: int = 3) -> bytes:
        path, step = self.path, self.step
        outputs = ("--output", path("links"), "--captures", path("captures"))
        step("extract-links", *archives, *outputs)
        outputs = ("--output", path("canonical_links"), "--uris", path("uris"))
        step("canonicalize", path("links"), "--captures", path("captures"), *outputs)
        outputs = ("--output", path("input_links"), "--map", path("map"))
        step("assign-ids", path("canonical_links"), *outputs)
        step("gen-graph", path("input_links"), "--output", path("graph"))
        told = ("--report", self.folder / "new" / "rounds.json", "--quiet")
        step(
            "page-rank",
            path("graph"),
            "--output",
            path("ranks"),
            "--iterations",
            rounds,
            *told,
        )
        inputs = ("--map", path("map"), "--uris", path("uris"))
        step("join-scores", path("ranks"), *inputs, "--output", path("scores"))
        precedence = self.folder / "p.txt"
        ok(
            "step",
            "export-precedence",
            path("scores"),
            "--uris",
            path("uris"),
            "--output",
            precedence,
        )
        outputs = ("--output", self.folder / "report")
        ok("step", "validate-opic", path("graph"), path("ranks"), *outputs, "--min-agreement", 0)
        assert (self.folder / "report" / "report.json").exists()
        assert (self.folder / "new" / "rounds.json").exists()
        return precedence.read_bytes()


def test_steps_read_the_tables_of_others(web: Path, more_web: Path, tmp_path: Path) -> None:
    found = []
    for ending, form in ((".txt", "text"), (".parquet", "parquet"), ("", "parquet")):
        links, captures = tmp_path / f"links{ending}", tmp_path / f"captures{ending}"
        outputs = ("--output", links, "--captures", captures, "--format", form)
        ok("step", "extract-links", web, more_web, *outputs, *INLINE)
        outputs = ("--output", tmp_path / "canonical", "--uris", tmp_path / "uris.txt")
        ok("step", "canonicalize", links, "--captures", captures, *outputs, *INLINE)
        canonical = b"".join(part.read_bytes() for part in (tmp_path / "canonical").iterdir())
        found.append((canonical, (tmp_path / "uris.txt").read_bytes()))
        shutil.rmtree(tmp_path / "canonical")
    assert found[0] == found[1] == found[2]
    assert b"example,b)/x" in found[0][0]


def test_a_format_that_the_name_denies(web: Path, tmp_path: Path) -> None:
    outputs = ("--output", tmp_path / "l.parquet", "--captures", tmp_path / "c.txt")
    for form in ("text", "parquet"):
        said = crawlrank("step", "extract-links", web, *outputs, "--format", form, *INLINE)
        assert said.code == 2
        assert "end in .parquet, with --format" in said.err
    assert not list(tmp_path.glob("?.*"))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "ending",
    [pytest.param(".txt", marks=pytest.mark.slow), ".txt.gz", ""],
    ids=["file", "gzip", "folder"],
)
def test_steps_by_hand_are_what_run_does(
    ending: str, web: Path, more_web: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    ok("run", web, more_web, "--work", work, "--iterations", 3, "--no-validate", *INLINE)
    steps = Steps(tmp_path / "deep" / "er", ending)
    assert steps.all(web, more_web) == (work / "precedence.txt").read_bytes()
    wanted = datasets(work)
    if ending:
        for name in ("canonical_links", "uris", "input_links", "map", "graph", "ranks", "scores"):
            data = steps.path(name).read_bytes()
            assert (gzip.decompress(data) if ending == ".txt.gz" else data) == wanted[name], name
    else:
        assert all(steps.path(name).is_dir() for name in ("links", "captures", "uris", "scores"))
    assert not list(steps.folder.glob(".*"))


def test_globs_and_several_inputs(web: Path, more_web: Path, tmp_path: Path) -> None:
    for number, archive in enumerate((web, more_web)):
        outputs = (
            "--output",
            tmp_path / f"l{number}.txt",
            "--captures",
            tmp_path / f"c{number}.txt",
        )
        ok("step", "extract-links", archive, *outputs, *INLINE)
    found = []
    for names, others in (
        (["l[01].txt"], ["c?.txt"]),
        (["l1.txt", "l0.txt"], ["c1.txt", "c0.txt"]),
    ):
        out = tmp_path / f"out{len(found)}.txt"
        more = [word for name in others for word in ("--captures", tmp_path / name)]
        outputs = ("--output", out, "--uris", tmp_path / "uris.txt")
        ok("step", "canonicalize", *(tmp_path / name for name in names), *more, *outputs, *INLINE)
        found.append((out.read_bytes(), (tmp_path / "uris.txt").read_bytes()))
    assert found[0] == found[1]
    assert b"example,b)/x" in found[0][0]


@pytest.mark.slow
def test_a_table_of_scores(web: Path, tmp_path: Path) -> None:
    steps = Steps(tmp_path, ".txt")
    steps.all(web)
    output = tmp_path / "tables" / "scores.parquet"
    inputs = ("--map", steps.path("map"), "--uris", steps.path("uris"))
    steps.step("join-scores", steps.path("ranks"), *inputs, "--output", output)
    rows = pq.read_table(output).to_pylist()
    lines = [line.split("\t") for line in steps.path("scores").read_text().splitlines()]
    assert [[repr(r["score"]), r["uri"], r["key"]] for r in rows] == lines
    assert abs(sum(row["probability"] for row in rows) - 1) < 1e-12
    assert {"id", "inlinks", "outlinks", "captures", "last"} <= set(rows[0])
    made = []
    for scores in (steps.path("scores"), output):
        uris = ("--uris", steps.path("uris"), "--output", tmp_path / "again.txt")
        ok("step", "export-precedence", scores, *uris)
        made.append((tmp_path / "again.txt").read_bytes())
    assert made[0] == made[1]


def test_outputs_that_are_there(web: Path, tmp_path: Path) -> None:
    outputs = ("--output", tmp_path / "links", "--captures", tmp_path / "captures.txt")
    ok("step", "extract-links", web, *outputs, *INLINE)
    before = (tmp_path / "captures.txt").read_bytes()
    said = crawlrank("step", "extract-links", web, *outputs, *INLINE)
    assert said.code == 3
    assert f"{tmp_path / 'links'}: is there already" in said.err
    shutil.rmtree(tmp_path / "links")
    (tmp_path / "captures.txt").write_text("old")
    ok("step", "extract-links", web, *outputs, *INLINE)  # a file is replaced
    assert (tmp_path / "captures.txt").read_bytes() == before


@pytest.mark.slow
def test_an_interrupted_page_rank_leaves_no_ranks(tmp_path: Path) -> None:
    (tmp_path / "pr0.txt").write_text("0\t1.0\tO:1\n1\t1.0\tO:dummy\ndummy\t1.0\tO:dummy\n")
    said = crawlrank("step", "page-rank", tmp_path / "pr0.txt", "--output", tmp_path / "pr.txt",
                     "--max-rounds", 2, "--tolerance", 1e-14, *INLINE)  # fmt: skip
    assert said.code == 4
    assert (tmp_path / "pr.txt").exists()  # not converged: kept, as the message says
    (tmp_path / "pr.txt").unlink()
    said = crawlrank("step", "page-rank", tmp_path / "pr0.txt", "--output", tmp_path / "pr.txt",
                     "--report", tmp_path / "pr0.txt" / "no.json", *INLINE)  # fmt: skip
    assert said.code == 3
    assert not (tmp_path / "pr.txt").exists()
