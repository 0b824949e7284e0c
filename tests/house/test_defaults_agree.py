"""What nobody asks for is the same for a program and on the command line: each default of a command
is that of the function or object that it stands for, and of the job."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click
import pytest
from click.testing import CliRunner
from support.crawls import ok
from support.paths import LOOPBACK, ROOT
from support.runs import copy_of, finished
from support.systems.own_engine import with_engine

from crawlrank.jobs.assign_ids import AssignIds
from crawlrank.jobs.canonicalize import Canonicalize
from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, RUNNERS
from crawlrank.jobs.select_links import SelectLinks
from crawlrank.pipeline import cli
from crawlrank.pipeline.analysis.audit import findings
from crawlrank.pipeline.analysis.compare import diff, explain
from crawlrank.pipeline.engines.embedded.text_files import import_text
from crawlrank.pipeline.engines.text import steps
from crawlrank.pipeline.lab import lab
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.progress import reporter
from crawlrank.pipeline.ranking import classes
from crawlrank.pipeline.ranking.options import Stop, ValidationOptions
from crawlrank.pipeline.run import run as runs
from crawlrank.pipeline.steps import EMBEDDED

#: what each command hands its options to
FILLED: dict[str, tuple[Callable[..., Any], ...]] = {
    "step extract-links": (ExtractionOptions,),
    "inspect": (ExtractionOptions,),
    "run": (ExtractionOptions, PrecedenceOptions, ValidationOptions, Stop, RunOptions),
    "step page-rank": (Stop,),
    "step select-links": (),
    "step canonicalize": (steps.canonicalize,),
    "step assign-ids": (steps.assign_ids,),
    "step join-scores": (steps.join_scores,),
    "step export-precedence": (PrecedenceOptions, classes.cut),
    "step validate-opic": (ValidationOptions,),
    "diff": (diff.diff,),
    "explain": (explain.explain,),
    "audit": (findings.audit,),
    "step import-text": (import_text.import_text,),
    "lab aopic": (lab.run_lab,),
}
JOBS = {
    "step extract-links": ExtractLinks,
    "step canonicalize": Canonicalize,
    "step assign-ids": AssignIds,
    "step select-links": SelectLinks,
}


def test_types_of_options_have_names_of_their_own() -> None:
    names = [
        name
        for folder in ("jobs", "pipeline", "scripts", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"^ *class (\w*Options)\b", path.read_text(), re.MULTILINE)
    ]
    assert len(set(names)) == len(names) > 5
    assert "Options" not in names


def defaults_of(what: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(what).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


def given_by(command: str) -> dict[str, Any]:
    """Defaults of the options, without those that are none."""
    context = click.Context(cli.loaded(command))
    options = [each for each in context.command.params if isinstance(each, click.Option)]
    given = {str(each.name): each.get_default(context) for each in options}
    return {name: value for name, value in given.items() if isinstance(value, str | int | float)}


@pytest.mark.parametrize("command", FILLED)
def test_of_options_and_functions(command: str) -> None:
    given = given_by(command)
    for what in FILLED[command]:
        for name, default in defaults_of(what).items():
            if default is not None and name in given:
                assert given[name] == default, (what, name)


@pytest.mark.parametrize("command", JOBS)
def test_of_commands_and_jobs(command: str) -> None:
    options, given = vars(JOBS[command](["--runner", "inline"]).options), given_by(command)
    own = JOBS[command]([])._passthru_arg_dests
    for name in own & given.keys():
        assert options[name] == given[name], name


def asked(work: Path, *words: str) -> RunOptions:
    """What `run` asks for after these words; it ends before the first step."""
    given = list[RunOptions]()

    def keep(work: Path, options: RunOptions, *_: object) -> NoReturn:
        given.append(options)
        raise BadInput("the run", "its options", "nothing more")

    command = ["run", str(LOOPBACK), "--work", str(work), "--quiet", *words]
    assert CliRunner().invoke(with_engine(keep), command).exit_code == 3
    return given[0]


@pytest.mark.parametrize("more", [{}, {"max_rounds": 50}, {"iterations": 9}], ids=str)
@pytest.mark.parametrize("runner", [EMBEDDED, *RUNNERS, *CLUSTERS])
def test_of_a_run(runner: str, more: dict[str, Any], tmp_path: Path) -> None:
    data = "s3://bucket/data" if runner in CLUSTERS else None
    words = ["--runner", runner, *(["--data", data] if data else [])]
    for name, value in more.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    options = RunOptions(runner=runner, data=data, stop=Stop(**more))
    assert asked(tmp_path / "work", *words).parameters() == options.parameters()


def test_each_goes_on_in_the_folder_of_the_other(tmp_path: Path) -> None:
    words = ("run", LOOPBACK, "--quiet", "--jobs", 1)
    options = RunOptions(processes=1)
    copy_of(finished(LOOPBACK), tmp_path / "command")
    runs.run(tmp_path / "command", [LOOPBACK], options, reporter(quiet=True))
    runs.run(tmp_path / "library", [LOOPBACK], options, reporter(quiet=True))
    ok(*words, "--work", tmp_path / "library")
    files = [tmp_path / name / "precedence.txt" for name in ("command", "library")]
    assert files[0].read_bytes() == files[1].read_bytes()
